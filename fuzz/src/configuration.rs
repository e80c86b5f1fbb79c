//! Any configuration: accepted, or refused with bounded messages that are safe to print, and with the same
//! result each time. One that was not named leads only to the providers and to this machine.

use std::path::Path;

use evidence::config::{Config, ConfigError, ConfigFile, MAX_PROBLEMS};
use evidence::env::{Clock, Env};
use evidence_bundle::text::Printable;

pub fn run(bytes: &[u8]) -> bool {
    let (first, second) = (load(bytes), load(bytes));
    assert_eq!(format!("{first:?}"), format!("{second:?}"), "the same file, read twice");
    if let Ok(found) = Config::of(ConfigFile::Found(&[]), bytes, &env()) {
        assert!(first.is_ok(), "a file is refused only after it was named");
        for origin in found.sources.iter().flat_map(|source| source.origins(&env())) {
            let host = origin.url.host_str().unwrap_or_default();
            let here = ["localhost", "[::1]"].contains(&host) || host.starts_with("127.");
            let labels: Vec<&str> = host.split('.').collect();
            let own = match labels.as_slice() {
                ["api", "github", "com"] | ["admin", "googleapis", "com"] | ["iam", "amazonaws", "com"] => {
                    true
                }
                [service, _, "amazonaws", "com"] | [service, _, "amazonaws", "com", "cn"] => {
                    ["sts", "iam", "cloudtrail", "logs"].contains(service)
                }
                _ => false,
            };
            assert!(here || (own && origin.url.scheme() == "https"), "{}", origin.url);
            assert!(origin.variables.iter().all(|name| name.contains('_')), "{:?}", origin.variables);
        }
    }
    match first {
        Ok(config) => {
            assert!(!config.controls.is_empty() && !config.sources.is_empty());
            let order = |id: &str| config.framework.controls.iter().position(|known| known.id == id);
            assert!(config.controls.is_sorted_by_key(|control| order(control.id)));
            assert!(config.sources.iter().all(|source| !source.rules().is_empty()));
            // A leading comment changes only the digest.
            let mark: &[u8] = b"\xef\xbb\xbf";
            let text = bytes.strip_prefix(mark).unwrap_or(bytes);
            let commented = load(&[b"# comment\n", text].concat()).unwrap();
            assert_ne!(commented.file_sha256, config.file_sha256);
            let commented = Config { file_sha256: config.file_sha256.clone(), ..commented };
            assert_eq!(format!("{commented:?}"), format!("{config:?}"));
            true
        }
        Err(error) => {
            assert!((1..=MAX_PROBLEMS).contains(&error.problems.len()), "{}", error.problems.len());
            let lines = bytes.iter().filter(|byte| **byte == b'\n' || **byte == b'\r').count() + 1;
            for problem in &error.problems {
                // U+0085, U+2028 and U+2029 are not line breaks in YAML 1.2.
                assert!(problem.line.is_none_or(|line| (1..=lines).contains(&line)), "{problem:?}");
                assert!(!problem.message.is_empty());
            }
            let rendered = error.render(false);
            assert!(rendered.lines().all(|line| Printable(line).to_string() == line), "{rendered:?}");
            // Long lines are shown in part, and the number of problems is limited.
            assert!(rendered.len() <= 1_000_000, "{} bytes", rendered.len());
            false
        }
    }
}

fn load(bytes: &[u8]) -> Result<Config, ConfigError> {
    Config::from_bytes(Path::new("evidence.yaml"), bytes, &env())
}

fn env() -> Env {
    Env::new([("HOME", "/home/auditor")], Clock::System)
}
