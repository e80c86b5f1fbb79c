//! Pages of a listing, and the `Link` header to the others.

use crate::server::Call;

/// The requested page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    number: u64,
    size: u64,
}

impl Page {
    pub(super) fn of(call: &Call, most: u64) -> Self {
        let read = |name| {
            call.parameter(name).and_then(|value| value.parse::<u64>().ok()).filter(|value| *value > 0)
        };
        // Like the host, cap sizes that are too large and replace invalid values by the default, without refusing.
        Self { number: read("page").unwrap_or(1), size: read("per_page").unwrap_or(30).min(most) }
    }

    /// The range of this page in a listing of this length.
    pub(super) fn range(self, length: usize, shift: i64) -> std::ops::Range<usize> {
        let start = (self.number - 1).saturating_mul(self.size).saturating_add_signed(shift);
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(length);
        let end = start.saturating_add(usize::try_from(self.size).unwrap_or(usize::MAX)).min(length);
        start..end
    }

    /// The `Link` header, in the host's order; `None` if everything fits on one page.
    pub(super) fn link(self, base: &str, query: &str, length: usize) -> Option<String> {
        let last = (length as u64).div_ceil(self.size).max(1);
        let mut links = Vec::new();
        let mut add = |page: u64, rel: &str| {
            links.push(format!("<{base}?{}>; rel=\"{rel}\"", with_page(query, page)));
        };
        if self.number > 1 {
            add((self.number - 1).min(last), "prev");
        }
        if self.number < last {
            add(self.number + 1, "next");
            add(last, "last");
        }
        if self.number > 1 {
            add(1, "first");
        }
        (!links.is_empty()).then(|| links.join(", "))
    }
}

/// The query with another page; everything else stays unchanged and in place.
fn with_page(query: &str, page: u64) -> String {
    let mut found = false;
    let mut pairs: Vec<String> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            if pair.starts_with("page=") {
                found = true;
                format!("page={page}")
            } else {
                pair.to_owned()
            }
        })
        .collect();
    if !found {
        pairs.push(format!("page={page}"));
    }
    pairs.join("&")
}
