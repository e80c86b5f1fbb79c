//! Refuses heads of requests that two servers could read differently, before hyper reads them: lines that end in a bare LF,
//! and lengths given twice. hyper accepts the first, and removes what would show the second.
//!
//! It holds the bytes of a head back until the head is complete, and then passes them on unchanged. In place of a refused
//! head it passes one that hyper refuses, with the right status, and nothing more.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use evidence_bundle::text::{saturating_u64, saturating_usize};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The longest head.
pub(super) const LONGEST: usize = 64 << 10;

/// More than the 100 headers that hyper accepts.
const HEADERS: usize = 101;

/// How much to read at once while a head is incomplete.
const PART: usize = 8 << 10;

/// A connection whose heads are checked.
#[derive(Debug)]
pub(super) struct StrictHeads<S> {
    inner: S,
    /// Bytes that were read and not passed on.
    held: Vec<u8>,
    /// How many of them may be passed on.
    cleared: usize,
    next: Next,
}

/// What follows the cleared bytes.
#[derive(Debug)]
enum Next {
    /// A head, whose first bytes were searched for its end.
    Head(usize),
    /// This many bytes of a body, then a head.
    Body(u64),
    /// A body in chunks, and no other request.
    Rest,
    /// Nothing.
    End,
}

impl<S> StrictHeads<S> {
    pub(super) fn new(inner: S) -> StrictHeads<S> {
        StrictHeads { inner, held: Vec::new(), cleared: 0, next: Next::Head(0) }
    }

    /// Looks for a complete head in the held bytes, and decides about it.
    fn search(&mut self, from: usize) {
        // Empty lines before a request are allowed.
        let blank = self.held.chunks_exact(2).take_while(|pair| *pair == b"\r\n").count().saturating_mul(2);
        self.held.drain(..blank);
        let mut from = from.saturating_sub(blank);
        while let Some(line) =
            self.held.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
        {
            let end = from.saturating_add(line);
            let head = self.held.get(..=end).unwrap_or_default();
            if !head.ends_with(b"\r\n") {
                return self.refuse(vec![0]);
            }
            if head.ends_with(b"\r\n\r\n") {
                return match follows(head) {
                    _ if head.len() > LONGEST => self.refuse(too_long()),
                    Some(next) => (self.cleared, self.next) = (head.len(), next),
                    None => self.refuse(vec![0]),
                };
            }
            from = end.saturating_add(1);
        }
        if self.held.len() > LONGEST {
            return self.refuse(too_long());
        }
        self.next = Next::Head(self.held.len());
    }

    /// Passes this on instead of the head. hyper answers 400 to a byte that begins no request.
    fn refuse(&mut self, instead: Vec<u8>) {
        (self.cleared, self.next) = (instead.len(), Next::End);
        self.held = instead;
    }
}

/// What hyper answers with 431. Its own limit of the size depends on how the bytes arrive.
fn too_long() -> Vec<u8> {
    [b"GET / HTTP/1.1\r\n".to_vec(), b"x:\r\n".repeat(HEADERS), b"\r\n".to_vec()].concat()
}

/// What follows a head; `None` if its length is not certain.
fn follows(head: &[u8]) -> Option<Next> {
    let (mut length, mut chunks) = (None, false);
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        // hyper accepts a name only directly before its colon.
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at(colon);
        if name.eq_ignore_ascii_case(b"content-length") {
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
            let parsed = str::from_utf8(value).ok().filter(|_| digits)?.parse::<u64>().ok()?;
            if length.replace(parsed).is_some() {
                return None;
            }
        }
        chunks |= name.eq_ignore_ascii_case(b"transfer-encoding");
    }
    match (length, chunks) {
        (Some(_), true) => None,
        // The server closes the connection after it.
        (None, true) => Some(Next::Rest),
        (Some(length), false) if length > 0 => Some(Next::Body(length)),
        (_, false) => Some(Next::Head(0)),
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StrictHeads<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            if this.cleared > 0 {
                let count = this.cleared.min(buffer.remaining()).min(this.held.len());
                buffer.put_slice(this.held.get(..count).unwrap_or_default());
                this.held.drain(..count);
                this.cleared = this.cleared.saturating_sub(count);
                if this.held.is_empty() {
                    this.held = Vec::new();
                }
                return Poll::Ready(Ok(()));
            }
            match this.next {
                Next::End => return Poll::Ready(Ok(())),
                Next::Rest if this.held.is_empty() => {
                    return Pin::new(&mut this.inner).poll_read(context, buffer);
                }
                Next::Rest => this.cleared = this.held.len(),
                Next::Body(0) => this.next = Next::Head(0),
                Next::Body(left) if this.held.is_empty() => {
                    let most = saturating_usize(left).min(buffer.remaining());
                    let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
                    ready!(Pin::new(&mut this.inner).poll_read(context, &mut part))?;
                    let count = part.filled().len();
                    buffer.advance(count);
                    this.next = Next::Body(left.saturating_sub(saturating_u64(count)));
                    return Poll::Ready(Ok(()));
                }
                Next::Body(left) => {
                    this.cleared = saturating_usize(left).min(this.held.len());
                    let left = left.saturating_sub(saturating_u64(this.cleared));
                    this.next = Next::Body(left);
                }
                Next::Head(searched) if searched < this.held.len() => this.search(searched),
                Next::Head(_) => {
                    let mut part = [0; PART];
                    let mut part = ReadBuf::new(&mut part);
                    ready!(Pin::new(&mut this.inner).poll_read(context, &mut part))?;
                    if part.filled().is_empty() {
                        // The client has closed the connection, perhaps within a head.
                        this.next = Next::Rest;
                        if this.held.is_empty() {
                            return Poll::Ready(Ok(()));
                        }
                    }
                    this.held.extend_from_slice(part.filled());
                }
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StrictHeads<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
