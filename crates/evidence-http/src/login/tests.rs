//! The whole table of renewals, with a fake renewal and a clock that the tests move.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use futures_util::future::join_all;

use super::*;
use crate::reply::{FailureKind, RequestFailure};

/// A token's name and when it expires; `None` is a renewal that fails.
type Next = Option<(&'static str, i64)>;

struct Fake {
    time: Arc<AtomicI64>,
    asked: Arc<AtomicUsize>,
    next: Mutex<VecDeque<Next>>,
}

impl Renewal<&'static str> for Fake {
    fn renew(&self) -> BoxFuture<'_, Result<Lease<&'static str>, CallError>> {
        async {
            self.asked.fetch_add(1, Ordering::Relaxed);
            // The others get their turn meanwhile.
            tokio::task::yield_now().await;
            let next = self.next.lock().unwrap().pop_front().flatten();
            next.map(|(value, end)| lease(value, end)).ok_or_else(|| {
                let text = "cannot connect".to_string();
                CallError::Failed(RequestFailure::local(FailureKind::Transport(text)))
            })
        }
        .boxed()
    }

    fn now(&self) -> Timestamp {
        at(self.time.load(Ordering::Relaxed))
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn lease(value: &'static str, end: i64) -> Lease<&'static str> {
    Lease { value, expires: Some(at(end)) }
}

const TERMS: RenewalTerms = RenewalTerms {
    before_end: SignedDuration::from_mins(5),
    after_pause: Some(SignedDuration::from_mins(1)),
    refusals: 2,
};

struct Tested {
    login: Login<&'static str>,
    time: Arc<AtomicI64>,
    asked: Arc<AtomicUsize>,
}

fn tested(terms: RenewalTerms, next: &[Next]) -> Tested {
    let (time, asked) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicUsize::new(0)));
    let next = Mutex::new(next.iter().copied().collect());
    let fake = Fake { time: Arc::clone(&time), asked: Arc::clone(&asked), next };
    Tested { login: Login::renewed(terms, Box::new(fake)), time, asked }
}

impl Tested {
    /// What is sent at this time; `None` if there is nothing valid.
    async fn at(&self, seconds: i64) -> Option<&'static str> {
        self.time.store(seconds, Ordering::Relaxed);
        self.login.ensure().await.ok()?;
        self.login.value()
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    fn refused(&self, token: &str) -> bool {
        self.login.note_refused(|value| *value == token)
    }

    fn accepted(&self, token: &str) {
        self.login.note_accepted(|value| *value == token);
    }
}

/// At each time: what is sent, and how often a token was requested until then.
async fn follows(tested: &Tested, table: &[(i64, Option<&str>, usize)]) {
    for (seconds, sent, asked) in table {
        assert_eq!((tested.at(*seconds).await, tested.asked()), (*sent, *asked), "{seconds}");
    }
}

const BUSY: RenewalTerms = RenewalTerms { after_pause: None, ..TERMS };

#[tokio::test]
async fn a_token_is_renewed_five_minutes_before_its_end() {
    let it = tested(BUSY, &[Some(("a", 3_600)), Some(("b", 7_200)), Some(("c", 9_000))]);
    let table = [(0, Some("a"), 1), (3_299, Some("a"), 1), (3_300, Some("b"), 2), (6_899, Some("b"), 2)];
    follows(&it, &table).await;
    follows(&it, &[(6_900, Some("c"), 3), (8_000, Some("c"), 3)]).await;
}

/// Half of its life remains to a token that lives for less than twice that long.
#[tokio::test]
async fn a_token_of_short_life_is_not_renewed_with_every_request() {
    let it = tested(BUSY, &[Some(("a", 240)), Some(("b", 360))]);
    follows(&it, &[(0, Some("a"), 1), (119, Some("a"), 1), (120, Some("b"), 2), (239, Some("b"), 2)]).await;
}

/// How long the first one has lived is not known.
#[tokio::test]
async fn a_token_from_elsewhere_that_ends_soon_is_renewed_at_once() {
    let mut it = tested(BUSY, &[Some(("b", 3_600))]);
    it.login = it.login.starting_with(lease("a", 240));
    follows(&it, &[(0, Some("b"), 1), (3_299, Some("b"), 1)]).await;
}

#[tokio::test]
async fn an_expired_token_is_never_sent() {
    let it = tested(BUSY, &[Some(("a", 600)), None, None, Some(("b", 2_000))]);
    // The renewal fails while the token is good: it serves until its end, and the next try is there.
    let table =
        [(0, Some("a"), 1), (400, Some("a"), 2), (500, Some("a"), 2), (600, None, 3), (601, Some("b"), 4)];
    follows(&it, &table).await;
}

#[tokio::test]
async fn after_a_pause_the_token_is_new() {
    let next = [Some(("a", 3_600)), Some(("b", 3_800)), None, Some(("c", 4_000))];
    let it = tested(TERMS, &next);
    let table = [(0, Some("a"), 1), (60, Some("a"), 1), (120, Some("a"), 1), (181, Some("b"), 2)];
    follows(&it, &table).await;
    // A failed renewal costs nothing while the token is good, and is tried again after the next pause.
    follows(&it, &[(300, Some("b"), 3), (360, Some("b"), 3), (421, Some("c"), 4)]).await;
}

#[tokio::test]
async fn a_refused_token_is_replaced() {
    let it = tested(BUSY, &[Some(("a", 3_600)), Some(("b", 3_600)), Some(("c", 3_600))]);
    assert_eq!(it.at(0).await, Some("a"));
    it.accepted("a");
    assert!(it.refused("a"));
    assert!(it.refused("a"), "of another worker");
    assert_eq!((it.at(1).await, it.asked()), (Some("b"), 2));
    assert!(it.refused("a"), "a late answer to the old token");
    assert_eq!((it.at(2).await, it.asked()), (Some("b"), 2));
    it.accepted("b");
    // Refusals with successes between them never end the login.
    assert!(it.refused("b"));
    assert_eq!(it.at(3).await, Some("c"));
}

#[tokio::test]
async fn two_new_tokens_that_are_refused_in_a_row_end_it() {
    for worked_before in [false, true] {
        let it = tested(BUSY, &[Some(("a", 3_600)), Some(("b", 3_600)), Some(("c", 3_600))]);
        assert_eq!(it.at(0).await, Some("a"));
        if worked_before {
            it.accepted("a");
        }
        assert!(it.refused("a"));
        assert_eq!(it.at(0).await, Some("b"));
        assert_eq!(it.refused("b"), worked_before);
        if worked_before {
            assert_eq!(it.at(0).await, Some("c"));
            assert!(!it.refused("c"));
            assert!(!it.refused("c"));
        }
    }
    let final_at_once = tested(RenewalTerms { refusals: 0, ..BUSY }, &[Some(("a", 3_600))]);
    assert_eq!(final_at_once.at(0).await, Some("a"));
    assert!(!final_at_once.refused("a"));
    assert_eq!((final_at_once.at(0).await, final_at_once.asked()), (Some("a"), 1));
}

#[tokio::test]
async fn all_workers_share_one_renewal() {
    let it = tested(TERMS, &[Some(("a", 3_600)), None, Some(("b", 7_200))]);
    for (seconds, ends, asked) in
        [(0, vec![true; 64], 1), (3_600, vec![false; 64], 2), (3_601, vec![true; 64], 3)]
    {
        it.time.store(seconds, Ordering::Relaxed);
        let all = join_all((0..64).map(|_| it.login.ensure())).await;
        // A failure is that of all who waited for it.
        assert_eq!(all.iter().map(Result::is_ok).collect::<Vec<_>>(), ends, "{seconds}");
        assert_eq!(it.asked(), asked, "{seconds}");
    }
}

#[tokio::test]
async fn what_never_changes_is_never_renewed() {
    let login = Login::fixed(HeaderValue::from_static("token a"));
    login.ensure().await.unwrap();
    let mut request = Request::get(url::Url::parse("https://h.example/").unwrap(), "/");
    login.authorize(&mut request, at(0)).unwrap();
    assert_eq!(request.headers[AUTHORIZATION], "token a");
    assert!(!login.refused(&request.headers));
}

#[test]
fn a_bearer_token_is_not_shown() {
    let header = bearer("not-a-real-token").unwrap();
    assert_eq!(header, "Bearer not-a-real-token");
    assert!(!format!("{header:?}").contains("not-a-real-token"));
    assert!(bearer("two\nlines").is_none());
}
