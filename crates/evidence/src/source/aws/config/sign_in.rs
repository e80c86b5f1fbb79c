//! Where the credentials come from, and the role that they take on.

use super::checks::{check_external_id, good};
use super::keys::{ACCOUNTS, CREDENTIALS_COMMAND, EXTERNAL_ID, ROLE_ARN, SECTION, SESSION_DURATION};
use super::model::{AssumedRole, Mode};
use crate::source::aws::names;
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::problem::Complaint;

/// The modes whose credentials are those of a role.
pub(super) const CHAINING: [&str; 3] = ["web_identity", "container", "instance"];

/// Where the credentials come from. `credentials_command` must be set with `mode: command` and only then.
pub(super) fn credentials_mode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    mode: Option<&str>,
) -> Option<Mode> {
    let command = decoder.list(fields, &CREDENTIALS_COMMAND);
    let misplaced = |decoder: &mut Decoder<'_, '_>, message: String, help: &str| {
        let path = CREDENTIALS_COMMAND.path_in(&SECTION);
        decoder.problems.add(fields.place(), path, Complaint::new(message).help(help));
    };
    if mode != Some("command") && fields.has(&CREDENTIALS_COMMAND) {
        let message = format!("`credentials_command` has no meaning with `mode: {}`", mode?);
        misplaced(decoder, message, "write `mode: command`, or remove the key");
        return None;
    }
    Some(match mode? {
        "command" => match command {
            Some(words) if !words.is_empty() => {
                Mode::Command(words.into_iter().map(|word| word.value).collect())
            }
            _ if fields.has(&CREDENTIALS_COMMAND) => return None,
            _ => {
                let help = format!("add `credentials_command: {}`", CREDENTIALS_COMMAND.example);
                misplaced(decoder, "`mode: command` needs `credentials_command`".to_string(), &help);
                return None;
            }
        },
        "web_identity" => Mode::WebIdentity,
        "container" => Mode::Container,
        "instance" => Mode::Instance,
        "default" => Mode::Default,
        _ => Mode::Variables,
    })
}

/// `mode: assume_role` needs a role, `mode: env` takes none, and every other mode can have one. The outer `None`: a key is invalid.
pub(super) fn role(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    mode: Option<&str>,
    duration: Option<u32>,
) -> Option<Option<AssumedRole>> {
    let arn = decoder.text(fields, &ROLE_ARN);
    let external_id = decoder.text(fields, &EXTERNAL_ID);
    // The places of keys that may be misplaced. Values of another type have been reported already.
    let places = [&arn, &external_id].map(|text| text.as_ref().map(|text| text.place.clone()));
    let arn = arn.and_then(|arn| good(decoder, arn, names::check_role));
    let bad_id = external_id.is_none() && fields.has(&EXTERNAL_ID);
    let external_id = external_id.map(|id| good(decoder, id, check_external_id));
    match mode {
        Some("assume_role") if !fields.has(&ROLE_ARN) => {
            let complaint = Complaint::new("`mode: assume_role` needs `role_arn`")
                .help(format!("add `role_arn: {}`, with your role", ROLE_ARN.example));
            decoder.problems.add(fields.place(), ROLE_ARN.path_in(&SECTION), complaint);
            None
        }
        // Every other mode can go on with a role.
        Some(mode) if mode != "env" && mode != "assume_role" && !fields.has(&ROLE_ARN) => {
            if !fields.has(&EXTERNAL_ID) {
                return Some(None);
            }
            let complaint =
                Complaint::new("`external_id` needs `role_arn`").help("add `role_arn`, or remove the key");
            decoder.problems.add(fields.place(), EXTERNAL_ID.path_in(&SECTION), complaint);
            None
        }
        Some(mode) if mode != "env" && !bad_id => {
            let external_id = match external_id {
                Some(id) => Some(id?),
                None => None,
            };
            Some(Some(AssumedRole { arn: arn?, external_id, duration: duration? }))
        }
        Some("env") => {
            let mut alone = true;
            let places = places.into_iter().chain([None]);
            for (key, place) in [&ROLE_ARN, &EXTERNAL_ID, &SESSION_DURATION].into_iter().zip(places) {
                // With `accounts` the key applies to their roles.
                let is_for_accounts = std::ptr::eq(key, &SESSION_DURATION) && fields.has(&ACCOUNTS);
                if fields.has(key) && !is_for_accounts {
                    alone = false;
                    let complaint = Complaint::new(format!("`{}` has no meaning with `mode: env`", key.name))
                        .help("write `mode: assume_role`, or remove the key");
                    let place = place.unwrap_or_else(|| fields.place());
                    decoder.problems.add(place, key.path_in(&SECTION), complaint);
                }
            }
            alone.then_some(None)
        }
        _ => None,
    }
}
