//! Clean texts in every form that evidence has. The screen finds nothing in them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::form::{Form, hex, in_lines, noise, repeat};

pub(crate) const FORMS: &[Form] = &[
    clean("branch protection, JSON", protection),
    clean("branch protection, JSON in lines", protection_in_lines),
    clean("users of a directory, JSON", users),
    clean("log groups, JSON", log_groups),
    clean("branches with percent escapes", percent),
    clean("texts with JSON escapes", escapes),
    clean("CODEOWNERS, names", owners_names),
    clean("CODEOWNERS, every line ends in a digit", owners_digits),
    clean("CODEOWNERS, every line begins and ends in a digit", owners_digits_twice),
    clean("CODEOWNERS, addresses", owners_addresses),
    clean("CODEOWNERS, CRLF", owners_crlf),
    clean("CODEOWNERS, one word a line", owners_words),
    clean("CODEOWNERS as base64 in JSON", owners_encoded),
    clean("CODEOWNERS, not in English", owners_unicode),
    clean("checksums and paths", checksums),
    clean("digests, one a line", digests),
    clean("UUIDs, one a line", uuids),
    clean("commits, one after another", commits),
    clean("certificate, base64 in lines", certificate),
    clean("prose", prose),
    clean("emoji with joiners", emoji),
    clean("key=41", equals_signs),
    clean("identifiers in capitals", capitals),
    clean("backslashes of paths and patterns", backslashes),
    clean("tabs and blank lines", tabs),
];

const fn clean(name: &'static str, make: fn() -> String) -> Form {
    Form { name, clean: true, make }
}

fn protection() -> String {
    repeat(|number| {
        let url = format!("https://api.host/repos/acme/service-{number}/branches/main/protection");
        format!(
            r#"{{"url":"{url}","required_pull_request_reviews":{{"url":"{url}/required_pull_request_reviews","dismiss_stale_reviews":true,"require_code_owner_reviews":true,"required_approving_review_count":2,"dismissal_restrictions":{{"users":[],"teams":["platform","security"]}}}},"required_status_checks":{{"strict":true,"contexts":["ci/build ({number})","ci/test","ci/api-key-check: {}","secret-scan"]}},"enforce_admins":{{"url":"{url}/enforce_admins","enabled":true}},"sha256":"{}"}}"#,
            hex(number, 12),
            hex(number, 64),
        ) + "\n"
    })
}

fn protection_in_lines() -> String {
    repeat(|number| {
        format!(
            "{{\n  \"url\": \"https://api.host/repos/acme/service-{number}/branches/main/protection\",\n  \"required_status_checks\": {{\n    \"strict\": true,\n    \"contexts\": [\n      \"ci/build ({number})\",\n      \"ci/test\",\n      \"ci/lint-{}\"\n    ]\n  }},\n  \"required_pull_request_reviews\": {{\n    \"dismiss_stale_reviews\": true,\n    \"required_approving_review_count\": 2\n  }},\n  \"enforce_admins\": {{\n    \"enabled\": true\n  }}\n}}\n",
            hex(number, 8)
        )
    })
}

fn users() -> String {
    repeat(|number| {
        format!(
            "    {{\n      \"id\": \"{}\",\n      \"primaryEmail\": \"user{number}@acme.example\",\n      \"isEnrolledIn2Sv\": true,\n      \"isEnforcedIn2Sv\": true,\n      \"suspended\": false,\n      \"archived\": false,\n      \"creationTime\": \"2026-01-02T03:04:05.000Z\",\n      \"lastLoginTime\": \"2026-11-20T09:0{}:13.000Z\"\n    }},\n",
            noise(number),
            number % 10
        )
    })
}

fn log_groups() -> String {
    repeat(|number| {
        format!(
            "    {{\n      \"logGroupName\": \"/aws/lambda/acme-service-{number}\",\n      \"retentionInDays\": 90,\n      \"arn\": \"arn:aws:logs:eu-central-1:111122223333:log-group:/aws/lambda/acme-service-{number}:*\",\n      \"storedBytes\": {},\n      \"creationTime\": 1782587558{:03}\n    }},\n",
            noise(number) % 100_000_000,
            number % 1_000
        )
    })
}

fn percent() -> String {
    repeat(|number| {
        format!(
            "{{\"url\":\"https://api.host/repos/acme/service-{number}/branches/release%2F{}.{}%2Bhotfix/protection\",\"enabled\":true,\"contexts\":[\"ci/build\",\"ci/test\"],\"strict\":true}}\n",
            number % 30,
            number % 7
        )
    })
}

fn escapes() -> String {
    repeat(|number| {
        format!(
            "{{\"name\":\"service-{number}\",\"description\":\"Gr\\u00f6\\u00dfe \\u0026 Preise: \\\"netto\\\"\\n\\tStand {number}\\/2026\",\"topics\":[\"web\",\"api\"]}}\n"
        )
    })
}

fn owners_names() -> String {
    repeat(|number| {
        let area = ["payments", "search", "platform", "mobile", "growth"][(number % 5) as usize];
        format!("/services/{area}/handlers/**/*.rs @acme/{area} @acme/everyone\n")
    })
}

fn owners_digits() -> String {
    repeat(|number| {
        format!(
            "/services/service-{number}/**/*.rs @acme/team-{number} owner{number}@example.com # area {number}\n"
        )
    })
}

fn owners_digits_twice() -> String {
    repeat(|number| format!("2026/service-{number}/ @acme/team-{number} @acme/platform-{number}\n"))
}

fn owners_addresses() -> String {
    repeat(|number| format!("/docs/area-{number}/ first.last{number}@example.com second.name@example.com\n"))
}

fn owners_crlf() -> String {
    owners_digits().replace('\n', "\r\n")
}

fn owners_words() -> String {
    repeat(|number| format!("/services/service-{number}/handlers/version2\n"))
}

fn owners_encoded() -> String {
    repeat(|number| {
        let file: String = (0..40)
            .map(|line| format!("/services/service-{line}/**/*.rs @acme/team-{number} # area {line}\n"))
            .collect();
        format!(
            "{{\n  \"name\": \"CODEOWNERS\",\n  \"path\": \".github/CODEOWNERS\",\n  \"content\": \"{}\",\n  \"encoding\": \"base64\",\n  \"size\": {}\n}}\n",
            STANDARD.encode(&file),
            file.len()
        )
    })
}

fn owners_unicode() -> String {
    repeat(|number| format!("/услуги/служба-{number}/** @acme/команда-{number} # область {number}\n"))
}

fn checksums() -> String {
    repeat(|number| {
        format!("{}  sources/codehost/repo_acme_service-{number}_branch_protection.json\n", hex(number, 64))
    })
}

fn digests() -> String {
    repeat(|number| hex(number, 64) + "\n")
}

fn uuids() -> String {
    repeat(|number| {
        let digits = hex(number, 32);
        let part = |from, to| digits.get(from..to).unwrap_or_default().to_string();
        [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-") + "\n"
    })
}

fn commits() -> String {
    repeat(|number| hex(number, 40) + " ")
}

/// Random bytes in base64 that do not decode to text.
fn certificate() -> String {
    let bytes: Vec<u8> = (0..9_000).flat_map(|number| noise(number).to_be_bytes()).collect();
    in_lines(&STANDARD.encode(bytes), 64)
}

fn prose() -> String {
    repeat(|number| {
        format!(
            "Every change is reviewed by a second person before it is merged; see section {number} of the handbook.\nWho may merge is decided by the owners of the code, and nobody else can.\n"
        )
    })
}

fn emoji() -> String {
    repeat(|number| {
        format!(
            "/docs/area-{number}/ @acme/docs # \u{1f469}\u{200d}\u{1f4bb} own this, \u{26a0}\u{fe0f} ask first\n"
        )
    })
}

fn equals_signs() -> String {
    repeat(|number| {
        format!(
            "{{\"url\":\"https://api.host/search?area={}&page=41&size=50\",\"label\":\"team=7A level={number}\"}}\n",
            hex(number, 4)
        )
    })
}

fn capitals() -> String {
    repeat(|number| {
        format!(
            "SERVICE_PAYMENTS_GATEWAY_{number}=INFRASTRUCTURE_EUROPE_WEST @ACME/TEAM-{number} # OWNED BY ALL\n"
        )
    })
}

fn backslashes() -> String {
    repeat(|number| {
        format!(
            "^/services/(\\w+)/v\\123/(\\d{{{number}}})\\.rs$ @acme/regex # C:\\Users\\unicode\\060\\Utils{number}\n"
        )
    })
}

fn tabs() -> String {
    repeat(|number| format!("/services/app{number}\t\t@acme/app{number}\t# area {number}\n\n"))
}
