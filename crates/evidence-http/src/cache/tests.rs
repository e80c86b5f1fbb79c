//! The file by itself; the tests of whole runs cover its use.

use std::fs;

use super::*;

fn open(directory: &Path, purpose: Purpose, now: i64) -> io::Result<Cache> {
    let owner = CacheOwner {
        api_url: "https://code.example/",
        tenant: "acme",
        about: "main",
        account: "user 7",
        secret: b"made-up-secret-1",
    };
    let now = Timestamp::from_second(now).unwrap();
    Cache::open(directory, owner, purpose, Arc::new(Screen::new(&["made-up-secret-1"])), now)
}

const COLLECT: Purpose = Purpose::Collect { resume: false };

fn kept(at: i64, etag: &str, record: &[u8]) -> CachedAnswer {
    CachedAnswer {
        last_modified: None,
        at: Timestamp::from_second(at).unwrap(),
        status: 200,
        etag: Some(etag.to_string()),
        request_id: None,
        message: None,
        headers: Vec::new(),
        record: record.to_vec(),
        resumable: true,
    }
}

fn question(path: &str) -> CacheKey<'_> {
    CacheKey { path, accept: "application/json" }
}

#[test]
fn the_last_answer_is_found_again() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path(), COLLECT, 100).unwrap();
    assert!(cache.find(question("/a")).is_none());
    cache.keep(question("/a"), 1, &kept(100, "\"1\"", b"one"), None);
    cache.keep(question("/a"), 1, &kept(101, "\"2\"", b"two"), None);
    cache.keep(question("/b"), 2, &kept(101, "\"3\"", b"three"), None);
    let found = cache.find(question("/a")).unwrap();
    assert_eq!((found.etag.as_deref(), found.record.as_slice()), (Some("\"2\""), b"two".as_slice()));
    assert!(cache.find(CacheKey { accept: "text/plain", ..question("/a") }).is_none());
    assert_eq!((cache.count(1), cache.count(2), cache.count(3)), (1, 1, 0));
    drop(cache);
    let cache = open(directory.path(), COLLECT, 200).unwrap();
    assert_eq!(cache.find(question("/a")).unwrap().record, b"two");
}

#[test]
fn one_run_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let first = open(directory.path(), COLLECT, 100).unwrap();
    assert!(open(directory.path(), COLLECT, 100).is_err());
    drop(first);
    assert!(open(directory.path(), COLLECT, 100).is_ok());
}

#[test]
fn a_plan_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path(), COLLECT, 100).unwrap());
    let path = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let before = fs::read(&path).unwrap();
    let cache = open(directory.path(), Purpose::Plan { resume: true }, 200).unwrap();
    cache.keep(question("/a"), 1, &kept(200, "\"1\"", b"one"), None);
    cache.confirm(question("/a"), Timestamp::from_second(200).unwrap(), None);
    cache.finish();
    drop(cache);
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// Confirming the same answers in run after run neither grows the file without bound nor loses a current
/// entry.
#[test]
fn the_file_is_cleaned_up() {
    let directory = tempfile::tempdir().unwrap();
    let record = vec![b'x'; 100_000];
    let mut largest = 0;
    for run in 0..40 {
        let cache = open(directory.path(), COLLECT, 1_000 + run).unwrap();
        for path in ["/a", "/b"] {
            cache.keep(question(path), 1, &kept(1_000 + run, "\"1\"", &record), None);
            cache.confirm(question(path), Timestamp::from_second(1_000 + run).unwrap(), Some("R1"));
        }
        if run > 0 {
            assert!(cache.find(question("/a")).is_some());
        }
        let path = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
        largest = largest.max(fs::metadata(path).unwrap().len());
    }
    assert!(largest > TOLERATED && largest < TOLERATED + 2_000_000, "{largest}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    // The next clean-up removes an answer that no run has asked for in a long time.
    let much = usize::try_from(TOLERATED).unwrap() / record.len();
    let cache = open(directory.path(), COLLECT, 2_000).unwrap();
    (0..=2 * much)
        .for_each(|_| cache.keep(question("/a"), 1, &kept(KEPT_SECONDS + 2_000, "\"1\"", &record), None));
    drop(cache);
    let cache = open(directory.path(), COLLECT, KEPT_SECONDS + 2_000).unwrap();
    assert!(cache.find(question("/a")).is_some() && cache.find(question("/b")).is_none());
}

/// A clean-up between a killed run and the one that resumes it loses no answer.
#[test]
fn a_clean_up_keeps_what_can_be_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let record = vec![b'x'; 500_000];
    let cache = open(directory.path(), COLLECT, 1_000).unwrap();
    cache.keep(question("/old"), 1, &kept(1_000, "\"0\"", b"old"), None);
    (0..20).for_each(|_| cache.keep(question("/a"), 1, &kept(1_000, "\"1\"", &record), None));
    cache.finish();
    drop(cache);
    let cache = open(directory.path(), Purpose::Collect { resume: false }, 1_100).unwrap();
    cache.confirm(question("/a"), Timestamp::from_second(1_150).unwrap(), Some("R9"));
    (0..20).for_each(|_| cache.keep(question("/b"), 1, &kept(1_160, "\"2\"", &record), None));
    drop(cache);
    let cache = open(directory.path(), Purpose::Collect { resume: true }, 1_200).unwrap();
    let now = Timestamp::from_second(1_200).unwrap();
    assert_eq!(cache.resumed_run(), Timestamp::from_second(1_100).ok());
    let confirmed = cache.resumed(question("/a"), now).unwrap();
    assert_eq!((confirmed.status, confirmed.at.as_second()), (304, 1_150));
    assert_eq!(confirmed.request_id.as_deref(), Some("R9"));
    assert_eq!(cache.resumed(question("/b"), now).unwrap().at.as_second(), 1_160);
    assert!(cache.resumed(question("/old"), now).is_none() && cache.find(question("/old")).is_some());
    assert_eq!(cache.count_taken_over(1, now), 2);
}

/// Each entry is sound by itself: cutting one out neither makes another observation more recent nor confirms a different
/// one.
#[test]
fn what_was_cut_out_makes_nothing_younger() {
    let directory = tempfile::tempdir().unwrap();
    let path = || fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let length = || usize::try_from(fs::metadata(path()).unwrap().len()).unwrap();
    let cache = open(directory.path(), COLLECT, 1_000).unwrap();
    cache.keep(question("/a"), 1, &kept(1_000, "\"1\"", b"old"), None);
    cache.finish();
    drop(cache);
    let cache = open(directory.path(), COLLECT, 500_000).unwrap();
    cache.confirm(question("/other"), Timestamp::from_second(500_000).unwrap(), None);
    cache.keep(question("/other"), 1, &kept(500_000, "\"0\"", b"other"), None);
    let from = length();
    cache.keep(question("/a"), 1, &kept(500_001, "\"2\"", b"new"), None);
    let to = length();
    cache.confirm(question("/a"), Timestamp::from_second(500_002).unwrap(), None);
    drop(cache);
    let resumed = || open(directory.path(), Purpose::Plan { resume: true }, 500_100).unwrap();
    let now = Timestamp::from_second(500_100).unwrap();
    assert_eq!(resumed().resumed(question("/a"), now).unwrap().record, b"new");
    let mut bytes = fs::read(path()).unwrap();
    bytes.drain(from..to);
    fs::write(path(), bytes).unwrap();
    assert!(resumed().resumed(question("/a"), now).is_none());
    assert!(resumed().resumed(question("/other"), now).is_some());
    assert_eq!(resumed().find(question("/a")).unwrap().record, b"old", "the host will say what it is worth");
}

/// A wrong clock can date an answer in the future.
#[test]
fn only_the_last_day_counts_in_either_direction() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path(), COLLECT, 500_000).unwrap();
    cache.keep(question("/a"), 1, &kept(500_000, "\"1\"", b"one"), None);
    drop(cache);
    for (now, taken) in
        [(499_999, false), (500_000, true), (500_000 + 86_400, true), (500_001 + 86_400, false)]
    {
        let cache = open(directory.path(), Purpose::Plan { resume: true }, now).unwrap();
        let now = Timestamp::from_second(now).unwrap();
        assert_eq!(cache.resumed(question("/a"), now).is_some(), taken, "{now}");
        assert_eq!(cache.count_taken_over(1, now), u64::from(taken));
    }
}

#[test]
fn a_plan_makes_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(&directory.path().join("none"), Purpose::Plan { resume: false }, 100).unwrap();
    assert_eq!(cache.count(1), 0);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_second_name_is_a_link_too() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path(), COLLECT, 100).unwrap());
    let path = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    fs::hard_link(&path, directory.path().join("second")).unwrap();
    assert!(open(directory.path(), COLLECT, 100).is_err());
}

/// The file keeps the earlier answers, and the run can still be ended.
#[test]
fn closing_forgets_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path(), COLLECT, 1_000).unwrap();
    cache.keep(question("/a"), 1, &kept(1_000, "\"1\"", b"one"), None);
    cache.close();
    assert_eq!((cache.count(1), cache.find(question("/a")).is_none()), (0, true));
    cache.finish();
    drop(cache);
    let cache = open(directory.path(), Purpose::Collect { resume: true }, 1_001).unwrap();
    assert_eq!((cache.resumed_run(), cache.count(1)), (None, 1));
}

/// A run that read nothing leaves an earlier killed run resumable.
#[test]
fn a_run_that_read_nothing_ends_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path(), COLLECT, 1_000).unwrap();
    cache.keep(question("/a"), 1, &kept(1_000, "\"1\"", b"one"), None);
    drop(cache);
    drop(open(directory.path(), COLLECT, 1_001).unwrap());
    let cache = open(directory.path(), Purpose::Collect { resume: true }, 1_002).unwrap();
    assert_eq!(cache.resumed_run().unwrap().as_second(), 1_000);
    cache.finish();
}

/// A delivered bundle ends its run and every run killed before, whatever it had to read again and however much of
/// that fitted on the disk.
#[test]
fn what_was_delivered_is_not_resumed() {
    const RESUME: Purpose = Purpose::Collect { resume: true };
    // Room on the disk: enough, for some of the answers, none.
    for (purpose, reads, room) in [
        (RESUME, false, None),
        (RESUME, true, None),
        (RESUME, false, Some(0)),
        (RESUME, true, Some(0)),
        (RESUME, true, Some(300)),
        (COLLECT, true, None),
        (COLLECT, true, Some(0)),
        (COLLECT, true, Some(300)),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let cache = open(directory.path(), COLLECT, 1_000).unwrap();
        cache.keep(question("/a"), 1, &kept(1_000, "\"1\"", b"one"), None);
        drop(cache);
        let cache = open(directory.path(), purpose, 1_001).unwrap();
        let mut state = cache.lock();
        state.journal.room = room.map_or(u64::MAX, |room| state.journal.length() + room);
        drop(state);
        if reads {
            for path in ["/b", "/c"] {
                cache.keep(question(path), 1, &kept(1_001, "\"2\"", b"two"), None);
            }
        }
        cache.finish();
        drop(cache);
        let cache = open(directory.path(), RESUME, 1_002).unwrap();
        assert_eq!(cache.resumed_run(), None, "{purpose:?} {reads} {room:?}");
        assert_eq!(cache.find(question("/a")).is_some(), room != Some(0), "{purpose:?} {reads} {room:?}");
    }
}

/// A finished run whose beginning or end became unreadable is never resumed: neither at once nor after more entries
/// follow the sound part.
#[test]
fn nothing_is_resumed_from_a_damaged_file() {
    const RESUME: Purpose = Purpose::Collect { resume: true };
    let directory = tempfile::tempdir().unwrap();
    let path = || fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let cache = open(directory.path(), COLLECT, 1_000).unwrap();
    cache.keep(question("/a"), 1, &kept(1_000, "\"1\"", b"one"), None);
    let sound = usize::try_from(fs::metadata(path()).unwrap().len()).unwrap();
    cache.keep(question("/b"), 1, &kept(1_000, "\"1\"", b"two"), None);
    cache.finish();
    drop(cache);
    let whole = fs::read(path()).unwrap();
    for at in sound..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(path(), bytes).unwrap();
        let plan = open(directory.path(), Purpose::Plan { resume: true }, 1_001).unwrap();
        assert_eq!((plan.resumed_run(), plan.count(1) > 0), (None, true), "{at}");
        drop(plan);
        for _ in 0..2 {
            let cache = open(directory.path(), RESUME, 1_001).unwrap();
            assert_eq!((cache.resumed_run(), cache.find(question("/a")).is_some()), (None, true), "{at}");
        }
    }
}

#[test]
fn what_is_too_large_is_not_kept_and_stops_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path(), COLLECT, 100).unwrap();
    let large = vec![b'x'; journal::LONGEST_RECORD + 1];
    cache.keep(question("/a"), 1, &kept(100, "\"1\"", &large), None);
    cache.keep(question("/b"), 1, &kept(100, "\"2\"", b"two"), None);
    assert!(cache.find(question("/a")).is_none() && cache.find(question("/b")).is_some());
}

#[test]
fn what_the_screen_finds_is_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path(), COLLECT, 100).unwrap();
    cache.keep(question("/a"), 1, &kept(100, "\"made-up-secret-1\"", b"one"), None);
    cache.keep(question("/b"), 1, &kept(100, "\"1\"", b"made-up-secret-1"), None);
    cache.keep(question("/c"), 1, &kept(100, "\"1\"", b"one"), Some(b"made-up-secret-1"));
    cache.keep(question("/made-up-secret-1"), 1, &kept(100, "\"1\"", b"one"), None);
    cache.keep(question("/d"), 1, &kept(100, "\"1\"", b"one"), None);
    cache.confirm(question("/d"), Timestamp::from_second(100).unwrap(), Some("R1 made-up-secret-1"));
    assert_eq!(cache.count(1), 1);
    let path = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(path).unwrap();
    assert!(!bytes.windows(16).any(|window| window == b"made-up-secret-1"));
}
