//! The users of the customer or of each domain: the population, which several topics share.

use futures_util::future::join_all;
use serde::Deserialize;

use super::config::AltCloudConfig;
use super::host::api::{Host, ListingRequest};
use super::host::compare::of_customer;
use super::host::listing::{JSON, Listing, MIB, Page, Paged, Recorded, page};
use super::host::scopes::OAuthScope;
use super::names::USER;
use super::observe::{Gap, distinct, gap};
use crate::json::{Object, object};
use crate::source::{CollectionItem, Member, PopulationScope, Source as _};
use evidence_bundle::document::Scope;
use evidence_http::{Asked, Call, ParseError, Subject};
use evidence_rules::altcloud::GUESTS;
use evidence_rules::altcloud::artifact::POLICIES;
use evidence_rules::altcloud::record::{User, UserListing};
use evidence_text::{counted, saturating_u64};

/// The customer's users.
pub(crate) static USERS: Paged<User> = paged(
    "/admin/directory/v1/users?customer={customer}&maxResults=500&orderBy=email&projection=basic",
    "`two-step-verification`, `administrators`, `administrators-by-group`, `inactive-users`, `guests` and the rules over policies, without `domains`; its first page is part of the connection test",
    "once per 500 users",
);

/// The users of one domain.
pub(crate) static USERS_OF_DOMAIN: Paged<User> = paged(
    "/admin/directory/v1/users?domain={domain}&maxResults=500&orderBy=email&projection=basic",
    "the same with `domains`",
    "once per 500 users of each domain",
);

const fn paged(name: &'static str, purpose: &'static str, times: &'static str) -> Paged<User> {
    Paged {
        call: Call {
            name,
            purpose,
            times,
            kind: Some("users"),
            media_type: JSON,
            // A page of 500 users with ten fields each is about 190 kB.
            limit: 8 * MIB,
            parse: page_of_users,
            subject: Some(Subject {
                fields: "`customerId`, the same of every user of a page",
                other: |page, about| of_customer(page.items.iter().map(|user| &user.customer_id), about),
            }),
            keep: None,
        },
        scope: OAuthScope::Users,
        fields: "kind,nextPageToken,users(id,customerId,primaryEmail,suspended,archived,isEnrolledIn2Sv,isEnforcedIn2Sv,isAdmin,\
                 isDelegatedAdmin,lastLoginTime,creationTime)",
        // Enough for 600,000 users, which the budget is sized for.
        pages: 1_200,
        // About 500 bytes each: more than half a million users.
        budget: 256 * MIB,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserPage {
    kind: Option<String>,
    next_page_token: Option<String>,
    users: Option<Vec<Object<User>>>,
}

/// `users.list`
pub(super) fn page_of_users(bytes: &[u8]) -> Result<Page<User>, ParseError> {
    let UserPage { kind, next_page_token, users } = object(bytes)?;
    page("admin#directory#users", kind, next_page_token, users, bytes)
}

/// The customer or domain that users belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whose {
    /// The whole customer.
    Customer {
        /// The id or alias in requests.
        id: String,
        /// The name.
        name: String,
    },
    /// One domain.
    Domain(String),
}

impl Whose {
    /// The name of the customer or domain, for checks and people.
    pub(super) fn name(&self) -> &str {
        match self {
            Whose::Customer { name, .. } | Whose::Domain(name) => name,
        }
    }
}

/// The customer or domains to read users of.
fn whose(config: &AltCloudConfig) -> Vec<Whose> {
    if config.domains.is_empty() {
        let (id, name) = (config.customer_id.clone(), config.organization().to_string());
        return vec![Whose::Customer { id, name }];
    }
    config.domains.iter().cloned().map(Whose::Domain).collect()
}

fn question(host: &Host, whose: &Whose) -> ListingRequest<User> {
    let (paged, parameter) = match whose {
        Whose::Customer { id, .. } => (&USERS, ("customer", id.as_str())),
        Whose::Domain(domain) => (&USERS_OF_DOMAIN, ("domain", domain.as_str())),
    };
    // Fields that only some rules need.
    let mut last = "creationTime".to_string();
    if host.config.rules.iter().any(|rule| **rule == GUESTS) {
        last.push_str(",isGuestUser");
    }
    if host.config.collects(&POLICIES) {
        last.push_str(",orgUnitPath");
    }
    host.question_for(paged, &[parameter], &paged.fields.replace("creationTime", &last))
}

/// The first page of the users of the customer or of each domain.
pub(super) type FirstUsers = Vec<(Whose, Recorded<User>)>;

/// Reads the first pages: part of the connection test.
pub(super) async fn open(host: &Host) -> FirstUsers {
    let whose = if host.has(OAuthScope::Users) { whose(&host.config) } else { Vec::new() };
    join_all(whose.into_iter().map(|whose| async move {
        let first = host.first(&question(host, &whose)).await;
        (whose, first)
    }))
    .await
}

/// Reads the rest.
pub(super) async fn read(host: &Host, firsts: &FirstUsers) -> Users {
    let whose = whose(&host.config).into_iter();
    let refused: Vec<_> =
        whose.filter_map(|whose| Some((whose, host.not_delegated(OAuthScope::Users)?))).collect();
    if !refused.is_empty() {
        return Users { parts: refused };
    }
    let parts = firsts.iter().map(|(whose, first)| async move {
        (whose.clone(), host.listing(&question(host, whose), first.clone()).await)
    });
    Users { parts: join_all(parts).await }
}

/// The users of the customer or of each domain.
pub(super) struct Users {
    /// The listings.
    pub(super) parts: Vec<(Whose, Listing<User>)>,
}

pub(super) fn distinct_users<'a>(users: impl IntoIterator<Item = &'a User>) -> Vec<&'a User> {
    distinct(users, |user| user.id.value().or(user.primary_email.value()).map(String::as_str))
}

impl Users {
    /// Every user, without duplicates.
    pub(super) fn all(&self) -> Vec<&User> {
        distinct_users(self.parts.iter().flat_map(|(_, listing)| &listing.items))
    }

    /// All requests for users.
    pub(super) fn requests(&self) -> Vec<Asked> {
        self.parts.iter().flat_map(|(_, listing)| listing.requests.iter().cloned()).collect()
    }

    /// The listings, as artifacts have them.
    pub(super) fn listings(&self) -> Vec<UserListing> {
        let listing = |(whose, listing): &(Whose, Listing<User>)| {
            let (customer, domain) = match whose {
                Whose::Customer { id, .. } => (Some(id.clone()), None),
                Whose::Domain(name) => (None, Some(name.clone())),
            };
            let users = saturating_u64(distinct_users(&listing.items).len());
            UserListing { customer, domain, read: listing.extent(), users }
        };
        self.parts.iter().map(listing).collect()
    }

    /// The gaps in the listings.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gap<'_>> {
        self.parts.iter().filter_map(|(whose, listing)| gap(&users_of(whose), listing))
    }
}

/// The display name of the listing of users.
pub(super) fn users_of(whose: &Whose) -> String {
    format!("users of {}", whose.name())
}

/// A user as a member of the population, named by its address, which administrators know it by.
fn member(user: &User) -> Member {
    let name = user.primary_email.value().or(user.id.value()).map_or("", String::as_str);
    Member {
        id: user.id.value().cloned(),
        archived: user.archived.value().copied(),
        ..Member::new(USER, name)
    }
}

/// The population: every user that was read.
pub(super) fn population(config: &AltCloudConfig, users: &Users, expected: u64) -> CollectionItem {
    let all = users.all();
    let count = saturating_u64(all.len());
    let whose = match config.domains.len() {
        0 => config.organization().to_string(),
        1 => config.domains.concat(),
        domains => format!("{domains} domains"),
    };
    // A directory reports no total beside its list: read to its end, the list is everything there is.
    let scope = match users.parts.iter().all(|(_, listing)| listing.extent().is_complete()) {
        false => Scope::Partial,
        true if config.domains.is_empty() => Scope::Whole,
        true => Scope::Chosen,
    };
    CollectionItem::Population {
        discovered: users.parts.iter().any(|(_, listing)| listing.pages > 0).then_some(count),
        expected,
        work: Vec::new(),
        text: format!("{} of {whose}", counted(count, "user", "users")),
        members: all.into_iter().map(member).collect(),
        scope: PopulationScope::new(scope, config.organization(), USER, count),
    }
}
