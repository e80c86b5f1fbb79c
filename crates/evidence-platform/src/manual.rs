//! What the manual pages say beyond `--help`: examples, environment, files and exit codes.

use evidence_cli::Sections;

/// The variables of every command, then those of `serve` alone.
const VARIABLES: &[(&str, &str)] = &[
    ("EVIDENCE_PLATFORM_DATA", "The data directory, instead of `--data`."),
    ("EVIDENCE_PLATFORM_DATABASE", "The database, instead of `--database`."),
    ("EVIDENCE_PLATFORM_DATABASE_FILE", "The path of a file with the address of the database."),
    ("EVIDENCE_PLATFORM_STORAGE", "The storage for bundles, instead of `--storage`."),
];
const OF_SERVE: &[(&str, &str)] = &[
    ("EVIDENCE_PLATFORM_LISTEN", "The address to listen on, instead of `--listen`."),
    ("EVIDENCE_PLATFORM_HOST_NAMES", "The names of the server, instead of `--host-names`."),
    ("EVIDENCE_PLATFORM_TRUSTED_PROXIES", "The networks of reverse proxies, instead of `--trusted-proxies`."),
    ("EVIDENCE_PLATFORM_REVOKED_KEYS", "The list of revoked keys, instead of `--revoked-keys`."),
    ("EVIDENCE_PLATFORM_PRIVATE_WEBHOOKS", "`true` or `false`, instead of `--private-webhooks`."),
    (
        "EVIDENCE_PLATFORM_PURGE_AFTER_DAYS",
        "Days after the end of a retention until a deletion, instead of `--purge-after-days`.",
    ),
    ("EVIDENCE_PLATFORM_SECURE_COOKIES", "`true` or `false`, instead of `--secure-cookies`."),
];

/// An example for a command.
fn example(command: &str) -> Option<(&'static str, &'static str)> {
    Some(match command {
        "" | "serve" => ("Serve on this machine.", "evidence-platform serve --data /srv/evidence-platform"),
        "init" => ("Create a platform.", "evidence-platform init --data /srv/evidence-platform"),
        "organization create" => {
            ("Create an organization.", "evidence-platform organization create Acme --slug acme")
        }
        "organization" | "organization list" => {
            ("List the organizations.", "evidence-platform organization list")
        }
        "key create" => (
            "Create a key that may upload.",
            "evidence-platform key create --organization acme --role upload",
        ),
        "key revoke" => ("Revoke a key.", "evidence-platform key revoke --organization acme evp_1a2b3c4d"),
        "key" | "key list" => ("List the keys.", "evidence-platform key list --organization acme"),
        "trust" | "trust add" => (
            "Accept bundles that a key signed.",
            "evidence-platform trust add --organization acme acme.pub.pem",
        ),
        "organization update" => (
            "Expect a bundle every 26 hours.",
            "evidence-platform organization update acme --expect-hours 26",
        ),
        "group create" => ("Create a group.", "evidence-platform group create EMEA --slug emea"),
        "group" | "group list" => ("List the groups.", "evidence-platform group list"),
        "group update" => ("Rename a group.", "evidence-platform group update emea --name \"Europe\""),
        "apply" => ("Show what a file would change.", "evidence-platform apply organizations.yaml --dry-run"),
        "retention" | "retention list" => {
            ("List what is due within 30 days.", "evidence-platform retention list --within 30")
        }
        "retention purge" => (
            "Delete what is due in an organization.",
            "evidence-platform retention purge --organization acme --yes",
        ),
        "hold" | "hold set" => (
            "Hold everything that belongs to a case.",
            "evidence-platform hold set --organization acme --tag case=42 --reason litigation",
        ),
        "hold release" => ("End a hold.", "evidence-platform hold release --organization acme --tag case=42"),
        "hold list" => ("List the holds.", "evidence-platform hold list --organization acme"),
        "webhook create" => (
            "Tell a chat when controls fail or evidence stops coming.",
            "evidence-platform webhook create --organization acme --url https://hooks.example.com/evidence --event control.failed \\\n    --event organization.late",
        ),
        "webhook" | "webhook list" => {
            ("List the webhooks.", "evidence-platform webhook list --organization acme")
        }
        "webhook remove" => (
            "Remove a webhook.",
            "evidence-platform webhook remove --organization acme webhook_1a2b3c4d5e6f7a8b",
        ),
        "check" => ("Check everything that is stored.", "evidence-platform check --all --pace 50"),
        "status" => ("Fail if a bundle is overdue.", "evidence-platform status"),
        "trust update" => (
            "Rotate a key: what it signed until then stays verified.",
            "evidence-platform trust update --organization acme --valid-until 2026-11-30 acme.pub.pem",
        ),
        "trust revoke" => (
            "A key was stolen.",
            "evidence-platform trust revoke --organization acme --since 2026-11-20T02:00:00Z --reason stolen acme.pub.pem",
        ),
        "trust list" => ("List the trusted keys.", "evidence-platform trust list --organization acme"),
        "trust remove" => (
            "Remove a key that was added by mistake.",
            "evidence-platform trust remove --organization acme acme.pub.pem",
        ),
        "audit-log" => ("Show the last 20 records.", "evidence-platform audit-log --limit 20"),
        "health" => ("Check the server.", "evidence-platform health"),
        "completions" => ("Print the completions for bash.", "evidence-platform completions bash"),
        "man" => ("Write the manual pages.", "evidence-platform man --output man1"),
        _ => return None,
    })
}

/// The sections of a command's manual page; the program's own name is empty.
pub(crate) fn sections(command: &str) -> Sections {
    let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(name, text)| ((*name).to_string(), (*text).to_string())).collect()
    };
    let mut environment = pairs(VARIABLES);
    if matches!(command, "" | "serve") {
        environment.extend(pairs(OF_SERVE));
    }
    Sections {
        exits: pairs(&[
            ("0", "The command did what you asked for."),
            ("1", "It did not; standard error has the reason."),
        ]),
        environment,
        files: pairs(&[("evidence-platform-data/", "The data directory, if nothing names another.")]),
        examples: example(command)
            .iter()
            .map(|(purpose, line)| (purpose.to_string(), line.to_string()))
            .collect(),
    }
}
