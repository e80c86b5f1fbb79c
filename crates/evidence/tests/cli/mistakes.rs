//! Mistakes of users: each message names what is wrong and the line that works, before a request wherever it can be
//! seen before, and shows no part of a credential beyond its public prefix.

use sandbox::codehost::{CodeHost, Organization, Token};

use crate::common::{Config, Lab, TOKEN, acme, sound};

/// Part of every credential in these tests. No message may contain it.
const SECRET_PART: &str = "NotARealSecret";

/// What a user did, and the answer.
struct Row {
    name: &'static str,
    lab: Lab,
    arguments: &'static [&'static str],
    code: i32,
    requests: usize,
    says: Vec<&'static str>,
}

fn lab() -> Lab {
    Lab::new(acme().repository(sound("web")))
}

impl Row {
    fn collect(name: &'static str, lab: Lab, (code, requests): (i32, usize), says: &[&'static str]) -> Row {
        Row { name, lab, arguments: &["collect"], code, requests, says: says.to_vec() }
    }

    fn ends_as_expected(self) {
        let Row { name, lab, arguments, code, requests, says } = self;
        let run = lab.run(arguments);
        assert_eq!(run.code, Some(code), "{name}: {}", run.all());
        assert_eq!(lab.requested().len(), requests, "{name}: {}", run.all());
        for text in says {
            assert!(run.stderr.contains(text), "{name}: {text:?} is not in\n{}", run.stderr);
        }
        assert!(!run.all().contains(SECRET_PART), "{name}: {}", run.all());
        assert!(!run.all().contains("panicked"), "{name}: {}", run.all());
        run.leaves_nothing();
    }
}

fn all(rows: Vec<Row>) {
    rows.into_iter().for_each(Row::ends_as_expected);
}

fn with_token(value: &str) -> Lab {
    lab().env("CODEHOST_TOKEN", value)
}

/// A token in a file, with these bytes around it.
fn with_file(bytes: &[u8]) -> Lab {
    let lab = lab().without_env("CODEHOST_TOKEN");
    lab.write("token", bytes);
    let path = lab.path("token");
    lab.env("CODEHOST_TOKEN_FILE", path.to_str().unwrap())
}

#[test]
fn values_that_are_no_token() {
    let row = |name, value: &str, says: &[&'static str]| Row::collect(name, with_token(value), (2, 0), says);
    all(vec![
        row(
            "double quotes",
            &format!("\"{TOKEN}\""),
            &[
                "variable CODEHOST_TOKEN does not hold",
                "has quotes around it",
                "`export CODEHOST_TOKEN=github_pat_...`",
            ],
        ),
        row(
            "single quotes",
            &format!("'{TOKEN}'\n"),
            &["has quotes around it", "--env-file", "export CODEHOST_TOKEN="],
        ),
        row("half a pair", &format!("{TOKEN}\""), &["has quotes around it"]),
        row("curly quotes", &format!("\u{201c}{TOKEN}\u{201d}"), &["has quotes around it"]),
        row(
            "a placeholder",
            "ghp_xxx",
            &["the value is a placeholder", "export CODEHOST_TOKEN=", "real value"],
        ),
        row("angle brackets", "<token>", &["the value is a placeholder"]),
        row("the words of a guide", "your-token-here", &["the value is a placeholder"]),
        row("the line that works, copied", "github_pat_...", &["the value is a placeholder"]),
        row(
            "not replaced",
            "${TOKEN}",
            &["a reference, such as ${NAME}, that was not replaced", "single quotes"],
        ),
        row("an assignment", &format!("CODEHOST_TOKEN={TOKEN}"), &["is an assignment"]),
        row("a scheme", &format!("Bearer {TOKEN}"), &["name of an authentication scheme"]),
        row("a path", "/run/secrets/token", &["the value is a path", "`export CODEHOST_TOKEN_FILE=PATH`"]),
        row("a GitLab token", "glpat-NotARealSecret0001", &["a GitLab token (glpat-...)"]),
        row("an AWS key", "AKIANOTAREALSECRET0A", &["an access key id of AWS (AKIA...)"]),
        row("a platform key", "evp_NotARealSecret0001", &["an API key of the evidence platform (evp_...)"]),
        row("a refresh token", "ghr_NotARealSecret0001", &["a refresh token of a GitHub App"]),
        row("base64", "Z2hwX05vdEFSZWFsU2VjcmV0", &["encoded with base64; decode it first"]),
        row("two words", "ghp_one two", &["does not hold an access token", "the token alone, on one line"]),
    ]);
}

#[test]
fn values_of_a_file() {
    let file = |name, bytes: &[u8], says: &[&'static str]| Row::collect(name, with_file(bytes), (2, 0), says);
    let quoted = format!("\"{TOKEN}\"\n");
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(TOKEN.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    all(vec![
        file(
            "quotes",
            quoted.as_bytes(),
            &["/token (CODEHOST_TOKEN_FILE) does not hold", "must hold one line: `github"],
        ),
        file("a placeholder", b"<token>\n", &["the value is a placeholder", "must hold one line"]),
        file("UTF-16", &utf16, &["is UTF-16 text", "save it as UTF-8"]),
        file("two lines", b"ghp_one\nghp_two\n", &["does not hold an access token", "on one line"]),
    ]);
    // White space and byte order marks are left out.
    for around in ["{}\n", "{}\r\n", "\u{feff}{}\r\n", " {}\t\n\n", "\u{feff}{}"] {
        let lab = with_file(around.replace("{}", TOKEN).as_bytes());
        lab.collect(&[]).exits(0).says_not(TOKEN);
    }
}

#[test]
fn a_token_that_another_program_uses() {
    let lab = lab().without_env("CODEHOST_TOKEN").env("GITHUB_TOKEN", TOKEN);
    all(vec![Row::collect(
        "another variable",
        lab,
        (2, 0),
        &["GITHUB_TOKEN is set but not read", "`token_env: GITHUB_TOKEN`"],
    )]);
}

fn with_config(change: impl FnOnce(Config) -> Config) -> Lab {
    lab().with(change)
}

#[test]
fn addresses_that_are_not_the_api() {
    let row = |name, url: &'static str, says: &[&'static str]| {
        Row::collect(name, with_config(|config| config.source("api_url", url)), (1, 0), says)
    };
    all(vec![
        row(
            "the website",
            "https://github.com",
            &["evidence.yaml:9:", "is the website", "`api_url: https://api.github.com`"],
        ),
        row(
            "a page",
            "https://github.com/acme",
            &["evidence.yaml:9:", "is the website", "`api_url: https://api.github.com`"],
        ),
        row(
            "ghe.com",
            "https://acme.ghe.com",
            &["evidence.yaml:9:", "is the website", "`api_url: https://api.acme.ghe.com`"],
        ),
        row(
            "a path",
            "https://api.github.com/orgs/acme",
            &["more than the address", "`api_url: https://api.github.com`"],
        ),
        row("GitLab", "https://gitlab.com", &["is GitLab, which this version cannot read"]),
    ]);
    let lab = lab().env("CODEHOST_API_URL", "https://github.com");
    let says =
        &["variable CODEHOST_API_URL overrides this key", "`export CODEHOST_API_URL=https://api.github.com`"];
    all(vec![Row::collect("the variable", lab, (1, 0), says)]);
}

#[test]
fn keys_of_the_configuration() {
    let cloud = "framework: soc2_type1\ncontrols: [CC7.2]\nsources:\n  cloud:\n    mode: env\n    regions: REGIONS\nbundle:\n  \
                 signing:\n    private_key_path: key.pem\n";
    let regions = |value: &str| {
        let lab = lab();
        lab.write("evidence.yaml", cloud.replace("REGIONS", value));
        lab
    };
    let controls = |value: &str| with_config(|config| config.controls(value));
    let org = |value: &'static str| with_config(|config| config.source("org", value));
    let row = |name, lab, says: &[&'static str]| Row::collect(name, lab, (1, 0), says);
    all(vec![
        row("regions: all", regions("all"), &["evidence.yaml:6:14", "regions: [eu-central-1, us-east-1]"]),
        row(
            "regions: [all]",
            regions("[all]"),
            &["`all` is not a region: each region must be named", "aws account list-regions"],
        ),
        row("regions: '*'", regions("'*'"), &["evidence.yaml:6:14", "aws account list-regions"]),
        row(
            "CC8.1",
            controls("[CC6.1, CC8.1]"),
            &["there is no control `CC8.1`", "`controls: [CC6.6, CC7.2]`"],
        ),
        row("CC8.1, without a list", controls("CC8.1"), &["evidence.yaml:2:11", "`controls: [CC8.1]`"]),
        row("A1.2", controls("[A1.2]"), &["no rule collects evidence for `A1.2`", "CC6.1, CC6.6, CC7.2"]),
        row("an address", org("https://github.com/acme"), &["evidence.yaml:", "write `org: acme`"]),
        row("a repository", org("acme/web"), &["`acme/web` is not a valid name", "write `org: acme`"]),
        row(
            "a placeholder",
            org("your-organization"),
            &["`your-organization` is a placeholder", "the name of your organization"],
        ),
        row(
            "not replaced",
            org("${ORG}"),
            &["nothing in the file is replaced", "the name of your organization"],
        ),
    ]);
}

#[test]
fn init() {
    let row = |name, arguments, says: &[&'static str]| Row {
        name,
        lab: lab(),
        arguments,
        code: 1,
        requests: 0,
        says: says.to_vec(),
    };
    all(vec![
        row(
            "an address as argument",
            &["init", "https://github.com/acme"],
            &["unexpected argument `https://github.com/acme`", "help: evidence init --org acme\n"],
        ),
        row(
            "a name as argument",
            &["init", "acme"],
            &["unexpected argument `acme`", "help: evidence init --org acme\n"],
        ),
        row(
            "an address as option",
            &["init", "-c", "new.yaml", "--org", "https://github.com/acme/web"],
            &["--org: `https://github.com/acme/web` is not a valid name", "help: evidence init --org acme\n"],
        ),
        row(
            "nonsense",
            &["init", "-c", "new.yaml", "--org", "a b"],
            &["`a b` is not a valid name", "evidence init --org NAME"],
        ),
    ]);
    let lab = lab();
    let run = lab.run(&["init", "-c", "new.yaml"]).exits(0);
    for line in
        ["  set org and repos in new.yaml\n", "  evidence keygen --output ./evidence-signing-key.pem\n"]
    {
        assert!(run.stdout.contains(line), "{}", run.stdout);
    }
    // The configuration that was not completed says so.
    lab.run(&["collect", "-c", "new.yaml"]).exits(1).says("`your-organization` is a placeholder");
    lab.run(&["init", "-c", "other.yaml", "--org", "acme"]).exits(0);
    let run = lab.run(&["collect", "-c", "other.yaml"]).exits(1);
    run.says("evidence keygen").leaves_nothing();
    // With keys, nothing is left to do but the token.
    let run = lab.run(&["init", "-c", "third.yaml", "--org", "acme", "--generate-keys"]).exits(0);
    assert!(!run.stdout.contains("evidence keygen") && !run.stdout.contains("set org"), "{}", run.stdout);
}

#[test]
fn refusals_of_the_organization() {
    let refusing = |organization: Organization| -> CodeHost {
        acme().organization(organization).repository(sound("web"))
    };
    let acme_is = || Organization::new("acme");
    let row = |name, host, says: &[&'static str]| Row::collect(name, Lab::new(host), (2, 1), says);
    all(vec![
        row(
            "IP allow list",
            refusing(acme_is().ip_allow_list(true)),
            &["your IP address is not permitted", "add this machine's public address to the IP allow list"],
        ),
        row(
            "classic tokens",
            refusing(acme_is().bans_classic_tokens(true)),
            &[
                "forbids access via a personal access token (classic)",
                "a fine-grained token with the resource owner acme",
            ],
        ),
        row(
            "lifetime",
            refusing(acme_is().fine_grained_lifetime_days(30))
                .token(Token::fine_grained(TOKEN).resource_owner("acme")),
            &["lifetime is greater than 30 days", "expires within the days that the message names"],
        ),
        row(
            "suspended",
            acme().token(Token::classic(TOKEN).suspended(true)),
            &["suspended", "token of an active user"],
        ),
        row(
            "revoked",
            acme().token(Token::classic(TOKEN).revoked(true)),
            &["'Bad credentials'", "create a new token"],
        ),
    ]);
    let job = "ghs_NotARealSecretOfAJob00000000000000001";
    let lab = lab().env("CODEHOST_TOKEN", job);
    let says = &[
        "'Bad credentials'",
        "an app's installation token (ghs_...)",
        "the token must be created on http://127.0.0.1:",
    ];
    all(vec![Row::collect("a job's token", lab, (2, 1), says)]);
}

/// A dead proxy is not answered with the advice to set a proxy.
#[test]
fn a_dead_proxy() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let lab = with_config(|config| config.source("api_url", "https://code.example.com/api/v3"))
        .named()
        .env("HTTPS_PROXY", &format!("http://carol:NotARealSecret@{closed}"));
    let run = lab.collect(&[]).exits(2).leaves_nothing().says_not(SECRET_PART).says_not("behind a proxy");
    let run =
        run.says(&format!("the proxy {closed} (HTTPS_PROXY)")).says("or unset the variable HTTPS_PROXY");
    run.says("`export NO_PROXY=code.example.com`");
    assert!(lab.requested().is_empty());
}

/// A lab whose only source is the cloud, with these values of its variables.
fn cloud(variables: &[(&str, &str)]) -> Lab {
    let mut lab = lab().without_env("CODEHOST_TOKEN");
    lab.write(
        "evidence.yaml",
        "framework: soc2_type1\ncontrols: [CC7.2]\nsources:\n  cloud:\n    mode: env\n    regions: [eu-central-1]\nbundle:\n  \
         signing:\n    private_key_path: key.pem\n",
    );
    variables.iter().for_each(|(name, value)| lab.set_env(name, value));
    lab
}

#[test]
fn values_that_are_no_access_key() {
    const KEY: &str = "NotARealSecretAccessKey+/0000000000000000";
    let id = |value| cloud(&[("CLOUD_ACCESS_KEY_ID", value), ("CLOUD_SECRET_ACCESS_KEY", KEY)]);
    let key = |value: &str| {
        cloud(&[("CLOUD_ACCESS_KEY_ID", "AKIAMADEUPMADEUPMADE"), ("CLOUD_SECRET_ACCESS_KEY", value)])
    };
    let row = |name, lab, says: &[&'static str]| Row::collect(name, lab, (2, 0), says);
    all(vec![
        row(
            "a token of GitHub",
            id(TOKEN),
            &["CLOUD_ACCESS_KEY_ID does not hold an access key id", "a classic token of GitHub (ghp_...)"],
        ),
        row(
            "quotes",
            id("'AKIAMADEUPMADEUPMADE'"),
            &["has quotes around it", "`export CLOUD_ACCESS_KEY_ID=AKIA...`"],
        ),
        row("the documented key", id("AKIAIOSFODNN7EXAMPLE"), &["is a placeholder", "AKIA..."]),
        row(
            "the id as key",
            key("AKIAMADEUPMADEUPMADE"),
            &["CLOUD_SECRET_ACCESS_KEY does not hold a secret access key", "an access key id of AWS"],
        ),
        row(
            "quotes around the key",
            key(&format!("\"{KEY}\"")),
            &["CLOUD_SECRET_ACCESS_KEY does not hold", "has quotes around it"],
        ),
        row(
            "a token as key",
            key("glpat-NotARealSecret0001"),
            &["CLOUD_SECRET_ACCESS_KEY does not hold", "a GitLab token (glpat-...)"],
        ),
        row(
            "the usual variables",
            cloud(&[("AWS_ACCESS_KEY_ID", "AKIAMADEUPMADEUPMADE"), ("AWS_SECRET_ACCESS_KEY", KEY)]),
            &["AWS_ACCESS_KEY_ID is set but not read", "`access_key_id_env: AWS_ACCESS_KEY_ID`"],
        ),
    ]);
}
