use serde_json::{Value, json};

use super::*;

fn record(id: &str, state: &str, matches: &Value) -> Value {
    json!({
        "id": id, "rule": "r", "source": "s", "subjects": ["a"], "globs": ["b*"], "reasons": ["broken"],
        "reason": "=1+1 \u{202e}x", "owner": "jane", "approved_by": "john", "approved_at": "2026-11-02",
        "expires_at": "2027-01-31", "self_approved": false, "state": state, "matches": matches,
    })
}

fn check(subject: &str, status: &str, reason: &str) -> Value {
    json!({"control": "C", "source": "s", "rule": "r", "subject": subject, "status": status, "reason": reason})
}

fn read(waivers: &Value) -> Option<Waivers> {
    let document = json!({
        "schema_version": "1.0", "file": {"sha256": "0"},
        "summary": {"failed": 3, "failed_waived": 1, "failed_unwaived": 2}, "waivers": waivers,
    });
    Waivers::read(&mut document.to_string().as_bytes())
}

#[test]
fn failures_are_marked_and_expired_waivers_come_first() {
    let matches =
        json!([check("a", "fail", "broken"), check("b", "fail", "other"), check("c", "pass", "ok")]);
    let over = json!([check("a", "fail", "broken"), check("d", "fail", "broken")]);
    let waivers =
        read(&json!([record("W-1", "applied", &matches), record("W-2", "expired", &over)])).unwrap();
    let ids: Vec<&str> = waivers.all.iter().map(|waiver| waiver.record.id.as_str()).collect();
    assert_eq!(ids, ["W-2", "W-1"]);
    let mark = |subject| waivers.of(key("C", "s", "r", subject)).map(Waiver::mark);
    assert_eq!(mark("a").unwrap(), "waived until 2027-01-31, W-1");
    assert_eq!(mark("d").unwrap(), "waiver W-2 expired on 2027-01-31");
    assert_eq!((mark("b"), mark("c"), mark("e")), (None, None, None));
    let [over, applied] = waivers.all.as_slice() else { panic!() };
    assert_eq!((applied.matches, applied.failures), (3, 1));
    assert_eq!(applied.counts(), "names 3 checks, accepts 1 failure");
    assert_eq!(over.counts(), "names 2 checks, 2 failures without a waiver");
    assert_eq!(applied.about(), "r of a, b*, only broken");
    assert_eq!(applied.decision(), "owner jane, approved by john on 2026-11-02, until 2027-01-31");
    assert_eq!(sentence(&waivers.summary), "3 checks failed: 1 with a waiver, 2 without");
}

#[test]
fn another_form_is_not_read() {
    assert!(read(&json!([])).is_some());
    for bad in [json!({}), json!([[]]), json!([{"id": "x"}]), json!([record("W", "maybe", &json!([]))])] {
        assert!(read(&bad).is_none(), "{bad}");
    }
}
