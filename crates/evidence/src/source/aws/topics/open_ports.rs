//! The security groups of each region, as far as their rules reach the ports of administration.
//!
//! Names, descriptions, tags and outbound rules are dropped while the answer is read, and so are the rules that reach no such
//! port.

use futures_util::FutureExt as _;
use serde_json::Value;

use super::regional::Regional;
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, MIB};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{self, ReadResult, Unread, host_error};
use crate::source::aws::host::xml::{self, Element, field, required, required_text};
use crate::source::aws::topic::Topic;
use crate::source::{CollectionItem, Source as _};
use evidence_http::{Call, ParseError};
use evidence_rules::cloud::OF_OPEN_PORTS;
use evidence_rules::cloud::admin_ports::{
    IpPermission, IpRange, Ipv6Range, OpenPorts, PrefixListId, SecurityGroup,
};
use evidence_rules::cloud::artifact::OPEN_PORTS;

/// Security groups per page: the provider's maximum.
const PAGE_SIZE: u64 = 1_000;
/// The maximum number of pages of a region: far more than the provider's quota of groups.
const MAXIMUM_PAGES: usize = 100;

/// The security groups.
pub(crate) static TOPIC: Topic = Topic {
    name: REGIONS.name,
    kind: Some(&OPEN_PORTS),
    required: |config| config.collects(&OPEN_PORTS),
    counted: None,
    open: |account| REGIONS.open(account).boxed(),
};

static REGIONS: Regional<OpenPorts> = Regional {
    kind: &OPEN_PORTS,
    name: "open ports",
    lost: "the security groups of this region are not known",
    judges: OF_OPEN_PORTS,
    permissions: &[DESCRIBE_SECURITY_GROUPS.call.name],
    read: |account, region| read(account, region).boxed(),
};

pub(crate) static DESCRIBE_SECURITY_GROUPS: Action<GroupPage> = Action {
    service: Service::Ec2,
    call: Call {
        name: "ec2:DescribeSecurityGroups",
        purpose: "`admin-ports-closed`",
        times: "once per region and 1,000 security groups",
        kind: Some("DescribeSecurityGroups"),
        media_type: Protocol::FORM,
        // A page of 1,000 groups with 60 rules each way.
        limit: 32 * MIB,
        parse: page,
        subject: None,
        keep: None,
    },
};

/// A page of `DescribeSecurityGroups`
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupPage {
    ports: OpenPorts,
    next: Option<String>,
}

/// What no rule needs, free text among it.
const SKIPPED: [&str; 6] =
    ["ipPermissionsEgress", "tagSet", "groupDescription", "groupName", "description", "groups"];

/// `DescribeSecurityGroups`
pub(super) fn page(bytes: &[u8]) -> Result<GroupPage, ParseError> {
    let root = xml::list(bytes, "DescribeSecurityGroupsResponse", &SKIPPED)?;
    let mut page = GroupPage::default();
    for item in &required(&root, "securityGroupInfo")?.children {
        page.ports.groups_read += 1;
        let permissions = required(item, "ipPermissions")?.children.iter().map(permission);
        let permissions = permissions.collect::<Result<Vec<_>, _>>()?;
        let permissions: Vec<_> = permissions.into_iter().filter(IpPermission::may_reach).collect();
        let group_id = evidence_text::single_line(required_text(item, "groupId")?);
        if !permissions.is_empty() {
            page.ports.security_groups.push(SecurityGroup { group_id, ip_permissions: permissions });
        }
    }
    page.next = root.child("nextToken")?.and_then(Element::text).map(str::to_string);
    Ok(page)
}

fn permission(item: &Element) -> Result<IpPermission, ParseError> {
    let networks =
        |name: &str| Ok::<_, ParseError>(item.child(name)?.map_or(&[][..], |list| &list.children[..]));
    let ranges = networks("ipRanges")?.iter().map(|item| Ok(IpRange { cidr_ip: field(item, "cidrIp")? }));
    let ipv6 =
        networks("ipv6Ranges")?.iter().map(|item| Ok(Ipv6Range { cidr_ipv6: field(item, "cidrIpv6")? }));
    let lists = networks("prefixListIds")?.iter();
    let lists = lists.map(|item| Ok(PrefixListId { prefix_list_id: field(item, "prefixListId")? }));
    Ok(IpPermission {
        ip_protocol: field(item, "ipProtocol")?,
        from_port: field(item, "fromPort")?,
        to_port: field(item, "toPort")?,
        ip_ranges: ranges.collect::<Result<_, ParseError>>()?,
        ipv6_ranges: ipv6.collect::<Result<_, ParseError>>()?,
        prefix_list_ids: lists.collect::<Result<_, ParseError>>()?,
    })
}

async fn read(account: &Account, region: &Region) -> ReadResult<OpenPorts> {
    let action = &DESCRIBE_SECURITY_GROUPS;
    let host = account.host(action, region)?;
    let mut all = OpenPorts::default();
    let mut token: Option<String> = None;
    for _ in 0..MAXIMUM_PAGES {
        let mut question = vec![("MaxResults", Value::from(PAGE_SIZE))];
        question.extend(token.as_deref().map(|token| ("NextToken", Value::from(token))));
        let (page, meta) = refusal::of(action, Some(region), host.ask(action, &question, None).await)?;
        all.groups_read += page.ports.groups_read;
        all.security_groups.extend(page.ports.security_groups);
        match page.next {
            None => return Ok((all, meta)),
            same if same == token => break,
            next => token = next,
        }
    }
    Err(Unread::Failed(host_error(format!("{} in {region}: the list does not end", action.permission()))))
}

/// What a page means on its own.
pub(super) fn offline(page: GroupPage) -> Vec<CollectionItem> {
    REGIONS.offline(page.ports)
}
