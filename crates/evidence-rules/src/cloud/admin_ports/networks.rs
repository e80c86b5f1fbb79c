//! Sets of addresses, as far as "the internet" needs them.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The first and the last address of a network.
type Span = (u128, u128);

/// An address as a number.
pub(super) trait Address: FromStr {
    fn number(self) -> u128;
}

impl Address for Ipv4Addr {
    fn number(self) -> u128 {
        u128::from(u32::from(self))
    }
}

impl Address for Ipv6Addr {
    fn number(self) -> u128 {
        u128::from(self)
    }
}

/// The network that a text such as `192.0.2.0/24` names, of addresses with so many bits.
pub(super) fn network<A: Address>(text: &str, bits: u32) -> Option<Span> {
    let (address, length) = text.split_once('/')?;
    let free = bits.checked_sub(length.parse().ok()?)?;
    let hosts = match free {
        128 => u128::MAX,
        free => (1_u128 << free) - 1,
    };
    let first = address.parse::<A>().ok()?.number() & !hosts;
    Some((first, first | hosts))
}

/// A set of addresses.
#[derive(Debug, Default)]
pub(super) struct Networks(Vec<Span>);

impl Networks {
    pub(super) fn add(&mut self, network: Span) {
        self.0.push(network);
    }

    /// The same set as spans that neither overlap nor touch, in order.
    fn merged(&self) -> Vec<Span> {
        let mut spans = self.0.clone();
        spans.sort_unstable();
        let mut merged: Vec<Span> = Vec::new();
        for (first, last) in spans {
            match merged.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => merged.push((first, last)),
            }
        }
        merged
    }

    /// Whether the set holds as many addresses as a network of /1 or more.
    pub(super) fn hold_half_of_ipv4(&self) -> bool {
        let size = |(first, last): &Span| last - first + 1;
        self.merged().iter().map(size).sum::<u128>() >= 1 << 31
    }

    /// Whether the set holds `2000::/3`, from which all public addresses are taken.
    pub(super) fn hold_public_ipv6(&self) -> bool {
        let (first, last) = (0x2 << 124, (0x4 << 124) - 1);
        self.merged().iter().any(|(from, to)| *from <= first && last <= *to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_as_the_internet() {
        let ipv4 = |texts: &[&str]| {
            let mut set = Networks::default();
            texts.iter().for_each(|text| set.add(network::<Ipv4Addr>(text, 32).unwrap()));
            set.hold_half_of_ipv4()
        };
        for open in [
            ["0.0.0.0/0"].as_slice(),
            &["0.0.0.0/1"],
            &["128.0.0.0/1"],
            &["0.0.0.0/2", "64.0.0.0/2"],
            &["64.0.0.0/2", "128.0.0.0/2"],
            &["0.0.0.0/1", "128.0.0.0/1"],
            // All but the private networks.
            &[
                "0.0.0.0/5",
                "8.0.0.0/7",
                "11.0.0.0/8",
                "12.0.0.0/6",
                "16.0.0.0/4",
                "32.0.0.0/3",
                "64.0.0.0/2",
                "128.0.0.0/3",
            ],
        ] {
            assert!(ipv4(open), "{open:?}");
        }
        for closed in [
            [].as_slice(),
            &["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
            &["0.0.0.0/2", "0.0.0.0/3"],
            &["203.0.113.7/32"],
            &["0.0.0.0/2", "64.0.0.0/3"],
        ] {
            assert!(!ipv4(closed), "{closed:?}");
        }
        let ipv6 = |texts: &[&str]| {
            let mut set = Networks::default();
            texts.iter().for_each(|text| set.add(network::<Ipv6Addr>(text, 128).unwrap()));
            set.hold_public_ipv6()
        };
        for open in [["::/0"].as_slice(), &["::/1"], &["2000::/3"], &["::/2"], &["2000::/4", "3000::/4"]] {
            assert!(ipv6(open), "{open:?}");
        }
        for closed in
            [[].as_slice(), &["2000::/4"], &["4000::/2"], &["fc00::/7"], &["2001:db8::/32"], &["8000::/1"]]
        {
            assert!(!ipv6(closed), "{closed:?}");
        }
        for text in ["", "0.0.0.0", "0.0.0.0/33", "0.0.0.0/-1", "::/129", "x/1", "0.0.0.0/", "1.2.3/8"] {
            assert_eq!(network::<Ipv4Addr>(text, 32), None, "{text}");
        }
        assert_eq!(network::<Ipv6Addr>("::/129", 128), None);
    }
}
