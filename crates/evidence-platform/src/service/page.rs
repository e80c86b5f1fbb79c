//! Paging by cursor: a position in an ordered list that stays valid while entries are added.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use evidence_bundle::text::saturating_usize;

use crate::error::Error;
use crate::store::Position;
use crate::time::Time;

/// The most items per page.
const MOST: u32 = 100;

/// The requested part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    pub(super) after: Position,
    pub(super) limit: u32,
}

impl PageRequest {
    /// This many items after the position of a cursor.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`].
    pub fn new(cursor: Option<&str>, limit: Option<u32>) -> Result<PageRequest, Error> {
        let limit = limit.unwrap_or(50);
        if limit == 0 || limit > MOST {
            return Err(Error::Invalid(format!("limit must be from 1 to {MOST}")));
        }
        let after = match cursor {
            None => Position::start(),
            Some(cursor) => decode(cursor)
                .ok_or_else(|| Error::Invalid("cursor is invalid; start again without it".into()))?,
        };
        Ok(PageRequest { after, limit })
    }

    /// How many rows to query: one extra row shows whether there is a next page.
    pub(super) fn rows(&self) -> i64 {
        i64::from(self.limit).saturating_add(1)
    }
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// Makes a page from the queried rows.
    pub(super) fn of(mut rows: Vec<T>, request: &PageRequest, position: impl Fn(&T) -> Position) -> Page<T> {
        let limit = saturating_usize(request.limit);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|last| encode(&position(last)));
        Page { items: rows, next }
    }
}

fn encode(position: &Position) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", position.time.0, position.id))
}

fn decode(cursor: &str) -> Option<Position> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (time, id) = text.split_once('.')?;
    let plain = id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let time = time.parse().ok()?;
    plain.then(|| Position { time: Time(time), id: id.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_nothing_else_is_one() {
        let position = Position { time: Time(-5), id: "a-1".to_owned() };
        assert_eq!(decode(&encode(&position)), Some(position));
        for text in [
            "",
            "x",
            "!!!",
            &URL_SAFE_NO_PAD.encode("1"),
            &URL_SAFE_NO_PAD.encode("1.a'b"),
            &"A".repeat(9_000),
        ] {
            assert!(PageRequest::new(Some(text), None).is_err(), "{text}");
        }
        assert!(PageRequest::new(None, Some(0)).is_err());
        assert!(PageRequest::new(None, Some(101)).is_err());
    }

    #[test]
    fn a_page_knows_whether_there_is_another() {
        let request = PageRequest::new(None, Some(2)).unwrap();
        let position = |n: &i64| Position { time: Time(*n), id: n.to_string() };
        assert_eq!(Page::of(vec![3, 2], &request, position).next, None);
        let page = Page::of(vec![3, 2, 1], &request, position);
        assert_eq!(page.items, [3, 2]);
        assert_eq!(PageRequest::new(page.next.as_deref(), None).unwrap().after, position(&2));
    }
}
