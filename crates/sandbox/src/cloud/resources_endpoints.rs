//! Security groups, databases and detectors of a region.

use super::refusal::Refusal;
use super::resources::{Database, Resources, SecurityGroup};
use super::state::Cloud;
use super::wire::{Ask, Service, Xml};
use serde_json::json;

static NOTHING: Resources =
    Resources { groups: Vec::new(), databases: Vec::new(), detector: None, no_detectors: false };

fn of<'a>(cloud: &'a Cloud, region: &str) -> &'a Resources {
    cloud.resources.get(region).unwrap_or(&NOTHING)
}

/// One page of a list, and where the next begins. `token` and `most` are names of parameters.
fn page<'a, T>(
    cloud: &Cloud,
    ask: &Ask,
    list: &'a [T],
    (token, most): (&str, &str),
) -> Result<(&'a [T], Option<String>), Refusal> {
    let number = |name: &str| ask.parameter(name).map(str::parse::<usize>).transpose();
    let wrong = || Refusal::own(400, "InvalidParameterValue", "Invalid value for a parameter of the page");
    let first = number(token).map_err(|_| wrong())?.unwrap_or_default();
    let most = number(most).map_err(|_| wrong())?.unwrap_or(100);
    let end = first.saturating_add(most.min(cloud.page_size as usize)).min(list.len());
    let page = list.get(first..end).ok_or_else(wrong)?;
    Ok((page, (end < list.len()).then(|| end.to_string())))
}

/// `DescribeSecurityGroups`, with everything that the real answer has.
pub(super) fn security_groups(cloud: &Cloud, ask: &Ask, request_id: &str) -> Result<String, Refusal> {
    let (groups, next) = page(cloud, ask, &of(cloud, &ask.region).groups, ("NextToken", "MaxResults"))?;
    let mut xml = Xml::default();
    xml.root("DescribeSecurityGroupsResponse", Service::Ec2);
    xml.text("requestId", request_id);
    xml.open("securityGroupInfo");
    groups.iter().for_each(|group| security_group(&mut xml, cloud, group));
    xml.close("securityGroupInfo");
    if let Some(next) = next {
        xml.text("nextToken", &next);
    }
    xml.close("DescribeSecurityGroupsResponse");
    Ok(xml.finish())
}

fn security_group(xml: &mut Xml, cloud: &Cloud, group: &SecurityGroup) {
    xml.open("item");
    xml.text("ownerId", &cloud.account);
    xml.text("groupId", &group.id);
    xml.text("groupName", &format!("name-of-{}", group.id));
    xml.text("groupDescription", "planted-7f3c in a description");
    xml.text("vpcId", "vpc-0a1b2c3d");
    xml.open("ipPermissions");
    for rule in &group.rules {
        xml.open("item");
        xml.text("ipProtocol", &rule.protocol);
        if let Some((from, to)) = rule.ports {
            xml.text("fromPort", &from.to_string());
            xml.text("toPort", &to.to_string());
        }
        xml.open("groups");
        xml.close("groups");
        let lists = [
            ("ipRanges", "cidrIp", (|source: &str| source.contains('.')) as fn(&str) -> bool),
            ("ipv6Ranges", "cidrIpv6", |source| source.contains(':')),
            ("prefixListIds", "prefixListId", |source| source.starts_with("pl-")),
        ];
        for (list, name, is_one) in lists {
            xml.open(list);
            for source in rule.sources.iter().filter(|source| is_one(source)) {
                xml.open("item");
                xml.text(name, source);
                xml.text("description", "planted-7f3c in a description");
                xml.close("item");
            }
            xml.close(list);
        }
        xml.close("item");
    }
    xml.close("ipPermissions");
    xml.open("ipPermissionsEgress");
    xml.open("item");
    xml.text("ipProtocol", "-1");
    xml.open("ipRanges");
    xml.open("item");
    xml.text("cidrIp", "0.0.0.0/0");
    xml.close("item");
    xml.close("ipRanges");
    xml.close("item");
    xml.close("ipPermissionsEgress");
    xml.open("tagSet");
    xml.open("item");
    xml.text("key", "owner");
    xml.text("value", "planted-7f3c in a tag");
    xml.close("item");
    xml.close("tagSet");
    xml.close("item");
}

/// `DescribeDBInstances` or `DescribeDBClusters`.
pub(super) fn databases(cloud: &Cloud, ask: &Ask, request_id: &str) -> Result<String, Refusal> {
    let is_cluster = ask.operation == "DescribeDBClusters";
    let all: Vec<&Database> =
        of(cloud, &ask.region).databases.iter().filter(|one| one.is_cluster == is_cluster).collect();
    let (page, next) = page(cloud, ask, &all, ("Marker", "MaxRecords"))?;
    let (list, one, kind) = match is_cluster {
        true => ("DBClusters", "DBCluster", "cluster"),
        false => ("DBInstances", "DBInstance", "db"),
    };
    Ok(Xml::answer(Service::Rds, &ask.operation, request_id, |xml| {
        xml.open(list);
        for database in page {
            let arn = format!("arn:aws:rds:{}:{}:{kind}:{}", ask.region, cloud.account, database.name);
            xml.open(one);
            xml.text(&format!("{one}Identifier"), &database.name);
            xml.text(&format!("{one}Arn"), &arn);
            xml.text("MasterUsername", "planted-7f3c-user");
            xml.open("TagList");
            xml.open("Tag");
            xml.text("Key", "owner");
            xml.text("Value", "planted-7f3c in a tag");
            xml.close("Tag");
            xml.close("TagList");
            database.fields.iter().for_each(|(name, value)| xml.text(name, value));
            xml.close(one);
        }
        xml.close(list);
        if let Some(next) = &next {
            xml.text("Marker", next);
        }
    }))
}

/// `ListDetectors` or `GetDetector`.
pub(super) fn detectors(cloud: &Cloud, ask: &Ask) -> Result<String, Refusal> {
    let here = of(cloud, &ask.region);
    if here.no_detectors {
        return Err(Refusal::own(404, "UnknownOperationException", ""));
    }
    let id = "12abc34d567e8fa901bc2d34e56789f0";
    if ask.operation == "ListDetectors" {
        let ids: Vec<&str> = here.detector.iter().map(|_| id).collect();
        return Ok(json!({"detectorIds": ids, "nextToken": ""}).to_string());
    }
    match &here.detector {
        Some(status) if ask.resource == id => Ok(json!({
            "createdAt": "2024-03-01T09:00:00.000Z",
            "findingPublishingFrequency": "SIX_HOURS",
            "serviceRole": format!("arn:aws:iam::{}:role/planted-7f3c", cloud.account),
            "status": status,
            "tags": {"owner": "planted-7f3c in a tag"},
        })
        .to_string()),
        _ => {
            let message =
                "The request is rejected because the input detectorId is not owned by the current account.";
            Err(Refusal::own(400, "BadRequestException", message))
        }
    }
}
