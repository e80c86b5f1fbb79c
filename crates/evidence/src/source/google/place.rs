//! The pages of the admin console.

use crate::source::place::Place;
use evidence_rules::altcloud::artifact::{
    ADMIN_ROLES, ADMINISTRATORS_EFFECTIVE, LEAVERS, POLICIES, TWO_STEP, USER_ACTIVITY, USER_LIFECYCLE,
};

/// The page of a setting: the same for every customer, because the console shows that of the signed-in administrator.
pub(super) fn page(place: &Place<'_>) -> Option<String> {
    let pages = [
        (&TWO_STEP, "security/2sv"),
        (&ADMIN_ROLES, "roles"),
        (&ADMINISTRATORS_EFFECTIVE, "roles"),
        (&USER_LIFECYCLE, "sc/investigation"),
        (&USER_ACTIVITY, "users"),
        (&POLICIES, "security"),
        (&LEAVERS, "users"),
    ];
    let (_, page) = pages.into_iter().find(|(kind, _)| kind.serves(place.rule))?;
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
