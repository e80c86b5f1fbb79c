//! `bundle.keep`: which older bundles a run removes.

use std::fs;

use crate::common::{Lab, acme, damage, repository, sound};

#[test]
fn the_newest_stay_and_the_one_that_they_follow() {
    let lab = Lab::new(acme().repository(sound("api"))).with(|config| config.bundle("keep", "2"));
    let lab = lab.with(|config| config.bundle("keep", "2").bundle("detached_signature", "true"));
    let mut all = Vec::new();
    for _ in 0..5 {
        let run = lab.collect(&[]).exits(0);
        all.push(run);
    }
    // Two, and the one that the older of them follows, each with its signature.
    let left = lab.output();
    assert_eq!(left.iter().filter(|name| name.ends_with(".tar.gz")).count(), 3, "{left:?}");
    assert_eq!(left.len(), 6);
    assert_eq!(all.iter().filter(|run| run.stderr.contains("bundle.keep")).count(), 2);
    let run = lab.run(&["verify", "-k", "key.pub.pem", "--chain", "evidence-bundles"]).exits(0);
    assert!(run.stdout.contains("the row begins here"), "{}", run.stdout);
    // Each removal is said, even with --quiet.
    let quiet = lab.collect(&["-q"]).exits(0);
    assert!(quiet.stderr.starts_with("removed ") && quiet.stderr.lines().count() == 1, "{}", quiet.stderr);
}

#[test]
fn other_files_and_an_incomplete_run_remove_nothing() {
    let lab = Lab::new(acme().repository(sound("api"))).with(|config| config.bundle("keep", "1"));
    for _ in 0..2 {
        lab.collect(&["-q"]).exits(0);
    }
    let [first, second] = lab.output().try_into().unwrap();
    damage(&lab, &format!("evidence-bundles/{first}"));
    fs::write(lab.path("evidence-bundles/notes.tar.gz"), "not a bundle").unwrap();
    lab.collect(&["-q"]).exits(0);
    lab.collect(&["-q"]).exits(0);
    let left = lab.output();
    // What does not verify is not touched, and neither is what is no bundle.
    assert!(left.contains(&first) && left.contains(&"notes.tar.gz".to_string()), "{left:?}");
    assert!(!left.contains(&second), "{left:?}");
    assert_eq!(left.len(), 4);
    // A run that ends with another code removes nothing.
    let leak = format!("# {}\n* @acme/all\n", sandbox::DEMO_SECRET);
    let leak = repository("leak").file("CODEOWNERS", sandbox::codehost::File::text(leak));
    let next = Lab::new(acme().repository(leak)).with(|config| config.bundle("keep", "{days: 1}"));
    for _ in 0..3 {
        next.collect(&["-q"]).exits(4);
    }
    assert_eq!(next.output().len(), 3);
}

#[test]
fn a_number_or_days() {
    for (value, code) in
        [("3", 0), ("{days: 3}", 0), ("0", 1), ("{days: 0}", 1), ("[]", 1), ("{}", 1), ("thirty", 1)]
    {
        let lab = Lab::new(acme().repository(sound("api"))).with(|config| config.bundle("keep", value));
        lab.collect(&["-q"]).exits(code);
    }
    for (value, code) in
        [("daily", 0), ("weekly", 0), ("{hours: 6}", 0), ("{hours: 0}", 1), ("hourly", 1), ("3", 1)]
    {
        let lab = Lab::new(acme().repository(sound("api")));
        let lab = lab.with(|config| config.rest(&format!("cadence: {value}\n")));
        lab.collect(&["-q"]).exits(code);
    }
}
