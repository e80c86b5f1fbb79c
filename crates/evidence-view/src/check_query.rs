//! Which checks of a bundle a page shows, in which order, and from which position.
//!
//! However many checks match, only the rows of one page are kept: a page begins after a position, which holds the sort
//! key of the row before it.

use std::cmp::Ordering;
use std::str::FromStr;

use evidence_bundle::Status;
use evidence_bundle::document::Check;

use crate::filter::CheckFilter;
use crate::words;

/// The length of a sort key in characters. Subjects that are equal up to there keep the order of the document.
const KEY_CHARACTERS: usize = 120;

/// A filter of checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckQuery {
    /// By status, control, rule and source.
    pub filter: CheckFilter,
    /// The codes of reasons; an empty list means all.
    pub reasons: Vec<String>,
    /// Text in the subject, in the reason's title, or in the actual value; case is ignored.
    pub text: String,
}

impl CheckQuery {
    /// Whether this check of this control matches.
    pub fn matches(&self, control: &str, check: &Check) -> bool {
        self.has_status(check.status) && self.matches_but_status(control, check)
    }

    pub(crate) fn has_status(&self, status: Status) -> bool {
        self.filter.statuses.is_empty() || self.filter.statuses.contains(&status)
    }

    pub(crate) fn matches_but_status(&self, control: &str, check: &Check) -> bool {
        self.filter.has_control(control)
            && self.filter.matches_but_status(check)
            && (self.reasons.is_empty() || self.reasons.contains(&check.reason))
            && (self.text.is_empty() || self.finds(check))
    }

    fn finds(&self, check: &Check) -> bool {
        let text = self.text.to_lowercase();
        let title = words::reason(&check.reason);
        let places = [Some(check.subject.as_str()), Some(&title), check.actual.as_deref()];
        places.into_iter().flatten().any(|place| place.to_lowercase().contains(&text))
    }
}

/// The sort keys of checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SortBy {
    /// The most urgent status first.
    #[default]
    Status,
    /// The control, in the order of the document.
    Control,
    /// The code of the rule.
    Rule,
    /// The subject.
    Subject,
    /// The title of the reason.
    Reason,
}

impl SortBy {
    /// All sort keys.
    pub const ALL: [SortBy; 5] =
        [SortBy::Status, SortBy::Control, SortBy::Rule, SortBy::Subject, SortBy::Reason];

    /// Its name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            SortBy::Status => "status",
            SortBy::Control => "control",
            SortBy::Rule => "rule",
            SortBy::Subject => "subject",
            SortBy::Reason => "reason",
        }
    }
}

/// A sort key and a direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sort {
    /// The sort key.
    pub by: SortBy,
    /// Whether the order is reversed.
    pub descending: bool,
}

impl Sort {
    pub(crate) fn key(self, check: &Check, ordinal: u64) -> Position {
        let short = |text: &str| text.chars().take(KEY_CHARACTERS).collect::<String>();
        let key = match self.by {
            SortBy::Status => check.status.urgency().to_string(),
            // The document lists the checks by control.
            SortBy::Control => String::new(),
            SortBy::Rule => short(&check.rule),
            SortBy::Subject => short(&check.subject).to_lowercase(),
            SortBy::Reason => short(&words::reason(&check.reason)),
        };
        Position { key, ordinal }
    }

    pub(crate) fn compare(self, one: &Position, other: &Position) -> Ordering {
        let by_key = one.key.cmp(&other.key);
        let by_place = one.ordinal.cmp(&other.ordinal);
        match (self.descending, self.by) {
            (true, SortBy::Control) => by_place.reverse(),
            (true, _) => by_key.reverse().then(by_place),
            (false, _) => by_key.then(by_place),
        }
    }
}

impl FromStr for Sort {
    type Err = ();

    /// Parses `subject`, or `-subject` for the reverse order.
    fn from_str(text: &str) -> Result<Sort, ()> {
        let (name, descending) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        let by = SortBy::ALL.into_iter().find(|by| by.name() == name).ok_or(())?;
        Ok(Sort { by, descending })
    }
}

impl std::fmt::Display for Sort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.descending { "-" } else { "" }, self.by.name())
    }
}

/// The position of a check: its sort key, and its number in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    key: String,
    ordinal: u64,
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> Result<Position, ()> {
        let (ordinal, key) = text.split_once('~').ok_or(())?;
        Ok(Position { ordinal: ordinal.parse().map_err(|_| ())?, key: key.to_owned() })
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}~{}", self.ordinal, self.key)
    }
}
