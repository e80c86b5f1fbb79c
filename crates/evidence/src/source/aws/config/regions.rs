//! The regions to read.

use super::keys::{REGION, REGIONS, SECTION};
use crate::source::aws::host::endpoint::Region;
use evidence_settings::decode::{Decoder, Fields, Placed};
use evidence_settings::problem::{Complaint, Place};
use evidence_settings::secret::quote;

/// The variable that replaces `region` if neither it nor `regions` is set.
pub(in crate::source::aws) const REGION_VARIABLE: &str = "CLOUD_REGION";

/// A region of a list. `first` is an earlier one, whose partition it must share.
pub(super) fn listed_region(
    decoder: &mut Decoder<'_, '_>,
    text: &Placed<String>,
    has_address: bool,
    first: &mut Option<Region>,
) -> Option<Region> {
    match region(&text.value, has_address, first) {
        Ok(region) => {
            first.get_or_insert_with(|| region.clone());
            Some(region)
        }
        Err(complaint) => {
            decoder.problems.add(text.place.clone(), text.path.clone(), complaint);
            None
        }
    }
}

/// The home region and the regions to read. Without any, home is `None` and nothing is read.
pub(super) fn places(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    has_address: bool,
) -> Option<(Option<Region>, Vec<Region>)> {
    let own = decoder.text(fields, &REGION);
    let listed = decoder.list(fields, &REGIONS);
    let mut all_good = (own.is_some() || !fields.has(&REGION)) && (listed.is_some() || !fields.has(&REGIONS));
    let mut first: Option<Region> = None;
    let mut read = |decoder: &mut Decoder<'_, '_>, text: &Placed<String>| {
        let region = listed_region(decoder, text, has_address, &mut first);
        all_good &= region.is_some();
        region
    };
    let home = own.as_ref().and_then(|text| read(decoder, text));
    let mut regions: Vec<Region> = listed.iter().flatten().filter_map(|text| read(decoder, text)).collect();
    if !all_good {
        return None;
    }
    let home = match home.or_else(|| regions.first().cloned()) {
        Some(home) => Some(home),
        None => from_environment(decoder, has_address)?,
    };
    if regions.is_empty() {
        regions.extend(home.clone());
    }
    Some((home, regions))
}

/// `CLOUD_REGION`, if it is set. The outer `None`: it is invalid.
fn from_environment(decoder: &mut Decoder<'_, '_>, has_address: bool) -> Option<Option<Region>> {
    let Some(value) = (decoder.variables)(REGION_VARIABLE) else { return Some(None) };
    let result = match value.to_str() {
        None => Err(Complaint::new("it is not UTF-8 text").help("correct the variable, or set `region`")),
        Some(text) => region(text, has_address, &None),
    };
    match result {
        Ok(region) => Some(Some(region)),
        Err(complaint) => {
            let message =
                format!("the environment variable {REGION_VARIABLE} sets this key: {}", complaint.message);
            decoder.problems.add(
                Place::Nowhere,
                REGION.path_in(&SECTION),
                Complaint { message, ..complaint },
            );
            None
        }
    }
}

/// A region with known addresses in the same partition as `first`: credentials belong to one partition.
fn region(text: &str, has_address: bool, first: &Option<Region>) -> Result<Region, Complaint> {
    let region = Region::new(text).ok_or_else(|| {
        Complaint::new(format!("{} is not a valid region", quote(text)))
            .help("write the name of a region, such as `eu-central-1`")
    })?;
    if region.partition().is_none() && !has_address {
        return Err(Complaint::new(format!("this version does not know the addresses of {}", quote(text)))
            .help(
                "set `endpoint_url`, or name a region of the public, the Chinese or the government partition",
            ));
    }
    match first {
        Some(first) if first.partition() != region.partition() => Err(Complaint::new(format!(
            "{} and {} belong to different partitions",
            quote(text),
            quote(first.as_str())
        ))
        .help("use a separate configuration for the other partition: an account belongs to one")),
        _ => Ok(region),
    }
}
