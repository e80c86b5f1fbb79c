//! What the manual pages and the documents say about each command beyond `--help`: examples, environment, files and exit
//! codes. One table for each of them.

use evidence_cli::Sections;

use crate::exit::Exit;

/// A part of the environment, and the commands that use it.
pub struct Entry {
    /// The name of the variable or of the file.
    pub name: &'static str,
    /// The commands that read or write it.
    pub commands: &'static [&'static str],
    /// What it does.
    pub text: &'static str,
}

/// An example of a command.
pub struct Example {
    /// What it does.
    pub purpose: &'static str,
    /// The command line.
    pub line: &'static str,
}

/// The commands that trust keys.
const TRUSTING: &[&str] =
    &["verify", "show", "report", "sample", "diff", "history", "rejudge", "waivers", "upload"];
const COLLECT: &[&str] = &["collect", "fleet"];
const SENDING: &[&str] = &["collect", "fleet", "upload"];
/// Every command.
pub const EVERY: &[&str] = &[
    "collect",
    "fleet",
    "verify",
    "show",
    "report",
    "sample",
    "diff",
    "history",
    "rejudge",
    "waivers",
    "verifier",
    "upload",
    "init",
    "keygen",
    "schema",
    "completions",
    "man",
];

/// The environment variables. Those of credentials are defaults that the configuration can rename.
pub const VARIABLES: &[Entry] = &[
    Entry {
        name: "CODEHOST_TOKEN",
        commands: COLLECT,
        text: "The token of the code host; `sources.codehost.token_env` names another variable.",
    },
    Entry {
        name: "CODEHOST_API_URL",
        commands: COLLECT,
        text: "The address of the code host's API; overrides `sources.codehost.api_url`.",
    },
    Entry {
        name: "CLOUD_ACCESS_KEY_ID",
        commands: COLLECT,
        text: "The access key id; `sources.cloud.access_key_id_env` names another variable.",
    },
    Entry {
        name: "CLOUD_SECRET_ACCESS_KEY",
        commands: COLLECT,
        text: "The secret access key; `sources.cloud.secret_access_key_env` names another variable.",
    },
    Entry {
        name: "CLOUD_SESSION_TOKEN",
        commands: COLLECT,
        text: "The session token of temporary credentials; `sources.cloud.session_token_env` names another variable.",
    },
    Entry {
        name: "CLOUD_REGION",
        commands: COLLECT,
        text: "The region, if the configuration has neither `region` nor `regions`.",
    },
    Entry {
        name: "ALTCLOUD_APPLICATION_CREDENTIALS",
        commands: COLLECT,
        text: "The path of the service account's file; `sources.altcloud.credentials_env` names another variable.",
    },
    Entry {
        name: "GCE_METADATA_HOST",
        commands: COLLECT,
        text: "With `mode: sign_jwt`: the host of the machine's metadata service, instead of `metadata.google.internal`.",
    },
    Entry {
        name: "EVIDENCE_API_KEY",
        commands: SENDING,
        text: "The API key of the platform; `upload.api_key_env` names another variable.",
    },
    Entry {
        name: "NAME_FILE",
        commands: SENDING,
        text: "For the NAME of each variable above that holds a secret: the path of a file with the secret, instead of the \
               secret.",
    },
    Entry {
        name: "EVIDENCE_TRUSTED_KEYS",
        commands: TRUSTING,
        text: "Files of trusted public keys, separated as in `PATH`, if no option names a key.",
    },
    Entry {
        name: "SOURCE_DATE_EPOCH",
        commands: &["collect", "man"],
        text: "With `collect --reproducible` and in manual pages: the time, in seconds since 1970.",
    },
    Entry {
        name: "HTTPS_PROXY",
        commands: SENDING,
        text: "The HTTP proxy for requests with TLS; `ALL_PROXY` if it is not set. Requests to loopback addresses \
               without TLS use no proxy.",
    },
    Entry { name: "NO_PROXY", commands: SENDING, text: "Hosts that need no proxy, separated by commas." },
    Entry {
        name: "SSL_CERT_FILE",
        commands: SENDING,
        text: "A PEM file with all trusted certificate authorities, instead of the machine's store; not on Windows and \
               macOS.",
    },
    Entry {
        name: "XDG_CACHE_HOME",
        commands: COLLECT,
        text: "The parent of the cache directory `evidence`; `~/.cache` if it is not set.",
    },
    Entry {
        name: "TMPDIR",
        commands: &["show", "sample"],
        text: "The directory for long lists while a bundle is verified.",
    },
    Entry { name: "NO_COLOR", commands: EVERY, text: "Turns colours off if it is set." },
];

/// The files.
pub const FILES: &[Entry] = &[
    Entry {
        name: "./evidence.yaml",
        commands: &["collect", "fleet", "waivers", "upload", "init"],
        text: "The configuration, if `--config` names no other. `upload` reads only its section `upload`.",
    },
    Entry {
        name: "./evidence-signing-key.pem",
        commands: &["collect", "fleet", "init", "keygen"],
        text: "The private signing key, as `init` and `keygen` name it; the configuration can name another.",
    },
    Entry {
        name: "./evidence-signing-key.pub.pem",
        commands: &["init", "keygen", "verify", "show", "report", "sample", "diff", "history", "rejudge"],
        text: "The public key. Give it to those who verify your bundles through a separate channel.",
    },
    Entry {
        name: "./evidence-fleet/",
        commands: &["fleet"],
        text: "A folder for each organization and `fleet.json`, if `--output` names no other directory.",
    },
    Entry {
        name: "./evidence-bundles/",
        commands: &["collect"],
        text: "The bundles, if `--output` names no other directory.",
    },
    Entry {
        name: "~/.cache/evidence/",
        commands: COLLECT,
        text: "The host's answers, with `revalidate: true`.",
    },
];

/// The examples of a command; every command has at least one.
pub fn examples(command: &str) -> &'static [Example] {
    const fn example(purpose: &'static str, line: &'static str) -> Example {
        Example { purpose, line }
    }
    match command {
        "" => {
            const {
                &[
                    example(
                        "Write a configuration and a key pair.",
                        "evidence init --org acme --generate-keys",
                    ),
                    example("Show what a run would read.", "evidence collect --dry-run"),
                    example("Collect the evidence.", "evidence collect"),
                    example(
                        "Verify the bundle.",
                        "evidence verify --public-key evidence-signing-key.pub.pem evidence-bundle-20261121-090513.tar.gz",
                    ),
                ]
            }
        }
        "collect" => {
            const {
                &[
                    example(
                        "Validate the configuration and test the connections.",
                        "evidence collect --dry-run",
                    ),
                    example(
                        "Collect with a named configuration into a directory.",
                        "evidence collect --config /etc/evidence/acme.yaml --output /srv/evidence",
                    ),
                    example("Collect and upload, as a scheduled job.", "evidence collect --quiet --upload"),
                    example("Resume a run that was interrupted.", "evidence collect --resume"),
                ]
            }
        }
        "fleet" => {
            const {
                &[
                    example(
                        "Collect three organizations.",
                        "evidence fleet --config fleet.yaml --orgs acme,acme-labs,acme-legacy",
                    ),
                    example(
                        "Collect the second of four parts of all organizations that the app is installed for.",
                        "evidence fleet --config fleet.yaml --shard 2/4 --workers 8",
                    ),
                ]
            }
        }
        "verify" => {
            const {
                &[
                    example(
                        "Verify with a public key.",
                        "evidence verify --public-key acme.pub.pem evidence-bundle-20261121-090513.tar.gz",
                    ),
                    example(
                        "Require the organization and an age of at most a week.",
                        "evidence verify --public-key acme.pub.pem --expect-org acme --max-age 7d bundle.tar.gz",
                    ),
                    example(
                        "Verify every bundle of a folder, and that none is missing in between.",
                        "evidence verify --public-key acme.pub.pem --chain evidence-bundles",
                    ),
                    example(
                        "Check the signature of a release.",
                        "evidence verify --public-key release.pub.pem --signature SHA256SUMS.sig SHA256SUMS",
                    ),
                ]
            }
        }
        "show" => {
            const {
                &[
                    example(
                        "Print what failed.",
                        "evidence show --public-key acme.pub.pem --status fail bundle.tar.gz",
                    ),
                    example(
                        "Write a table for a spreadsheet.",
                        "evidence show --public-key acme.pub.pem --format csv bundle.tar.gz",
                    ),
                ]
            }
        }
        "report" => {
            const {
                &[example(
                    "Write the report as one HTML page.",
                    "evidence report --public-key acme.pub.pem --output report.html bundle.tar.gz",
                )]
            }
        }
        "sample" => {
            const {
                &[
                    example(
                        "Draw 25 repositories in scope.",
                        "evidence sample --public-key acme.pub.pem --from population --kind repository --in-scope --count 25 \
                 --seed 'audit 2026' bundle.tar.gz",
                    ),
                    example(
                        "Draw 25 days of a year, with the bundles of each.",
                        "evidence sample --public-key acme.pub.pem --from days --from-date 2026-01-01 --to-date 2026-12-31 \
                 --count 25 --seed 'audit 2026' evidence-bundles",
                    ),
                ]
            }
        }
        "diff" => {
            const {
                &[
                    example(
                        "Print what changed from one bundle to the next.",
                        "evidence diff --public-key acme.pub.pem monday.tar.gz tuesday.tar.gz",
                    ),
                    example(
                        "Fail a job if a check that passed fails.",
                        "evidence diff --public-key acme.pub.pem --fail-on regression monday.tar.gz tuesday.tar.gz",
                    ),
                ]
            }
        }
        "history" => {
            const {
                &[
                    example(
                        "Print what the bundles of a folder show of the first quarter.",
                        "evidence history --public-key acme.pub.pem --from 2026-01-01 --to 2026-03-31 evidence-bundles",
                    ),
                    example(
                        "Write the page and the tables of a year.",
                        "evidence history --public-key acme.pub.pem --from 2026-01-01 --to 2026-12-31 --output period \
                 evidence-bundles",
                    ),
                ]
            }
        }
        "rejudge" => {
            const {
                &[
                    example(
                        "Print what the rules of this version say about an older bundle.",
                        "evidence rejudge --public-key acme.pub.pem bundle.tar.gz",
                    ),
                    example(
                        "Try stricter numbers of `rules.settings` on it.",
                        "evidence rejudge --config stricter.yaml --public-key acme.pub.pem bundle.tar.gz",
                    ),
                ]
            }
        }
        "verifier" => {
            const { &[example("Write the verifier page.", "evidence verifier --output verify.html")] }
        }
        "upload" => {
            const {
                &[
                    example(
                        "Upload to the platform of a configuration.",
                        "evidence upload --config evidence.yaml bundle.tar.gz",
                    ),
                    example(
                        "Upload with a tag.",
                        "evidence upload --endpoint https://platform.example --tag quarter=2026Q4 bundle.tar.gz",
                    ),
                ]
            }
        }
        "init" => {
            const {
                &[example(
                    "Write a configuration and a key pair.",
                    "evidence init --org acme --generate-keys",
                )]
            }
        }
        "waivers" => {
            const {
                &[
                    example("Check the file that the configuration names.", "evidence waivers check"),
                    example(
                        "List the waivers of a bundle.",
                        "evidence waivers list BUNDLE --public-key signer.pub.pem",
                    ),
                ]
            }
        }
        "keygen" => {
            const { &[example("Generate a key pair.", "evidence keygen --output acme-signing-key.pem")] }
        }
        "schema" => const { &[example("Print the schema of the configuration.", "evidence schema config")] },
        "completions" => const { &[example("Print the completions for bash.", "evidence completions bash")] },
        "man" => const { &[example("Write the manual pages.", "evidence man --output man1")] },
        _ => &[],
    }
}

/// The exit codes of a command.
pub fn exits(command: &str) -> Vec<Exit> {
    let only: &[Exit] = match command {
        "" | "collect" => &Exit::ALL,
        "fleet" => &[
            Exit::Success,
            Exit::Configuration,
            Exit::Connection,
            Exit::Collection,
            Exit::Policy,
            Exit::Bundle,
            Exit::Upload,
            Exit::Interrupted,
            Exit::Terminated,
        ],
        "show" | "diff" => &[Exit::Success, Exit::Configuration, Exit::NotVerified, Exit::Differs],
        "verify" | "report" | "sample" | "history" | "rejudge" | "waivers" => {
            &[Exit::Success, Exit::Configuration, Exit::NotVerified]
        }
        "upload" => &[
            Exit::Success,
            Exit::Configuration,
            Exit::Connection,
            Exit::Upload,
            Exit::Interrupted,
            Exit::Terminated,
        ],
        _ => &[Exit::Success, Exit::Configuration],
    };
    only.iter().copied().filter(|exit| command != "collect" || *exit != Exit::NotVerified).collect()
}

/// The sections of a command's manual page; the program's own name is empty.
pub(crate) fn sections(command: &str) -> Sections {
    let entries = |all: &[Entry]| {
        let own = all.iter().filter(|entry| command.is_empty() || entry.commands.contains(&command));
        own.map(|entry| (entry.name.to_string(), entry.text.to_string())).collect()
    };
    let exits = exits(command).into_iter();
    Sections {
        exits: exits.map(|exit| (exit.code().to_string(), exit.meaning().to_string())).collect(),
        environment: entries(VARIABLES),
        files: entries(FILES),
        examples: examples(command)
            .iter()
            .map(|example| (example.purpose.to_string(), example.line.to_string()))
            .collect(),
    }
}
