//! A collection under the code host's documented limits, with a clock that jumps from event to event.
//!
//! The tool's own library talks to the sandbox over a real port. Both use one clock. It stops while any task can run;
//! once every task waits, it jumps to the earliest time that a task waits for: the end of an answer's latency, of a
//! minute of the pace, or of an hour of the limit. Hours pass at once, and no event in between is skipped.
//!
//! Counters decide whether every task waits: the host holds every request that was started, and the tool has read every
//! answer that the host released.

pub(crate) mod forecasts;
pub(crate) mod organization;
pub(crate) mod table;

use std::cell::OnceCell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use evidence::collection::{self, Collection, Connected};
use evidence::config::Config;
use evidence::env::{Clock, Env, VirtualTime};
use evidence::forecast::Forecast;
use evidence::report::{Event, Reporter};
use evidence::source::{Plan, RunContext, Session};
use evidence::spool::Spool;
use evidence_bundle::document::BulkRecord;
use evidence_screen::Screen;
use jiff::{SignedDuration, Timestamp};
use sandbox::codehost::{Limits, Primary, Server};
use sandbox::{DEMO_TOKEN, large_organization};
use tokio::sync::Notify;

/// How many consecutive checks must show no change. Between two checks every task that can run has run.
const CHECKS: u32 = 4;

/// The requests and points of a user for an hour.
pub(crate) const PER_HOUR: u64 = 5_000;

/// Those of an app's installation in an organization of more than 200 repositories.
pub(crate) const PER_HOUR_OF_APP: u64 = 12_500;

/// How much of its time the host takes for a query, and for each repository in it: 1.25 s for 50, as others measured for
/// queries like these.
const QUERY_TIME: Duration = Duration::from_millis(200);
const REPOSITORY_TIME: Duration = Duration::from_millis(21);

/// After this long without a change, a task waits for something other than the clock.
const STUCK: Duration = Duration::from_secs(60);

/// An organization on a host that enforces its documented limits.
pub(crate) struct Simulation {
    server: Server,
    /// The tool's clock, which the host also reads.
    hands: Arc<VirtualTime>,
    /// The clock by which the host delays its answers.
    host: Arc<VirtualTime>,
    held: Arc<AtomicU64>,
    change: Arc<Notify>,
    /// The cache that one run leaves for the next.
    cache: tempfile::TempDir,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Simulated {
    /// Duration by the simulated clock.
    pub(crate) after: SignedDuration,
    pub(crate) requests: u64,
    /// Retried requests and failed observations: zero if the host never refused a request.
    pub(crate) refused: u64,
    /// What reading in bulk took.
    pub(crate) bulk: Option<BulkRecord>,
    /// Real duration.
    pub(crate) wall: Duration,
    pub(crate) began: Timestamp,
    /// The forecasts of the progress line, and when each was made.
    pub(crate) forecasts: Vec<(Timestamp, Forecast)>,
}

impl Simulation {
    /// Serves this many of the sandbox's repositories with this latency.
    pub(crate) fn new(repositories: u32, latency: SignedDuration) -> Result<Simulation, String> {
        Simulation::limited(repositories, latency, PER_HOUR)
    }

    /// The same for a credential that may send this many requests and points an hour.
    pub(crate) fn limited(
        repositories: u32,
        latency: SignedDuration,
        per_hour: u64,
    ) -> Result<Simulation, String> {
        let limits = Limits { primary: Some(Primary::new(per_hour, per_hour)), ..Limits::documented() };
        Simulation::with(limits, repositories, latency)
    }

    /// The same on a host with other limits.
    pub(crate) fn with(
        limits: Limits,
        repositories: u32,
        latency: SignedDuration,
    ) -> Result<Simulation, String> {
        let start = "2026-11-21T09:00:00Z".parse().map_err(text)?;
        let (hands, host) = (Arc::new(VirtualTime::new(start)), Arc::new(VirtualTime::new(start)));
        let held = Arc::new(AtomicU64::new(0));
        let read = Arc::clone(&hands);
        let (waiting, holding) = (Arc::clone(&host), Arc::clone(&held));
        let change = Arc::new(Notify::new());
        let changed = Arc::clone(&change);
        let server = large_organization(repositories)
            .limits(limits)
            .query_time(QUERY_TIME, REPOSITORY_TIME)
            .log_limit(0)
            .latency(Duration::try_from(latency).map_err(text)?)
            .clock(move || read.now())
            .waits(move |duration| {
                // By the clock's own time: one that was read before could be over now, and would not be counted.
                let wait = waiting.wait_for(duration);
                holding.fetch_add(1, Ordering::SeqCst);
                changed.notify_one();
                wait
            })
            .serve()
            .map_err(text)?;
        let cache = tempfile::tempdir().map_err(text)?;
        Ok(Simulation { server, hands, host, held, change, cache })
    }

    /// Advances the clock between two runs, without any request.
    pub(crate) fn pass(&self, duration: Duration) {
        let now = later(self.hands.now(), duration);
        self.hands.move_to(now);
        self.host.move_to(now);
    }

    /// A run with the default settings and these additional lines in the source's section.
    pub(crate) fn collect(&self, settings: &str) -> Result<Simulated, String> {
        self.run(settings, false, None)?.ok_or_else(|| "the run was cut off".to_string())
    }

    /// A run that goes on with what the one before it has read.
    pub(crate) fn resume(&self, settings: &str) -> Result<Simulated, String> {
        self.run(settings, true, None)?.ok_or_else(|| "the run was cut off".to_string())
    }

    /// A run that is killed after this time.
    pub(crate) fn kill_after(&self, settings: &str, time: SignedDuration) -> Result<(), String> {
        match self.run(settings, false, Some(time))? {
            Some(_) => Err("the run was too short to be killed".to_string()),
            None => Ok(()),
        }
    }

    fn run(
        &self,
        settings: &str,
        resume: bool,
        limit: Option<SignedDuration>,
    ) -> Result<Option<Simulated>, String> {
        let (env, reporter, surroundings) = self.surroundings(resume, false);
        let config = self.config(settings, &env)?;
        let directory = tempfile::tempdir().map_err(text)?;
        let mut spool = Spool::new(directory.path()).map_err(text)?;
        let (began, started) = (self.hands.now(), Instant::now());
        let connected: OnceCell<[Connected; 1]> = OnceCell::new();
        let run = async {
            let source = config.sources.first().ok_or("no source is configured")?;
            let session = source.connect(&surroundings).await.map_err(|error| format!("{error:?}"))?;
            let sources = connected.get_or_init(|| [Connected::Session(session, Vec::new())]);
            collection::gather(
                sources,
                config.framework,
                None,
                &surroundings.screen,
                &mut spool,
                &env,
                &*reporter,
            )
            .await
            .map_err(text)
        };
        let until = limit.and_then(|limit| began.checked_add(limit).ok());
        let collection: Option<Collection> = self.driven(run, &connected, &reporter, until)?;
        let Some(collection) = collection else { return Ok(None) };
        let session = session(connected.get()).ok_or("there is no session")?;
        let account = session.account();
        if limit.is_none() {
            session.delivered();
        }
        let forecasts =
            std::mem::take(&mut *reporter.forecasts.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Some(Simulated {
            after: self.hands.now().duration_since(began),
            requests: account.requests,
            refused: account.retries + u64::try_from(collection.errors.len()).unwrap_or(u64::MAX),
            bulk: account.bulk,
            wall: started.elapsed(),
            began,
            forecasts,
        }))
    }

    /// The plan of a dry run, and the time at its end.
    pub(crate) fn plan(&self, settings: &str, resume: bool) -> Result<(Plan, Timestamp), String> {
        let (env, reporter, surroundings) = self.surroundings(resume, true);
        let config = self.config(settings, &env)?;
        let connected: OnceCell<[Connected; 1]> = OnceCell::new();
        let run = async {
            let source = config.sources.first().ok_or("no source is configured")?;
            let session = source.connect(&surroundings).await.map_err(|error| format!("{error:?}"))?;
            let sources = connected.get_or_init(|| [Connected::Session(session, Vec::new())]);
            let session = session_of(sources).ok_or("there is no session")?;
            session.plan().await.map_err(|error| format!("{error:?}"))
        };
        let plan = self.driven(run, &connected, &reporter, None)?.ok_or("the dry run was cut off")?;
        Ok((plan, self.hands.now()))
    }

    fn surroundings(&self, resume: bool, dry_run: bool) -> (Env, Arc<Answered>, RunContext) {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let cache = self.cache.path().to_string_lossy();
        let variables = [("CODEHOST_TOKEN", DEMO_TOKEN), ("XDG_CACHE_HOME", &*cache)];
        let env = Env::new(variables, Clock::Driven(Arc::clone(&self.hands)));
        let (answers, forecasts) = (AtomicU64::new(0), Mutex::default());
        let (hands, change) = (Arc::clone(&self.hands), Arc::clone(&self.change));
        let reporter = Arc::new(Answered { answers, change, hands, forecasts });
        let surroundings = RunContext {
            env: env.clone(),
            reporter: reporter.clone(),
            screen: Arc::new(Screen::new(&[])),
            dry_run,
            resume,
            cache_secret: Arc::default(),
            budgets: evidence_http::Budgets::default(),
        };
        (env, reporter, surroundings)
    }

    /// Runs this while the clock is moved; `None` if it is not done at the given time.
    fn driven<T>(
        &self,
        run: impl Future<Output = Result<T, String>>,
        connected: &OnceCell<[Connected; 1]>,
        reporter: &Answered,
        until: Option<Timestamp>,
    ) -> Result<Option<T>, String> {
        self.held.store(0, Ordering::SeqCst);
        // The number of requests that the connection test has started is not visible here: count those that have
        // arrived, but at least one.
        let arrived = || self.held.load(Ordering::SeqCst).max(1);
        let sent = || session(connected.get()).map_or_else(arrived, |session| session.account().requests);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(text)?;
        runtime.block_on(async {
            tokio::select! {
                biased;
                output = run => output.map(Some),
                ended = self.drive(sent, &reporter.answers, until) => ended.map(|()| None),
            }
        })
    }

    fn config(&self, settings: &str, env: &Env) -> Result<Config, String> {
        let url = self.server.url();
        let text = format!(
            "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\nsources:\n  codehost:\n    mode: token\n    \
             org: acme\n    repos: \"*\"\n    api_url: {url}\n{settings}bundle:\n  signing:\n    private_key_path: \
             key.pem\n"
        );
        Config::from_bytes(Path::new("evidence.yaml"), text.as_bytes(), env)
            .map_err(|problems| format!("{problems:?}"))
    }

    /// Moves the clock whenever every task waits, until the given time.
    ///
    /// # Errors
    ///
    /// Fails if the run is stuck, with a description of its state.
    async fn drive(
        &self,
        sent: impl Fn() -> u64,
        answered: &AtomicU64,
        until: Option<Timestamp>,
    ) -> Result<(), String> {
        let mut released = 0;
        let state = || (sent(), self.held.load(Ordering::SeqCst), answered.load(Ordering::SeqCst));
        loop {
            let (mut seen, mut checks) = (state(), 0);
            while checks < CHECKS && seen.0 == seen.1 && seen.2 == released {
                // Every ready task and socket runs before this task resumes.
                tokio::task::yield_now().await;
                let now = state();
                checks = if now == seen { checks + 1 } else { 0 };
                seen = now;
            }
            let next = [self.hands.next(), self.host.next()].into_iter().flatten().min();
            if until.is_some_and(|until| self.hands.now() >= until) {
                return Ok(());
            }
            match next.filter(|_| checks == CHECKS) {
                Some(next) => {
                    self.hands.move_to(next);
                    released += u64::try_from(self.host.move_to(next)).unwrap_or(u64::MAX);
                }
                // A request arrived at the host, or the tool read an answer.
                None if tokio::time::timeout(STUCK, self.change.notified()).await.is_ok() => {}
                None => {
                    return Err(format!(
                        "nothing goes on: {} started, {} at the host, {released} released, {} understood, next {next:?}",
                        seen.0, seen.1, seen.2
                    ));
                }
            }
        }
    }
}

fn session(connected: Option<&[Connected; 1]>) -> Option<&dyn Session> {
    session_of(connected?)
}

fn session_of([connected]: &[Connected; 1]) -> Option<&dyn Session> {
    connected.session()
}

fn later(time: Timestamp, duration: Duration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Counts the answers that the tool has read, keeps its forecasts, and prints nothing.
struct Answered {
    answers: AtomicU64,
    change: Arc<Notify>,
    hands: Arc<VirtualTime>,
    forecasts: Mutex<Vec<(Timestamp, Forecast)>>,
}

impl Reporter for Answered {
    fn event(&self, event: Event<'_>) {
        if matches!(event, Event::Request { .. }) {
            self.answers.fetch_add(1, Ordering::SeqCst);
            self.change.notify_one();
        }
        if let Event::Answered { forecast: Some(forecast), .. } = event {
            let mut forecasts = self.forecasts.lock().unwrap_or_else(PoisonError::into_inner);
            forecasts.push((self.hands.now(), forecast));
        }
    }

    fn wants_debug(&self) -> bool {
        true
    }

    fn screen(&self, _screen: &Arc<Screen>) {}
}
