//! A proxy between the tool and a host that records every byte the tool sends, and a foreign host that answers and
//! records every request.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The received bytes of each connection.
type Heard = Arc<Mutex<Vec<Vec<u8>>>>;

pub(crate) struct Tap {
    address: SocketAddr,
    heard: Heard,
}

impl Tap {
    /// Forwards everything to `target`.
    pub(crate) fn to(target: SocketAddr) -> Tap {
        Tap::serve(move |client, heard, place| {
            let Ok(mut host) = TcpStream::connect(target) else { return };
            let (Ok(mut back), Ok(mut from_host)) = (client.try_clone(), host.try_clone()) else { return };
            thread::spawn(move || {
                let _ = std::io::copy(&mut from_host, &mut back);
                let _ = back.shutdown(Shutdown::Both);
            });
            listen(client, heard, place, |bytes| host.write_all(bytes).is_ok());
            let _ = host.shutdown(Shutdown::Write);
        })
    }

    /// A foreign host that answers every request with an empty object.
    pub(crate) fn other() -> Tap {
        Tap::serve(|client, heard, place| {
            let Ok(mut back) = client.try_clone() else { return };
            let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
            listen(client, heard, place, |_| back.write_all(answer).is_ok());
        })
    }

    fn serve(handle: impl Fn(TcpStream, Heard, usize) + Send + Sync + Clone + 'static) -> Tap {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Heard::default();
        let kept = Arc::clone(&heard);
        // Runs until the process ends.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let place = {
                    let mut all = kept.lock().unwrap();
                    all.push(Vec::new());
                    all.len() - 1
                };
                let (handle, heard) = (handle.clone(), Arc::clone(&kept));
                thread::spawn(move || handle(client, heard, place));
            }
        });
        Tap { address, heard }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every received byte, by connection.
    pub(crate) fn heard(&self) -> Vec<Vec<u8>> {
        self.heard.lock().unwrap().clone()
    }
}

fn listen(mut client: TcpStream, heard: Heard, place: usize, mut then: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        heard.lock().unwrap()[place].extend_from_slice(&buffer[..count]);
        if !then(&buffer[..count]) {
            break;
        }
    }
}
