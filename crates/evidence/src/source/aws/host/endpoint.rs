//! The addresses of the provider's services, and the signing region of each.
//!
//! A region's name becomes part of a host name, and answers contain region names (a trail's home). Only a checked
//! [`Region`] gets here, so no answer can redirect the tool to another host. This file sends nothing.

use std::fmt;

use url::Url;

use crate::origin::OwnHosts;

/// The provider's own addresses: a service and a region. Other names in the provider's domains can be rented.
pub(crate) static OWN_HOSTS: OwnHosts = OwnHosts {
    shown: "the addresses of the services, such as `https://sts.eu-central-1.amazonaws.com`,",
    is_own: is_own_host,
    mistaken: |_| None,
};

/// The services, by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Service {
    /// Identifies the credentials, and issues a role's temporary credentials.
    Sts,
    /// The account's password policy.
    Iam,
    /// Trails and their status.
    CloudTrail,
    /// Log groups.
    Logs,
    /// The regions that are enabled, the disks and the security groups of each.
    Ec2,
    /// The accounts of an organization.
    Organizations,
    /// Databases.
    Rds,
    /// Detectors of threats.
    GuardDuty,
    /// Buckets.
    S3,
    /// What an account decides for all its buckets.
    S3Control,
}

impl Service {
    /// All services.
    pub(crate) const ALL: [Service; 10] = [
        Service::Sts,
        Service::Iam,
        Service::CloudTrail,
        Service::Logs,
        Service::Ec2,
        Service::Organizations,
        Service::Rds,
        Service::GuardDuty,
        Service::S3,
        Service::S3Control,
    ];

    /// The name in addresses and, but for storage, in signatures.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Service::Sts => "sts",
            Service::Iam => "iam",
            Service::CloudTrail => "cloudtrail",
            Service::Logs => "logs",
            Service::Ec2 => "ec2",
            Service::Organizations => "organizations",
            Service::Rds => "rds",
            Service::GuardDuty => "guardduty",
            Service::S3 => "s3",
            Service::S3Control => "s3-control",
        }
    }

    /// The name in signatures.
    pub(crate) fn signing_name(self) -> &'static str {
        if self.is_storage() { "s3" } else { self.name() }
    }

    /// Whether it is one of the two services of storage, which sign in their own way and whose hosts have the addresses of
    /// buckets, which anyone can rent.
    pub(crate) fn is_storage(self) -> bool {
        matches!(self, Service::S3 | Service::S3Control)
    }

    /// The service's protocol.
    pub(crate) fn protocol(self) -> Protocol {
        match self {
            Service::Sts => Protocol::Query { version: "2011-06-15" },
            Service::Iam => Protocol::Query { version: "2010-05-08" },
            Service::Ec2 => Protocol::Query { version: "2016-11-15" },
            Service::Rds => Protocol::Query { version: "2014-10-31" },
            Service::GuardDuty | Service::S3 | Service::S3Control => Protocol::Rest,
            Service::CloudTrail => {
                Protocol::Json { target: "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101" }
            }
            Service::Logs => Protocol::Json { target: "Logs_20140328" },
            Service::Organizations => Protocol::Json { target: "AWSOrganizationsV20161128" },
        }
    }
}

/// The protocol of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// A form with `Action` and this `Version`; the answers are XML.
    Query {
        /// The version of the API.
        version: &'static str,
    },
    /// JSON 1.1 with `X-Amz-Target`, which is `target` and the action; the answers are JSON.
    Json {
        /// The prefix of the action.
        target: &'static str,
    },
    /// The question is in the address of a GET; storage answers in XML, the others in JSON.
    Rest,
}

impl Protocol {
    /// The media type of a form.
    pub(crate) const FORM: &'static str = "application/x-www-form-urlencoded; charset=utf-8";
    /// The media type of JSON 1.1.
    pub(crate) const JSON: &'static str = "application/x-amz-json-1.1";
    /// The media type of answers in XML to a GET.
    pub(crate) const REST_XML: &'static str = "application/xml";
    /// The media type of answers in JSON to a GET.
    pub(crate) const REST_JSON: &'static str = "application/json";
}

/// A group of regions with separate accounts, names and addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Partition {
    /// The public partition.
    Public,
    /// China.
    China,
    /// The partition of the United States government.
    Government,
}

impl Partition {
    fn domain(self) -> &'static str {
        match self {
            Partition::Public | Partition::Government => "amazonaws.com",
            Partition::China => "amazonaws.com.cn",
        }
    }

    /// IAM has one address per partition, and one signing region.
    fn iam(self) -> (&'static str, &'static str) {
        match self {
            Partition::Public => ("iam.amazonaws.com", "us-east-1"),
            Partition::China => ("iam.cn-north-1.amazonaws.com.cn", "cn-north-1"),
            Partition::Government => ("iam.us-gov.amazonaws.com", "us-gov-west-1"),
        }
    }

    /// The region that answers about organizations.
    fn organizations(self) -> &'static str {
        match self {
            Partition::Public => "us-east-1",
            Partition::China => "cn-northwest-1",
            Partition::Government => "us-gov-west-1",
        }
    }

    /// The partition's name in ARNs.
    #[cfg(test)]
    fn id(self) -> &'static str {
        match self {
            Partition::Public => "aws",
            Partition::China => "aws-cn",
            Partition::Government => "aws-us-gov",
        }
    }
}

/// The name of a region, checked to be safe in a host name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Region(String);

/// The maximum length of a region's name; the longest known one has 14 characters.
const MAXIMUM_REGION: usize = 32;

impl Region {
    /// The region with this name, if it is well-formed: lower-case words and a number, as in `eu-central-1`.
    pub(crate) fn new(text: &str) -> Option<Region> {
        let (words, number) = text.rsplit_once('-')?;
        let is_number = (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
        let good = text.len() <= MAXIMUM_REGION
            && is_number
            && words.split('-').count() >= 2
            && words.split('-').all(is_word);
        good.then(|| Region(text.to_string()))
    }

    /// The region's name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The region's partition; `None` if its addresses are not known here.
    pub(crate) fn partition(&self) -> Option<Partition> {
        let mut words = self.0.split('-');
        match (words.next().unwrap_or_default(), words.next().unwrap_or_default()) {
            ("cn", _) => Some(Partition::China),
            ("us", "gov") => Some(Partition::Government),
            ("eusc", _) => None,
            (_, second) if second.starts_with("iso") => None,
            _ => Some(Partition::Public),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One service at one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceEndpoint {
    /// The service.
    pub(crate) service: Service,
    /// The address.
    pub(crate) url: Url,
    /// The region in signatures.
    pub(crate) signing_region: String,
}

impl ServiceEndpoint {
    /// The service for `region`: at the provider's own address, or at `address` if the configuration sets one for all
    /// services. `None` if neither is known, which the configuration rules out.
    pub(crate) fn new(service: Service, region: &Region, address: Option<&Url>) -> Option<ServiceEndpoint> {
        let partition = region.partition();
        let signing_region = match (service, partition) {
            (Service::Iam, partition) => partition.unwrap_or(Partition::Public).iam().1.to_string(),
            (Service::Organizations, partition) => {
                partition.unwrap_or(Partition::Public).organizations().to_string()
            }
            _ => region.to_string(),
        };
        let url = match (address, partition) {
            (Some(address), _) => address.clone(),
            (None, None) => return None,
            (None, Some(partition)) => {
                let host = match service {
                    Service::Iam => partition.iam().0.to_string(),
                    Service::Organizations => {
                        format!("{}.{}.{}", service.name(), partition.organizations(), partition.domain())
                    }
                    _ => format!("{}.{region}.{}", service.name(), partition.domain()),
                };
                Url::parse(&format!("https://{host}/")).ok()?
            }
        };
        Some(ServiceEndpoint { service, url, signing_region })
    }

    /// The same endpoint with the account in the name of the host, as the provider wants it for what an account decides.
    pub(crate) fn of_account(mut self, account: &str) -> Option<ServiceEndpoint> {
        let host = format!("{account}.{}", self.url.host_str()?);
        self.url.set_host(Some(&host)).ok()?;
        Some(self)
    }
}

/// Whether one of the services has this host in some region.
fn is_own_host(host: &str) -> bool {
    // The hosts of IAM that name no region are those of these partitions.
    let partitions = ["us-east-1", "us-gov-west-1"];
    let regions = host.split('.').nth(1).into_iter().chain(partitions).filter_map(Region::new);
    regions.into_iter().any(|region| {
        Service::ALL.into_iter().filter(|service| !service.is_storage()).any(|service| {
            let endpoint = ServiceEndpoint::new(service, &region, None);
            endpoint.is_some_and(|endpoint| endpoint.url.host_str() == Some(host))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_service_in_a_region_is_the_providers_own() {
        for host in [
            "sts.eu-central-1.amazonaws.com",
            "logs.ap-southeast-3.amazonaws.com",
            "cloudtrail.us-gov-east-1.amazonaws.com",
            "ec2.eu-central-1.amazonaws.com",
            "iam.amazonaws.com",
            "iam.us-gov.amazonaws.com",
            "iam.cn-north-1.amazonaws.com.cn",
            "sts.cn-northwest-1.amazonaws.com.cn",
        ] {
            assert!(is_own_host(host), "{host}");
        }
        for host in [
            "amazonaws.com",
            "sts.amazonaws.com.evil.example",
            "bucket.s3.amazonaws.com",
            "bucket.s3.eu-central-1.amazonaws.com",
            "s3.eu-central-1.amazonaws.com",
            "evil.eu-central-1.amazonaws.com",
            "sts.eu-central-1.amazonaws.com.",
            "sts.eu-central-1.amazonaws.com.cn",
            "sts.cn-north-1.amazonaws.com",
            "sts.us-iso-east-1.amazonaws.com",
            "sts.eu-central-1.vpce.amazonaws.com",
            "vpce-1.sts.eu-central-1.vpce.amazonaws.com",
            "abc.execute-api.eu-central-1.amazonaws.com",
            "name-1.eu-central-1.elb.amazonaws.com",
            "ec2-203-0-113-1.eu-central-1.compute.amazonaws.com",
            "sts.compute-1.amazonaws.com",
            "sts.eu-central-1.evil.example",
            "sts.eu-central-1.amazonaws.co",
            "x.sts.eu-central-1.amazonaws.com",
            "",
        ] {
            assert!(!is_own_host(host), "{host}");
        }
    }

    #[test]
    fn the_addresses_of_each_partition() {
        let table = [
            (Service::Sts, "eu-central-1", "https://sts.eu-central-1.amazonaws.com/", "eu-central-1"),
            (Service::Iam, "eu-central-1", "https://iam.amazonaws.com/", "us-east-1"),
            (Service::CloudTrail, "us-west-2", "https://cloudtrail.us-west-2.amazonaws.com/", "us-west-2"),
            (Service::Logs, "ap-southeast-3", "https://logs.ap-southeast-3.amazonaws.com/", "ap-southeast-3"),
            (
                Service::Sts,
                "cn-northwest-1",
                "https://sts.cn-northwest-1.amazonaws.com.cn/",
                "cn-northwest-1",
            ),
            (Service::Iam, "cn-northwest-1", "https://iam.cn-north-1.amazonaws.com.cn/", "cn-north-1"),
            (
                Service::Organizations,
                "eu-central-1",
                "https://organizations.us-east-1.amazonaws.com/",
                "us-east-1",
            ),
            (
                Service::Organizations,
                "cn-north-1",
                "https://organizations.cn-northwest-1.amazonaws.com.cn/",
                "cn-northwest-1",
            ),
            (Service::Logs, "cn-north-1", "https://logs.cn-north-1.amazonaws.com.cn/", "cn-north-1"),
            (Service::S3, "eu-west-1", "https://s3.eu-west-1.amazonaws.com/", "eu-west-1"),
            (Service::S3Control, "eu-west-1", "https://s3-control.eu-west-1.amazonaws.com/", "eu-west-1"),
            (Service::Rds, "eu-west-1", "https://rds.eu-west-1.amazonaws.com/", "eu-west-1"),
            (
                Service::GuardDuty,
                "us-gov-east-1",
                "https://guardduty.us-gov-east-1.amazonaws.com/",
                "us-gov-east-1",
            ),
            (Service::Sts, "us-gov-east-1", "https://sts.us-gov-east-1.amazonaws.com/", "us-gov-east-1"),
            (Service::Iam, "us-gov-east-1", "https://iam.us-gov.amazonaws.com/", "us-gov-west-1"),
        ];
        for (service, region, url, signing_region) in table {
            let endpoint = ServiceEndpoint::new(service, &Region::new(region).unwrap(), None).unwrap();
            assert_eq!((endpoint.url.as_str(), endpoint.signing_region.as_str()), (url, signing_region));
            // A single address for all services changes only where a request is sent, not how it is signed.
            let own = Url::parse("https://vpce.example.com/base").unwrap();
            let endpoint = ServiceEndpoint::new(service, &Region::new(region).unwrap(), Some(&own)).unwrap();
            assert_eq!((&endpoint.url, endpoint.signing_region.as_str()), (&own, signing_region));
        }
    }

    #[test]
    fn what_an_account_decides_has_the_account_in_its_host() {
        let region = Region::new("eu-west-1").unwrap();
        let endpoint = ServiceEndpoint::new(Service::S3Control, &region, None).unwrap();
        let endpoint = endpoint.of_account("123456789012").unwrap();
        assert_eq!(endpoint.url.as_str(), "https://123456789012.s3-control.eu-west-1.amazonaws.com/");
        assert_eq!((endpoint.service.signing_name(), endpoint.signing_region.as_str()), ("s3", "eu-west-1"));
    }

    #[test]
    fn a_region_is_a_name_that_can_stand_in_a_host_name() {
        let partitions = [
            ("us-east-1", Some("aws")),
            ("mx-central-1", Some("aws")),
            ("ap-southeast-12", Some("aws")),
            ("cn-north-1", Some("aws-cn")),
            ("us-gov-west-1", Some("aws-us-gov")),
            ("us-iso-east-1", None),
            ("us-isob-east-1", None),
            ("eu-isoe-west-1", None),
            ("eusc-de-east-1", None),
        ];
        for (text, partition) in partitions {
            let region = Region::new(text).unwrap();
            assert_eq!(region.partition().map(Partition::id), partition, "{text}");
            assert_eq!(ServiceEndpoint::new(Service::Sts, &region, None).is_some(), partition.is_some());
        }
        let others = [
            "",
            "us",
            "us-1",
            "global",
            "aws-global",
            "us-east-1a",
            "US-EAST-1",
            "us-east-1/",
            "us-east-1.evil.com",
            "us-east-1\n",
            "us--east-1",
            "-us-east-1",
            "us-east-123",
            "us-east-",
            "us_east_1",
            "us-east-1#",
            "é-a-1",
            "evil.com/x-y-1",
            "aaaaaaaaaaaaaaaa-aaaaaaaaaaaaaaaa-1",
        ];
        for text in others {
            assert_eq!(Region::new(text), None, "{text:?}");
        }
    }
}
