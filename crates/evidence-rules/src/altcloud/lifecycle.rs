//! Account changes are logged.

use super::reason::INFORMATION;
use super::words::counted;
use crate::altcloud::record::UserLifecycle;
use crate::rule::{Judge, Rule, Verdict};

/// Account changes are logged.
pub static USER_LIFECYCLE_LOG: Rule = Rule {
    code: "user-lifecycle-log",
    title: "Log of user accounts",
    version: 1,
    kind: "directory",
    expected: "the log of accounts created, suspended, deleted or given a role can be read",
    reads: "the events of accounts created, suspended, deleted or given a role, of the last 180 days",
    not_checked: "whether an event was legitimate; other events in the log; people behind the account of a directory synchronisation",
    permission: "Delegate the scope admin.reports.audit.readonly to the service account's client id, and let \
                 admin_email have the privilege Reports.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[],
};

/// The judgement.
pub static JUDGE: Judge<UserLifecycle> =
    Judge { rule: &USER_LIFECYCLE_LOG, judge: |record, _| judge(record) };

/// Not applicable if every kind of event was read completely: a population passes no test. How often each happened is for
/// people to judge; no events is not a fault. `None` if a part was not read: it has its own observation.
pub fn judge(record: &UserLifecycle) -> Option<Verdict> {
    if !record.event_names.iter().all(|listing| listing.read.is_complete()) {
        return None;
    }
    let mut kinds: Vec<String> = Vec::new();
    for listing in record.event_names.iter().filter(|listing| listing.events > 0) {
        kinds.push(format!("{} {}", listing.events, listing.name));
    }
    let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
    let events = counted(record.events.len(), "event", "events");
    let (start, end) = (&record.start_time, &record.end_time);
    Some(Verdict::not_applicable(&INFORMATION, format!("{events} from {start} to {end}{kinds}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::altcloud::record::{EventListing, Extent};
    use crate::rule::Status;

    fn record(reads: &[Extent]) -> UserLifecycle {
        let listing = |read: &Extent| EventListing { name: "CREATE_USER".into(), read: *read, events: 0 };
        UserLifecycle {
            start_time: "2026-05-25T00:00:00Z".to_string(),
            end_time: "2026-11-21T00:00:00Z".to_string(),
            event_names: reads.iter().map(listing).collect(),
            events: Vec::new(),
        }
    }

    #[test]
    fn only_a_log_that_was_read_to_its_end_is_information() {
        use Extent::{Complete, NotRead, Partial};
        for first in [Complete, Partial, NotRead] {
            for second in [Complete, Partial, NotRead] {
                let verdict = judge(&record(&[first, second]));
                let complete = first == Complete && second == Complete;
                assert_eq!(verdict.map(|verdict| verdict.status), complete.then_some(Status::NotApplicable));
            }
        }
        let actual = judge(&record(&[Complete])).unwrap().actual.unwrap();
        assert_eq!(actual, "0 events from 2026-05-25T00:00:00Z to 2026-11-21T00:00:00Z");
        let mut happened = record(&[Complete, Complete]);
        happened.event_names[1] = EventListing { name: "DELETE_USER".into(), read: Complete, events: 2 };
        let actual = judge(&happened).unwrap().actual.unwrap();
        assert!(actual.ends_with("00:00:00Z: 2 DELETE_USER"), "{actual}");
    }
}
