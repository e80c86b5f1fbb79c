//! How much of the page each part may take. Even a trusted signer's bundle must not become a page that no browser opens,
//! so what does not fit is counted and left to the tables and documents.

use evidence_bundle::text::saturating_u64;
use evidence_view::Truncated;

/// The listed checks.
pub(super) const CHECKS: usize = 1_250_000;
/// The groups of checks, and the rules in the table of results.
pub(super) const GROUPS: usize = 800_000;
/// The controls.
pub(super) const CONTROLS: usize = 200_000;
/// The criteria and their rules.
pub(super) const CRITERIA: usize = 250_000;
/// The answers about information produced by the entity.
pub(super) const QUESTIONS: usize = 50_000;
/// The advice of hints.
pub(super) const ADVICE: usize = 250_000;
/// The observations with their requests.
pub(super) const OBSERVATIONS: usize = 1_400_000;
/// The population.
pub(super) const POPULATION: usize = 150_000;
/// The missing settings, errors, excluded artifacts and warnings, together.
pub(super) const MISSING: usize = 200_000;
/// The waivers.
pub(super) const WAIVERS: usize = 150_000;
/// Sources, settings and rules, together.
pub(super) const SETTINGS: usize = 200_000;

/// The bytes that are left for a part of the page.
pub(super) struct Room(usize);

impl Room {
    pub(super) fn new(bytes: usize) -> Room {
        Room(bytes)
    }

    /// Takes the bytes for these texts and their markup. `false` if they do not fit; then nothing fits any more, so that
    /// what is shown is the beginning.
    pub(super) fn take<'a>(&mut self, markup: usize, texts: impl IntoIterator<Item = &'a str>) -> bool {
        let bytes = texts.into_iter().map(escaped).fold(markup, usize::saturating_add);
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }

    /// Keeps the rows that fit, and counts the others with those that are not kept.
    pub(super) fn fit<T>(&mut self, list: &mut Truncated<T>, texts: impl Fn(&T) -> Vec<&str>) {
        let fitting = list.rows.iter().take_while(|row| self.take(400, texts(row))).count();
        let left = list.rows.len().saturating_sub(fitting);
        list.rows.truncate(fitting);
        list.more = list.more.saturating_add(saturating_u64(left));
    }

    /// Keeps the first of these that fit, and returns how many do not.
    pub(super) fn keep<T>(
        &mut self,
        rows: &mut Vec<T>,
        markup: usize,
        texts: impl Fn(&T) -> Vec<&str>,
    ) -> u64 {
        let fitting = rows.iter().take_while(|row| self.take(markup, texts(row))).count();
        let left = rows.len().saturating_sub(fitting);
        rows.truncate(fitting);
        saturating_u64(left)
    }
}

/// The bytes of a text in HTML.
fn escaped(text: &str) -> usize {
    let special = text.bytes().filter(|byte| matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\'')).count();
    text.len().saturating_add(special.saturating_mul(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fit_into_a_page_of_5_mb() {
        let parts = [
            CHECKS,
            GROUPS,
            CONTROLS,
            CRITERIA,
            QUESTIONS,
            ADVICE,
            OBSERVATIONS,
            POPULATION,
            MISSING,
            WAIVERS,
            SETTINGS,
        ];
        assert!(parts.iter().sum::<usize>() <= 4_900_000);
    }

    #[test]
    fn what_does_not_fit_closes_the_room() {
        let mut room = Room::new(20);
        assert!(room.take(5, ["abc", "<"]));
        assert!(!room.take(0, ["1234567"]));
        assert!(!room.take(0, ["a"]));
        let mut rows = vec!["aa", "bb", "cc"];
        assert_eq!(Room::new(9).keep(&mut rows, 2, |row| vec![row]), 1);
        assert_eq!(rows, ["aa", "bb"]);
    }
}
