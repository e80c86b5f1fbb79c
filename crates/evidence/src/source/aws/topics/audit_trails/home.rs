//! Calls about one trail, made where the trail is at home.

use serde_json::Value;

use super::known::{KnownTrail, TrailHome};
use crate::source::aws::account::Account;
use crate::source::aws::host::action::Action;
use crate::source::aws::host::answer::{RefusalMeaning, meaning};
use crate::source::aws::host::endpoint::Region;
use crate::source::aws::host::refusal::{self, ReadResult, Unread, call_name, host_error, not_asked, words};
use evidence_http::{Answered, CallError};
use evidence_rules::rule::reason;

/// Asks about a trail in its home region; `parameter` is the call's name for the trail.
pub(super) async fn ask<T: Send>(
    account: &Account,
    action: &Action<T>,
    parameter: &str,
    known: &KnownTrail,
) -> ReadResult<T> {
    let TrailHome { region, arn } =
        known.home().map_err(|text| Unread::Failed(host_error(not_asked(action.permission(), &text))))?;
    ask_in(account, action, parameter, &region, &arn).await
}

/// Asks a region about a trail.
pub(super) async fn ask_in<T: Send>(
    account: &Account,
    action: &Action<T>,
    parameter: &str,
    region: &Region,
    arn: &str,
) -> ReadResult<T> {
    let host = account.host(action, region)?;
    let answer = host.ask(action, &[(parameter, Value::from(arn))], Some(arn)).await;
    of_trail(action, Some(region), answer)
}

/// Interprets an answer about a trail. The listing just showed it, so a trail that does not exist was deleted or belongs
/// to another account.
pub(crate) fn of_trail<T>(
    action: &Action<T>,
    region: Option<&Region>,
    answer: Result<Answered<T>, CallError>,
) -> ReadResult<T> {
    match answer {
        Err(CallError::Refused(refused)) if meaning(&refused) == RefusalMeaning::NoTrail => {
            let detail = format!("{}: {}", call_name(action, region), words(&refused));
            Err(Unread::Denied { reason: &reason::NOT_FOUND, detail })
        }
        answer => refusal::of(action, region, answer),
    }
}
