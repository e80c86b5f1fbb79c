//! Any file of a bundle, of any size, as it is. It is sent only after the whole bundle is verified, and never as a page.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use evidence_view::Sink;
use futures_util::stream;
use http::HeaderValue;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use tokio::io::AsyncReadExt as _;

use super::words::last;
use crate::api::App;
use crate::api::input::Inside;
use crate::error::Error;
use crate::principal::Principal;

/// How many bytes of a file to pass to the connection at once.
const CHUNK_BYTES: usize = 32 << 10;

/// Copies one file of a bundle.
struct Copy {
    path: String,
    out: BufWriter<File>,
    size: Option<u64>,
}

impl Sink for Copy {
    fn file(&mut self, path: &str, size: u64) -> io::Result<bool> {
        let wanted = path == self.path;
        if wanted {
            self.size = Some(size);
        }
        Ok(wanted)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }
}

/// The file.
///
/// # Errors
/// Fails with [`Error::NotFound`], [`Error::Damaged`], [`Error::Refused`], [`Error::Unavailable`] or
/// [`Error::Internal`].
pub async fn raw(
    State(app): State<App>,
    principal: Principal,
    Inside(id, path): Inside,
) -> Result<Response, Error> {
    let bundle = app.service.bundle(&principal, &id).await?;
    let viewer = app.service.viewer(&principal).await?;
    let name = file_name(&path);
    let copy = Copy { path, out: BufWriter::new(viewer.scratch().await?), size: None };
    let copy = viewer.read(&principal, &bundle, copy).await?;
    let size = copy.size.ok_or(Error::NotFound("file in this bundle"))?;
    let file = viewer.work(move || rewound(copy.out)).await??;
    let mut response = Response::new(streamed(file));
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
        .map_err(|error| Error::internal("a header cannot be written", error))?;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    headers.insert(CONTENT_DISPOSITION, disposition);
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The file from its beginning.
fn rewound(out: BufWriter<File>) -> Result<File, Error> {
    let mut file = out.into_inner().map_err(|error| error.into_error())?;
    file.rewind()?;
    Ok(file)
}

/// The rest of a file as a body.
pub(super) fn streamed(file: File) -> Body {
    Body::from_stream(stream::unfold(tokio::fs::File::from_std(file), |mut file| async move {
        let mut chunk = vec![0; CHUNK_BYTES];
        match file.read(&mut chunk).await {
            Ok(0) => None,
            Ok(read) => {
                chunk.truncate(read);
                Some((Ok(Bytes::from(chunk)), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    }))
}

/// The last part of the path, with the characters that every system takes.
fn file_name(path: &str) -> String {
    let plain = |letter: char| match letter {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '.' | '_' | '-' => letter,
        _ => '_',
    };
    last(path).chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_is_plain() {
        assert_eq!(file_name("derived/normalized.json"), "normalized.json");
        assert_eq!(file_name("sources/a/b\"c\r\n\u{202e}.json"), "b_c___.json");
    }
}
