//! Organizations: the accounts of the organization, as its management account sees them, page by page.

use super::refusal::Refusal;
use super::state::Cloud;
use super::state::Member;
use serde_json::{Map, Value, json};

/// The most accounts on a page, and the default.
const LIMIT: usize = 20;

/// `ListAccounts`. The answer carries names and addresses of mailboxes too, as the real one does. Since September 2026
/// it has `State` and no longer `Status`.
pub(super) fn list_accounts(cloud: &Cloud, parameters: &Value) -> Result<String, Refusal> {
    let Some(members) = &cloud.organization else {
        let message = "Your account is not a member of an organization.";
        return Err(Refusal::own(400, "AWSOrganizationsNotInUseException", message));
    };
    let invalid = |message: &str| Refusal::own(400, "InvalidInputException", message);
    let limit = match parameters.get("MaxResults") {
        None => LIMIT,
        Some(value) => value
            .as_u64()
            .and_then(|limit| usize::try_from(limit).ok())
            .filter(|limit| (1..=LIMIT).contains(limit))
            .ok_or_else(|| invalid("You specified an invalid value for MaxResults."))?,
    };
    let first = match parameters.get("NextToken").and_then(Value::as_str) {
        None => 0,
        Some(token) => token
            .strip_prefix("accounts-")
            .and_then(|number| number.parse::<usize>().ok())
            .filter(|first| *first < members.len())
            .ok_or_else(|| invalid("You specified an invalid value for nextToken."))?,
    };
    let end = first.saturating_add(limit).min(members.len());
    let shown = members.iter().skip(first).take(limit).map(|member| {
        let Member { account, state } = member;
        json!({
            "Arn": format!("arn:aws:organizations::{}:account/o-exampleorgid/{account}", cloud.account),
            "Email": format!("root-{account}@acme.example"),
            "Id": account,
            "JoinedMethod": "CREATED",
            "JoinedTimestamp": 1_700_000_000.5,
            "Name": format!("Account {account}"),
            "State": state,
        })
    });
    let mut body = Map::new();
    body.insert("Accounts".to_owned(), shown.collect::<Vec<_>>().into());
    if end < members.len() {
        body.insert("NextToken".to_owned(), format!("accounts-{end}").into());
    }
    Ok(Value::Object(body).to_string())
}
