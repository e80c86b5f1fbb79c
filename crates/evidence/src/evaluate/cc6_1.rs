//! CC6.1 on the code host: the organization requires two-factor authentication.

use super::Verdict;
use crate::observation::{Field, OrganizationSettings, Reason};

/// Passes when `two_factor_requirement_enabled` is true.
///
/// The host shows the setting to organization owners only: it says `null` to members and nothing to others, always
/// with status 200. Neither is `false`.
pub(super) fn judge(settings: &OrganizationSettings) -> Verdict {
    match settings.two_factor_requirement_enabled {
        Field::Value(true) => Verdict::pass("two_factor_requirement_enabled is true"),
        Field::Value(false) => {
            Verdict::fail(Reason::TwoFactorDisabled, "two_factor_requirement_enabled is false")
        }
        Field::Null => {
            Verdict::unknown(Reason::TwoFactorNotVisible, "two_factor_requirement_enabled is null")
        }
        Field::Absent => Verdict::unknown(
            Reason::TwoFactorNotVisible,
            "two_factor_requirement_enabled is not in the answer",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Status;

    #[test]
    fn every_value_of_the_setting() {
        let table = [
            (Field::Value(true), Status::Pass, Reason::Ok),
            (Field::Value(false), Status::Fail, Reason::TwoFactorDisabled),
            (Field::Null, Status::NotVerifiable, Reason::TwoFactorNotVisible),
            (Field::Absent, Status::NotVerifiable, Reason::TwoFactorNotVisible),
        ];
        for (value, status, reason) in table {
            let settings =
                OrganizationSettings { two_factor_requirement_enabled: value.clone(), ..Default::default() };
            let verdict = judge(&settings);
            assert_eq!((verdict.status, verdict.reason), (status, reason), "{value:?}");
        }
    }
}
