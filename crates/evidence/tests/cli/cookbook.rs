//! The cookbook's pages for a whole company: their configurations are those of the pages, and each signs in at all three
//! hosts as its page says.

use std::fs;
use std::path::Path;

use sandbox::cloud::{Cloud, PasswordPolicy, Principal, Role};
use sandbox::codehost::{App, Installation};
use sandbox::workspace::{SCOPES, SUBJECT, Server, ServiceAccount, Workspace};
use sandbox::{DEMO_WORKSPACE_ADMIN, DEMO_WORKSPACE_SERVICE_ACCOUNT, demo_workspace};

use crate::common::{KEY, Lab, acme, sound};

const READING: [&str; 8] = [
    "organizations:ListAccounts",
    "ec2:DescribeRegions",
    "iam:GetAccountPasswordPolicy",
    "iam:GetAccountSummary",
    "cloudtrail:DescribeTrails",
    "cloudtrail:GetTrailStatus",
    "cloudtrail:GetEventSelectors",
    "logs:DescribeLogGroups",
];
const ROLE: &str = "arn:aws:iam::123456789012:role/evidence";
const CLUSTER_TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.bWFkZS11cA.bm90LWEtcmVhbC10b2tlbg";

/// The three hosts of a company, and a lab with the configuration of a page for them.
struct Company {
    lab: Lab,
    cloud: sandbox::Server<Cloud>,
    workspace: Server<Workspace>,
}

/// The configuration on a page.
fn configuration(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/cookbook/{page}.md"));
    let text = fs::read_to_string(path).unwrap();
    let mut blocks = text.split("```yaml\n").skip(1).map(|block| block.split("```").next().unwrap());
    let found = blocks.find(|block| block.starts_with("framework:")).unwrap_or_else(|| panic!("{page}"));
    found.to_string()
}

impl Company {
    fn new(page: &str) -> Company {
        let installation = ["administration", "contents", "organization_administration"]
            .into_iter()
            .fold(Installation::new(77, "acme"), |installation, name| installation.permission(name, "read"));
        let app = App::new(123_456, "evidence-acme").installed(installation);
        let lab = Lab::new(acme().repository(sound("web")).app(app)).named();
        let user = "arn:aws:iam::123456789012:user/evidence";
        let key = Principal::user("AKIACOOKBOOKPAGE0001", "NotARealSecretOfTheCookbook000000000001", user);
        let cloud = Cloud::new("123456789012")
            .organization_account("123456789012", "ACTIVE")
            .principal(key.allow(READING))
            .role(Role::new("evidence").allow(READING).web_identity(CLUSTER_TOKEN))
            .instance_role("evidence")
            .password_policy(PasswordPolicy::new(14))
            .serve()
            .unwrap();
        let account =
            ServiceAccount::new(DEMO_WORKSPACE_SERVICE_ACCOUNT).delegated(SCOPES).token_creator(SUBJECT);
        let workspace = demo_workspace().service_account(account).federated(SUBJECT).serve().unwrap();
        // Only the addresses, the region's names and the administrator differ from the page.
        let url = workspace.url();
        let own = format!("  altcloud:\n    api_url: {url}\n");
        let signs = format!("mode: sign_jwt\n    iam_url: {url}\n    token_uri: {url}/token\n");
        let text = configuration(page)
            .replace("    org: acme\n", &format!("    org: acme\n    api_url: {}\n", lab.server.url()))
            .replace("  cloud:\n", &format!("  cloud:\n    endpoint_url: {}\n", cloud.url()))
            .replace("  altcloud:\n", &own)
            .replace("mode: sign_jwt\n", &signs)
            .replace("auditor@acme.example", DEMO_WORKSPACE_ADMIN);
        lab.write("evidence.yaml", text);
        lab.write("google-key.json", Workspace::service_account_file(&workspace));
        lab.set_mode("google-key.json", 0o600);
        Company { lab, cloud, workspace }
    }

    fn env(mut self, name: &str, value: &str) -> Company {
        self.lab.set_env(name, value);
        self
    }

    fn app(self) -> Company {
        let key = KEY.to_pkcs8_v1_pem().unwrap();
        self.env("CODEHOST_APP_KEY", &App::private_key()).env("EVIDENCE_SIGNING_KEY", &key)
    }

    /// Every source is read, by these identities.
    fn collects(self, [codehost, cloud, altcloud]: [&str; 3]) {
        let dry = self.lab.collect(&["--dry-run"]).exits(0);
        let run = self.lab.collect(&[]).exits(0);
        let record = run.bundle().json("run.json");
        let identity = |at: usize| record["sources"][at]["identity"].clone();
        assert_eq!(identity(0)["app"]["installation_id"].to_string(), codehost);
        assert!(identity(1)["login"].as_str().unwrap().contains(cloud), "{}", identity(1));
        assert_eq!(identity(2)["login"], DEMO_WORKSPACE_SERVICE_ACCOUNT);
        let signed = dry.all().contains("signed by the provider for");
        assert_eq!(signed, altcloud == "signed", "{}", dry.all());
        for secret in ["ya29.", "eyJ", "ghs_", "not-a-real-request-token"] {
            assert!(!run.all().contains(secret) && !dry.all().contains(secret), "{secret}: {}", run.all());
        }
        assert!(self.cloud.violations().is_empty(), "{:?}", self.cloud.violations());
        assert!(self.workspace.violations().is_empty(), "{:?}", self.workspace.violations());
    }
}

#[test]
fn from_github_actions() {
    let company = Company::new("actions").app();
    company.lab.write("google.json", Workspace::federation_file(&company.workspace, None));
    company.lab.set_mode("google.json", 0o600);
    company
        .env("GOOGLE_APPLICATION_CREDENTIALS", "google.json")
        .env("AWS_ACCESS_KEY_ID", "AKIACOOKBOOKPAGE0001")
        .env("AWS_SECRET_ACCESS_KEY", "NotARealSecretOfTheCookbook000000000001")
        .collects(["77", "user/evidence", "signed"]);
}

#[test]
fn from_eks() {
    let company = Company::new("eks").app();
    let token = company.lab.path("token");
    company.lab.write("token", Workspace::subject_token(&company.workspace, SUBJECT, 3600));
    company.lab.write("google.json", Workspace::federation_file(&company.workspace, token.to_str()));
    company.lab.write("aws-token", CLUSTER_TOKEN);
    company
        .env("ALTCLOUD_APPLICATION_CREDENTIALS", "google.json")
        .env("AWS_WEB_IDENTITY_TOKEN_FILE", "aws-token")
        .env("AWS_ROLE_ARN", ROLE)
        .collects(["77", "assumed-role/evidence/", "signed"]);
}

#[test]
fn from_ec2() {
    let company = Company::new("ec2").app();
    let metadata = company.cloud.url();
    company
        .env("ALTCLOUD_APPLICATION_CREDENTIALS", "google-key.json")
        .env("AWS_EC2_METADATA_SERVICE_ENDPOINT", &metadata)
        .collects(["77", "assumed-role/evidence/i-", "by key"]);
}

/// The program `aws` is a stand-in, which prints what the real one does for the arguments of the page.
#[test]
fn from_a_laptop_with_single_sign_on() {
    let company = Company::new("laptop").env("ALTCLOUD_APPLICATION_CREDENTIALS", "google-key.json");
    let lab = &company.lab;
    let text = fs::read_to_string(lab.path("evidence.yaml")).unwrap();
    assert!(
        text.contains("credentials_command: [aws, configure, export-credentials, --profile, audit]"),
        "{text}"
    );
    lab.write("evidence.yaml", text.replace("[aws, ", "[sh, stand-in, "));
    let printed = serde_json::json!({
        "Version": 1, "AccessKeyId": "AKIACOOKBOOKPAGE0001",
        "SecretAccessKey": "NotARealSecretOfTheCookbook000000000001",
    });
    let arguments = "configure export-credentials --profile audit";
    lab.write("stand-in", format!("[ \"$*\" = \"{arguments}\" ] || exit 9\necho '{printed}'\n"));
    lab.write("evidence-signing-key.pem", fs::read(lab.path("key.pem")).unwrap());
    lab.set_mode("evidence-signing-key.pem", 0o600);
    company.collects(["null", "user/evidence", "by key"]);
}
