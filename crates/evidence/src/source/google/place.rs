//! The pages of the admin console.

use crate::source::place::Place;
use evidence_rules::altcloud::{ADMINISTRATORS, INACTIVE_USERS, TWO_STEP_VERIFICATION, USER_LIFECYCLE_LOG};

/// The page of a setting: the same for every customer, because the console shows that of the signed-in administrator.
pub(super) fn page(place: &Place<'_>) -> Option<String> {
    let pages = [
        (&TWO_STEP_VERIFICATION, "security/2sv"),
        (&ADMINISTRATORS, "roles"),
        (&USER_LIFECYCLE_LOG, "sc/investigation"),
        (&INACTIVE_USERS, "users"),
    ];
    let (_, page) = pages.into_iter().find(|(rule, _)| rule.code == place.rule)?;
    Some(format!("https://admin.google.com/ac/{page}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_its_page() {
        let of =
            |rule| page(&Place { api_url: "https://admin.googleapis.com", rule, subject: "acme.example" });
        for rule in evidence_rules::altcloud::RULES.rules {
            assert!(of(rule.code).is_some(), "{}", rule.code);
        }
        assert_eq!(of("two-step-verification").unwrap(), "https://admin.google.com/ac/security/2sv");
        assert_eq!(of("made-up"), None);
    }
}
