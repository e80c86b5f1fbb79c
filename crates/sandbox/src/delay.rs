//! The latency: delays an answer, precise to a tenth of a millisecond.
//!
//! The runtime's own timer has whole milliseconds and rounds up twice: 20 ms could become 22, and a measurement
//! against the host's latency would attribute the rest to the client. A thread's sleep is late by a tenth of a
//! millisecond.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// A waiter and its deadline.
type Waiter = (Instant, oneshot::Sender<()>);

/// Ends waits at their deadlines. Its thread starts with the first wait and ends on drop.
#[derive(Debug, Default)]
pub(crate) struct Delay {
    waiters: OnceLock<Option<Mutex<Sender<Waiter>>>>,
}

impl Delay {
    /// Waits this long.
    pub(crate) async fn wait(&self, latency: Duration) {
        if latency.is_zero() {
            return;
        }
        let until = Instant::now() + latency;
        if let Some(waiters) = self.waiters.get_or_init(|| begin().ok().map(Mutex::new)) {
            let (ended, end) = oneshot::channel();
            if crate::lock::lock(waiters).send((until, ended)).is_ok() && end.await.is_ok() {
                return;
            }
        }
        // Without a thread, wait slightly too long.
        tokio::time::sleep_until(until.into()).await;
    }
}

fn begin() -> io::Result<Sender<Waiter>> {
    let (waiters, queue) = channel();
    thread::Builder::new().name("sandbox latency".to_owned()).spawn(move || end_waits(&queue))?;
    Ok(waiters)
}

/// In order of arrival: all answers have the same latency, so the first to wait is the first to finish. After a change
/// of the latency, a shorter wait behind a longer one ends with that.
fn end_waits(queue: &Receiver<Waiter>) {
    for (until, ended) in queue {
        thread::sleep(until.saturating_duration_since(Instant::now()));
        // The client may have left in the meantime.
        let _ = ended.send(());
    }
}
