//! The code host: organization settings, branch protection, CODEOWNERS.
//!
//! `config` is the configuration section, `host` what asks, `topics` what is read about each subject. The stages are
//! functions: `connect` (with `sign_in`, `account`, `named` and `preflight`), `population`, `observe`, `collect` and `plan`. This file
//! describes the source to the rest of the tool. The source never writes to the host and never requests code, diffs,
//! commits or secrets.

mod account;
mod advice;
mod collect;
pub mod config;
mod connect;
mod exclusion;
pub mod fleet;
mod host;
mod named;
pub mod names;
mod observe;
mod place;
mod plan;
mod population;
mod preflight;
mod reorder_buffer;
mod repositories;
mod repository;
mod session;
mod shared;
mod sign_in;
mod subject;
mod topic;
mod topics;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

pub use self::host::answer;

use self::config::{AppKey, AppSettings, CodeHostConfig, Repositories, SignIn};
pub use self::host::app::permissions::{PERMISSIONS, Permission};

/// The permissions that the rules of a framework need.
pub fn permissions_of(framework: &'static Framework) -> impl Iterator<Item = &'static Permission> {
    let names = needed(topics::of_framework(framework).map(|topic| topic.name));
    PERMISSIONS.iter().filter(move |permission| names.contains(permission.name))
}
use self::host::app::permissions::needed;
use self::names::{MEMBER, NAME};
use super::{ConnectError, RunContext, Scope, Session, Source, SourceKind};
use crate::env::Env;
use crate::origin::Origin;
use evidence_rules::codehost::NO_DIRECT_PUSH;
use evidence_rules::codehost::artifact::CHANGES;
use evidence_rules::framework::Framework;
use evidence_rules::rule::Rule;

/// The static description of this source.
pub static KIND: SourceKind = SourceKind {
    name: NAME,
    judged: &evidence_rules::codehost::RULES,
    calls: topics::CALLS,
    page: place::page,
    remedy: place::remedy,
    decode: config::decode,
};

impl Source for CodeHostConfig {
    fn kind(&self) -> &'static SourceKind {
        &KIND
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    fn keeps_records(&self) -> bool {
        self.revalidate
    }

    fn settings(&self, _env: &Env) -> Vec<(&'static str, Value)> {
        let named = |names: &[String]| names.iter().map(|name| format!("{}/{name}", self.org)).collect();
        let repos = match &self.repos {
            Repositories::All => Value::from("*"),
            Repositories::Listed(names) => named(names),
        };
        let mut settings = vec![
            ("org", self.org.as_str().into()),
            ("api_url", self.api_url.as_str().into()),
            ("repos", repos),
            ("exclude", self.exclude.iter().map(|excluded| excluded.setting(&self.org)).collect()),
            ("include", self.include.as_ref().map_or(Value::Null, |include| include.setting(&self.org))),
            ("branch", self.branch.setting()),
            ("codeowners_errors", self.codeowners_errors.into()),
            ("accept_unconfirmed", self.accept_unconfirmed.into()),
        ];
        // Only for the rules about events.
        if self.collects(&CHANGES) {
            settings.push(("period", self.period.setting()));
        }
        if self.wants(&NO_DIRECT_PUSH) {
            let names = self.exempt_pushers.iter().map(String::as_str);
            settings.push(("exempt_pushers", names.collect()));
        }
        settings
    }

    fn credentials(&self, env: &Env) -> Result<Vec<String>, ConnectError> {
        sign_in::secrets(self, env)
    }

    fn scope(&self) -> Scope {
        Scope {
            source: NAME,
            organization: Some(self.org.clone()),
            kind: MEMBER,
            subject: self.org.clone(),
            api_url: self.api_url.as_str().trim_end_matches('/').to_string(),
            rules: self.rules.clone(),
        }
    }

    fn origins(&self, env: &Env) -> Vec<Origin> {
        let holder = self.sign_in.holder();
        let variable = match &self.sign_in {
            SignIn::App(AppSettings { key: AppKey::File(_), .. }) => holder,
            SignIn::Token(_) | SignIn::App(_) => env.provider(&holder).unwrap_or(holder),
        };
        let url = self.api_url.clone();
        vec![Origin { sender: NAME.id(), url, variables: vec![variable], named_by: None }]
    }

    fn connect<'a>(&'a self, run: &'a RunContext) -> BoxFuture<'a, Result<Box<dyn Session>, ConnectError>> {
        async move { Ok(Box::new(connect::connect(self.clone(), run).await?) as Box<dyn Session>) }.boxed()
    }
}
