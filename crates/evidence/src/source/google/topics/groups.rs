//! The members of groups with an administrator role, and of the groups inside them.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use super::alone::ORGANIZATION;
use crate::json::{Object, object};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::CollectionItem;
use crate::source::google::host::api::Host;
use crate::source::google::host::listing::{JSON, Listing, MIB, Page, Paged, page};
use crate::source::google::host::scopes::OAuthScope;
use crate::source::google::names::NAME;
use crate::source::google::observe::{Gap, gap, merged, observation};
use crate::source::google::users::Users;
use evidence_http::{Asked, Call, Meta, ParseError};
use evidence_rules::altcloud::OF_EFFECTIVE;
use evidence_rules::altcloud::artifact::ADMINISTRATORS_EFFECTIVE;
use evidence_rules::altcloud::effective::{
    EffectiveAdministrators, EffectiveFacts, GroupRecord, Member, MemberRecord, groups_to_expand,
};
use evidence_rules::altcloud::record::{AdminRoles, Administrator, AssignmentRecord, Extent, User};
use evidence_rules::rule::Settings;

/// The most groups that are expanded: those beyond are not known.
const MAXIMUM_GROUPS: usize = 200;

/// The members of a group.
pub(crate) static MEMBERS: Paged<Member> = Paged {
    call: Call {
        name: "/admin/directory/v1/groups/{group}/members?maxResults=200",
        purpose: "`administrators-by-group`: only groups with the super administrator role, and groups inside them",
        times: "once per group and 200 members",
        kind: Some("members of groups"),
        media_type: JSON,
        // A page of 200 members with three fields is about 20 kB.
        limit: MIB,
        parse: page_of_members,
        subject: None,
        keep: None,
    },
    scope: OAuthScope::Members,
    fields: "kind,nextPageToken,members(id,type,status)",
    // 100,000 members.
    pages: 500,
    budget: 32 * MIB,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemberPage {
    kind: Option<String>,
    next_page_token: Option<String>,
    members: Option<Vec<Object<Member>>>,
}

/// `members.list`
pub(super) fn page_of_members(bytes: &[u8]) -> Result<Page<Member>, ParseError> {
    let MemberPage { kind, next_page_token, members } = object(bytes)?;
    page("admin#directory#members", kind, next_page_token, members, bytes)
}

/// The groups that were asked for their members.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<(String, Listing<Member>)>);

impl Groups {
    /// Reads the members of every group that may have the super administrator role, and of the groups inside.
    pub(super) async fn read(host: &Host, roles: &AdminRoles) -> Groups {
        let mut left = groups_to_expand(roles);
        let mut known: BTreeSet<String> = left.iter().cloned().collect();
        let mut groups = Vec::new();
        while let Some(id) = left.pop() {
            if groups.len() >= MAXIMUM_GROUPS {
                break;
            }
            let members = match host.not_delegated(OAuthScope::Members) {
                Some(refused) => refused,
                None => host.whole(&host.question(&MEMBERS, &[("group", &id)])).await,
            };
            let inner = members.items.iter().filter(|member| member.is_group());
            for inner in inner.filter_map(|member| member.id.value()) {
                if known.insert(inner.clone()) {
                    left.push(inner.clone());
                }
            }
            groups.push((id, members));
        }
        Groups(groups)
    }

    pub(super) fn requests(&self) -> Vec<Asked> {
        self.0.iter().flat_map(|(_, members)| members.requests.iter().cloned()).collect()
    }

    /// What is missing.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gap<'_>> {
        self.0.iter().filter_map(|(id, members)| gap(&format!("members of the group {id}"), members))
    }

    fn records(&self, users: &[&User]) -> Vec<GroupRecord> {
        let by_id: HashMap<&str, &User> =
            users.iter().filter_map(|user| Some((user.id.value()?.as_str(), *user))).collect();
        let member = |member: &Member| MemberRecord {
            member: member.clone(),
            member_from_users_list: member
                .id
                .value()
                .and_then(|id| by_id.get(id.as_str()))
                .map(|user| Administrator::of(user)),
        };
        let record = |(id, members): &(String, Listing<Member>)| GroupRecord {
            group_id: id.clone(),
            members_read: members.extent(),
            members: members.items.iter().map(member).collect(),
        };
        self.0.iter().map(record).collect()
    }
}

/// The administrators with those of groups, what is missing of them, and the verdict, in one inspection.
pub(super) fn found(
    organization: &str,
    users: &Users,
    direct: &AdminRoles,
    groups: &Groups,
    (meta, requests, gaps): (Option<&Meta>, Vec<Asked>, Vec<Gap<'_>>),
    settings: &Settings,
) -> CollectionItem {
    let mut observations = Vec::new();
    let record = meta.map(|meta| {
        let record = EffectiveAdministrators { direct: direct.clone(), groups: groups.records(&users.all()) };
        let seen = Seen::artifact(NAME, "administrators_effective.json", &record, None, meta);
        observations
            .push(Observation { requests, ..observation(&ADMINISTRATORS_EFFECTIVE, organization, seen) });
        record
    });
    let mut first = None;
    for (seen, requests) in merged(gaps) {
        first = first.or_else(|| seen.gap().map(|(reason, detail)| (reason, detail.to_string())));
        observations
            .push(Observation { requests, ..observation(&ADMINISTRATORS_EFFECTIVE, organization, seen) });
    }
    let facts = EffectiveFacts { record, gap: first };
    let inspection = Inspection::of(observations);
    CollectionItem::Inspected(inspection.concluded_by(OF_EFFECTIVE, &organization.into(), &facts, settings))
}

/// The members of a group with the role, alone.
pub(super) fn offline(page: Page<Member>) -> Vec<CollectionItem> {
    let members = super::alone::listing(page.items);
    let assignment = AssignmentRecord {
        assignment: serde_json::from_value(serde_json::json!({
            "roleId": "1", "assignedTo": "group", "assigneeType": "group"
        }))
        .unwrap_or_default(),
        assignee_from_users_list: None,
    };
    let direct = AdminRoles {
        roles_read: Extent::Complete,
        role_assignments_read: Extent::Complete,
        user_listings: Vec::new(),
        roles: Vec::new(),
        role_assignments: vec![assignment],
        administrators_from_users_list: Vec::new(),
    };
    let groups = Groups(vec![("group".to_string(), members)]);
    let nobody = Users { parts: Vec::new() };
    let meta = Meta::default();
    let asked = (Some(&meta), Vec::new(), Vec::new());
    vec![found(ORGANIZATION, &nobody, &direct, &groups, asked, &Settings::default())]
}
