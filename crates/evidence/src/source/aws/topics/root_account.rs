//! The root user of an account, as the account's summary shows it.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::account_summary;
use crate::observation::{Inspection, Observation};
use crate::source::aws::account::Account;
use crate::source::aws::host::endpoint::Region;
use crate::source::aws::host::refusal::{Recorded, failure};
use crate::source::aws::observe::{denied, observation};
use crate::source::aws::topic::{AccountPlan, Answers, Reading, Topic};
use crate::source::{CollectionItem, Source as _};
use evidence_bundle::document::Warning;
use evidence_rules::cloud::OF_ROOT_ACCOUNT;
use evidence_rules::cloud::artifact::{PASSWORD_POLICY, ROOT_ACCOUNT};
use evidence_rules::cloud::record::RootAccount;

/// The root user.
pub(crate) static TOPIC: Topic = Topic {
    name: "root account",
    kind: Some(&ROOT_ACCOUNT),
    required: |config| config.collects(&ROOT_ACCOUNT),
    counted: None,
    open: |account| {
        async { Box::new(RootAnswers(account_summary::of(account).await.clone())) as Box<dyn Answers> }
            .boxed()
    },
};

struct RootAnswers(Recorded<RootAccount>);

impl Answers for RootAnswers {
    fn warnings(&self, account: &Account, region: Option<&Region>) -> Vec<Warning> {
        let denied = denied(&self.0.0, "the root user will be not verifiable", &account.number);
        denied.filter(|_| region.is_none()).into_iter().collect()
    }

    fn plan<'a>(&'a self, account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()> {
        // The topic of the password policy counts the request if it is asked for, too.
        plan.requests += u64::from(!account.config.collects(&PASSWORD_POLICY));
        plan.artifacts.push((TOPIC.name, u64::from(self.0.0.is_ok())));
        plan.failed.extend(failure(&self.0.0));
        std::future::ready(()).boxed()
    }

    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>> {
        let (read, requests) = &self.0;
        let seen = match read {
            Ok((root, meta)) => account.artifact("root_account.json", root, meta),
            Err(unread) => unread.seen(),
        };
        let observed = observation(&ROOT_ACCOUNT, &account.number, seen);
        let subject = observed.subject.clone();
        let mut inspection = Inspection::from(Observation { requests: requests.clone(), ..observed });
        if let Ok((root, _)) = read {
            inspection = inspection.judged_by(OF_ROOT_ACCOUNT, &subject, root, &account.config.rule_settings);
        }
        std::future::ready(Reading::of(vec![CollectionItem::Inspected(inspection)])).boxed()
    }
}
