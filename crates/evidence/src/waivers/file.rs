//! Reads the file of waivers: every problem at once, each with its place.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use evidence_bundle::document::{CompensatingCheck, WaiverRecord, WaiverState, Warning};
use evidence_bundle::read::{MAX_GLOBS, MAX_WAIVERS};
use evidence_bundle::waiver::{DAY, day, is_self_approved};
use evidence_os::input;
use evidence_rules::framework::Framework;
use evidence_rules::rule::{Rule, reason};
use evidence_rules::{SOURCES, rule_of, source_of};
use evidence_screen::Screen;
use evidence_settings::declare::Key;
use evidence_settings::decode::{Decoder, Fields, ListEntry, Placed};
use evidence_settings::problem::{Complaint, ConfigError};
use evidence_settings::read::MAX_FILE_BYTES;
use evidence_settings::secret::quote;
use sha2::{Digest as _, Sha256};

use super::keys::{
    APPROVED_AT, APPROVED_BY, CHECK_RULE, CHECK_SUBJECT, COMPENSATING, CONTROL, DOCUMENT, EXPIRES_AT, GLOB,
    ID, MIN_REASON, OWNER, REASON, REASONS, RULE, SOURCE, SUBJECTS, TICKET,
};
use super::overlap::{overlaps, shared};
use crate::env::Env;

/// The most days that a waiver may be valid after its approval.
const MAX_DAYS: i64 = 366;

/// A file of waivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waivers {
    /// Its path.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, lower-case hex.
    pub sha256: String,
    /// Its entries, by their ids. None was applied yet.
    pub entries: Vec<WaiverRecord<()>>,
}

impl Waivers {
    /// Reads and validates the file.
    ///
    /// # Errors
    /// Fails with every problem of the file.
    pub fn load(path: &Path, framework: &Framework, env: &Env) -> Result<Waivers, ConfigError> {
        let (bytes, _) =
            input::read(path, MAX_FILE_BYTES).map_err(|error| DOCUMENT.unreadable(path, &error))?;
        Waivers::of(path, &bytes, framework, env)
    }

    /// Validates the bytes of a file.
    ///
    /// # Errors
    /// Fails with every problem of the file.
    pub fn of(path: &Path, bytes: &[u8], framework: &Framework, env: &Env) -> Result<Waivers, ConfigError> {
        let variables = |name: &str| env.var_os(name).map(OsStr::to_os_string);
        let screen = evidence_screen::shared();
        let entries = DOCUMENT.decode_list(path, bytes, &variables, &|_, _| Ok(()), |decoder, items| {
            let count = items.len();
            let entries: Vec<Entry> =
                items.iter().filter_map(|fields| entry(decoder, fields, framework, screen)).collect();
            let is_whole = entries.len() == count;
            unique(decoder, &entries);
            once(decoder, &entries);
            bounded(decoder, &entries);
            let mut entries: Vec<WaiverRecord<()>> = entries.into_iter().map(|entry| entry.waiver).collect();
            entries.sort_by(|left, right| left.id.cmp(&right.id));
            is_whole.then_some(entries)
        })?;
        let sha256 = hex::encode(Sha256::digest(bytes));
        Ok(Waivers { path: path.to_path_buf(), sha256, entries })
    }

    /// Checks that no text holds a credential of this run: the texts go into the bundle.
    ///
    /// # Errors
    /// Fails with the key of the first that does.
    pub fn check(&self, screen: &Screen) -> Result<(), ConfigError> {
        for waiver in &self.entries {
            let texts = [
                (&REASON, Some(&waiver.reason)),
                (&OWNER, Some(&waiver.owner)),
                (&APPROVED_BY, Some(&waiver.approved_by)),
                (&TICKET, waiver.ticket.as_ref()),
                (&COMPENSATING, waiver.compensating.as_ref()),
                (&CHECK_SUBJECT, waiver.compensating_check.as_ref().map(|check| &check.subject)),
            ];
            let names = waiver.subjects.iter().map(|subject| (&SUBJECTS, subject));
            let globs = waiver.globs.iter().map(|glob| (&GLOB, glob));
            let texts = texts.into_iter().filter_map(|(key, text)| Some((key, text?)));
            for (key, text) in texts.chain(names).chain(globs) {
                if !screen.check(text.as_bytes()).is_empty() {
                    let key = format!("{} of {}", key.name, waiver.id);
                    return Err(ConfigError::of_key(&self.path, &key, secret()));
                }
            }
        }
        Ok(())
    }
}

impl Waivers {
    /// A warning for each waiver that its owner approved.
    pub fn warnings(&self) -> Vec<Warning> {
        let alone = self.entries.iter().filter(|waiver| waiver.self_approved);
        let warning = |waiver: &WaiverRecord<()>| Warning {
            code: "self_approved".to_string(),
            message: format!(
                "the waiver {} was approved by its owner, {}: let somebody else approve it",
                waiver.id, waiver.owner
            ),
            source: None,
            subject: Some(waiver.id.clone()),
        };
        alone.map(warning).collect()
    }
}

fn secret() -> Complaint {
    Complaint::new("this looks like a secret, which would be copied into the bundle")
        .help("remove it from the file and revoke it: others may have read it")
        .secret()
}

/// A waiver, and where its problems with other entries are reported.
struct Entry {
    waiver: WaiverRecord<()>,
    id: Placed<String>,
    subjects: Vec<Placed<String>>,
}

fn entry(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    framework: &Framework,
    screen: &Screen,
) -> Option<Entry> {
    let mut texts = Texts { decoder, fields, screen, is_good: true };
    let id = texts.text(&ID);
    let control = texts.text(&CONTROL);
    let rule = texts.text(&RULE);
    let source = texts.text(&SOURCE);
    let (subjects, globs) = texts.subjects();
    let reasons = texts.reasons();
    let reason = texts.text(&REASON);
    let owner = texts.text(&OWNER);
    let approved_by = texts.text(&APPROVED_BY);
    let approved_at = texts.text(&APPROVED_AT);
    let expires_at = texts.text(&EXPIRES_AT);
    let ticket = texts.text(&TICKET);
    let (compensating, compensating_check) = texts.compensating();

    if let Some(reason) = reason.as_ref().filter(|reason| reason.value.chars().count() < MIN_REASON) {
        let complaint = Complaint::new(format!("the reason has fewer than {MIN_REASON} characters"))
            .help("say why the failures are accepted, so that an auditor can follow it");
        texts.report(reason, complaint);
    }
    if let (Some(first), Some(last)) = (&approved_at, &expires_at) {
        texts.dates(first, last);
    }
    if let Some(known) = rule.as_ref().and_then(|rule| rule_of(&rule.value)) {
        texts.fits(known, framework, source.as_ref(), control.as_ref(), &reasons);
    }
    let is_good = texts.is_good;
    let waiver = WaiverRecord {
        id: id.as_ref()?.value.clone(),
        control: control.map(|control| control.value),
        rule: rule?.value,
        source: source?.value,
        subjects: subjects.iter().map(|subject| subject.value.clone()).collect(),
        globs: globs.iter().map(|glob| glob.value.clone()).collect(),
        reasons: reasons.into_iter().map(|reason| reason.value).collect(),
        reason: reason?.value,
        self_approved: is_self_approved(&owner.as_ref()?.value, &approved_by.as_ref()?.value),
        owner: owner?.value,
        approved_by: approved_by?.value,
        approved_at: approved_at?.value,
        expires_at: expires_at?.value,
        ticket: ticket.map(|ticket| ticket.value),
        compensating,
        compensating_check,
        state: WaiverState::Unused,
        matches: (),
    };
    let subjects = subjects.into_iter().chain(globs).collect();
    is_good.then_some(Entry { waiver, id: id?, subjects })
}

/// The texts of one entry.
struct Texts<'a, 'run, 'text> {
    decoder: &'a mut Decoder<'run, 'text>,
    fields: &'a Fields,
    screen: &'a Screen,
    /// Whether no problem was found that leaves a value.
    is_good: bool,
}

impl Texts<'_, '_, '_> {
    fn report(&mut self, at: &Placed<String>, complaint: Complaint) {
        self.is_good = false;
        self.decoder.problems.add(at.place.clone(), at.path.clone(), complaint);
    }

    fn text(&mut self, key: &'static Key) -> Option<Placed<String>> {
        let text = self.decoder.text(self.fields, key);
        self.is_good &= text.is_some() || !self.fields.has(key);
        text.filter(|text| self.is_clean(text))
    }

    /// Whether the text holds no secret in any form; reports it otherwise.
    fn is_clean(&mut self, text: &Placed<String>) -> bool {
        let is_clean = self.screen.check(text.value.as_bytes()).is_empty();
        if !is_clean {
            self.report(text, secret());
        }
        is_clean
    }

    /// The exact names and the patterns.
    fn subjects(&mut self) -> (Vec<Placed<String>>, Vec<Placed<String>>) {
        let (mut names, mut globs) = (Vec::new(), Vec::new());
        let Some(entries) = self.decoder.entries(self.fields, &SUBJECTS) else {
            self.is_good = false;
            return (names, globs);
        };
        if entries.is_empty() && self.fields.has(&SUBJECTS) {
            let place = Placed { value: String::new(), place: self.fields.place(), path: self.fields.path() };
            self.report(&place, Complaint::new("`subjects` is empty").help("name what the waiver accepts"));
        }
        for entry in entries {
            match entry {
                ListEntry::Text(name) => names.extend(Some(name).filter(|name| self.is_clean(name))),
                ListEntry::Fields(fields) => match self.decoder.text(&fields, &GLOB) {
                    Some(glob) => globs.extend(Some(glob).filter(|glob| self.is_clean(glob))),
                    None => self.is_good = false,
                },
            }
        }
        (names, globs)
    }

    fn reasons(&mut self) -> Vec<Placed<String>> {
        let reasons = self.decoder.list(self.fields, &REASONS);
        self.is_good &= reasons.is_some();
        reasons.unwrap_or_default()
    }

    fn compensating(&mut self) -> (Option<String>, Option<CompensatingCheck>) {
        if !self.fields.has(&COMPENSATING) {
            return (None, None);
        }
        let (text, check) = match self.decoder.text_or_section(self.fields, &COMPENSATING) {
            None => (None, None),
            Some(ListEntry::Text(text)) => (Some(text).filter(|text| self.is_clean(text)), None),
            Some(ListEntry::Fields(fields)) => {
                let rule = self.decoder.text(&fields, &CHECK_RULE);
                let subject = self.decoder.text(&fields, &CHECK_SUBJECT);
                let check = rule.zip(subject.filter(|subject| self.is_clean(subject)));
                (None, check)
            }
        };
        self.is_good &= text.is_some() || check.is_some();
        let check = check.map(|(rule, subject)| CompensatingCheck {
            rule: rule.value,
            subject: subject.value,
            status: None,
        });
        (text.map(|text| text.value), check)
    }

    /// Checks the order of the days, and how many there are.
    fn dates(&mut self, first: &Placed<String>, last: &Placed<String>) {
        let (Some(begin), Some(end)) = (day(&first.value), day(&last.value)) else { return };
        let days = (end - begin) / DAY;
        if days < 0 {
            let complaint = Complaint::new(format!("the waiver ends before it begins, on {}", first.value))
                .help("the last day is `expires_at`, the first one is `approved_at`");
            self.report(last, complaint);
        } else if days > MAX_DAYS {
            let latest = evidence_bundle::time::format(begin + MAX_DAYS * DAY).unwrap_or_default();
            let latest = latest.get(..10).unwrap_or_default();
            let complaint =
                Complaint::new(format!("the waiver is valid for {days} days, more than {MAX_DAYS}"))
                    .help(format!("review it once a year: `expires_at` is {latest} or earlier"));
            self.report(last, complaint);
        }
    }

    /// Checks that source, control and reasons are those of the rule.
    fn fits(
        &mut self,
        rule: &'static Rule,
        framework: &Framework,
        source: Option<&Placed<String>>,
        control: Option<&Placed<String>>,
        reasons: &[Placed<String>],
    ) {
        let of_rule = source_of(rule);
        if let Some(source) = source.filter(|source| source.value != of_rule) {
            let message = format!("the rule `{}` does not judge the source `{}`", rule.code, source.value);
            self.report(source, Complaint::new(message).help(format!("write `source: {of_rule}`")));
        }
        let home = framework.control_of(rule).map_or("", |control| control.id);
        if let Some(control) = control.filter(|control| control.value != home) {
            let message = format!("the rule `{}` does not count for {}", rule.code, control.value);
            let help = format!("write `control: {home}`, or remove the key");
            self.report(control, Complaint::new(message).help(help));
        }
        let known = reasons_of(rule, of_rule);
        for reason in reasons.iter().filter(|reason| !known.contains(&reason.value.as_str())) {
            let message = format!("no check of `{}` has the reason {}", rule.code, quote(&reason.value));
            let own: Vec<String> = rule.reasons.iter().map(|reason| format!("`{}`", reason.code)).collect();
            let help = format!("the reasons of the rule are {}", own.join(", "));
            self.report(reason, Complaint::new(message).help(help));
        }
    }
}

/// The codes of the reasons that a check of the rule can have.
fn reasons_of(rule: &Rule, source: &str) -> Vec<&'static str> {
    let of_source = SOURCES.iter().filter(|known| known.source == source).flat_map(|known| known.reasons);
    rule.reasons.iter().chain(of_source).chain(reason::SHARED).map(|reason| reason.code).collect()
}

/// Reports ids that repeat.
fn unique(decoder: &mut Decoder<'_, '_>, entries: &[Entry]) {
    let mut known: HashMap<String, ()> = HashMap::new();
    for entry in entries {
        if known.insert(entry.id.value.to_ascii_lowercase(), ()).is_some() {
            let complaint = Complaint::new(format!("the id {} appears twice", quote(&entry.id.value)))
                .help("give each waiver its own id; a renewed waiver keeps its entry");
            decoder.problems.add(entry.id.place.clone(), entry.id.path.clone(), complaint);
        }
    }
}

/// Reports pairs of waivers that would accept the same failure on the same day.
fn once(decoder: &mut Decoder<'_, '_>, entries: &[Entry]) {
    let waivers: Vec<&WaiverRecord<()>> = entries.iter().map(|entry| &entry.waiver).collect();
    for (first, second) in overlaps(&waivers) {
        let (Some(first), Some(second)) = (entries.get(first), entries.get(second)) else { continue };
        let about = second.subjects.iter().find(|subject| shared(&first.waiver, &subject.value));
        let at = about.unwrap_or(&second.id);
        let complaint = Complaint::new(format!("the waiver {} accepts the same failures", first.waiver.id))
            .help("let one waiver accept a failure: remove the subject here or there, or change the days");
        decoder.problems.add(at.place.clone(), at.path.clone(), complaint);
    }
}

/// Reports more waivers or patterns than a bundle may have.
fn bounded(decoder: &mut Decoder<'_, '_>, entries: &[Entry]) {
    let globs: usize = entries.iter().map(|entry| entry.waiver.globs.len()).sum();
    if entries.len() > MAX_WAIVERS || globs > MAX_GLOBS {
        let message = format!("the file has more than {MAX_WAIVERS} waivers or {MAX_GLOBS} patterns");
        let complaint = Complaint::new(message).help("repair what fails, or exclude it from the scope");
        decoder.problems.add(evidence_settings::problem::Place::Nowhere, "", complaint);
    }
}

#[cfg(test)]
mod tests;
