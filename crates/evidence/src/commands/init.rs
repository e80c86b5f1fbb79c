//! `evidence init`: writes a starter configuration.

use std::io;
use std::path::{Path, PathBuf};

use evidence_os::file::Readers;
use evidence_os::shell;

use super::keygen::{KeyPair, taken, write_key_pair, write_new};
use crate::cli::InitArgs;
use crate::config;
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::source::github::names::{EXAMPLE_ORGANIZATION, organization, organization_in};
use crate::source::github::{Permission, permissions_of};
use evidence_rules::framework::Framework;
use evidence_settings::secret::quote;
use evidence_text::{Safe, safe};

/// Runs the command.
pub(super) fn run(args: &InitArgs, _env: &Env) -> Result<Exit, Error> {
    check_organization(args)?;
    let failed = |source: io::Error| Error::Write {
        help: (source.kind() == io::ErrorKind::AlreadyExists).then(|| {
            "an existing configuration is never overwritten; choose another name with --config".into()
        }),
        path: args.config.clone(),
        source,
    };
    // Check before creating keys: a command that fails halfway should not leave a key behind.
    if args.config.symlink_metadata().is_ok() {
        return Err(failed(taken()));
    }
    let pair = if args.generate_keys { Some(write_key_pair(&args.key)?) } else { None };
    let key = seen_from(&args.config, &args.key);
    let text = config::template(&args.framework, &args.org, &key.display().to_string());
    write_new(&args.config, text.as_bytes(), Readers::Everyone).map_err(failed)?;
    let config = Safe::of(&args.config.to_string_lossy());
    let mut out = safe!("configuration  {config}\n"; config);
    if let Some(pair) = &pair {
        out.push(&safe!("\n{}", pair.describe()));
    }
    out.push(&"\nNext\n".into());
    if args.org == EXAMPLE_ORGANIZATION {
        out.push(&safe!("  set org and repos in {config}\n"; config));
    }
    // A file that exists but cannot be used is reported by the run that reads it.
    if pair.is_none() && args.key.symlink_metadata().is_err() {
        out.push(&safe!("  evidence keygen --output {}\n", Safe::of(&shell::path(&args.key))));
    }
    out.push(&safe!(
        "  export CODEHOST_TOKEN=<a read-only token>\n  evidence collect --config {} --dry-run\n",
        Safe::of(&shell::path(&args.config))
    ));
    let permissions: Vec<&Permission> =
        Framework::from_id(&args.framework).into_iter().flat_map(permissions_of).collect();
    out.push(&access(&args.org, &permissions));
    console::print(&out);
    pair.iter().for_each(KeyPair::warn);
    Ok(Exit::Success)
}

/// How to get access: the pre-filled page for a token, and the app's manifest.
fn access(org: &str, permissions: &[&Permission]) -> Safe {
    let web = "https://github.com";
    let org = if org == EXAMPLE_ORGANIZATION { "ORGANIZATION" } else { org };
    let asked: String = permissions.iter().map(|permission| format!("&{}=read", permission.name)).collect();
    let token = format!(
        "{web}/settings/personal-access-tokens/new?name=evidence&target_name={org}&expires_in=90{asked}"
    );
    let permissions: Vec<String> =
        permissions.iter().map(|permission| format!("\"{}\": \"read\"", permission.name)).collect();
    let manifest = format!(
        "{{\"name\": \"evidence-{org}\", \"url\": \"{web}/{org}\", \"public\": false,\n   \
         \"hook_attributes\": {{\"url\": \"{web}/{org}\", \"active\": false}},\n   \
         \"default_permissions\": {{{}}}}}",
        permissions.join(",\n     ")
    );
    let app = format!(
        "{web}/organizations/{org}/settings/apps/new?name=evidence-{org}&public=false&webhook_active=false{asked}"
    );
    safe!(
        "\nAccess, one of the two\n  a token, on a page that is filled in already (choose All repositories):\n  {}\n  \
         an app with `mode: app`, on a page that is filled in already, or by its manifest:\n  {}\n  {}\n",
        Safe::of(&token),
        Safe::of(&app),
        Safe::lines(&manifest)
    )
}

/// Checks that the organization is a name, not the address of its page.
fn check_organization(args: &InitArgs) -> Result<(), Error> {
    let right = |org: &str| format!("evidence init --org {org}");
    if let Some(misplaced) = &args.misplaced {
        let org = organization_in(misplaced).unwrap_or(misplaced);
        let org = organization(org).map_or(EXAMPLE_ORGANIZATION, |()| org);
        let message = format!("unexpected argument {}: the organization needs --org", quote(misplaced));
        return Err(Error::Usage { message, help: right(org) });
    }
    match organization(&args.org) {
        Err(complaint) if args.org != EXAMPLE_ORGANIZATION => {
            let org = organization_in(&args.org).unwrap_or("NAME");
            Err(Error::Usage { message: format!("--org: {}", complaint.message), help: right(org) })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The key's path for the configuration: relative to the configuration's directory, or absolute.
fn seen_from(config: &Path, key: &Path) -> PathBuf {
    let directory = config.parent().filter(|directory| !directory.as_os_str().is_empty());
    let Some(directory) = directory.filter(|directory| *directory != Path::new(".")) else {
        return key.to_path_buf();
    };
    match key.strip_prefix(directory) {
        Ok(rest) => rest.to_path_buf(),
        Err(_) => std::path::absolute(key).unwrap_or_else(|_| key.to_path_buf()),
    }
}
