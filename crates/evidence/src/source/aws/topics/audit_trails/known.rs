//! The trails of all regions as one list: each trail once, with a file name and a home region.
//!
//! Every region shows a multi-region trail. Names, ARNs and home regions come from the provider and become parts of
//! file names and host names, so invalid ones are never requested. Pure.

use std::collections::{HashMap, HashSet};

use evidence_bundle::path::encode_component;

use crate::source::aws::host::endpoint::Region;
use crate::source::aws::names::{Arn, trail_name};
use evidence_http::single_line;
use evidence_rules::cloud::record::Trail;

/// A trail, and a region that showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownTrail {
    pub(crate) trail: Trail,
    pub(crate) seen_in: Region,
}

/// The region and the ARN for requests about a trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrailHome {
    pub(crate) region: Region,
    pub(crate) arn: String,
}

/// Every trail once, by its ARN, in the order of their names. The home region's data takes precedence, else that of the
/// first region. Two trails without an ARN are two trails.
pub(crate) fn merge<'a>(regions: impl IntoIterator<Item = (&'a Region, &'a [Trail])>) -> Vec<KnownTrail> {
    let mut known: Vec<KnownTrail> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (region, trails) in regions {
        for trail in trails {
            let new = KnownTrail { trail: trail.clone(), seen_in: region.clone() };
            let Some(arn) = trail.trail_arn.value() else {
                known.push(new);
                continue;
            };
            match places.get(arn).and_then(|place| known.get_mut(*place)) {
                Some(old) if new.is_at_home() && !old.is_at_home() => *old = new,
                Some(_) => {}
                None => {
                    places.insert(arn.clone(), known.len());
                    known.push(new);
                }
            }
        }
    }
    known.sort_by(|one, other| (one.name(), one.arn()).cmp(&(other.name(), other.arn())));
    known
}

impl KnownTrail {
    fn is_at_home(&self) -> bool {
        self.trail.home_region.value().is_some_and(|home| home == self.seen_in.as_str())
    }

    /// The name, or the name in the ARN.
    pub(crate) fn name(&self) -> &str {
        self.trail.name()
    }

    pub(crate) fn arn(&self) -> Option<&str> {
        self.trail.trail_arn.value().map(String::as_str)
    }

    /// The subject of checks about it: one line of limited length.
    pub(crate) fn subject(&self) -> String {
        single_line(self.arn().unwrap_or_else(|| self.name()))
    }

    /// Where to request its status: in its home region, by ARN, since the same name can mean another trail in another
    /// region.
    ///
    /// # Errors
    ///
    /// Fails with a message if it has no ARN, or if the provider's data is invalid.
    pub(crate) fn home(&self) -> Result<TrailHome, String> {
        let arn = self
            .arn()
            .ok_or_else(|| format!("the provider listed the trail {} without an ARN", self.shown()))?;
        let parts = Arn::new(arn).filter(|parts| trail_name(*parts).is_some()).ok_or_else(|| {
            format!("the provider listed a trail with an invalid ARN: {}", single_line(arn))
        })?;
        let home = self.trail.home_region.value().map_or(parts.region, String::as_str);
        match Region::new(home).filter(|home| home.partition() == self.seen_in.partition()) {
            Some(region) => Ok(TrailHome { region, arn: arn.to_string() }),
            None => {
                Err(format!("the trail {} has an invalid home region: {}", self.shown(), single_line(home)))
            }
        }
    }

    fn shown(&self) -> String {
        single_line(self.name())
    }
}

/// The prefix of each trail's file names, unique even if case is ignored: the trail's name, extended only if another
/// trail has the same.
pub(crate) fn file_stems(trails: &[KnownTrail]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = Vec::new();
    for (index, known) in trails.iter().enumerate() {
        let name = known.name();
        let arn = known.arn().and_then(Arn::new);
        let (region, account) = arn.map_or(("", ""), |arn| (arn.region, arn.account));
        let candidates = [
            format!("trail_{name}"),
            format!("trail_{name}_{region}"),
            format!("trail_{name}_{region}_{account}"),
            format!("trail_{name}_{region}_{account}_{index}"),
        ];
        let mut encoded = candidates.iter().map(|candidate| encode_component(candidate));
        let free = encoded.find(|candidate| taken.insert(candidate.to_ascii_lowercase()));
        // The last candidate contains a unique number. If another trail has that very name, this one still differs.
        names.push(free.unwrap_or_else(|| format!("trail_{index}_of_{}", trails.len())));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence_rules::field::Field;

    fn region(name: &str) -> Region {
        Region::new(name).unwrap()
    }

    fn trail(name: &str, arn: Option<&str>, home: Option<&str>) -> Trail {
        let field = |text: Option<&str>| text.map_or(Field::Absent, |text| Field::Value(text.to_string()));
        Trail {
            name: Field::Value(name.to_string()),
            trail_arn: field(arn),
            home_region: field(home),
            ..Trail::default()
        }
    }

    fn arn(region: &str, name: &str) -> String {
        format!("arn:aws:cloudtrail:{region}:123456789012:trail/{name}")
    }

    #[test]
    fn a_trail_that_several_regions_show_is_one_trail() {
        let (central, east) = (region("eu-central-1"), region("us-east-1"));
        let shadow = Trail {
            is_multi_region_trail: Field::Absent,
            ..trail("main", Some(&arn("us-east-1", "main")), Some("us-east-1"))
        };
        let own = Trail { is_multi_region_trail: Field::Value(true), ..shadow.clone() };
        let other = trail("audit", Some(&arn("eu-central-1", "audit")), Some("eu-central-1"));
        let nameless = trail("main", None, None);
        let central_shows = [shadow.clone(), other.clone(), nameless.clone()];
        let east_shows = [own.clone(), nameless.clone()];
        let both = [
            merge([(&central, &central_shows[..]), (&east, &east_shows[..])]),
            merge([(&east, &east_shows[..]), (&central, &central_shows[..])]),
        ];
        for known in both {
            let found: Vec<_> = known.iter().map(|known| (known.name(), known.seen_in.as_str())).collect();
            assert_eq!(found.len(), 4, "{found:?}");
            assert_eq!(found[0], ("audit", "eu-central-1"));
            // The home region's data takes precedence, whichever region is read first.
            let main = known
                .iter()
                .find(|known| known.trail.trail_arn.value().is_some() && known.name() == "main")
                .unwrap();
            assert_eq!((&main.trail, main.seen_in.as_str()), (&own, "us-east-1"));
        }
        assert_eq!(merge([]), []);
    }

    #[test]
    fn the_status_is_asked_at_home_and_nowhere_else() {
        let known = |arn: Option<&str>, home: Option<&str>| KnownTrail {
            trail: trail("main", arn, home),
            seen_in: region("eu-central-1"),
        };
        let good = arn("us-east-1", "main");
        let place = known(Some(&good), Some("us-east-1")).home().unwrap();
        assert_eq!((place.region.as_str(), place.arn.as_str()), ("us-east-1", good.as_str()));
        assert_eq!(known(Some(&good), None).home().unwrap().region.as_str(), "us-east-1");
        assert_eq!(known(Some(&good), Some("us-east-1")).subject(), good);
        for (arn, home) in [
            (None, Some("us-east-1")),
            (Some(good.as_str()), Some("evil.example.com/")),
            (Some(&good), Some("us-east-1.evil.example.com")),
            (Some(&good), Some("")),
            (Some(&good), Some("cn-north-1")),
            (Some("nonsense"), Some("us-east-1")),
            (Some("arn:aws:cloudtrail:us-east-1:123456789012:trail/../.."), Some("us-east-1")),
            (Some("arn:aws:iam::123456789012:role/main"), Some("us-east-1")),
            (Some("\u{1b}[31m"), Some("us-east-1")),
        ] {
            let text = known(arn, home).home().unwrap_err();
            assert!(!text.contains('\u{1b}'), "{text}");
        }
        let huge = "x".repeat(100_000);
        assert!(known(Some(&huge), None).subject().len() < 1_000);
    }

    #[test]
    fn file_names_are_all_different_and_cannot_lead_elsewhere() {
        let known = |name: &str, arn: Option<&str>| KnownTrail {
            trail: trail(name, arn, None),
            seen_in: region("eu-central-1"),
        };
        let trails = [
            known("main", Some(&arn("eu-central-1", "main"))),
            known("main", Some(&arn("us-east-1", "main"))),
            known("Main", Some(&arn("us-east-1", "Main"))),
            known("main", Some("arn:aws:cloudtrail:us-east-1:999999999999:trail/main")),
            known("main", Some("arn:aws:cloudtrail:us-east-1:999999999999:trail/main")),
            known("main", None),
            known("main_us-east-1", Some(&arn("eu-west-1", "main_us-east-1"))),
            known("../../etc/passwd", None),
            known("a/b", None),
            known("\u{1b}[31m\n", None),
            known("", None),
            known("..", None),
        ];
        let names = file_stems(&trails);
        assert_eq!(names[0], "trail_main");
        assert_eq!(names[1], "trail_main_us-east-1");
        assert_eq!(names[2], "trail_Main_us-east-1_123456789012");
        let lower: HashSet<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        assert_eq!(lower.len(), trails.len(), "{names:?}");
        for name in &names {
            assert!(
                evidence_bundle::path::BundlePath::new(&format!("sources/cloud/{name}_status.json")).is_ok(),
                "{name}"
            );
        }
    }
}
