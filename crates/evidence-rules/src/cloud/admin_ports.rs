//! No security group opens the ports of administration to the internet.

mod networks;

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};
use serde::{Deserialize, Serialize};

use self::networks::{Networks, network};
use super::regional::Regions;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Several, Words};

/// The ports by which machines are administered cannot be reached from everywhere.
pub static ADMIN_PORTS_CLOSED: Rule = Rule {
    code: "admin-ports-closed",
    title: "Administration ports closed to the internet",
    version: 1,
    kind: "account",
    expected: "no security group of the configured regions opens SSH or remote desktop (TCP 22, TCP 3389, UDP 3389) to the \
               internet: half of all IPv4 addresses or more, or all public IPv6 addresses",
    reads: "the inbound rules of every security group that reach one of these ports: `IpProtocol`, `FromPort`, `ToPort`, \
            `IpRanges`, `Ipv6Ranges` and `PrefixListIds`",
    not_checked: "whether a machine uses the group or has a public address; network access lists, firewalls and a block of \
                  public access to the whole VPC, which can close what a group opens; the entries of prefix lists; other ports; \
                  regions that are not configured",
    permission: "Allow `ec2:DescribeSecurityGroups` to the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[
        &ADMIN_PORTS_OPEN,
        &PREFIX_LIST_UNREAD,
        &IP_PROTOCOL_NOT_VISIBLE,
        &FROM_PORT_NOT_VISIBLE,
        &TO_PORT_NOT_VISIBLE,
        &CIDR_IP_NOT_VISIBLE,
        &CIDR_IPV6_NOT_VISIBLE,
    ],
};

/// Anyone reaches the port of administration.
pub static ADMIN_PORTS_OPEN: Reason =
    Reason::new("admin_ports_open", "Administration ports open to the internet").advice(
        High,
        Misconfigured,
        "In the inbound rules of the security groups that this result names, allow SSH and remote desktop only from the networks \
         of your own, or remove the rules and connect through Session Manager.",
    );

/// The networks are in a prefix list.
pub static PREFIX_LIST_UNREAD: Reason = Reason::new("prefix_list_unread", "Prefix list on an administration port")
    .advice(
        Medium,
        Partial,
        "Check by hand that the prefix lists of the security groups that this result names hold no network of the internet: \
         their entries are not read.",
    );

macro_rules! not_visible {
    ($($name:ident, $code:literal, $field:literal;)+) => {
        $(
            #[doc = concat!("A rule does not show `", $field, "`.")]
            pub static $name: Reason =
                Reason::new($code, concat!("`", $field, "` of a security group's rule not reported")).advice(
                    Medium,
                    Partial,
                    concat!("Check the rules of the security groups that this result names by hand: `", $field, "` is missing."),
                );
        )+
    };
}

not_visible! {
    IP_PROTOCOL_NOT_VISIBLE, "ip_protocol_not_visible", "IpProtocol";
    FROM_PORT_NOT_VISIBLE, "from_port_not_visible", "FromPort";
    TO_PORT_NOT_VISIBLE, "to_port_not_visible", "ToPort";
    CIDR_IP_NOT_VISIBLE, "cidr_ip_not_visible", "CidrIp";
    CIDR_IPV6_NOT_VISIBLE, "cidr_ipv6_not_visible", "CidrIpv6";
}

/// `open_ports_{region}.json`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenPorts {
    /// How many security groups were read.
    pub groups_read: u64,
    /// Those with a rule that reaches one of the ports.
    #[serde(rename = "SecurityGroups")]
    pub security_groups: Vec<SecurityGroup>,
}

/// A security group, with the rules that reach one of the ports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SecurityGroup {
    /// Its id.
    pub group_id: String,
    /// Its inbound rules.
    pub ip_permissions: Vec<IpPermission>,
}

/// An inbound rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct IpPermission {
    /// `tcp`, `udp`, a number, or `-1` for all protocols and ports.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub ip_protocol: Field<String>,
    /// The first port.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub from_port: Field<i64>,
    /// The last port.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub to_port: Field<i64>,
    /// The networks of IPv4.
    pub ip_ranges: Vec<IpRange>,
    /// The networks of IPv6.
    pub ipv6_ranges: Vec<Ipv6Range>,
    /// Lists of networks.
    pub prefix_list_ids: Vec<PrefixListId>,
}

/// A network of IPv4.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct IpRange {
    /// Such as `192.0.2.0/24`.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub cidr_ip: Field<String>,
}

/// A network of IPv6.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Ipv6Range {
    /// Such as `2001:db8::/32`.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub cidr_ipv6: Field<String>,
}

/// A list of networks, whose entries are not read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct PrefixListId {
    /// Its id.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub prefix_list_id: Field<String>,
}

/// A port of administration: the provider's word and number of its protocol, and the port.
struct Port {
    protocol: [&'static str; 2],
    port: i64,
    name: &'static str,
}

const TCP: [&str; 2] = ["tcp", "6"];

static PORTS: [Port; 3] = [
    Port { protocol: TCP, port: 22, name: "TCP 22" },
    Port { protocol: TCP, port: 3389, name: "TCP 3389" },
    Port { protocol: ["udp", "17"], port: 3389, name: "UDP 3389" },
];

impl IpPermission {
    /// Whether the rule may reach one of the ports: the others are not evidence of this.
    pub fn may_reach(&self) -> bool {
        PORTS.iter().any(|port| self.reaches(port) != Ok(false))
    }

    /// Whether the rule reaches the port, or which field is hidden.
    fn reaches(&self, port: &Port) -> Result<bool, &'static Reason> {
        let protocol = self.ip_protocol.value().ok_or(&IP_PROTOCOL_NOT_VISIBLE)?;
        if protocol == "-1" {
            return Ok(true);
        }
        if !port.protocol.contains(&protocol.as_str()) {
            return Ok(false);
        }
        let from = *self.from_port.value().ok_or(&FROM_PORT_NOT_VISIBLE)?;
        let to = *self.to_port.value().ok_or(&TO_PORT_NOT_VISIBLE)?;
        // -1 stands for all ports.
        Ok(from == -1 || (from..=to).contains(&port.port))
    }

    fn names_a_network(&self) -> bool {
        !(self.ip_ranges.is_empty() && self.ipv6_ranges.is_empty() && self.prefix_list_ids.is_empty())
    }
}

/// The judgement.
pub static JUDGE: Judge<Regions<OpenPorts>> =
    Judge { rule: &ADMIN_PORTS_CLOSED, judge: |regions, _| Some(judge(regions)) };

static WORDS: Words = Words {
    fails: &ADMIN_PORTS_OPEN,
    failed: "security groups open administration ports to the internet",
    open: "security groups may open administration ports to the internet",
    good: "security groups, none opens an administration port to the internet",
    none: "the configured regions have no security group",
};

/// Passes if no group opens one of the ports.
pub fn judge(regions: &Regions<OpenPorts>) -> Verdict {
    regions.judge(&WORDS, |all, region, record| {
        let named = evidence_text::saturating_u64(record.security_groups.len());
        all.add_good(record.groups_read.saturating_sub(named));
        record.security_groups.iter().for_each(|group| add(all, region, group));
    })
}

/// Adds a group: of each port, all its rules count together.
fn add(all: &mut Several, region: &str, group: &SecurityGroup) {
    let mut open = Vec::new();
    let mut hidden = None;
    for port in &PORTS {
        match state(group, port) {
            One::Failed => open.push(port.name),
            One::Open(reason) => hidden = hidden.or(Some(reason)),
            One::Good | One::Nothing => {}
        }
    }
    match (open.is_empty(), hidden) {
        (false, _) => all.add(&format!("{} in {region} ({})", group.group_id, open.join(", ")), One::Failed),
        (true, Some(reason)) => all.add(&format!("{} in {region}", group.group_id), One::Open(reason)),
        (true, None) => all.add_good(1),
    }
}

/// What a group shows of a port.
fn state(group: &SecurityGroup, port: &Port) -> One {
    let (mut ipv4, mut ipv6) = (Networks::default(), Networks::default());
    let mut hidden = None;
    for permission in group.ip_permissions.iter().filter(|permission| permission.names_a_network()) {
        match permission.reaches(port) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(reason) => {
                hidden = hidden.or(Some(reason));
                continue;
            }
        }
        for range in &permission.ip_ranges {
            match range.cidr_ip.value().and_then(|text| network::<std::net::Ipv4Addr>(text, 32)) {
                Some(network) => ipv4.add(network),
                None => hidden = hidden.or(Some(&CIDR_IP_NOT_VISIBLE)),
            }
        }
        for range in &permission.ipv6_ranges {
            match range.cidr_ipv6.value().and_then(|text| network::<std::net::Ipv6Addr>(text, 128)) {
                Some(network) => ipv6.add(network),
                None => hidden = hidden.or(Some(&CIDR_IPV6_NOT_VISIBLE)),
            }
        }
        if !permission.prefix_list_ids.is_empty() {
            hidden = hidden.or(Some(&PREFIX_LIST_UNREAD));
        }
    }
    match hidden {
        _ if ipv4.hold_half_of_ipv4() || ipv6.hold_public_ipv6() => One::Failed,
        Some(reason) => One::Open(reason),
        None => One::Good,
    }
}

#[cfg(test)]
mod tests;
