//! How many requests may be in flight: additive increase, multiplicative decrease.
//!
//! A secondary limit means that the host has too many requests at once, so the number halves, and it grows back one
//! by one while answers are good. Only numbers: nothing here holds a request back or waits.

/// How many good answers it takes to allow one more request in flight.
pub const SUCCESSES_PER_STEP: u32 = 20;

/// The number of requests that may be in flight.
#[derive(Debug, Clone)]
pub struct Concurrency {
    maximum: usize,
    allowed: usize,
    successes: u32,
    epoch: u64,
}

/// When a request was started, counted in decreases. Every request takes a ticket and returns it with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(u64);

impl Concurrency {
    /// Starts at `maximum` requests in flight (at least one).
    pub fn new(maximum: usize) -> Concurrency {
        let maximum = maximum.max(1);
        Concurrency { maximum, allowed: maximum, successes: 0, epoch: 0 }
    }

    /// How many requests may be in flight now; never zero.
    pub fn allowed(&self) -> usize {
        self.allowed
    }

    /// The ticket of a request that starts now.
    pub fn start(&self) -> Ticket {
        Ticket(self.epoch)
    }

    /// Counts a good answer.
    ///
    /// An answer to a request from before the last decrease says nothing about the number now, and is not counted.
    pub fn succeeded(&mut self, ticket: Ticket) {
        if ticket.0 != self.epoch || self.allowed >= self.maximum {
            return;
        }
        self.successes += 1;
        if self.successes >= SUCCESSES_PER_STEP {
            self.successes = 0;
            self.allowed += 1;
        }
    }

    /// Halves the number after a secondary limit. Returns whether it did.
    ///
    /// A host that refuses one request refuses all that are in flight. That is one refusal, not thirty-two: the
    /// number halves once for all requests that started before it halved.
    pub fn refused(&mut self, ticket: Ticket) -> bool {
        if ticket.0 != self.epoch {
            return false;
        }
        self.epoch += 1;
        self.successes = 0;
        self.allowed = (self.allowed / 2).max(1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_refusals_halves_once() {
        let mut concurrency = Concurrency::new(32);
        let tickets: Vec<Ticket> = (0..32).map(|_| concurrency.start()).collect();
        let halved = tickets.into_iter().filter(|ticket| concurrency.refused(*ticket)).count();
        assert_eq!((halved, concurrency.allowed()), (1, 16));

        let next = concurrency.start();
        assert!(concurrency.refused(next));
        assert_eq!(concurrency.allowed(), 8);
    }

    #[test]
    fn never_below_one() {
        let mut concurrency = Concurrency::new(0);
        assert_eq!(concurrency.allowed(), 1);
        for _ in 0..10 {
            let ticket = concurrency.start();
            concurrency.refused(ticket);
            assert_eq!(concurrency.allowed(), 1);
        }
    }

    #[test]
    fn grows_back_by_one_up_to_the_maximum() {
        let mut concurrency = Concurrency::new(4);
        let early = concurrency.start();
        assert!(concurrency.refused(early));
        assert_eq!(concurrency.allowed(), 2);
        // Answers to requests from before the decrease do not count.
        (0..100).for_each(|_| concurrency.succeeded(early));
        assert_eq!(concurrency.allowed(), 2);

        let ticket = concurrency.start();
        (1..SUCCESSES_PER_STEP).for_each(|_| concurrency.succeeded(ticket));
        assert_eq!(concurrency.allowed(), 2);
        concurrency.succeeded(ticket);
        assert_eq!(concurrency.allowed(), 3);
        (0..1_000).for_each(|_| concurrency.succeeded(ticket));
        assert_eq!(concurrency.allowed(), 4);
    }

    #[test]
    fn a_refusal_forgets_the_successes() {
        let mut concurrency = Concurrency::new(8);
        let first = concurrency.start();
        concurrency.refused(first);
        let second = concurrency.start();
        (1..SUCCESSES_PER_STEP).for_each(|_| concurrency.succeeded(second));
        assert!(concurrency.refused(second));
        assert_eq!(concurrency.allowed(), 2);
        let third = concurrency.start();
        concurrency.succeeded(third);
        assert_eq!(concurrency.allowed(), 2);
    }
}
