//! The people of an organization: its owners, members and outside collaborators.

use serde::{Deserialize, Serialize};

use super::reason::POPULATION_INCOMPLETE;
use crate::field::Field;
use crate::rule::{Reason, Verdict};

/// `people.json`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct People {
    /// Everyone with access, by login.
    pub people: Vec<Person>,
    /// How many members the host counts itself, owners included.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub members_total: Field<u64>,
    /// Whether the host shows everything: it answers an owner, or an app with the permission.
    pub seen_by_owner: bool,
    /// Whether the host showed the outside collaborators.
    pub outside_collaborators_shown: bool,
}

/// One of the people. No name, no address, no picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The account's id.
    pub id: u64,
    /// The login.
    pub login: String,
    /// What the account is to the organization.
    pub role: Role,
    /// Whether it has a second factor; absent if the host does not show that.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub two_factor: Field<bool>,
}

/// What an account is to the organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// An owner.
    Owner,
    /// A member who is no owner.
    Member,
    /// Someone with access to single repositories.
    OutsideCollaborator,
}

impl Role {
    /// The role as in the artifact.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Member => "member",
            Role::OutsideCollaborator => "outside_collaborator",
        }
    }
}

impl People {
    /// Those with this role.
    pub fn with(&self, role: Role) -> impl Iterator<Item = &Person> {
        self.people.iter().filter(move |person| person.role == role)
    }

    /// The members, owners included.
    pub(super) fn members(&self) -> impl Iterator<Item = &Person> {
        self.people.iter().filter(|person| person.role != Role::OutsideCollaborator)
    }

    /// Whether it has everyone with access.
    pub fn is_complete(&self) -> bool {
        self.gap().is_none() && self.outside_collaborators_shown
    }

    /// Why the list of members cannot be called complete, if it cannot.
    pub(super) fn gap(&self) -> Option<Verdict> {
        let listed = evidence_text::saturating_u64(self.members().count());
        if !self.seen_by_owner {
            let text = format!("{listed} members are visible to this token, which is not an owner's");
            return Some(Verdict::unknown(&MEMBERS_NOT_VISIBLE, text));
        }
        match self.members_total.value() {
            Some(total) if *total == listed => None,
            Some(total) => {
                let text = format!("{listed} members were listed, and the host counts {total}");
                Some(Verdict::unknown(&POPULATION_INCOMPLETE, text))
            }
            None => {
                let text =
                    format!("{listed} members were listed, and the host does not say how many there are");
                Some(Verdict::unknown(&POPULATION_INCOMPLETE, text))
            }
        }
    }
}

/// The host shows only a part of the members to this token.
pub static MEMBERS_NOT_VISIBLE: Reason =
    Reason::new("members_not_visible", "Members not all visible to this token").advice(
        evidence_bundle::document::Severity::High,
        evidence_bundle::document::Category::Partial,
        "Use a token whose user is an organization owner and, for a fine-grained token, whose resource owner is this organization \
         and that has `Members: read`.",
    );
