//! The open connections: how many there may be, and which one closes when there are too many.
//!
//! A connection with an active authenticated request is never closed to make room. Of the others the oldest is: so ten
//! thousand clients that send nothing, or no valid key, do not lock out one that does. A reverse proxy cannot do this:
//! one that streams uploads passes slow clients on, and it cannot recognize a valid key.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// A connection. Requests carry it until authentication succeeds.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// Cloned by every active request.
    active: ActiveRequest,
    /// Notified when the connection must close.
    close: Notify,
}

/// Protects a connection from eviction while a clone of it exists.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActiveRequest(Arc<()>);

impl Connection {
    /// Marks an authenticated request as active.
    pub(crate) fn activate(&self) -> ActiveRequest {
        self.active.clone()
    }

    fn is_active(&self) -> bool {
        Arc::strong_count(&self.active.0) > 1
    }
}

/// The slot of an open connection, released on drop.
#[derive(Debug)]
pub(super) struct Slot {
    number: u64,
    pub(super) connection: Arc<Connection>,
    all: Arc<Connections>,
}

impl Slot {
    /// Waits until this connection must close.
    pub(super) async fn closing(&self) {
        self.connection.close.notified().await;
    }
}

impl Drop for Slot {
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

/// The outcome for a new connection.
#[derive(Debug)]
pub(super) enum Admission {
    /// There was room.
    Free(Slot),
    /// An older connection closes.
    Evicting(Slot),
    /// All are active.
    Full,
}

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Connections> {
        Arc::new(Connections { most: most.max(1), state: Mutex::default() })
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a new connection.
    pub(super) fn admit(self: &Arc<Connections>) -> Admission {
        let mut state = self.locked();
        let mut evicted = false;
        if state.open.len() >= self.most {
            let idle = state.open.iter().find(|(_, connection)| !connection.is_active());
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
        let slot = Slot { number, connection, all: Arc::clone(self) };
        if evicted { Admission::Evicting(slot) } else { Admission::Free(slot) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_without_an_active_request_makes_room() {
        let all = Connections::new(2);
        let Admission::Free(first) = all.admit() else { panic!("full") };
        let Admission::Free(second) = all.admit() else { panic!("full") };
        let active = first.connection.activate();
        let Admission::Evicting(third) = all.admit() else { panic!("not evicting") };
        second.closing().await;
        drop(second);
        let also = third.connection.activate().clone();
        assert!(matches!(all.admit(), Admission::Full));
        drop((active, first));
        assert!(matches!(all.admit(), Admission::Free(_)));
        drop(also);
    }
}
