use super::*;
use crate::rule::{Status, reason};

fn permission(protocol: &str, ports: Option<(i64, i64)>) -> IpPermission {
    let port = |port: Option<i64>| port.map_or(Field::Absent, Field::Value);
    IpPermission {
        ip_protocol: Field::Value(protocol.to_string()),
        from_port: port(ports.map(|(from, _)| from)),
        to_port: port(ports.map(|(_, to)| to)),
        ..IpPermission::default()
    }
}

impl IpPermission {
    fn from(mut self, networks: &[&str]) -> IpPermission {
        for network in networks {
            let text = Field::Value((*network).to_string());
            match network {
                list if list.starts_with("pl-") => {
                    self.prefix_list_ids.push(PrefixListId { prefix_list_id: text })
                }
                net if net.contains(':') => self.ipv6_ranges.push(Ipv6Range { cidr_ipv6: text }),
                _ => self.ip_ranges.push(IpRange { cidr_ip: text }),
            }
        }
        self
    }
}

fn group(permissions: Vec<IpPermission>) -> SecurityGroup {
    SecurityGroup { group_id: "sg-1".to_string(), ip_permissions: permissions }
}

fn judged(groups: Vec<SecurityGroup>) -> Verdict {
    let record = OpenPorts { groups_read: 3, security_groups: groups };
    judge(&Regions(vec![("eu-west-1".to_string(), Ok(record))]))
}

const WORLD: &[&str] = &["0.0.0.0/0"];

/// Every protocol, with ports around, on and beside those that count.
#[test]
fn which_rules_reach_the_ports() {
    for (protocol, ports, reached) in [
        ("-1", None, "TCP 22, TCP 3389, UDP 3389"),
        ("-1", Some((0, 0)), "TCP 22, TCP 3389, UDP 3389"),
        ("tcp", Some((22, 22)), "TCP 22"),
        ("6", Some((22, 22)), "TCP 22"),
        ("tcp", Some((0, 65_535)), "TCP 22, TCP 3389"),
        ("tcp", Some((-1, -1)), "TCP 22, TCP 3389"),
        ("tcp", Some((20, 22)), "TCP 22"),
        ("tcp", Some((22, 30)), "TCP 22"),
        ("tcp", Some((3389, 3389)), "TCP 3389"),
        ("udp", Some((3389, 3389)), "UDP 3389"),
        ("17", Some((0, 65_535)), "UDP 3389"),
        ("udp", Some((22, 22)), ""),
        ("tcp", Some((23, 3388)), ""),
        ("tcp", Some((443, 443)), ""),
        ("icmp", Some((-1, -1)), ""),
        ("58", None, ""),
        ("50", None, ""),
    ] {
        let rule = permission(protocol, ports).from(WORLD);
        assert_eq!(rule.may_reach(), !reached.is_empty(), "{rule:?}");
        let verdict = judged(vec![group(vec![rule])]);
        if reached.is_empty() {
            assert_eq!(verdict.status, Status::Pass, "{protocol} {ports:?}");
        } else {
            assert_eq!(verdict.reason.code, "admin_ports_open", "{protocol} {ports:?}");
            let actual = verdict.actual.unwrap();
            assert!(actual.contains(&format!("sg-1 in eu-west-1 ({reached})")), "{actual}");
        }
    }
}

/// Prowler's check of port 22 passes a group that opens all ports, and both Prowler and Comp AI pass the internet in two
/// halves and do not look into prefix lists.
#[test]
fn what_others_pass() {
    let ssh = || permission("tcp", Some((22, 22)));
    for (rules, status, reason) in [
        (vec![permission("-1", None).from(WORLD)], Status::Fail, "admin_ports_open"),
        (vec![ssh().from(&["0.0.0.0/1", "128.0.0.0/1"])], Status::Fail, "admin_ports_open"),
        (vec![ssh().from(&["0.0.0.0/1"])], Status::Fail, "admin_ports_open"),
        // The halves in two rules, one of which opens more ports than the other.
        (
            vec![ssh().from(&["0.0.0.0/2"]), permission("tcp", Some((0, 100))).from(&["64.0.0.0/2"])],
            Status::Fail,
            "admin_ports_open",
        ),
        // Two ports that are each half open are both closed.
        (
            vec![ssh().from(&["0.0.0.0/2"]), permission("tcp", Some((3389, 3389))).from(&["64.0.0.0/2"])],
            Status::Pass,
            "ok",
        ),
        (vec![ssh().from(&["::/0"])], Status::Fail, "admin_ports_open"),
        (vec![ssh().from(&["2000::/3"])], Status::Fail, "admin_ports_open"),
        (vec![ssh().from(&["pl-1"])], Status::NotVerifiable, "prefix_list_unread"),
        (vec![ssh().from(&["pl-1"]), ssh().from(WORLD)], Status::Fail, "admin_ports_open"),
        (vec![permission("tcp", Some((443, 443))).from(&["pl-1"])], Status::Pass, "ok"),
        (
            vec![permission("-1", None).from(&["pl-1", "10.0.0.0/8"])],
            Status::NotVerifiable,
            "prefix_list_unread",
        ),
        // From another group, no network.
        (vec![permission("-1", None)], Status::Pass, "ok"),
        (vec![ssh().from(&["10.0.0.0/8", "fd00::/8"])], Status::Pass, "ok"),
    ] {
        let shown = format!("{rules:?}");
        let verdict = judged(vec![group(rules)]);
        assert_eq!((verdict.status, verdict.reason.code), (status, reason), "{shown}");
    }
}

#[test]
fn what_is_hidden_is_open() {
    let ssh = || permission("tcp", Some((22, 22))).from(&["10.0.0.0/8"]);
    for (rule, reason) in [
        (IpPermission { ip_protocol: Field::Absent, ..ssh() }, "ip_protocol_not_visible"),
        (IpPermission { ip_protocol: Field::Null, ..ssh() }, "ip_protocol_not_visible"),
        (IpPermission { from_port: Field::Absent, ..ssh() }, "from_port_not_visible"),
        (IpPermission { to_port: Field::Null, ..ssh() }, "to_port_not_visible"),
        (IpPermission { ip_ranges: vec![IpRange::default()], ..ssh() }, "cidr_ip_not_visible"),
        (ssh().from(&["10.0.0.0/99"]), "cidr_ip_not_visible"),
        (IpPermission { ipv6_ranges: vec![Ipv6Range::default()], ..ssh() }, "cidr_ipv6_not_visible"),
        (ssh().from(&["::/200"]), "cidr_ipv6_not_visible"),
    ] {
        assert!(rule.may_reach());
        let verdict = judged(vec![group(vec![rule.clone()])]);
        assert_eq!((verdict.status, verdict.reason.code), (Status::NotVerifiable, reason), "{rule:?}");
        // What is known to be open stays so.
        let verdict = judged(vec![group(vec![rule, permission("-1", None).from(WORLD)])]);
        assert_eq!(verdict.status, Status::Fail);
    }
}

#[test]
fn over_regions() {
    let closed = || OpenPorts { groups_read: 2, security_groups: Vec::new() };
    let open = || OpenPorts {
        groups_read: 1,
        security_groups: vec![group(vec![permission("-1", None).from(WORLD)])],
    };
    let of = |reads: Vec<Result<OpenPorts, &'static Reason>>| {
        let named = reads.into_iter().map(|read| ("eu-west-1".to_string(), read));
        let verdict = judge(&Regions(named.collect()));
        (verdict.status, verdict.reason.code)
    };
    assert_eq!(of(vec![Ok(closed()), Ok(closed())]), (Status::Pass, "ok"));
    assert_eq!(of(vec![Ok(closed()), Ok(open())]), (Status::Fail, "admin_ports_open"));
    let refused = || Err(&reason::PERMISSION_DENIED);
    assert_eq!(of(vec![Ok(closed()), refused()]), (Status::NotVerifiable, "permission_denied"));
    assert_eq!(of(vec![refused(), Ok(open())]), (Status::Fail, "admin_ports_open"));
    assert_eq!(of(vec![Ok(OpenPorts::default())]), (Status::NotApplicable, "nothing_in_scope"));
    // Numbers that no host sends do not overflow.
    let many = || OpenPorts { groups_read: u64::MAX, security_groups: Vec::new() };
    assert_eq!(of(vec![Ok(many()), Ok(many()), Ok(open())]), (Status::Fail, "admin_ports_open"));
}
