//! Which waivers end soon.

use evidence_bundle::document::Warning;
use evidence_bundle::waiver::{DAY, day};

use super::file::Waivers;

/// The days before its end in which a waiver is named.
const SOON: i64 = 30;

/// A waiver that is over or ends soon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiry {
    /// Its id.
    pub id: String,
    /// Its last day.
    pub expires_at: String,
    /// How many days are left after today; negative if it is over.
    pub days: i64,
}

impl Expiry {
    /// The end in words.
    pub fn sentence(&self) -> String {
        let Expiry { id, expires_at, days } = self;
        match days {
            ..0 => format!("the waiver {id} expired on {expires_at}: its failures count without it"),
            0 => format!("the waiver {id} expires today, on {expires_at}"),
            1 => format!("the waiver {id} expires tomorrow, on {expires_at}"),
            days => format!("the waiver {id} expires in {days} days, on {expires_at}"),
        }
    }
}

impl Expiry {
    /// The end as a warning.
    pub fn warning(&self) -> Warning {
        Warning {
            code: "waiver_expires".to_string(),
            message: self.sentence(),
            source: None,
            subject: Some(self.id.clone()),
        }
    }
}

/// The waivers that are over or end within 30 days, the earliest end first. `now` is in Unix seconds.
pub fn expiries(waivers: &Waivers, now: i64) -> Vec<Expiry> {
    let today = now.div_euclid(DAY);
    let mut expiries: Vec<Expiry> = waivers
        .entries
        .iter()
        .filter_map(|waiver| {
            let days = day(&waiver.expires_at)?.div_euclid(DAY) - today;
            let (id, expires_at) = (waiver.id.clone(), waiver.expires_at.clone());
            (days <= SOON).then_some(Expiry { id, expires_at, days })
        })
        .collect();
    expiries.sort_by(|left, right| (left.days, &left.id).cmp(&(right.days, &right.id)));
    expiries
}
