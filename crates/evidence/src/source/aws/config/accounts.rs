//! The accounts to read: a list, or all those of the organization.

use super::checks::{check_external_id, checked, good, optional};
use super::keys::{
    ACCOUNT_EXTERNAL_ID, ACCOUNT_LOG_GROUPS, ACCOUNT_NAME, ACCOUNT_REGIONS, ACCOUNT_ROLE_ARN, ACCOUNT_TRAILS,
    ACCOUNTS, EXCLUDED_ACCOUNTS, ORGANIZATION, ORGANIZATION_EXTERNAL_ID, ROLE_NAME,
};
use super::model::{AccountConfig, AccountScope, AssumedRole, OrganizationSettings};
use super::regions::listed_region;
use crate::source::aws::host::endpoint::Region;
use crate::source::aws::names;
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

/// `accounts.organization`, if `accounts` is a mapping. The outer `None`: a key is invalid.
pub(super) fn organization(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    duration: Option<u32>,
) -> Option<Option<OrganizationSettings>> {
    if !fields.has_mapping(&ACCOUNTS) {
        return Some(None);
    }
    let accounts = decoder.section(fields, &ACCOUNTS)?;
    let fields = decoder.section(&accounts, &ORGANIZATION)?;
    let role_name = decoder.text(&fields, &ROLE_NAME);
    let role_name = role_name.and_then(|name| good(decoder, name, check_role_name));
    let external_id = optional(decoder, &fields, &ORGANIZATION_EXTERNAL_ID, check_external_id);
    let exclude = decoder.list(&fields, &EXCLUDED_ACCOUNTS);
    Some(Some(OrganizationSettings {
        role_name: role_name?,
        external_id: external_id?,
        exclude: exclude?.into_iter().map(|number| number.value).collect(),
        duration: duration?,
    }))
}

fn check_role_name(text: &str) -> Result<(), Complaint> {
    names::check_role(&format!("arn:aws:iam::123456789012:role/{text}")).map_err(|_| {
        Complaint::new(format!("{} is not the name of a role", quote(text)))
            .help("write the name that the role has in every account, without `role/`")
    })
}

/// Settings that all accounts of the source share.
pub(super) struct SourceSettings<'a> {
    pub(super) home: Option<&'a Region>,
    pub(super) scope: &'a AccountScope,
    pub(super) has_address: bool,
    /// The session duration of the accounts' roles, if valid.
    pub(super) duration: Option<u32>,
}

/// The configured accounts. Listing one twice is an error.
pub(super) fn accounts(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    source: &SourceSettings<'_>,
) -> Option<Vec<AccountConfig>> {
    let mut accounts: Vec<AccountConfig> = Vec::new();
    let mut all_good = true;
    for section in decoder.sections(fields, &ACCOUNTS)? {
        let Some(account) = account(decoder, &section, source) else {
            all_good = false;
            continue;
        };
        if accounts.iter().any(|other| other.number == account.number) {
            all_good = false;
            let complaint = Complaint::new(format!("the account {} is listed twice", account.number))
                .help("remove one of them: an account is read with one role");
            decoder.problems.add(section.place(), section.path(), complaint);
            continue;
        }
        accounts.push(account);
    }
    all_good.then_some(accounts)
}

fn account(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    source: &SourceSettings<'_>,
) -> Option<AccountConfig> {
    let arn = decoder.text(fields, &ACCOUNT_ROLE_ARN);
    let arn = arn.and_then(|arn| good(decoder, arn, names::check_role));
    let external_id = optional(decoder, fields, &ACCOUNT_EXTERNAL_ID, check_external_id);
    let name = optional(decoder, fields, &ACCOUNT_NAME, |_| Ok(()));
    let regions = match decoder.list(fields, &ACCOUNT_REGIONS) {
        Some(texts) => {
            let mut first = source.home.cloned();
            let read = texts.iter().map(|text| listed_region(decoder, text, source.has_address, &mut first));
            // Decode every entry before unwrapping any, so that all problems are found.
            let read: Vec<_> = read.collect();
            read.into_iter().collect()
        }
        None if fields.has(&ACCOUNT_REGIONS) => None,
        None => Some(source.scope.regions.clone()),
    };
    let own = |decoder: &mut Decoder<'_, '_>, key, check, others: &[String]| match fields.has(key) {
        true => checked(decoder, fields, key, check),
        false => Some(others.to_vec()),
    };
    let trails = own(decoder, &ACCOUNT_TRAILS, names::check_trail, &source.scope.trails);
    let log_groups = own(decoder, &ACCOUNT_LOG_GROUPS, names::check_log_group, &source.scope.log_groups);
    let (arn, external_id) = (arn?, external_id?);
    let number = names::role_account(&arn)?.to_string();
    Some(AccountConfig {
        role: AssumedRole { arn, external_id, duration: source.duration? },
        number,
        name: name?,
        scope: AccountScope { regions: regions?, trails: trails?, log_groups: log_groups? },
    })
}
