//! Rules for services, for URLs and for key words. Data only, never code.

use super::{Confidence, Rule, TOKEN};
use crate::screen::credible;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "chat-token",
        title: "Chat: token (`xoxb-`, `xoxp-` and so on, `xapp-`)",
        keywords: &["xox", "xapp-"],
        pattern: r"(?:xox[abeoprs]|xapp)-(?<value>[0-9A-Za-z-]{20,})",
        examples: &[
            concat!("xo", "xb-1234567890-0123456789abcdefghijABCD"),
            concat!("xo", "xp-0123456789abcdefghijABCDEFGHIJklmnopqrst"),
            concat!("xa", "pp-1-A0-0123456789abcdefghijABCD"),
        ],
        counter_examples: &[
            concat!("xo", "xb-0123456789abcdefghi"),
            concat!("xo", "xb-------------------------"),
        ],
        ..TOKEN
    },
    Rule {
        id: "chat-webhook",
        title: "Chat: address of an incoming webhook",
        keywords: &["hooks.slack.com", "webhooks", ".webhook.office.com"],
        pattern: r"(?:hooks\.slack\.com\\*/(?:services|workflows|triggers)\\*/(?<value>[0-9A-Za-z+/\\]{30,})|discord(?:app)?\.com\\*/api\\*/webhooks\\*/[0-9]{17,20}\\*/[0-9A-Za-z_-]{60,}|\.webhook\.office\.com\\*/webhookb2\\*/[0-9a-f-]{36}@[0-9a-f-]{36}[0-9A-Za-z/\\-]*)",
        examples: &[
            concat!("https://hooks.slack", ".com/services/T01234567/B01234567/0123456789abcdefghijABCD"),
            concat!(
                "https://discord",
                ".com/api/webhooks/123456789012345678/0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcd"
            ),
            concat!(
                "https:\\/\\/discord",
                ".com\\/api\\/webhooks\\/123456789012345678\\/0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcd"
            ),
            concat!(
                "https://org",
                ".webhook.office.com/webhookb2/01234567-89ab-cdef-0123-456789abcdef@01234567-89ab-cdef-0123-456789abcdef/IncomingWebhook/0123456789abcdef0123456789abcdef"
            ),
        ],
        counter_examples: &["https://hooks.slack.com/services/", "https://discord.com/api/webhooks/"],
        ..TOKEN
    },
    Rule {
        id: "mail-api-key",
        title: "Mail: API key (`SG.`)",
        keywords: &["SG."],
        pattern: after_start!(r"(?<span>SG\.(?<value>[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43}))"),
        // Names with a digest behind them stay below.
        minimum_entropy: 4.7,
        mixed_case: true,
        examples: &[concat!("S", "G.0123456789abcdefghijAB.0123456789abcdefghijABCDEFGHIJklmnopqrstKLM")],
        counter_examples: &[concat!(
            "S",
            "G.0123456789abcdefghijAB.0123456789abcdefghijABCDEFGHIJklmnopqrstKL"
        )],
        ..TOKEN
    },
    Rule {
        id: "mail-sending-key",
        title: "Mail: sending key (`key-`) beside the name of its service",
        keywords: &["mailgun"],
        pattern: r"(?i)mailgun[^\n]{0,60}?(?<span>key-(?<value>[0-9a-f]{32}))",
        minimum_entropy: 2.5,
        examples: &[concat!("mailgun_api = ke", "y-0123456789abcdef0123456789abcdef")],
        counter_examples: &[
            concat!("mailgun_api = ke", "y-0123456789abcdef0123456789abcde"),
            concat!("ke", "y-0123456789abcdef0123456789abcdef"),
        ],
        ..TOKEN
    },
    Rule {
        id: "bot-token",
        title: "Chat: token of a bot (digits, `:A` and 34 characters)",
        keywords: &[":A"],
        pattern: after_start!(r"(?<span>[0-9]{8,10}:A(?<value>[0-9A-Za-z_-]{34}))(?:[^0-9A-Za-z]|\z)"),
        mixed_case: true,
        examples: &[
            concat!("12345678", ":A0123456789abcdefghijABCDEFGHIJklmn"),
            concat!("1234567890", ":A0123456789abcdefghijABCDEFGHIJklmn"),
        ],
        counter_examples: &[
            concat!("1234567", ":A0123456789abcdefghijABCDEFGHIJklmn"),
            concat!("12345678", ":A0123456789abcdefghijABCDEFGHIJklmno"),
        ],
        ..TOKEN
    },
    Rule {
        id: "payment-key",
        title: "Payment: secret or restricted key (`sk_live_`, `sk_test_`, `rk_live_`, `rk_test_`)",
        keywords: &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
        pattern: after_start!(r"(?<span>[sr]k_(?:live|test)_(?<value>[0-9A-Za-z]{10,99}))"),
        // A short one, of ten characters, can have few different ones.
        minimum_entropy: 1.5,
        mixed_case: true,
        examples: &[
            concat!("rk", "_test_0123456789abcdefghijABCD"),
            concat!("sk", "_live_0123456789abcdefghijABCD"),
            concat!("rk", "_live_0123456789abcdefghijABCD"),
            concat!("sk", "_test_0123abCDEF"),
        ],
        counter_examples: &[
            concat!("sk", "_live_012345678"),
            concat!("sk", "_live_xxxxxxxxxxxxxxxxxxxxxxxx"),
            "task_test_integration2026",
            "sk_test_integration",
            concat!("pk", "_live_0123456789abcdefghijABCD"),
        ],
        ..TOKEN
    },
    Rule {
        id: "payment-access-token",
        title: "Payment: access token (`sq0atp-`)",
        keywords: &["sq0atp-"],
        pattern: r"sq0atp-(?<value>[0-9A-Za-z_-]{22})",
        examples: &[concat!("sq", "0atp-0123456789abcdefghijAB")],
        counter_examples: &[concat!("sq", "0atp-0123456789abcdefghijA")],
        ..TOKEN
    },
    Rule {
        id: "package-token-npm",
        title: "Package registry: access token (`npm_`)",
        keywords: &["npm_"],
        pattern: after_start!(r"(?<span>npm_(?<value>[0-9A-Za-z]{36}))(?:[^0-9A-Za-z]|\z)"),
        mixed_case: true,
        examples: &[concat!("np", "m_0123456789abcdefghijABCDEFGHIJklmnop")],
        counter_examples: &[concat!("np", "m_0123456789abcdefghijABCDEFGHIJklmno"), "npm_config_registry"],
        ..TOKEN
    },
    Rule {
        id: "package-token-pypi",
        title: "Package registry: upload token (`pypi-`)",
        keywords: &["pypi-AgEIcHlwaS5vcmc"],
        pattern: r"pypi-AgEIcHlwaS5vcmc(?<value>[0-9A-Za-z_-]{50,})",
        mixed_case: true,
        examples: &[concat!("py", "pi-AgEIcHlwaS5vcmc0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST")],
        counter_examples: &[concat!(
            "py",
            "pi-AgEIcHlwaS5vcmc0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRS"
        )],
        ..TOKEN
    },
    Rule {
        id: "package-token-rubygems",
        title: "Package registry: API key (`rubygems_`)",
        keywords: &["rubygems_"],
        pattern: r"rubygems_(?<value>[0-9a-f]{48})",
        examples: &[concat!("ruby", "gems_0123456789abcdef0123456789abcdef0123456789abcdef")],
        counter_examples: &[concat!("ruby", "gems_0123456789abcdef0123456789abcdef0123456789abcde")],
        ..TOKEN
    },
    Rule {
        id: "ai-key",
        title: "AI service: key (`sk-`, with `T3BlbkFJ` inside)",
        keywords: &["T3BlbkFJ"],
        pattern: after_start!(r"(?<span>sk-(?<value>[0-9A-Za-z_-]{16,}T3BlbkFJ[0-9A-Za-z_-]{16,}))"),
        mixed_case: true,
        examples: &[
            concat!("sk", "-0123456789abcdefghijT3BlbkFJ0123456789abcdefghij"),
            concat!(
                "sk",
                "-proj-0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDT3BlbkFJ0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCD"
            ),
        ],
        counter_examples: &[concat!("sk", "-0123456789abcdeT3BlbkFJ0123456789abcdefghij")],
        ..TOKEN
    },
    Rule {
        id: "ai-api-key",
        title: "AI service: API key (`sk-ant-`)",
        keywords: &["sk-ant-"],
        pattern: r"sk-ant-[a-z]{3,8}[0-9]{2}-(?<value>[0-9A-Za-z_-]{93}AA)",
        mixed_case: true,
        examples: &[concat!(
            "sk",
            "-ant-api03-0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMAA"
        )],
        counter_examples: &[concat!(
            "sk",
            "-ant-api03-0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLAA"
        )],
        ..TOKEN
    },
    Rule {
        id: "ai-model-hub-token",
        title: "AI service: token of a model hub (`hf_`)",
        keywords: &["hf_"],
        pattern: after_start!(r"(?<span>hf_(?<value>[A-Za-z]{34}))(?:[^0-9A-Za-z]|\z)"),
        mixed_case: true,
        examples: &[concat!("hf", "_abcdefghijklmnopqrstABCDEFGHIJKLMN")],
        counter_examples: &[
            concat!("hf", "_abcdefghijklmnopqrstABCDEFGHIJKLM"),
            concat!("hf", "_abcdefghijklmnopqrstABCDEFGHIJKLMNO"),
        ],
        ..TOKEN
    },
    Rule {
        id: "vault-token",
        title: "Secret store: service token (`hvs.`)",
        keywords: &["hvs."],
        pattern: after_start!(r"(?<span>hvs\.(?<value>[0-9A-Za-z_-]{90,}))"),
        mixed_case: true,
        examples: &[concat!(
            "hv",
            "s.0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrst"
        )],
        counter_examples: &[concat!(
            "hv",
            "s.0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrs"
        )],
        ..TOKEN
    },
    Rule {
        id: "infrastructure-token",
        title: "Infrastructure: token with `.atlasv1.` inside",
        keywords: &[".atlasv1."],
        pattern: r"[0-9A-Za-z]{14}\.atlasv1\.(?<value>[0-9A-Za-z=_-]{60,})",
        mixed_case: true,
        examples: &[concat!(
            "0123456789abcd",
            ".atlasv1.0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcd"
        )],
        counter_examples: &[concat!(
            "0123456789abcd",
            ".atlasv1.0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST012345678"
        )],
        ..TOKEN
    },
    Rule {
        id: "data-platform-token",
        title: "Data platform: token (`dapi`)",
        keywords: &["dapi"],
        pattern: after_start!(r"(?<span>dapi(?<value>[0-9a-f]{32})(?:-[0-9])?)(?:[^0-9A-Za-z]|\z)"),
        minimum_entropy: 2.5,
        examples: &[
            concat!("da", "pi0123456789abcdef0123456789abcdef"),
            concat!("da", "pi0123456789abcdef0123456789abcdef-2"),
        ],
        counter_examples: &[
            concat!("da", "pi0123456789abcdef0123456789abcde"),
            concat!("da", "pi0123456789abcdef0123456789abcdef0"),
        ],
        ..TOKEN
    },
    Rule {
        id: "secret-manager-token",
        title: "Secret manager: personal token (`dp.pt.`)",
        keywords: &["dp.pt."],
        pattern: r"dp\.pt\.(?<value>[0-9A-Za-z]{43})",
        mixed_case: true,
        examples: &[concat!("dp", ".pt.0123456789abcdefghijABCDEFGHIJklmnopqrstKLM")],
        counter_examples: &[concat!("dp", ".pt.0123456789abcdefghijABCDEFGHIJklmnopqrstKL")],
        ..TOKEN
    },
    Rule {
        id: "dashboard-token",
        title: "Monitoring: service account token (`glsa_`)",
        keywords: &["glsa_"],
        pattern: r"glsa_(?<value>[0-9A-Za-z]{32}_[0-9A-Fa-f]{8})",
        mixed_case: true,
        examples: &[concat!("gl", "sa_0123456789abcdefghijABCDEFGHIJkl_01234567")],
        counter_examples: &[concat!("gl", "sa_0123456789abcdefghijABCDEFGHIJk_01234567")],
        ..TOKEN
    },
    Rule {
        id: "error-tracker-token",
        title: "Monitoring: user token of an error tracker (`sntryu_`)",
        keywords: &["sntryu_"],
        pattern: r"sntryu_(?<value>[0-9a-f]{64})",
        examples: &[concat!("snt", "ryu_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")],
        counter_examples: &[concat!(
            "snt",
            "ryu_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
        )],
        ..TOKEN
    },
    Rule {
        id: "monitoring-key",
        title: "Monitoring: user key (`NRAK-`)",
        keywords: &["NRAK-"],
        pattern: r"NRAK-(?<value>[0-9A-Z]{27})",
        examples: &[concat!("NR", "AK-ABCDEFGHIJKLMNOPQRSTUVWXYZ2")],
        counter_examples: &[concat!("NR", "AK-ABCDEFGHIJKLMNOPQRSTUVWXYZ")],
        ..TOKEN
    },
    Rule {
        id: "platform-key",
        title: "Application platform: API key (`HRKU-AA`)",
        keywords: &["HRKU-AA"],
        pattern: r"HRKU-AA(?<value>[0-9A-Za-z_-]{58})",
        mixed_case: true,
        examples: &[concat!("HR", "KU-AA0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST01234567")],
        counter_examples: &[concat!("HR", "KU-AA0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456")],
        ..TOKEN
    },
    Rule {
        id: "shop-token",
        title: "Shop: access token (`shpat_`)",
        keywords: &["shpat_"],
        pattern: r"shpat_(?<value>[0-9A-Fa-f]{32})",
        minimum_entropy: 2.5,
        examples: &[concat!("sh", "pat_0123456789abcdef0123456789abcdef")],
        counter_examples: &[concat!("sh", "pat_0123456789abcdef0123456789abcde")],
        ..TOKEN
    },
    Rule {
        id: "tracker-key",
        title: "Issue tracker: API key (`lin_api_`)",
        keywords: &["lin_api_"],
        pattern: r"lin_api_(?<value>[0-9A-Za-z]{40})",
        mixed_case: true,
        examples: &[concat!("lin", "_api_0123456789abcdefghijABCDEFGHIJklmnopqrst")],
        counter_examples: &[concat!("lin", "_api_0123456789abcdefghijABCDEFGHIJklmnopqrs")],
        ..TOKEN
    },
    Rule {
        id: "api-client-key",
        title: "API client: key (`PMAK-`)",
        keywords: &["PMAK-"],
        pattern: r"PMAK-(?<value>[0-9a-f]{24}-[0-9a-f]{34})",
        examples: &[concat!("PM", "AK-0123456789abcdef01234567-0123456789abcdef0123456789abcdef01")],
        counter_examples: &[concat!("PM", "AK-0123456789abcdef01234567-0123456789abcdef0123456789abcdef0")],
        ..TOKEN
    },
    Rule {
        id: "password-manager-token",
        title: "Password manager: service account token (`ops_eyJ`)",
        keywords: &["ops_eyJ"],
        pattern: r"ops_eyJ(?<value>[0-9A-Za-z+/=_-]{250,})",
        mixed_case: true,
        examples: &[concat!(
            "ops",
            "_eyJ0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST"
        )],
        counter_examples: &[concat!(
            "ops",
            "_eyJ0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRS"
        )],
        ..TOKEN
    },
    Rule {
        id: "url-credentials",
        title: "Password in the authority of a URL (`https://user:password@host`)",
        keywords: &["@"],
        may_stand: |before, behind| credible::can_end_credentials(before, behind),
        pattern: r"[A-Za-z]:\\*/\\*/[^\s/?#@\x22'`<>:\\,;()|]*:(?<span>(?<value>[^\s/?#@\x22'`<>\\,;()|]{3,}))@[0-9A-Za-z\[]",
        minimum_entropy: 0.0,
        may_be_cut: false,
        examples: &[
            concat!("https://user:", "hunter2@host/path"),
            concat!("https:\\/\\/user:", "hunter2@host\\/path"),
            concat!("postgres://:", "correct-horse@10.0.0.1:5432/db"),
            concat!("https://x-access-token:", "ghp_0123456789abcdefghijABCDEFGHIJklmnop@host/org/repo"),
        ],
        counter_examples: &[
            "https://host:8443/@org/team",
            "https://user@host:8443/",
            "https://user:$PASSWORD@host",
            "https://user:${{ secrets.PASSWORD }}@host",
            "https://user:****@host",
            "ssh://git@host:22/org/repo",
            "http://host:8080, write to a@example.com",
        ],
        ..TOKEN
    },
    Rule {
        id: "url-token",
        title: "Token in the query of a URL (`?token=`, `?access_token=`)",
        keywords: &["token="],
        pattern: r"(?:[?&]|\\u0026|&amp;)(?:(?:access|auth|id|private|refresh)_)?token=(?<span>(?<value>[^\s&#\x22'`<>\\,;()]{8,}))",
        minimum_entropy: 2.5,
        may_be_cut: false,
        examples: &[
            concat!("https://raw.host/org/repo/main/CODEOWNERS?tok", "en=0123456789abcdefghijABCDEFGHI"),
            concat!("https://host/x?a=b&access_tok", "en=0123456789abcdefghij"),
            concat!("https://host/x?a=b\\u0026tok", "en=0123456789abcdefghij"),
        ],
        counter_examples: &[
            "https://host/x?token=$TOKEN_OF_SOMEONE",
            "https://host/x?token=YOUR_TOKEN_HERE",
            concat!("https://host/x?page_tok", "en=0123456789abcdefghij"),
            "https://host/x?token=aaaaaaaaaaaa",
            "https://host/x?token=",
        ],
        ..TOKEN
    },
    Rule {
        id: "key-word",
        title: "A word such as *secret*, *token* or *password* beside a long value that looks random",
        keywords: &[
            "api_key",
            "api-key",
            "apikey",
            "api.key",
            "access_key",
            "access-key",
            "accesskey",
            "access.key",
            "secret",
            "passwd",
            "password",
            "token",
            "credential",
        ],
        may_stand: |_, behind| credible::can_name_value(behind),
        pattern: r"(?i)(?:(?:api|access)[_.-]?key|secret|passwd|password|token|credential)[\x22'\\]{0,4}\s{0,4}(?:=>|:=|=|:)\s{0,4}[\x22'\\]{0,4}(?<span>(?<value>[0-9A-Za-z_+/=.~-]{16,}))",
        minimum_entropy: 3.5,
        confidence: Confidence::Low,
        examples: &[
            concat!("\"api_ke", "y\": \"0123456789abcdefghijABCDEFGHIJkl\""),
            concat!("temp_clone_tok", "en: 0123456789abcdefghijABCDEF"),
            concat!("pass", "word=0123456789abcdefghij"),
        ],
        counter_examples: &[
            concat!("\"public_key\": \"", "0123456789abcdefghijABCDEFGHIJklmnopqrstKLM=\""),
            concat!("csrf_tok", "en: 0123456789abcdefghijABCDEFGHIJkl"),
            concat!("api_key_id: ", "0123456789abcdefghijABCDEFGHIJkl"),
            "token: ${{ secrets.DEPLOY_TOKEN_2026 }}",
            "token=$DEPLOY_TOKEN_2026_PRODUCTION",
            "secret: /etc/ssl/private/2026/server.pem",
            "password: aaaaaaaaaaaaaaaaaaaaaaaa",
            "ci/api-key-check: 0a1b2c3d4e5f",
            "token: the-name-of-a-variable-only",
        ],
        ..TOKEN
    },
];
