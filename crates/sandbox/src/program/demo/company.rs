//! The made-up company: its hosts, a matching configuration, and the changes between the runs of `--keep`.
//!
//! The output describes each change, so that the results are not mistaken for real ones.

use sandbox::cloud::{Cloud, LogGroup};
use sandbox::codehost::{CodeHost, File, Protection, Repository};
use sandbox::workspace::Workspace;
use sandbox::{
    DEMO_CLOUD_ACCESS_KEY_ID, DEMO_WORKSPACE_ADMIN, Server, demo_account, demo_organization, demo_workspace,
};
use std::io;

/// The file with the service account's key, in the demo's directory.
pub(super) const CREDENTIALS: &str = "service-account.json";

/// The three hosts.
#[derive(Debug)]
pub(super) struct Company {
    pub(super) codehost: Server<CodeHost>,
    pub(super) cloud: Server<Cloud>,
    pub(super) workspace: Server<Workspace>,
}

/// A change in the company.
pub(super) struct Change {
    pub(super) title: &'static str,
    pub(super) announced: &'static [&'static str],
    pub(super) happens: fn(&Company),
    /// Whether the token still lacks access, so that the bundle is incomplete.
    pub(super) incomplete: bool,
}

/// The changes in order, each followed by a bundle.
pub(super) const CHANGES: [Change; 3] = [
    Change {
        title: "people and owners in order",
        announced: &[
            "Nora must use a second step; Sid, who is suspended, administers nothing.",
            "infra's CODEOWNERS is rid of the token; every repository has owners.",
            "new-service and partner-mirror are deleted.",
        ],
        happens: owners,
        incomplete: true,
    },
    Change {
        title: "changes under control",
        announced: &[
            "Every repository that is not archived demands reviews and checks on main.",
            "legacy-billing has a branch main; finance-reports has a plan with rules.",
            "The token's user administers security-tooling.",
            "/aws/lambda/thumbnails keeps its logs for 400 days, not for 30.",
        ],
        happens: rules,
        incomplete: false,
    },
    Change {
        title: "a hotfix, and a permission that is lost",
        announced: &[
            "storefront: the rule of main was removed for a hotfix, and not put back.",
            "The tool's cloud user may no longer read the password policy.",
        ],
        happens: hotfix,
        incomplete: true,
    },
];

impl Company {
    pub(super) fn serve() -> io::Result<Self> {
        Ok(Self {
            codehost: demo_organization().serve()?,
            cloud: demo_account().serve()?,
            workspace: demo_workspace().serve()?,
        })
    }

    /// The credentials file of the service account, with a made-up private key.
    pub(super) fn credentials(&self) -> String {
        Workspace::service_account_file(&self.workspace)
    }

    pub(super) fn configuration(&self) -> String {
        format!(
            "framework: soc2_type1
controls: [CC6.1, CC6.6, CC7.2]
prepared_by: Olivia Owner, security
sources:
  codehost:
    mode: token
    org: acme
    repos: \"*\"
    api_url: {}
  cloud:
    mode: env
    regions: [eu-west-1, us-east-1]
    endpoint_url: {}
  altcloud:
    mode: service_account
    admin_email: {DEMO_WORKSPACE_ADMIN}
    domains: [acme.example, acme-labs.example]
    api_url: {}
    cloud_identity_url: {}
bundle:
  signing:
    private_key_env: EVIDENCE_SIGNING_KEY
",
            self.codehost.url(),
            self.cloud.url(),
            self.workspace.url(),
            self.workspace.url()
        )
    }

    fn repository(&self, name: &str, change: impl FnOnce(Repository) -> Repository) {
        self.codehost.update(|host| host.change_repository("acme", name, change));
    }
}

fn owners(company: &Company) {
    company.workspace.update(|directory| {
        directory.change_person("nora.newcomer@acme.example", |nora| nora.enforced(true));
        directory.change_person("sid.spring@acme.example", |sid| sid.no_admin_roles());
    });
    for name in ["data-pipeline", "docs-site", "infra", "internal-tools", "prototype"] {
        company.repository(name, |repository| {
            repository
                .without_file("CODEOWNERS")
                .file(".github/CODEOWNERS", File::text(format!("* @acme/{name}\n")))
        });
    }
    company.codehost.update(|host| {
        host.remove_repository("acme", "new-service");
        host.remove_repository("acme", "partner-mirror");
    });
}

fn rules(company: &Company) {
    let rule =
        || Protection::new().reviews(2).status_checks(["ci/build", "ci/test"]).strict().enforce_admins(true);
    for name in ["data-pipeline", "docs-site", "internal-tools", "prototype"] {
        company.repository(name, |repository| repository.protection("main", rule()));
    }
    company.repository("legacy-billing", |billing| billing.default_branch("main").protection("main", rule()));
    company.repository("security-tooling", |tooling| tooling.admin(true));
    company.codehost.update(|host| {
        host.put_repository(
            Repository::new("acme", "finance-reports")
                .private(true)
                .protection("main", rule())
                .file("CODEOWNERS", File::text("* @acme/finance\n")),
        );
    });
    company.cloud.update(|account| {
        account.put_log_group("eu-west-1", LogGroup::new("/aws/lambda/thumbnails").retention_days(400));
    });
}

fn hotfix(company: &Company) {
    company.repository("storefront", |storefront| storefront.unprotected("main"));
    company.cloud.update(|account| {
        account.change_principal(DEMO_CLOUD_ACCESS_KEY_ID, |reader| {
            reader.deny("iam:GetAccountPasswordPolicy", "*")
        });
    });
}
