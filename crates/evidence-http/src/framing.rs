//! Whether it is certain where an answer ends (RFC 9112, section 6.3).
//!
//! A proxy and this client can disagree about the end of an answer with two lengths; the rest of it would then be read as
//! the answer to the next request. The HTTP library accepts most such answers and reports their headers unchanged, as long
//! as it does not unpack the body itself.

use reqwest::header::{CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};

/// Why the length of an answer with these headers is ambiguous; `None` if it is not.
pub(super) fn ambiguity(headers: &HeaderMap) -> Option<&'static str> {
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let (length, coding) = (lengths.next(), codings.next());
    if length.is_some() && coding.is_some() {
        return Some("it has both Content-Length and Transfer-Encoding");
    }
    // Even equal lengths: only a fault before this client repeats them.
    let is_number = |length: &[u8]| !length.is_empty() && length.iter().all(u8::is_ascii_digit);
    if lengths.next().is_some() || length.is_some_and(|length| !is_number(length.as_bytes())) {
        return Some("Content-Length is not a single number");
    }
    if codings.next().is_some()
        || coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        return Some("Transfer-Encoding is not `chunked` alone");
    }
    None
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn an_answer_has_one_length() {
        let both = Some("it has both Content-Length and Transfer-Encoding");
        let number = Some("Content-Length is not a single number");
        let chunked = Some("Transfer-Encoding is not `chunked` alone");
        let table: [(&[&str], &[&str], Option<&str>); 20] = [
            (&[], &[], None),
            (&["0"], &[], None),
            (&["12"], &[], None),
            (&[], &["chunked"], None),
            (&[], &["Chunked"], None),
            (&["12"], &["chunked"], both),
            (&["12"], &["identity"], both),
            (&["12"], &[""], both),
            (&["x", "y"], &["chunked"], both),
            (&["12", "12"], &[], number),
            (&["12", "13"], &[], number),
            (&["12, 12"], &[], number),
            (&["12, 13"], &[], number),
            (&["+12"], &[], number),
            (&["-1"], &[], number),
            (&[""], &[], number),
            (&["1e3"], &[], number),
            (&[], &["gzip, chunked"], chunked),
            (&[], &["chunked", "chunked"], chunked),
            (&[], &["identity"], chunked),
        ];
        for (lengths, codings, expected) in table {
            let mut headers = HeaderMap::new();
            let mut add = |name: HeaderName, values: &[&'static str]| {
                for value in values {
                    headers.append(&name, HeaderValue::from_static(value));
                }
            };
            add(CONTENT_LENGTH, lengths);
            add(TRANSFER_ENCODING, codings);
            assert_eq!(ambiguity(&headers), expected, "{lengths:?} {codings:?}");
        }
    }
}
