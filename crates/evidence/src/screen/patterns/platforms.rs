//! Rules for code hosts, clouds, keys and general web tokens. Data only, never code.

use super::{Rule, TOKEN};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "code-host-token",
        title: "Code host: classic, application, user or refresh token (`ghp_`, `gho_`, `ghu_`, `ghr_`)",
        keywords: &["ghp_", "gho_", "ghu_", "ghr_"],
        pattern: r"gh[pour]_(?<value>[0-9A-Za-z]{36}(?:[0-9A-Za-z]{40})?)",
        mixed_case: true,
        examples: &[
            concat!("gh", "p_0123456789abcdefghijABCDEFGHIJklmnop"),
            concat!("gh", "o_0123456789abcdefghijABCDEFGHIJklmnop"),
            concat!("gh", "u_0123456789abcdefghijABCDEFGHIJklmnop"),
            concat!("gh", "r_0123456789abcdefghijABCDEFGHIJklmnop"),
            concat!("gh", "r_0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEF"),
        ],
        counter_examples: &[
            concat!("gh", "p_0123456789abcdefghijABCDEFGHIJklmno"),
            concat!("gh", "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
            concat!("gh", "x_0123456789abcdefghijABCDEFGHIJklmnop"),
        ],
        ..TOKEN
    },
    Rule {
        id: "code-host-fine-grained-token",
        title: "Code host: fine-grained personal token (`github_pat_`)",
        keywords: &["github_pat_"],
        pattern: r"github_pat_(?<value>[0-9A-Za-z_]{82,})",
        mixed_case: true,
        examples: &[concat!(
            "github",
            "_pat_0123456789abcdefghijAB_0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST012345678"
        )],
        counter_examples: &[
            concat!(
                "github",
                "_pat_0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJk"
            ),
            concat!(
                "github",
                "_pat___________________________________________________________________________________"
            ),
        ],
        ..TOKEN
    },
    Rule {
        id: "code-host-installation-token",
        title: "Code host: installation or workflow token (`ghs_`), also the long form that holds a JSON web token",
        keywords: &["ghs_"],
        pattern: r"ghs_(?<value>[0-9A-Za-z._-]{36,})",
        mixed_case: true,
        examples: &[
            concat!("gh", "s_0123456789abcdefghijABCDEFGHIJklmnop"),
            concat!(
                "gh",
                "s_123456_e",
                "yJ0eXAiOiJKV1QifQ.eyJpYXQiOjEsImV4cCI6Mn0.0123456789abcdefghijABCDEFGHIJklmnopqrstKLM"
            ),
        ],
        counter_examples: &[
            concat!("gh", "s_0123456789abcdefghijABCDEFGHIJklmno"),
            concat!("gh", "s_........................................"),
        ],
        ..TOKEN
    },
    Rule {
        id: "other-code-host-token",
        title: "Other code hosts: personal and runner token (`glpat-`, `glrt-`)",
        keywords: &["glpat-", "glrt-"],
        pattern: r"gl(?:pat|rt)-(?<value>[0-9A-Za-z_.-]{20,})",
        examples: &[concat!("gl", "pat-0123456789abcdefghij"), concat!("gl", "rt-0123456789abcdefghij")],
        counter_examples: &[
            concat!("gl", "pat-0123456789abcdefghi"),
            concat!("gl", "pat-xxxxxxxxxxxxxxxxxxxx"),
        ],
        ..TOKEN
    },
    Rule {
        id: "workspace-api-token",
        title: "Work management: API token (`ATATT3`)",
        keywords: &["ATATT3"],
        pattern: r"ATATT3(?<value>[0-9A-Za-z_=-]{186,})",
        mixed_case: true,
        examples: &[concat!(
            "AT",
            "ATT30123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnop"
        )],
        counter_examples: &[concat!(
            "AT",
            "ATT30123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmno"
        )],
        ..TOKEN
    },
    Rule {
        id: "cloud-access-key-id",
        title: "Cloud: access key id (`AKIA`, `ASIA`, `ABIA`, `ACCA`)",
        keywords: &["AKIA", "ASIA", "ABIA", "ACCA"],
        pattern: after_start!(r"(?<span>(?:AKIA|ASIA|ABIA|ACCA)(?<value>[A-Z2-7]{16}))(?:[^0-9A-Za-z]|\z)"),
        minimum_entropy: 2.5,
        examples: &[
            concat!("AK", "IAABCDEFGHIJKLMNOP"),
            concat!("AS", "IAABCDEFGHIJKLMNOP"),
            concat!("AB", "IAABCDEFGHIJKLMNOP"),
            concat!("AC", "CAABCDEFGHIJKLMNOP"),
        ],
        counter_examples: &[
            concat!("AK", "IAABCDEFGHIJKLMNO"),
            concat!("AK", "IAABCDEFGHIJKLMNOPQ"),
            concat!("AK", "IAIOSFODNN7EXAMPLE"),
            concat!("xAK", "IAABCDEFGHIJKLMNOP"),
        ],
        ..TOKEN
    },
    Rule {
        id: "cloud-secret-access-key",
        title: "Cloud: secret access key beside its name",
        keywords: &["secret_access_key", "secret-access-key", "secretaccesskey"],
        pattern: r"(?i)secret[_-]?access[_-]?key[\x22'\\]{0,4}\s{0,4}[:=]{1,2}\s{0,4}[\x22'\\]{0,4}(?<span>(?<value>[0-9A-Za-z/+]{40}))(?:[^0-9A-Za-z/+]|\z)",
        minimum_entropy: 3.5,
        examples: &[
            concat!("secret_access", "_key = 0123456789abcdefghijABCDEFGHIJklmnopqr/+"),
            concat!("secret-access", "-key: 0123456789abcdefghijABCDEFGHIJklmnopqrst"),
            concat!("\"SecretAccess", "Key\": \"0123456789abcdefghijABCDEFGHIJklmnopqrst\""),
        ],
        counter_examples: &[
            concat!("secret_access", "_key = ${{ secrets.SECRET_ACCESS_KEY }}"),
            concat!("secret_access", "_key = 0123456789abcdefghijABCDEFGHIJklmnopqrstK"),
            concat!("secret_access", "_key: 0123456789abcdefghijABCDEFGHIJEXAMPLEKEY"),
        ],
        ..TOKEN
    },
    Rule {
        id: "cloud-api-key",
        title: "Cloud: API key (`AIza`)",
        keywords: &["AIza"],
        pattern: after_start!(r"(?<span>AIza(?<value>[0-9A-Za-z_-]{35}))(?:[^0-9A-Za-z]|\z)"),
        mixed_case: true,
        examples: &[concat!("AI", "za0123456789abcdefghijABCDEFGHIJklmno")],
        counter_examples: &[
            concat!("AI", "za0123456789abcdefghijABCDEFGHIJklmn"),
            concat!("AI", "za0123456789abcdefghijABCDEFGHIJklmnop"),
        ],
        ..TOKEN
    },
    Rule {
        id: "cloud-account-key-id",
        title: "Cloud: account key id (`LTAI`)",
        keywords: &["LTAI"],
        pattern: after_start!(r"(?<span>LTAI(?<value>[0-9A-Za-z]{20}))(?:[^0-9A-Za-z]|\z)"),
        examples: &[concat!("LT", "AI0123456789abcdefghij")],
        counter_examples: &[concat!("LT", "AI0123456789abcdefghi"), concat!("LT", "AI0123456789abcdefghijA")],
        ..TOKEN
    },
    Rule {
        id: "cloud-droplet-token",
        title: "Cloud: personal token (`dop_v1_`)",
        keywords: &["dop_v1_"],
        pattern: r"dop_v1_(?<value>[0-9a-f]{64})",
        examples: &[concat!("dop", "_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")],
        counter_examples: &[concat!(
            "dop",
            "_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
        )],
        ..TOKEN
    },
    Rule {
        id: "cloud-client-secret",
        title: "Cloud: client secret of an application (a digit and `Q~` after three characters)",
        keywords: &["Q~"],
        pattern: after_start!(
            r"(?<span>[0-9A-Za-z_~.]{3}[0-9]Q~(?<value>[0-9A-Za-z_~.-]{31,34}))(?:[^0-9A-Za-z]|\z)"
        ),
        mixed_case: true,
        examples: &[
            concat!("abc8", "Q~0123456789abcdefghijABCDEFGHIJklmn"),
            concat!("a.~1", "Q~0123456789abcdefghijABCDEFGHIJk"),
        ],
        counter_examples: &[
            concat!("abc8", "Q~0123456789abcdefghijABCDEFGHIJ"),
            concat!("abcdQ~", "0123456789abcdefghijABCDEFGHIJklmn"),
        ],
        ..TOKEN
    },
    Rule {
        id: "private-key",
        title: "Private key in PEM form; the first line alone is enough",
        // In the query of a URL a space is a plus.
        keywords: &["PRIVATE KEY", "PRIVATE+KEY"],
        pattern: r"-----BEGIN[ +][0-9A-Z +]{0,40}PRIVATE[ +]KEY(?:[ +]BLOCK)?(?:-----(?:[0-9A-Za-z+/=:,#*>\s]|\\[nr/\\]|\\u\{[0-9a-f]{1,6}\}|-[0-9A-Za-z])*(?:-----END[ +][0-9A-Z +]{0,40}PRIVATE[ +]KEY(?:[ +]BLOCK)?-----)?)?",
        minimum_entropy: 0.0,
        examples: &[
            concat!("-----BEGIN ", "PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"),
            concat!("-----BEGIN RSA ", "PRIVATE KEY-----\\nAAAA\\n-----END RSA PRIVATE KEY-----\\n"),
            concat!("-----BEGIN OPENSSH ", "PRIVATE KEY-----\nb3BlbnNzaC1rZXk"),
            concat!("-----BEGIN PGP ", "PRIVATE KEY BLOCK-----"),
            concat!("-----BEGIN EC ", "PRIVATE KEY-----"),
            concat!("-----BEGIN+EC+", "PRIVATE+KEY-----"),
            concat!("-----BEGIN ", "PRIVATE KEY-----\\u{a}AAAA\\u{a}# AAAA\\u{a}"),
            concat!("-----BEGIN ENCRYPTED ", "PRIVATE KEY"),
        ],
        counter_examples: &[
            concat!("-----BEGIN ", "PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----"),
            "the PRIVATE KEY is not here",
        ],
        ..TOKEN
    },
    Rule {
        id: "private-key-encoded",
        title: "Private key in PEM form, as a whole in base64",
        // "PRIVATE KEY" after 0, 1 and 2 other bytes.
        keywords: &["UFJJVkFURSBLRV", "BSSVZBVEUgS0VZ", "QUklWQVRFIEtFW"],
        pattern: r"[0-9A-Za-z+/_-]{0,100}(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)[0-9A-Za-z+/=_-]*",
        minimum_entropy: 0.0,
        examples: &[
            concat!(
                "LS0tLS1CRUdJTiBQUklWQ",
                "VRFIEtFWS0tLS0tCkFBQUFBQUFBCi0tLS0tRU5EIFBSSVZBVEUgS0VZLS0tLS0K"
            ),
            concat!(
                "eC0tLS0tQkVHSU4gUFJJVkFURSBLRVktLS0tLQpBQUFBQUFBQQotLS0tLUVORCBQUklWQ",
                "VRFIEtFWS0tLS0tCg=="
            ),
            concat!(
                "eHktLS0tLUJFR0lOIFBSSVZB",
                "VEUgS0VZLS0tLS0KQUFBQUFBQUEKLS0tLS1FTkQgUFJJVkFURSBLRVktLS0tLQo="
            ),
        ],
        counter_examples: &["uFJJVkFURSBLRV", "UFJJVkFURSBTRU5TRQ"],
        ..TOKEN
    },
    Rule {
        id: "age-secret-key",
        title: "File encryption: secret key (`AGE-SECRET-KEY-1`)",
        keywords: &["AGE-SECRET-KEY-1"],
        pattern: r"AGE-SECRET-KEY-1(?<value>[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58})",
        examples: &[concat!(
            "AGE-SECRET-",
            "KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"
        )],
        counter_examples: &[concat!(
            "AGE-SECRET-",
            "KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHC"
        )],
        ..TOKEN
    },
    Rule {
        id: "json-web-token",
        title: "JSON web token: three parts, the first two beginning with `ey`",
        keywords: &[".ey"],
        pattern: r"ey[0-9A-Za-z_-]{15,}\.ey[0-9A-Za-z_-]{8,}\.(?<value>[0-9A-Za-z_-]{10,})",
        examples: &[
            concat!(
                "ey",
                "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.0123456789abcdefghijABCDEFGHIJklmnopqrstKLM"
            ),
            concat!(
                "_ey",
                "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.0123456789abcdefghijABCDEFGHIJklmnopqrstKLM"
            ),
        ],
        counter_examples: &[
            concat!("ey", "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ."),
            "hockey.eyewear.example.com",
        ],
        ..TOKEN
    },
];
