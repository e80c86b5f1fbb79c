//! Harmful bodies: large pages, deep JSON, bombs.

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress};

/// One piece of a body too large to hold.
const PIECE: usize = 1 << 20;

/// The host's own page for a failing backend: some 30 kB, most of it one inline image.
pub(crate) fn unicorn() -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<!--\n\nHello future GitHubber! I bet you're here to remove those nasty inline styles,\n\
         DRY up these templates and make 'em nice and re-usable, right?\n\n-->\n<html>\n  <head>\n    \
         <meta charset=\"utf-8\">\n    <title>Unicorn! &middot; GitHub</title>\n    \
         <style type=\"text/css\">body { background-color: #f1f1f1; }</style>\n  </head>\n  <body>\n    \
         <p><strong>We had issues producing the response to your request.</strong></p>\n    \
         <p>Sorry about that. Please try refreshing and contact us if the problem persists.</p>\n    \
         <img width=\"200\" src=\"data:image/png;base64,",
    );
    page.push_str(&"iVBORw0KGgoAAAANSUhEUgAAASwAAAEs".repeat(900));
    page.push_str("\">\n  </body>\n</html>\n");
    page
}

/// The code host's body for a failure of this status.
pub(crate) fn failure(status: u16) -> (&'static str, String) {
    let message = match status {
        503 => {
            "No server is currently available to service your request. Sorry about that. Please try resubmitting \
             your request and contact us if the problem persists."
        }
        _ => "Server Error",
    };
    ("application/json; charset=utf-8", serde_json::json!({ "message": message }).to_string())
}

/// The page behind a wrong base URL, or of a proxy whose session has expired.
pub(super) const LOGIN: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>Sign in</title></head>\n<body>\n\
    <form action=\"/session\" method=\"post\"><input name=\"login\"><input name=\"password\" type=\"password\">\
    <input type=\"submit\" value=\"Sign in\"></form>\n</body>\n</html>\n";

/// `[[[…]]]`.
pub(super) fn nested(depth: usize) -> String {
    let mut text = "[".repeat(depth);
    text.push_str(&"]".repeat(depth));
    text
}

/// The pieces of a JSON object of exactly this many bytes: head, repeated middle, tail.
pub(super) fn huge(bytes: u64) -> (Bytes, Bytes, u64, Bytes) {
    const HEAD: &str = "{\"name\":\"";
    const TAIL: &str = "\"}";
    let filler = bytes.saturating_sub((HEAD.len() + TAIL.len()) as u64);
    let times = filler / PIECE as u64;
    let rest = usize::try_from(filler % PIECE as u64).unwrap_or_default();
    (
        Bytes::from_static(HEAD.as_bytes()),
        Bytes::from(vec![b'a'; PIECE]),
        times,
        Bytes::from(format!("{}{TAIL}", "a".repeat(rest))),
    )
}

/// A correct gzip stream of white space and `{}` that unpacks to about this many bytes: head, repeated middle, tail.
///
/// Every piece is flushed in full, so that one compressed piece can be sent any number of times.
pub(super) fn bomb(bytes: u64) -> (Bytes, Bytes, u64, Bytes) {
    let times = bytes / PIECE as u64;
    let spaces = vec![b' '; PIECE];
    let mut deflate = Compress::new(Compression::best(), false);
    let mut piece = Vec::with_capacity(PIECE);
    let _ = deflate.compress_vec(&spaces, &mut piece, FlushCompress::Full);
    deflate.reset();
    let mut tail = Vec::with_capacity(64);
    let _ = deflate.compress_vec(b"{}", &mut tail, FlushCompress::Finish);

    let mut crc = Crc::new();
    let mut one = Crc::new();
    one.update(&spaces);
    for _ in 0..times {
        crc.combine(&one);
    }
    crc.update(b"{}");
    tail.extend_from_slice(&crc.sum().to_le_bytes());
    tail.extend_from_slice(&crc.amount().to_le_bytes());
    let head = Bytes::from_static(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
    (head, Bytes::from(piece), times, Bytes::from(tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn a_bomb_is_correct_gzip() {
        let (head, piece, times, tail) = bomb(5 << 20);
        assert_eq!(times, 5);
        let mut stream = head.to_vec();
        (0..times).for_each(|_| stream.extend_from_slice(&piece));
        stream.extend_from_slice(&tail);
        assert!(stream.len() < 20_000, "{} bytes", stream.len());
        let mut text = String::new();
        flate2::read::GzDecoder::new(&*stream).read_to_string(&mut text).unwrap();
        assert_eq!(text.len(), (5 << 20) + 2);
        assert!(text.ends_with("  {}"));
    }

    #[test]
    fn huge_is_exact_and_valid() {
        for size in [11, 100, (3 << 20) + 7] {
            let (head, piece, times, tail) = huge(size);
            let mut text = head.to_vec();
            (0..times).for_each(|_| text.extend_from_slice(&piece));
            text.extend_from_slice(&tail);
            assert_eq!(text.len() as u64, size);
            assert!(serde_json::from_slice::<serde_json::Value>(&text).is_ok());
        }
    }
}
