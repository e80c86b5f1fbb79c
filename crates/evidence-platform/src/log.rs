//! The log: JSON lines on standard error, which never make a request wait or fail.
//!
//! Lines wait in a bounded queue for one thread that writes them. If nothing reads the other end, or the disk is full, lines
//! are lost and counted. No other part of the program writes to standard error while it runs: one blocked write would
//! block the next.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use prometheus_client::metrics::counter::Counter;
use serde_json::json;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::time::Clock;

/// Lines that wait. A line has less than 2 kB.
const QUEUE: usize = 4_096;

/// How long the end of the program waits for the last lines.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often to try again to write to a pipe that is full but does not block.
const RETRY: Duration = Duration::from_millis(20);

/// The lines that were lost.
pub(crate) static DROPPED: LazyLock<Counter> = LazyLock::new(Counter::default);

/// The queue of lines.
#[derive(Debug, Clone)]
pub struct Log {
    queue: SyncSender<Vec<u8>>,
    /// Lines that are not written yet.
    waiting: Arc<AtomicUsize>,
}

/// Starts the log, at the level of EVIDENCE_PLATFORM_LOG. Panics become lines of it.
///
/// # Errors
/// Fails if the system gives no thread.
pub fn start() -> io::Result<Log> {
    // A copy, since another thread may hold the lock of `io::stderr` during a write that blocks.
    let log = Log::to(File::from(io::stderr().as_fd().try_clone_to_owned()?), Clock::system())?;
    let filter = EnvFilter::try_from_env("EVIDENCE_PLATFORM_LOG");
    let filter = filter.unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn"));
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_env_filter(filter)
        // It would print them, and printing panics on a standard error that takes nothing.
        .log_internal_errors(false)
        .with_writer(log.clone())
        .init();
    std::panic::set_hook(Box::new(|panic| tracing::error!(cause = %panic, "a task panicked")));
    Ok(log)
}

impl Log {
    fn to(file: File, clock: Clock) -> io::Result<Log> {
        let (queue, lines) = sync_channel(QUEUE);
        let waiting = Arc::<AtomicUsize>::default();
        let writer =
            Writer { file, clock, torn: false, reported: DROPPED.get(), waiting: Arc::clone(&waiting) };
        std::thread::Builder::new().name("log".to_owned()).spawn(move || writer.run(&lines))?;
        Ok(Log { queue, waiting })
    }

    /// Adds a line, unless the queue is full.
    pub fn put(&self, line: &str) {
        self.add(format!("{line}\n").into_bytes());
    }

    fn add(&self, line: Vec<u8>) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = self.queue.try_send(line) {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            DROPPED.inc();
        }
    }

    /// Waits until every line is written, but not for long.
    pub fn flush(&self) {
        let begun = Instant::now();
        while self.waiting.load(Ordering::Acquire) > 0 && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(self.clone())
    }
}

/// The writer of one line, which is passed as a whole.
#[derive(Debug)]
pub struct Line(Log);

impl io::Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.add(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The thread that writes.
struct Writer {
    file: File,
    clock: Clock,
    /// Whether a line was cut off: the next one begins on a new line.
    torn: bool,
    /// How many lost lines the log has reported.
    reported: u64,
    waiting: Arc<AtomicUsize>,
}

impl Writer {
    fn run(mut self, lines: &Receiver<Vec<u8>>) {
        while let Ok(line) = lines.recv() {
            let written = self.write(&line);
            if !written {
                DROPPED.inc();
            }
            if self.waiting.fetch_sub(1, Ordering::AcqRel) == 1 && written {
                self.report();
            }
        }
    }

    /// Says how many lines were lost, once lines are written again and none waits.
    fn report(&mut self) {
        let dropped = DROPPED.get();
        let lines = dropped.saturating_sub(self.reported);
        if lines == 0 {
            return;
        }
        let (timestamp, message) = (self.clock.now().to_string(), "log lines were lost");
        let line = json!({ "timestamp": timestamp, "level": "WARN", "message": message, "lines": lines });
        if self.write(format!("{line}\n").as_bytes()) {
            self.reported = dropped;
        }
    }

    fn write(&mut self, line: &[u8]) -> bool {
        if self.torn && !self.write_all(b"\n") {
            return false;
        }
        self.torn = false;
        self.write_all(line)
    }

    fn write_all(&mut self, mut rest: &[u8]) -> bool {
        let whole = rest.len();
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => break,
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(RETRY),
                Err(_) => break,
            }
        }
        self.torn |= !rest.is_empty() && rest.len() < whole;
        rest.is_empty()
    }
}
