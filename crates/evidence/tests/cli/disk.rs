//! The output directory, and failures to write the bundle: exit code 5 and no files left.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use sandbox::codehost::{CodeHost, File};

use crate::common::{Lab, acme, names, repository, sound};

/// This many incompressible CODEOWNERS files of about 700 kB each.
fn incompressible(files: u64) -> CodeHost {
    let mut random = fastrand::Rng::with_seed(20_261_121);
    let mut host = acme();
    for number in 0..files {
        let mut content = b"* @acme/everyone\n".to_vec();
        content.extend(std::iter::repeat_with(|| random.u8(..)).take(700_000));
        host = host.repository(repository(&format!("big-{number}")).file("CODEOWNERS", File::bytes(content)));
    }
    host
}

#[test]
fn a_bundle_over_the_limit_is_5_and_names_the_largest() {
    let lab =
        Lab::new(incompressible(3)).with(|config| config.controls("[CC6.6]").bundle("max_size_mb", "1"));
    let run = lab.collect(&[]).exits(5).says("max_size_mb").leaves_nothing();
    insta::assert_snapshot!("too_large", run.shown());
    // Sizes are redacted there.
    let run = run.says("exceeds the limit of 1,000,000 bytes (1.0 MB)").says("bytes (2.1 MB)");
    for name in ["big-0", "big-1", "big-2"] {
        assert!(run.stderr.contains(&format!("repo_acme_{name}_codeowners.json")), "{}", run.stderr);
    }
    let lab = lab.with(|config| config.controls("[CC6.6]").bundle("max_size_mb", "3"));
    lab.collect(&[]).exits(0).bundle();
}

#[test]
fn an_output_directory_that_is_a_file_is_5() {
    let lab = Lab::new(acme().repository(sound("web")));
    lab.write("taken", "I am a file and I stay one.");
    for output in ["taken", "taken/below"] {
        let run = lab.collect(&["--output", output]).exits(5);
        assert!(run.stderr.contains("taken"), "{}", run.stderr);
        assert!(run.stdout.is_empty(), "{}", run.stdout);
    }
    assert_eq!(std::fs::read(lab.path("taken")).unwrap(), b"I am a file and I stay one.");
    assert!(lab.requested().is_empty(), "asked for what it has no place for");
}

#[test]
fn a_new_output_directory_is_for_its_owner_alone() {
    let lab = Lab::new(acme().repository(sound("web")));
    lab.collect(&["--output", "a/b/c"]).exits(0);
    for directory in ["a", "a/b", "a/b/c"] {
        let mode = std::fs::metadata(lab.path(directory)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{directory}");
    }
    let directory = lab.path("a/b/c");
    let bundle = names(&directory);
    let mode = std::fs::metadata(directory.join(&bundle[0])).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn a_directory_that_may_not_be_written_is_5() {
    let lab = Lab::new(acme().repository(sound("web")));
    std::fs::create_dir(lab.path("evidence-bundles")).unwrap();
    lab.set_mode("evidence-bundles", 0o500);
    let Some(run) = lab.run_unprivileged(&["collect"]) else {
        eprintln!("SKIPPED: root ignores file permissions, and cannot become another user here");
        return;
    };
    run.exits(5).says("evidence-bundles").says("Permission denied").leaves_nothing();
    // The tool cannot create a directory in a read-only one either.
    lab.run_unprivileged(&["collect", "--output", "evidence-bundles/below"]).unwrap().exits(5);
}

/// A disk that becomes full at any point of the run: while the tool spools artifacts, and while it writes the archive.
#[test]
fn a_full_disk_is_5() {
    let lab = Lab::new(incompressible(2))
        .with(|config| config.controls("[CC6.6]").bundle("detached_signature", "true"));
    let output = lab.path("evidence-bundles");
    std::fs::create_dir(&output).unwrap();
    let mounted = |kilobytes: u64| {
        let size = format!("size={kilobytes}k");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&output).output();
        mount.is_ok_and(|output| output.status.success())
    };
    // The spool takes about 1.9 MB in all, and the archive another 1.5 MB.
    for kilobytes in [64, 1_200, 2_500] {
        if !mounted(kilobytes) {
            eprintln!("SKIPPED: this user may not mount a file system");
            return;
        }
        let _unmount = Unmount(&output);
        lab.collect(&[]).exits(5).says("No space left").says("evidence-bundles").leaves_nothing();
    }
    assert!(mounted(20_000));
    let _unmount = Unmount(&output);
    lab.collect(&[]).exits(0);
    assert_eq!(lab.output().len(), 2, "{:?}", lab.output());
}

struct Unmount<'a>(&'a Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// The same without permission to mount: a limit on the size of each file.
#[test]
fn a_file_that_may_not_grow_is_5() {
    let lab = Lab::new(incompressible(2)).with(|config| config.controls("[CC6.6]"));
    // The limit is each file's own, and the spool is the largest.
    for blocks in [8, 1_500] {
        let mut command = lab.command(&[]);
        let binary = command.get_program().to_os_string();
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" collect");
        command = {
            let mut limited = Command::new("bash");
            limited.args(["-c", &script]).arg(binary);
            limited.current_dir(lab.path("")).env_clear();
            for (name, value) in command.get_envs() {
                limited.env(name, value.unwrap_or_default());
            }
            limited
        };
        lab.run_command(command).exits(5).says("File too large").leaves_nothing();
    }
}
