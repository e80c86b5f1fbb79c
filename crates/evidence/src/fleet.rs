//! A fleet: many organizations that one configuration collects, and the signed list of what became of each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::exit::Exit;

/// The name of the list.
pub const FILE_NAME: &str = "fleet.json";

/// What the name of its signature ends with.
pub const SIGNATURE_SUFFIX: &str = ".sig";

/// The version of the list's form.
const VERSION: &str = "1.0";

/// The list of a fleet: a row for every organization that was found, whatever became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fleet {
    /// The version of this form.
    pub fleet_version: String,
    /// When the list was made.
    pub created_at: String,
    /// The version of the tool.
    pub tool_version: String,
    /// The compliance framework.
    pub framework: String,
    /// A bundle since then counted as finished.
    pub since: String,
    /// The part of the fleet that was collected, such as `1/4`; absent for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The rows, by name.
    pub organizations: Vec<Organization>,
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organization {
    /// The name.
    pub organization: String,
    /// The host's id; absent if the host did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The app's installation, if an app signs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installation_id: Option<u64>,
    /// What became of it.
    pub outcome: Outcome,
    /// The code that its run ended with; absent for an organization of another shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// The path of its bundle, relative to the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// The id of the bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle_id: Option<String>,
    /// The SHA-256 of the bundle's file, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// What became of an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A complete bundle.
    Bundle,
    /// A bundle that is not complete.
    Incomplete,
    /// No bundle.
    Failed,
    /// The app's installation is suspended.
    Suspended,
    /// The app is not installed there.
    NotInstalled,
    /// The host has no organization of this name, or does not show it.
    NotAnOrganization,
    /// Another part of the fleet collects it.
    OtherShard,
}

impl Outcome {
    /// Every outcome, in the order of the summary.
    pub const ALL: [Outcome; 7] = [
        Outcome::Bundle,
        Outcome::Incomplete,
        Outcome::Failed,
        Outcome::Suspended,
        Outcome::NotInstalled,
        Outcome::NotAnOrganization,
        Outcome::OtherShard,
    ];

    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Bundle => "complete",
            Outcome::Incomplete => "incomplete",
            Outcome::Failed => "failed",
            Outcome::Suspended => "suspended",
            Outcome::NotInstalled => "not installed",
            Outcome::NotAnOrganization => "not an organization",
            Outcome::OtherShard => "in other shards",
        }
    }
}

impl Fleet {
    /// A list of these rows, sorted by name.
    pub fn new(created_at: String, framework: &str, since: String, shard: Option<Shard>) -> Fleet {
        Fleet {
            fleet_version: VERSION.to_string(),
            created_at,
            tool_version: env!("CARGO_PKG_VERSION").to_string(),
            framework: framework.to_string(),
            since,
            shard: shard.map(|shard| shard.to_string()),
            organizations: Vec::new(),
        }
    }

    /// The bytes of the list: a line for each organization.
    ///
    /// # Errors
    /// Fails if a value cannot be written as JSON.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let rows: Result<Vec<String>, _> = self.organizations.iter().map(serde_json::to_string).collect();
        let head = serde_json::to_string_pretty(&Fleet { organizations: Vec::new(), ..self.clone() })?;
        let rows = rows?.iter().map(|row| format!("\n    {row}")).collect::<Vec<_>>().join(",");
        let list = if rows.is_empty() { "[]".to_string() } else { format!("[{rows}\n  ]") };
        // The rows come last, so that this is the only empty list.
        let head = head.strip_suffix("[]\n}").unwrap_or(&head);
        Ok(format!("{head}{list}\n}}\n").into_bytes())
    }

    /// The list that these bytes are.
    ///
    /// # Errors
    /// Fails with what is wrong with them.
    pub fn parse(bytes: &[u8]) -> Result<Fleet, String> {
        let fleet: Fleet = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match fleet.fleet_version.as_str() {
            VERSION => Ok(fleet),
            other => {
                Err(format!("fleet_version {other:?} is not known to this program, which reads {VERSION}"))
            }
        }
    }

    /// How many organizations had each outcome; those without any are left out.
    pub fn tally(&self) -> Vec<(Outcome, usize)> {
        let count = |outcome| self.organizations.iter().filter(|row| row.outcome == outcome).count();
        Outcome::ALL.map(|outcome| (outcome, count(outcome))).into_iter().filter(|(_, n)| *n > 0).collect()
    }
}

/// How bad an exit code is among those of a fleet: 0 < 3 < 4 < 5 < 6 < 1 < 2.
pub fn severity(exit: Exit) -> usize {
    const ORDER: [Exit; 8] = [
        Exit::Success,
        Exit::Differs,
        Exit::Collection,
        Exit::Policy,
        Exit::Bundle,
        Exit::Upload,
        Exit::Configuration,
        Exit::Connection,
    ];
    ORDER.iter().position(|known| *known == exit).unwrap_or(ORDER.len())
}

/// A part of a fleet: number `index`, from 1, of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// Whether the organization with this id belongs to the part: by SHA-256 of the id in decimal, so that it depends on
    /// nothing else.
    pub fn has(self, id: u64) -> bool {
        let digest = Sha256::digest(id.to_string());
        let first = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        first % self.count == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let number = |text: &str| text.parse::<u64>().ok().filter(|number| (1..=10_000).contains(number));
        let parts = text.split_once('/').and_then(|(index, count)| Some((number(index)?, number(count)?)));
        match parts {
            Some((index, count)) if index <= count => Ok(Shard { index, count }),
            _ => Err("write the number of the part and how many there are, from 1: 1/4".to_string()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, outcome: Outcome) -> Organization {
        Organization {
            organization: name.to_string(),
            id: Some(1),
            installation_id: None,
            outcome,
            exit_code: Some(0),
            bundle: None,
            bundle_id: None,
            sha256: None,
        }
    }

    #[test]
    fn a_line_for_each_organization() {
        let mut fleet = Fleet::new("2026-01-01T00:00:00Z".into(), "soc2_type1", "2026-01-01".into(), None);
        assert_eq!(Fleet::parse(&fleet.to_bytes().unwrap()).unwrap(), fleet);
        fleet.organizations = vec![row("a", Outcome::Bundle), row("b", Outcome::OtherShard)];
        let bytes = fleet.to_bytes().unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert_eq!(text.lines().filter(|line| line.contains("\"organization\":")).count(), 2, "{text}");
        assert_eq!(Fleet::parse(&bytes).unwrap(), fleet);
        assert_eq!(fleet.tally(), [(Outcome::Bundle, 1), (Outcome::OtherShard, 1)]);
        assert!(Fleet::parse(b"{}").is_err());
        let later = text.replace("\"fleet_version\": \"1.0\"", "\"fleet_version\": \"2.0\"");
        assert!(Fleet::parse(later.as_bytes()).unwrap_err().contains("not known"));
    }

    #[test]
    fn every_organization_is_in_one_shard() {
        for count in 1..=7 {
            let shards: Vec<Shard> =
                (1..=count).map(|index| format!("{index}/{count}").parse().unwrap()).collect();
            for id in 0..500 {
                assert_eq!(shards.iter().filter(|shard| shard.has(id)).count(), 1, "{id} of {count}");
            }
            let sizes = shards.iter().map(|shard| (0..700).filter(|id| shard.has(*id)).count());
            assert!(sizes.min().unwrap() > 50, "{count}");
        }
        // A value to repeat by hand: sha256("1") begins with 6b86b273ff34fce1, an odd number.
        assert!("2/2".parse::<Shard>().unwrap().has(1));
        for wrong in ["0/2", "3/2", "1", "1/", "/2", "a/b", "1/0", "-1/2", "1/2/3", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_worst_code_wins() {
        let codes = [0, 3, 4, 5, 6, 1, 2];
        let exit = |code| *Exit::ALL.iter().find(|exit| exit.code() == code).unwrap();
        assert!(codes.windows(2).all(|pair| severity(exit(pair[0])) < severity(exit(pair[1]))));
        assert!(severity(Exit::Connection) < severity(Exit::Interrupted));
    }
}
