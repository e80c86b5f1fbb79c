//! The latency: holds an answer back for its time, to a tenth of a millisecond.
//!
//! The runtime's own timer knows whole milliseconds, and rounds up twice: 20 ms would become up to 22, and whoever
//! measures a client by the host's latency would blame the client. A thread's sleep is a tenth of a millisecond late.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Who waits, and until when.
type Waiter = (Instant, oneshot::Sender<()>);

/// Ends waits at their time. The thread that does it begins with the first wait and ends with this.
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
        // Without a thread it is a little too long.
        tokio::time::sleep_until(until.into()).await;
    }
}

fn begin() -> io::Result<Sender<Waiter>> {
    let (waiters, queue) = channel();
    thread::Builder::new().name("sandbox latency".to_owned()).spawn(move || end_waits(&queue))?;
    Ok(waiters)
}

/// One after the other: all answers take the same time, so who came first is free first. Where the latency was changed
/// meanwhile, a shorter wait behind a longer one ends with that.
fn end_waits(queue: &Receiver<Waiter>) {
    for (until, ended) in queue {
        thread::sleep(until.saturating_duration_since(Instant::now()));
        // A client that left in the meantime waits no more.
        let _ = ended.send(());
    }
}
