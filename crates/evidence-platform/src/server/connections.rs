//! The open connections: how many there may be, and which one has to go when there are too many.
//!
//! A connection with a request under way that came with a good key is never closed for another one. The oldest of the
//! others is: ten thousand clients that say nothing, or nothing that counts, do not keep out the one that does.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// A connection, as the others see it.
#[derive(Debug, Default)]
struct Connection {
    /// How many requests that count are under way.
    busy: AtomicUsize,
    /// Told to close.
    close: Notify,
}

/// The connection that a request came by. It travels with the request until somebody finds that the request counts.
#[derive(Debug, Clone)]
pub(crate) struct Seat(Arc<Connection>);

impl Seat {
    /// The connection that has this place.
    pub(super) fn of(place: &Place) -> Seat {
        Seat(Arc::clone(&place.connection))
    }

    /// Marks the connection busy with a request.
    pub(crate) fn busy(&self) -> Busy {
        self.0.busy.fetch_add(1, SeqCst);
        Busy(Arc::clone(&self.0))
    }
}

/// Keeps a connection busy as long as it, or a copy of it, lives.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Connection>);

// What travels in the extensions of a response must be able to be copied.
impl Clone for Busy {
    fn clone(&self) -> Busy {
        Seat(Arc::clone(&self.0)).busy()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, SeqCst);
    }
}

/// A place among the connections. Given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    number: u64,
    connection: Arc<Connection>,
    all: Arc<Connections>,
}

impl Place {
    /// Waits until this connection has to make room.
    pub(super) async fn told_to_close(&self) {
        self.connection.close.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.locked().open.remove(&self.number);
    }
}

/// All open connections.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// By age: the first is the oldest.
    open: BTreeMap<u64, Arc<Connection>>,
}

/// What became of a new connection.
#[derive(Debug)]
pub(super) enum Admission {
    /// There was room.
    Free(Place),
    /// Another one was told to close.
    Evicting(Place),
    /// All are busy.
    Full,
}

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Connections> {
        Arc::new(Connections { most: most.max(1), state: Mutex::default() })
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a new connection in.
    pub(super) fn admit(self: &Arc<Connections>) -> Admission {
        let mut state = self.locked();
        let mut evicted = false;
        if state.open.len() >= self.most {
            let idle = state.open.iter().find(|(_, connection)| connection.busy.load(SeqCst) == 0);
            let Some(number) = idle.map(|(number, _)| *number) else { return Admission::Full };
            if let Some(connection) = state.open.remove(&number) {
                connection.close.notify_one();
            }
            evicted = true;
        }
        let number = state.next;
        state.next = state.next.wrapping_add(1);
        let connection = Arc::<Connection>::default();
        state.open.insert(number, Arc::clone(&connection));
        let place = Place { number, connection, all: Arc::clone(self) };
        if evicted { Admission::Evicting(place) } else { Admission::Free(place) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_that_waits_makes_room() {
        let all = Connections::new(2);
        let Admission::Free(first) = all.admit() else { panic!("full") };
        let Admission::Free(second) = all.admit() else { panic!("full") };
        let busy = Seat::of(&first).busy();
        let Admission::Evicting(third) = all.admit() else { panic!("not evicting") };
        second.told_to_close().await;
        drop(second);
        let also = Seat::of(&third).busy().clone();
        assert!(matches!(all.admit(), Admission::Full));
        drop((busy, first));
        assert!(matches!(all.admit(), Admission::Free(_)));
        drop(also);
    }
}
