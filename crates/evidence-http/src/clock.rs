//! The source of time and of waiting, which tests replace so that they need not wait.

mod hands;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

pub use self::hands::VirtualTime;

/// The machine's time, made monotonic. A clock that is set back during a run would leave contradictory times in the
/// documents, and such a bundle does not verify: from then on the elapsed time counts.
fn machine_time() -> Timestamp {
    static LAST: Mutex<Option<(Timestamp, Instant)>> = Mutex::new(None);
    let machine = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let now = not_before(*last, machine, Instant::now());
    *last = Some(now);
    now.0
}

fn not_before(
    last: Option<(Timestamp, Instant)>,
    machine: Timestamp,
    instant: Instant,
) -> (Timestamp, Instant) {
    let passed = last.and_then(|(time, at)| time.checked_add(instant.saturating_duration_since(at)).ok());
    (passed.map_or(machine, |passed| passed.max(machine)), instant)
}

/// The source of time and of waiting.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine's clock, except that it never goes back; waiting takes time.
    System,
    /// A clock for tests: a wait advances it and returns at once.
    Manual(Arc<Mutex<Timestamp>>),
    /// A clock that a simulation moves; a wait lasts until its hands reach the deadline.
    Driven(Arc<VirtualTime>),
}

impl Clock {
    /// A manual clock that shows `start`.
    pub fn manual(start: Timestamp) -> Clock {
        Clock::Manual(Arc::new(Mutex::new(start)))
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        match self {
            Clock::System => machine_time(),
            Clock::Manual(now) => *now.lock().unwrap_or_else(PoisonError::into_inner),
            Clock::Driven(hands) => hands.now(),
        }
    }

    /// Waits until `deadline`; returns at once when it has passed.
    ///
    /// Takes a point in time, not a duration, so that any number of waiters wait together: on a manual clock
    /// the first one moves the hands, and the others return at once.
    pub async fn sleep_until(&self, deadline: Timestamp) {
        match self {
            Clock::System => {
                let left = deadline.duration_since(self.now());
                if let Ok(left) = Duration::try_from(left) {
                    tokio::time::sleep(left).await;
                }
            }
            Clock::Manual(now) => {
                {
                    let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
                    *now = (*now).max(deadline);
                }
                tokio::task::yield_now().await;
            }
            Clock::Driven(hands) => hands.wait_until(deadline).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_is_not_followed() {
        let second = |number: i64| Timestamp::from_second(number).unwrap();
        let begin = Instant::now();
        let later = begin + Duration::from_secs(3);
        for (last, machine, now) in [
            (None, second(100), second(100)),
            (Some((second(100), begin)), second(103), second(103)),
            (Some((second(100), begin)), second(40), second(103)),
            (Some((second(100), begin)), second(900), second(900)),
        ] {
            assert_eq!(not_before(last, machine, later), (now, later));
        }
    }
}
