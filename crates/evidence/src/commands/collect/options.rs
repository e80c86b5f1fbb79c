//! What `--resume` and `--reproducible` need.

use evidence_bundle::text::Printable;
use evidence_bundle::time::LATEST as LATEST_TIME;
use evidence_os::shell;

use crate::cli::CollectArgs;
use crate::config::Config;
use crate::env::Env;
use crate::error::Error;
use crate::source::github;

/// The standard variable that sets the time of a reproducible bundle.
const SOURCE_DATE_EPOCH: &str = "SOURCE_DATE_EPOCH";

/// Only sources that revalidate keep what an interrupted run has read.
pub(super) fn check_resume(args: &CollectArgs, config: &Config) -> Result<(), Error> {
    if !args.resume {
        return Ok(());
    }
    if args.reproducible {
        return Err(Error::Usage {
            message: "--resume cannot be combined with --reproducible: resumed answers carry their original \
                      timestamps"
                .to_string(),
            help: "collect without one of the two".to_string(),
        });
    }
    if config.sources.iter().any(|source| source.keeps_records()) {
        return Ok(());
    }
    Err(Error::Usage {
        message: "--resume needs a source that stores its answers, and none is configured to".to_string(),
        help: "set sources.codehost.revalidate: true; --resume then works from the next run on".to_string(),
    })
}

/// The environment for the times in documents. The variable takes effect only with the flag: a build system that
/// exports it must not change the times of evidence.
pub(super) fn documents_env(args: &CollectArgs, env: &Env) -> Result<Env, Error> {
    if !args.reproducible {
        return Ok(env.clone());
    }
    let given = env.var_os(SOURCE_DATE_EPOCH).map(|text| text.to_string_lossy());
    let seconds = given.as_deref().and_then(|text| text.parse().ok());
    match seconds.filter(|seconds| (0..=LATEST_TIME).contains(seconds)) {
        Some(seconds) => Ok(env.clone().with_fixed_time(seconds)),
        None => Err(Error::Usage {
            message: match given {
                Some(_) => format!(
                    "--reproducible cannot use the environment variable {SOURCE_DATE_EPOCH}: it is not a number of \
                     seconds since 1970, at most {LATEST_TIME}"
                ),
                None => format!(
                    "--reproducible needs the environment variable {SOURCE_DATE_EPOCH}, which is not set"
                ),
            },
            help: format!(
                "set {SOURCE_DATE_EPOCH} to a whole number such as 1795251913, or collect without --reproducible"
            ),
        }),
    }
}

/// Adds advice about an interrupted collection: sources that revalidate keep what was read.
pub(super) fn resumable(error: Error, args: &CollectArgs, config: &Config, arguments: &[String]) -> Error {
    let Error::Interrupted { exit, .. } = error else { return error };
    let keeps = config.sources.iter().any(|source| source.keeps_records());
    let help = if keeps && !args.reproducible {
        let flags = arguments.iter().skip(1).filter(|argument| *argument != "--resume");
        let words: Vec<String> =
            flags.map(|argument| shell::word(&Printable(argument).to_string())).collect();
        Some(format!("resume within 24 hours with `evidence {} --resume`", words.join(" ")))
    } else if !keeps && config.sources.iter().any(|source| source.kind().name == github::KIND.name) {
        Some("set sources.codehost.revalidate: true to resume interrupted runs with --resume".to_string())
    } else {
        None
    };
    Error::Interrupted { exit, help }
}
