//! Days in configuration files.

use evidence_settings::declare::CustomFormat;
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;
use jiff::civil::Date;

/// A day.
pub(crate) static DATE: CustomFormat = CustomFormat {
    noun: "a date",
    shown: "`YYYY-MM-DD`",
    hint: Some("write a day as `2026-11-02`"),
    ignores_case: false,
    check: |text| match date(text) {
        Some(_) => Ok(()),
        None => {
            Err(Complaint::new(format!("{} is not a date", quote(text))).help("write a day as `2026-11-02`"))
        }
    },
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    max_length: None,
};

/// The day that the text names, in that form.
pub(crate) fn date(text: &str) -> Option<Date> {
    let is_plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    text.parse().ok().filter(|_| is_plain)
}
