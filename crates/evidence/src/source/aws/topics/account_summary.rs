//! The summary of an account, which two topics read: whether it has users, and the root user. It is asked for once.

use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, SMALL_LIMIT};
use crate::source::aws::host::endpoint::{Protocol, Service};
use crate::source::aws::host::refusal::{self, Recorded, with_requests};
use crate::source::aws::host::xml::{self, Element, field, required};
use evidence_http::{Call, ParseError};
use evidence_rules::cloud::record::RootAccount;
use evidence_rules::field::Field;

pub(crate) static GET_ACCOUNT_SUMMARY: Action<RootAccount> = Action {
    service: Service::Iam,
    call: Call {
        name: "iam:GetAccountSummary",
        purpose: "`password-policy`: whether the account has users; `root-mfa`, `root-keys`",
        times: "once per account",
        kind: Some("GetAccountSummary"),
        media_type: Protocol::FORM,
        limit: SMALL_LIMIT,
        parse: summary,
        subject: None,
        keep: None,
    },
};

/// The summary of the account, as the first topic that needs it read it.
pub(super) async fn of(account: &Account) -> &Recorded<RootAccount> {
    let read = async {
        let host = account.host(&GET_ACCOUNT_SUMMARY, &account.home)?;
        refusal::of(&GET_ACCOUNT_SUMMARY, None, host.ask(&GET_ACCOUNT_SUMMARY, &[], None).await)
    };
    account.summary.get_or_init(|| with_requests(&GET_ACCOUNT_SUMMARY, read)).await
}

/// `GetAccountSummary`: an unordered map, of which the number of users and what concerns the root user is read.
pub(super) fn summary(bytes: &[u8]) -> Result<RootAccount, ParseError> {
    let root = xml::root(bytes, "GetAccountSummaryResponse")?;
    let map = required(required(&root, "GetAccountSummaryResult")?, "SummaryMap")?;
    let mut summary = RootAccount::default();
    for entry in &map.children {
        let key = entry.child("key")?.and_then(Element::text);
        let place = match key {
            Some("Users") => &mut summary.users,
            Some("AccountMFAEnabled") => &mut summary.account_mfa_enabled,
            Some("AccountPasswordPresent") => &mut summary.account_password_present,
            Some("AccountAccessKeysPresent") => &mut summary.account_access_keys_present,
            Some("AccountSigningCertificatesPresent") => &mut summary.account_signing_certificates_present,
            _ => continue,
        };
        let key = key.unwrap_or_default();
        let value @ Field::Value(_) = field(entry, "value")? else {
            return Err(ParseError::Shape(format!("{key} has no value")));
        };
        if !std::mem::replace(place, value).is_absent() {
            return Err(ParseError::Shape(format!("{key} is reported twice")));
        }
    }
    if summary.users.is_absent() {
        return Err(ParseError::Shape("no Users in SummaryMap".to_string()));
    }
    Ok(summary)
}
