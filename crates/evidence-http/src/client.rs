//! Sends one request, and repeats it politely until there is a final answer.
//!
//! A refusal is an answer: it comes back as [`Refused`](super::Refused) for the source to interpret. A [`RequestFailure`] means that
//! there is no answer: the attempts or the limit are used up, or the answer cannot be understood.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::budgets::Budgets;
use super::cache::Cache;
use super::call::{AskedAbout, Reader, Reading};
use super::circuit::{Circuit, Circuits, GivenUp, TryBudget};
use super::clock::Clock;
use super::credential::Credential;
use super::exchange::{Attempt, Exchange, read_body, text};
use super::framing::ambiguity;
use super::gate::{Feedback, Gate, Pass};
use super::permanent::{TransportError, transport_error};
use super::quota::QuotaStatus;
use super::redirect::RedirectChain;
use super::reply::{Answered, CallError, FailureKind, Outcome, Reply, RequestFailure};
use super::request::{Dialect, Meaning, Method, Request};
use super::retry::{Class, RetryDecision, decide_within};
use super::settings::ClientSettings;
use super::standing::Standing;
use super::trail;
use super::upload::UploadFile;
use super::watch::{WaitReason, Watch};
use super::words::single_line;

/// How much of an error document is read. The host's own are under 1 kB; its HTML pages carry inlined pictures.
const ERROR_BODY_LIMIT: usize = 64 * 1024;

/// The back-off after a fault stays below this; only the host asks for longer waits, and those are
/// shown.
const SHOWN_WAIT: SignedDuration = SignedDuration::from_secs(15);

/// A client of one host.
pub struct Client {
    http: Arc<Mutex<reqwest::Client>>,
    pub(super) dialect: Arc<dyn Dialect>,
    pub(super) credential: Arc<dyn Credential>,
    pub(super) settings: ClientSettings,
    pub(super) gate: Arc<Gate>,
    pub(super) clock: Clock,
    pub(super) watch: Arc<dyn Watch>,
    pub(super) counts: Arc<RequestCounts>,
    circuits: Arc<Circuits>,
    pub(super) cache: Option<Arc<Cache>>,
    /// Whether to ask by time instead of by entity tag, where that is possible.
    pub(super) by_time: bool,
}

/// What a client and its siblings have sent.
#[derive(Default)]
pub(super) struct RequestCounts {
    requests: AtomicU64,
    retries: AtomicU64,
    pub(super) revalidated: AtomicU64,
    pub(super) resumed: AtomicU64,
    /// Whether a host has given a good answer.
    pub(super) answered: AtomicBool,
}

impl Client {
    /// A client that speaks `dialect` and signs in with `credential`.
    ///
    /// # Errors
    ///
    /// Fails if the root certificates cannot be used.
    pub fn new(
        settings: ClientSettings,
        dialect: Arc<dyn Dialect>,
        credential: Arc<dyn Credential>,
        clock: Clock,
        watch: Arc<dyn Watch>,
    ) -> Result<Client, String> {
        let http = Arc::new(Mutex::new(settings.build()?));
        let gate = Arc::new(Gate::new(&settings));
        let (counts, circuits) = (Arc::default(), Arc::default());
        Ok(Client {
            http,
            dialect,
            credential,
            settings,
            gate,
            clock,
            watch,
            counts,
            circuits,
            cache: None,
            by_time: false,
        })
    }

    /// Lets the client wait together with every other client that uses this credential, which `credential` names.
    #[must_use]
    pub fn sharing(mut self, budgets: &Budgets, credential: &str) -> Client {
        self.gate = budgets.gate(credential, &self.settings);
        self
    }

    /// A client of another host of the same provider, or with another credential: it shares settings, counts and
    /// circuits, and has its own gate, so that a refusal by one host does not close the others.
    pub fn sibling(&self, dialect: Arc<dyn Dialect>, credential: Arc<dyn Credential>) -> Client {
        Client {
            http: Arc::clone(&self.http),
            dialect,
            credential,
            settings: self.settings.clone(),
            gate: Arc::new(Gate::new(&self.settings)),
            clock: self.clock.clone(),
            watch: Arc::clone(&self.watch),
            counts: Arc::clone(&self.counts),
            circuits: Arc::clone(&self.circuits),
            cache: None,
            by_time: false,
        }
    }

    /// Requests sent so far by this client and its siblings, retries included.
    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::Relaxed)
    }

    /// Requests that this client and its siblings sent again.
    pub fn retries(&self) -> u64 {
        self.counts.retries.load(Ordering::Relaxed)
    }

    /// The kinds of questions that this client and its siblings have given up.
    pub fn given_up(&self) -> Vec<GivenUp> {
        self.circuits.given_up()
    }

    /// How long limits held this client's requests back.
    pub fn paused(&self) -> SignedDuration {
        self.gate.paused()
    }

    /// The host's last report of its limit; `None` if it has none.
    pub fn quota(&self) -> Option<QuotaStatus> {
        self.gate.status()
    }

    /// Where this client stands with its limits.
    pub fn standing(&self) -> Standing {
        let sent = self.requests().saturating_sub(self.retries());
        self.gate.standing(sent, self.clock.now())
    }

    /// Repeats the request until there is a final answer.
    ///
    /// A broken body counts as a fault of the host, and the client asks again; for a body of an undocumented shape, or
    /// about something else, it does not.
    pub(super) async fn send_for<T: Send>(
        &self,
        request: &Request,
        reading: Reading<'_, T>,
    ) -> Result<Reply<T>, RequestFailure> {
        let Reading { raw, limit, parse, subject } = reading;
        let mut kept = None;
        let mut read = |body: &[u8], about: &AskedAbout<'_>| {
            let value = parse(body)?;
            let other = subject.and_then(|names| (names.other)(&value, about));
            kept = Some(value);
            Ok(other)
        };
        let reply = self.send(request, Reader { raw, limit, read: &mut read }).await?;
        match (reply, kept) {
            (Ok(Answered { value: (), meta }), Some(value)) => Ok(Ok(Answered { value, meta })),
            (Ok(_), None) => Err(RequestFailure::local(FailureKind::UnexpectedShape("not read".to_string()))),
            (Err(refused), _) => Ok(Err(refused)),
        }
    }

    async fn send(&self, request: &Request, reader: Reader<'_>) -> Outcome {
        let circuit = request.kind.map(|kind| self.circuits.of(kind)).unwrap_or_default();
        // On the heap: otherwise each caller's future would contain it, and copying that future is expensive.
        let outcome = match Box::pin(self.attempts(request, reader, &circuit)).await {
            Ok(outcome) => outcome,
            // The request was not sent. What was asked for a credential has its own place in the trail.
            Err(error) => {
                return match *error {
                    CallError::Refused(refused) => Ok(Err(refused)),
                    CallError::Failed(failure) => Err(failure),
                };
            }
        };
        trail::note(request, &outcome, self.clock.now());
        if circuit.note(&outcome)
            && let Some(kind) = request.kind
            && let Some(given_up) = circuit.given_up(kind)
        {
            self.watch.given_up(&given_up);
        }
        outcome
    }

    /// Repeats the request until there is a final answer, the attempts are used up, or the kind is given up. Fails if
    /// there is no credential to send.
    async fn attempts(
        &self,
        request: &Request,
        mut reader: Reader<'_>,
        circuit: &Circuit,
    ) -> Result<Outcome, Box<CallError>> {
        let Reader { raw, limit, .. } = reader;
        let mut attempt = 0;
        let mut signed_in_again = false;
        let mut refused: Option<RequestFailure> = None;
        loop {
            let hopeless = match circuit.hope() {
                TryBudget::Full => false,
                // Wait for a limit nevertheless.
                TryBudget::Once => refused.as_ref().is_some_and(|last| {
                    matches!(last.kind, FailureKind::Transport(_) | FailureKind::HostFault(_))
                }),
                TryBudget::None => true,
            };
            if hopeless {
                return Ok(Err(refused.unwrap_or_else(|| circuit.failure(attempt))));
            }
            attempt += 1;
            let (ticket, exchanged) = match self.follow(request, attempt, raw, limit, circuit).await {
                Ok(followed) => followed,
                // The host's answer to this request says more than the closed gate, or a missing credential.
                Err(error) => return refused.map(Err).map_or_else(|| unsent(error), Ok),
            };
            let now = self.clock.now();
            let (class, renewable, outcome) = match exchanged {
                Ok(exchange) => {
                    self.understand(exchange, &Attempt { request, number: attempt, ticket, now }, &mut reader)
                }
                Err(TransportError { text, permanent }) => {
                    self.gate.leave(ticket, None, now);
                    let kind = match permanent {
                        Some(permanent) if self.lasts(permanent) => {
                            FailureKind::PermanentFailure(permanent, text)
                        }
                        Some(_) | None => FailureKind::Transport(text),
                    };
                    (
                        Class::Transport,
                        false,
                        Err(RequestFailure { attempts: attempt, ..RequestFailure::local(kind) }),
                    )
                }
            };
            self.report(request, attempt, &outcome);
            let failure = match outcome {
                // Not a retry: the host says nothing against the request.
                Ok(Err(_)) if renewable && !std::mem::replace(&mut signed_in_again, true) => {
                    trail::note(request, &outcome, now);
                    attempt -= 1;
                    continue;
                }
                Ok(reply) => return Ok(Ok(reply)),
                Err(failure) => failure,
            };
            let final_kind = matches!(
                failure.kind,
                FailureKind::TooLarge { .. }
                    | FailureKind::UnexpectedShape(_)
                    | FailureKind::Foreign(_)
                    | FailureKind::Redirect(_)
                    | FailureKind::PermanentFailure(..)
            );
            if final_kind || request.upload.as_ref().is_some_and(UploadFile::is_invalidated) {
                return Ok(Err(failure));
            }
            let is_fault = matches!(class, Class::HostFault { .. } | Class::Transport | Class::Page);
            if self.settings.faults_are_final && is_fault {
                return Ok(Err(failure));
            }
            match decide_within(self.settings.attempts, class, attempt, fastrand::f64()) {
                // The gate already holds all requests back for the limit.
                RetryDecision::WaitForReset => {}
                RetryDecision::RetryAfter(_) if matches!(class, Class::SecondaryLimit { .. }) => {}
                RetryDecision::RetryAfter(wait) => {
                    self.watch.again(request.url.host_str().unwrap_or_default(), &failure, wait);
                    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::ZERO);
                    let until = self.clock.now().checked_add(wait).unwrap_or(Timestamp::MAX);
                    let reason = match class {
                        Class::Throttled { .. } => WaitReason::Throttled,
                        _ => WaitReason::HostFault,
                    };
                    if wait > SHOWN_WAIT {
                        let waited = self.gate.wait(until, reason, &self.clock, &*self.watch);
                        circuit.unless_given_up(waited).await;
                    } else {
                        circuit.unless_given_up(self.clock.sleep_until(until)).await;
                    }
                }
                RetryDecision::GiveUp | RetryDecision::Accept => return Ok(Err(failure)),
            }
            refused = Some(failure);
        }
    }

    /// One attempt: sends the request, and follows the host's redirects within its origin. The host counts every hop,
    /// so each passes the gate. The caller must give the ticket back. The attempt ends at once when the kind is given
    /// up.
    async fn follow(
        &self,
        request: &Request,
        attempt: u32,
        raw: bool,
        limit: usize,
        circuit: &Circuit,
    ) -> Result<(Pass, Result<Exchange, TransportError>), Unsent> {
        let mut chain = RedirectChain::new(request);
        let mut first = true;
        loop {
            let entered = circuit.unless_given_up(self.gate.enter(&self.clock, &*self.watch)).await;
            let ticket = entered.unwrap_or_else(|| Err(circuit.failure(attempt.saturating_sub(1))));
            let ticket = ticket.map_err(Unsent::Held)?;
            if let Err(error) = self.credential.ready().await {
                self.gate.leave(ticket, None, self.clock.now());
                return Err(Unsent::NoCredential(Box::new(error)));
            }
            self.counts.requests.fetch_add(1, Ordering::Relaxed);
            if attempt > 1 && std::mem::take(&mut first) {
                self.counts.retries.fetch_add(1, Ordering::Relaxed);
            }
            let mut exchange = match circuit.unless_given_up(self.exchange(chain.request(), limit)).await {
                Some(Ok(exchange)) => exchange,
                Some(Err(transport_error)) => return Ok((ticket, Err(transport_error))),
                None => {
                    self.gate.leave(ticket, None, self.clock.now());
                    return Err(Unsent::Held(circuit.failure(attempt)));
                }
            };
            exchange.redirected_to = match exchange.status {
                // Not a redirect, and possibly the answer to a redirected request.
                304 => chain.elsewhere(),
                300..400 => text(&exchange.headers, "location"),
                _ => chain.elsewhere(),
            };
            if !chain.follow(exchange.status, &exchange.headers) {
                return Ok((ticket, Ok(exchange)));
            }
            let now = self.clock.now();
            let answer = exchange.answer(raw, now);
            let Meaning { reading, .. } = self.dialect.understand(&answer);
            self.gate.leave(ticket, Some(&Feedback { class: Class::Redirect, reading, rest: None }), now);
            if self.watch.wants_exchanges() {
                let to = exchange.redirected_to.as_deref().unwrap_or_default();
                self.report_result(request, attempt, &format!("{} to {}", exchange.status, single_line(to)));
            }
        }
    }

    async fn exchange(&self, request: &Request, limit: usize) -> Result<Exchange, TransportError> {
        let ClientSettings { proxy, timeout, .. } = &self.settings;
        // The commands have checked the hosts that they know; a host may name others.
        proxy.check([&request.url])?;
        let mut authorized = request.clone();
        let sent_at = self.clock.now();
        self.dialect.prepare(&mut authorized);
        self.credential.authorize(&mut authorized, sent_at)?;
        let Request { method, url, headers: sent, body, upload, .. } = authorized;
        let (method, body) = match (method, upload) {
            (Method::Get, _) => (reqwest::Method::GET, None),
            (Method::Put, _) => (reqwest::Method::PUT, None),
            (Method::Post, None) => (reqwest::Method::POST, Some(body.into())),
            (Method::Post, Some(upload)) => (reqwest::Method::POST, Some(upload.body(&self.watch))),
        };
        let mut question = reqwest::Request::new(method, url);
        *question.body_mut() = body;
        // The client's default headers do not replace these.
        *question.headers_mut() = sent.clone();
        let http = self.http.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut response = match http.execute(question).await {
            Ok(response) => response,
            Err(error) => return Err(transport_error(&error, &request.url, *timeout, proxy).await),
        };
        if let Some(why) = ambiguity(response.headers()) {
            // What follows on the connection may be forged. The HTTP library cannot close one, only all of them.
            if let Ok(fresh) = self.settings.build() {
                *self.http.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
            }
            return Err(format!("the length of the answer is ambiguous: {why}").into());
        }
        let status = response.status().as_u16();
        let limit = if status == 200 { limit } else { ERROR_BODY_LIMIT };
        let body = read_body(&mut response, limit).await;
        let headers = std::mem::take(response.headers_mut());
        Ok(Exchange { sent, sent_at, status, headers, redirected_to: None, body })
    }
}

/// Why a request was not sent.
enum Unsent {
    /// The gate is closed, or the kind is given up.
    Held(RequestFailure),
    /// There is nothing to sign in with.
    NoCredential(Box<CallError>),
}

fn unsent(why: Unsent) -> Result<Outcome, Box<CallError>> {
    match why {
        Unsent::Held(failure) => Ok(Err(failure)),
        Unsent::NoCredential(error) => Err(error),
    }
}
