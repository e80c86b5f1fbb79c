//! Pages: the number of rows, and tokens for the next page.

use super::refusal::Refusal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::HashMap;

/// A position in a listing.
#[derive(Debug)]
pub(super) struct Page {
    start: usize,
    rows: usize,
    listing: String,
}

impl Page {
    /// From `maxResults` and `pageToken`. A token is valid only for its own listing.
    pub(super) fn of(
        query: &HashMap<String, String>,
        listing: String,
        (usual, most): (usize, usize),
        bound: usize,
    ) -> Result<Self, Refusal> {
        let rows = match query.get("maxResults") {
            None => usual,
            Some(text) => text.parse().ok().filter(|rows| (1..=most).contains(rows)).ok_or_else(|| {
                let message = format!(
                    "Invalid value '{text}'. Values must be within the range: [unsigned number 1, unsigned number {most}]"
                );
                Refusal::parameter("maxResults", &message)
            })?,
        };
        let start = match query.get("pageToken") {
            None => 0,
            Some(token) => unseal(token, &listing).ok_or_else(|| {
                Refusal::parameter("pageToken", &format!("Invalid value for page token: {token}"))
            })?,
        };
        Ok(Self { start, rows: rows.min(bound), listing })
    }

    /// The rows of the page, and the token of the next one if there is one.
    pub(super) fn cut<'a, T>(&self, rows: &'a [T]) -> (&'a [T], Option<String>) {
        let rest = rows.get(self.start..).unwrap_or_default();
        let page = rest.get(..self.rows).unwrap_or(rest);
        let next = (rest.len() > page.len()).then(|| seal(self.start + page.len(), &self.listing));
        (page, next)
    }
}

fn seal(start: usize, listing: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("~!!~{start}~{listing}"))
}

fn unseal(token: &str, listing: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (start, of) = text.strip_prefix("~!!~")?.split_once('~')?;
    if of == listing { start.parse().ok() } else { None }
}
