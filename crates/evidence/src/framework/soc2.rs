//! SOC 2: the controls of the specification, their rules, and the Trust Services Criteria (2017, points of focus of
//! 2022) under which such evidence is commonly filed.

use super::{Control, Framework, Mapping};
use crate::source::altcloud::rules as workspace;
use crate::source::cloud::rules as cloud;
use crate::source::codehost::rules as codehost;

/// SOC 2, type 1: the design of controls at one point in time.
pub(super) static TYPE_1: Framework = Framework {
    id: "soc2_type1",
    controls: &[
        Control {
            id: "CC6.1",
            title: "Logical access controls",
            rules: &[
                Mapping { rule: &codehost::TWO_FACTOR_REQUIRED, criteria: &["CC6.1"] },
                Mapping { rule: &cloud::PASSWORD_POLICY, criteria: &["CC6.1"] },
                Mapping { rule: &workspace::TWO_STEP_VERIFICATION, criteria: &["CC6.1"] },
            ],
        },
        Control {
            id: "CC6.6",
            title: "Access removal and modification",
            rules: &[
                Mapping { rule: &codehost::CODEOWNERS_DEFAULT_RULE, criteria: &["CC8.1"] },
                Mapping { rule: &workspace::ADMINISTRATORS, criteria: &["CC6.2", "CC6.3"] },
                Mapping { rule: &workspace::USER_LIFECYCLE_LOG, criteria: &["CC6.2", "CC6.3"] },
            ],
        },
        Control {
            id: "CC7.2",
            title: "Change management",
            rules: &[
                Mapping { rule: &codehost::BRANCH_PROTECTION, criteria: &["CC8.1"] },
                Mapping { rule: &cloud::AUDIT_TRAIL, criteria: &["CC7.2"] },
                Mapping { rule: &cloud::LOG_RETENTION, criteria: &["CC7.2"] },
            ],
        },
    ],
};
