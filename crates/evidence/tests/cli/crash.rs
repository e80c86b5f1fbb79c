//! A run killed at any moment leaves either no bundle or a complete one, and the next run removes its leftovers.

use std::process::Stdio;
use std::time::{Duration, Instant};

use sandbox::codehost::File;

use crate::common::{Bundle, Lab, acme, names, repository, sound};

/// The number of runs to kill; 200 for the figures in the documentation.
fn kill_points() -> u32 {
    std::env::var("EVIDENCE_KILL_POINTS")
        .map_or(25, |text| text.parse().expect("EVIDENCE_KILL_POINTS is a number"))
}

fn seed() -> u64 {
    let seed = std::env::var("EVIDENCE_KILL_SEED").ok();
    seed.map_or_else(|| fastrand::u64(..), |text| text.parse().expect("EVIDENCE_KILL_SEED is a number"))
}

/// Large enough that every phase takes time: requests, the spool, the archive, its verification.
fn busy() -> Lab {
    let mut host = acme().latency(Duration::from_millis(2));
    let mut random = fastrand::Rng::with_seed(7);
    for number in 0..6 {
        // Incompressible text, so that writing the archive takes time.
        let text: String = (0..80_000).map(|_| random.alphanumeric()).collect();
        let owners = File::text(format!("* @acme/everyone\n# {text}\n"));
        host = host.repository(repository(&format!("large-{number}")).file("CODEOWNERS", owners));
        host = host.repository(sound(&format!("sound-{number}")));
    }
    Lab::new(host)
}

fn is_temporary(name: &str) -> bool {
    name.starts_with(".evidence-bundle-")
}

#[test]
fn a_killed_run_leaves_a_whole_bundle_or_none() {
    let lab = busy().with(|config| config.bundle("detached_signature", "true"));
    let timed = |_| {
        let begun = Instant::now();
        let code = lab.collect(&[]).code;
        assert!(matches!(code, Some(0 | 4)), "{code:?}");
        begun.elapsed()
    };
    let whole_run = (0..3).map(timed).min().unwrap();
    let directory = lab.path("evidence-bundles");
    std::fs::remove_dir_all(&directory).unwrap();

    let (points, seed) = (kill_points(), seed());
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut bundles, mut leftovers) = (0, 0);
    for point in 0..points {
        let mut child =
            lab.command(&["collect", "--quiet"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole_run.mul_f64(random.f64() * 1.1));
        let _ = child.kill();
        child.wait().unwrap();
        let left = names(&directory);
        for name in left.iter().filter(|name| !is_temporary(name)) {
            let path = directory.join(name);
            if name.ends_with(".sig") {
                // The signature may exist before its bundle, but it is complete.
                let text = std::fs::read_to_string(path).unwrap();
                assert!(
                    text.ends_with("\n-----END SSH SIGNATURE-----\n"),
                    "seed {seed}, point {point}: {text}"
                );
                continue;
            }
            // Panics unless the bundle verifies.
            Bundle::open(&path);
            assert!(left.contains(&format!("{name}.sig")), "seed {seed}, point {point}: {left:?}");
            bundles += 1;
        }
        left.iter().filter(|name| !is_temporary(name)).for_each(|name| {
            std::fs::remove_file(directory.join(name)).unwrap();
        });
        let temporary = left.iter().filter(|name| is_temporary(name)).count();
        assert!(
            // The bundle and its signature.
            temporary <= 2,
            "seed {seed}, point {point}: what the run before left is still there: {left:?}"
        );
        leftovers += temporary;
    }
    lab.collect(&[]);
    assert_eq!(lab.output().iter().filter(|name| is_temporary(name)).count(), 0, "seed {seed}");
    println!(
        "seed {seed}: {points} runs killed, {bundles} whole bundles, 0 half ones, {leftovers} temporary files, all cleared"
    );
}

/// Two runs that end in the same second write two bundles.
#[test]
fn two_runs_at_once_make_two_bundles() {
    let lab = busy();
    let start =
        || lab.command(&["collect", "--quiet"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut one, mut two) = (start(), start());
    let codes = [one.wait().unwrap().code(), two.wait().unwrap().code()];
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 4))), "{codes:?}");
    let names = lab.output();
    assert_eq!(names.len(), 2, "{names:?}");
    for name in names {
        Bundle::open(&lab.path("evidence-bundles").join(name));
    }
}

/// The directory disappears during the run. The tool writes the bundle to a new one.
#[test]
fn a_directory_that_vanishes_is_made_again() {
    let lab = busy();
    let mut child =
        lab.command(&["collect", "--quiet"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let directory = lab.path("evidence-bundles");
    let begun = Instant::now();
    // The run creates the directory and its spool before its first request.
    while lab.requested().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the run asks for nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::fs::remove_dir_all(&directory).unwrap();
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 4)), "{code:?}");
    Bundle::open(&directory.join(&lab.output()[0]));
}
