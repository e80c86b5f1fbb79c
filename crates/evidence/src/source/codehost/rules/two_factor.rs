//! CC6.1: the organization requires two-factor authentication.

use super::reason;
use crate::observation::Field;
use crate::rule::Verdict;
use crate::source::codehost::record::OrganizationSettings;

/// Passes when `two_factor_requirement_enabled` is true.
///
/// The host shows the setting to organization owners only: it says `null` to members and nothing to others, always
/// with status 200. Neither is `false`.
pub fn judge(settings: &OrganizationSettings) -> Verdict {
    match settings.two_factor_requirement_enabled {
        Field::Value(true) => Verdict::pass("two_factor_requirement_enabled is true"),
        Field::Value(false) => {
            Verdict::fail(&reason::TWO_FACTOR_DISABLED, "two_factor_requirement_enabled is false")
        }
        Field::Null => {
            Verdict::unknown(&reason::TWO_FACTOR_NOT_VISIBLE, "two_factor_requirement_enabled is null")
        }
        Field::Absent => Verdict::unknown(
            &reason::TWO_FACTOR_NOT_VISIBLE,
            "two_factor_requirement_enabled is not in the answer",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Status, reason as shared};

    #[test]
    fn every_value_of_the_setting() {
        let table = [
            (Field::Value(true), Status::Pass, &shared::OK),
            (Field::Value(false), Status::Fail, &reason::TWO_FACTOR_DISABLED),
            (Field::Null, Status::NotVerifiable, &reason::TWO_FACTOR_NOT_VISIBLE),
            (Field::Absent, Status::NotVerifiable, &reason::TWO_FACTOR_NOT_VISIBLE),
        ];
        for (value, status, reason) in table {
            let settings =
                OrganizationSettings { two_factor_requirement_enabled: value.clone(), ..Default::default() };
            let verdict = judge(&settings);
            assert_eq!((verdict.status, verdict.reason), (status, reason), "{value:?}");
        }
    }
}
