//! The form that selects bundles.

use evidence_bundle::Status;
use evidence_view::sanitized;

use super::query::address;
use super::words::label;
use crate::api::App;
use crate::error::Error;
use crate::principal::Principal;
use crate::store::{BundleFilter, TrustedKeyRow};

/// The form and its present values.
pub(super) struct FilterForm {
    pub(super) active: bool,
    pub(super) tag: String,
    pub(super) from: String,
    pub(super) to: String,
    /// The fields with a choice: name, label, and value, title and whether it is chosen of each.
    pub(super) fields: Vec<Field>,
    pairs: Vec<(&'static str, String)>,
}

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) choices: Vec<(String, String, bool)>,
}

impl FilterForm {
    /// The form for this filter.
    pub(super) async fn of(
        app: &App,
        principal: &Principal,
        filter: &BundleFilter,
        signers: &[TrustedKeyRow],
    ) -> Result<FilterForm, Error> {
        let controls = app.service.known_controls(principal).await?;
        let chosen = |value: &str, current: Option<&str>| current == Some(value);
        let status = filter.status.map(Status::as_str);
        let statuses = Status::ALL.into_iter().map(|known| {
            let value = known.as_str();
            (value.to_owned(), label(known).word.to_owned(), chosen(value, status))
        });
        let complete = filter.complete.map(|complete| if complete { "true" } else { "false" });
        let completeness = [("true", "complete"), ("false", "incomplete")]
            .map(|(value, title)| (value.to_owned(), title.to_owned(), chosen(value, complete)));
        let control = filter.control.as_deref();
        let mut control_choices: Vec<_> =
            controls.iter().map(|known| (known.clone(), sanitized(known), chosen(known, control))).collect();
        if let Some(other) = control.filter(|control| !controls.iter().any(|known| known == control)) {
            control_choices.push((other.to_owned(), sanitized(other), true));
        }
        let signer = filter.signer.as_deref();
        let mut signer_choices: Vec<_> = signers
            .iter()
            .map(|key| (key.key_id.clone(), sanitized(&key.label), chosen(&key.key_id, signer)))
            .collect();
        if let Some(other) = signer.filter(|signer| !signers.iter().any(|key| key.key_id == *signer)) {
            signer_choices.push((other.to_owned(), sanitized(other), true));
        }
        let fields = vec![
            Field { name: "status", label: "Result", choices: statuses.collect() },
            Field { name: "control", label: "Control", choices: control_choices },
            Field { name: "complete", label: "Completeness", choices: completeness.to_vec() },
            Field { name: "signer", label: "Signer", choices: signer_choices },
        ];
        let pairs = pairs(filter);
        let value = |name: &str| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        Ok(FilterForm {
            active: *filter != BundleFilter::default(),
            tag: value("tag"),
            from: value("from"),
            to: value("to"),
            fields,
            pairs,
        })
    }

    /// The address of the bundles after this cursor.
    pub(super) fn after(&self, cursor: &str) -> String {
        let mut pairs = self.pairs.clone();
        pairs.push(("cursor", cursor.to_owned()));
        format!("/bundles{}", address(&pairs))
    }

    /// The address of the first of them.
    pub(super) fn first(&self) -> String {
        format!("/bundles{}", address(&self.pairs))
    }
}

/// A filter as parameters.
fn pairs(filter: &BundleFilter) -> Vec<(&'static str, String)> {
    let BundleFilter { tags, status, control, complete, signer, from, to } = filter;
    let mut pairs: Vec<(&'static str, String)> = Vec::new();
    pairs.extend(tags.iter().map(|(name, value)| ("tag", format!("{name}={value}"))));
    pairs.extend(status.map(|status| ("status", status.as_str().to_owned())));
    pairs.extend(control.iter().map(|control| ("control", control.clone())));
    pairs.extend(complete.map(|complete| ("complete", complete.to_string())));
    pairs.extend(signer.iter().map(|signer| ("signer", signer.clone())));
    pairs.extend(from.map(|from| ("from", from.to_string())));
    pairs.extend(to.map(|to| ("to", to.to_string())));
    pairs
}
