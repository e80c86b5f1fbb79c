//! One pass for two readers: what a visitor reads is also judged, on a thread of its own.

use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Chunks that may wait for the second reader.
const WAITING: usize = 4;

/// The first reader, and the second.
pub(super) fn tee<R: Read>(inner: R) -> (Tee<R>, Chunks) {
    let (sender, receiver) = sync_channel(WAITING);
    (Tee { inner, sender }, Chunks { receiver, chunk: Cursor::default() })
}

/// Reads, and passes on what was read. The second reader comes to its end when this is dropped.
pub(super) struct Tee<R> {
    inner: R,
    sender: SyncSender<Vec<u8>>,
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) {
            // The second reader ends early where it has seen enough to refuse.
            let _ = self.sender.send(bytes.to_vec());
        }
        Ok(read)
    }
}

/// What the first reader has read.
pub(super) struct Chunks {
    receiver: Receiver<Vec<u8>>,
    chunk: Cursor<Vec<u8>>,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.chunk.read(buffer)? {
                0 if !buffer.is_empty() => match self.receiver.recv() {
                    Ok(chunk) => self.chunk = Cursor::new(chunk),
                    Err(_) => return Ok(0),
                },
                read => return Ok(read),
            }
        }
    }
}
