//! One pass for two readers: while a visitor reads a file, a second thread judges it, if there are threads.

use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// How many chunks may wait for the second reader.
const WAITING: usize = 4;

/// When the second reader reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Second {
    /// On a thread, in parallel with the first: only a few chunks of the document are in memory.
    Meanwhile,
    /// After the first one, on a system without threads: the whole document is in memory.
    Afterwards,
}

impl Second {
    /// The mode of this system. WebAssembly has no threads.
    pub const HERE: Second =
        if cfg!(target_family = "wasm") { Second::Afterwards } else { Second::Meanwhile };
}

/// Lets `first` read from `inner`, and `second` read all of `inner`, including what the first skipped.
///
/// # Errors
/// Fails if the thread cannot be started, or ends early.
pub fn read_both<A, B: Send>(
    inner: impl Read,
    when: Second,
    first: impl FnOnce(&mut dyn Read) -> A,
    second: impl FnOnce(Chunks) -> B + Send,
) -> io::Result<(A, B)> {
    match when {
        Second::Meanwhile => {
            let (sender, receiver) = sync_channel(WAITING);
            thread::scope(|scope| {
                let chunks = Chunks::new(receiver);
                let other = thread::Builder::new().spawn_scoped(scope, || second(chunks))?;
                let read = read_first(Tee { inner, sender: Pipe::Bounded(sender) }, first);
                let ended_early = |_| io::Error::other("the judgement of a document ended early");
                Ok((read, other.join().map_err(ended_early)?))
            })
        }
        Second::Afterwards => {
            let (sender, receiver) = channel();
            let read = read_first(Tee { inner, sender: Pipe::Unbounded(sender) }, first);
            Ok((read, second(Chunks::new(receiver))))
        }
    }
}

/// Drops the tee on return, which ends the input of the second reader.
fn read_first<R: Read, A>(mut tee: Tee<R>, first: impl FnOnce(&mut dyn Read) -> A) -> A {
    let read = first(&mut tee);
    // An error comes from a damaged bundle, and the check of the contents finds it again.
    let _ = io::copy(&mut tee, &mut io::sink());
    read
}

enum Pipe {
    Bounded(SyncSender<Vec<u8>>),
    Unbounded(Sender<Vec<u8>>),
}

/// A reader that also passes its bytes on.
struct Tee<R> {
    inner: R,
    sender: Pipe,
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) {
            // The second reader ends early once it has a reason to refuse.
            let _ = match &self.sender {
                Pipe::Bounded(sender) => sender.send(bytes.to_vec()),
                Pipe::Unbounded(sender) => sender.send(bytes.to_vec()),
            };
        }
        Ok(read)
    }
}

/// What the first reader has read.
pub struct Chunks {
    receiver: Receiver<Vec<u8>>,
    chunk: Cursor<Vec<u8>>,
}

impl Chunks {
    fn new(receiver: Receiver<Vec<u8>>) -> Chunks {
        Chunks { receiver, chunk: Cursor::default() }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_read_the_same_with_threads_and_without() {
        let text: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        for when in [Second::Meanwhile, Second::Afterwards] {
            for (first, second) in [(0, u64::MAX), (7, u64::MAX), (u64::MAX, u64::MAX), (u64::MAX, 7), (0, 0)]
            {
                let read = |from: &mut dyn Read, most: u64| {
                    let mut bytes = Vec::new();
                    from.take(most).read_to_end(&mut bytes).unwrap();
                    bytes
                };
                let both = read_both(
                    text.as_slice(),
                    when,
                    |from| read(from, first),
                    |mut from| read(&mut from, second),
                );
                let (a, b) = both.unwrap();
                let expected =
                    |most: u64| &text[..usize::try_from(most).unwrap_or(usize::MAX).min(text.len())];
                assert!(a == expected(first) && b == expected(second), "{when:?} {first} {second}");
            }
        }
    }
}
