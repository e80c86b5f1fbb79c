//! Connections: accepts them, passes them to the HTTP implementation, and takes them back to break an answer in
//! ways that no correct implementation would.

use super::Engine;
use super::plan::{End, Plan, Step};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};

const BACKLOG: u32 = 1024;

/// Accepts until asked to stop; refuses temporarily when asked to.
pub(super) async fn accept(
    listener: std::net::TcpListener,
    engine: Arc<Engine>,
    mut refusals: mpsc::UnboundedReceiver<Duration>,
    mut stopped: oneshot::Receiver<()>,
) {
    let Ok(mut listener) = TcpListener::from_std(listener) else { return };
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            Some(pause) = refusals.recv() => {
                drop(listener);
                tokio::select! {
                    _ = &mut stopped => return,
                    again = refuse_for(engine.address, pause) => match again {
                        Ok(again) => listener = again,
                        Err(_) => return,
                    },
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    engine.tally.connected();
                    tokio::spawn(drive(stream, engine.clone()));
                }
                // Out of file descriptors, or the peer has already left. Neither is a reason to stop, and the
                // first would spin without a pause.
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            },
        }
    }
}

/// A bound socket that does not listen answers every SYN with RST, which a client sees as "connection refused".
/// Meanwhile it reserves the port.
async fn refuse_for(address: SocketAddr, pause: Duration) -> io::Result<TcpListener> {
    let until = tokio::time::Instant::now() + pause;
    loop {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        match socket.bind(address) {
            Ok(()) => {
                tokio::time::sleep_until(until).await;
                return socket.listen(BACKLOG);
            }
            Err(error) if tokio::time::Instant::now() > until + Duration::from_secs(5) => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn drive(stream: TcpStream, engine: Arc<Engine>) {
    let _ = stream.set_nodelay(true);
    let stream = Arc::new(stream);
    let (wire, mut plans) = mpsc::unbounded_channel();
    let plan = {
        let service = service_fn(|request| {
            let (engine, wire) = (engine.clone(), wire.clone());
            async move { Ok::<_, Infallible>(engine.handle(request, &wire).await) }
        });
        let builder = auto::Builder::new(TokioExecutor::new());
        let connection = builder.serve_connection(TokioIo::new(Shared(stream.clone())), service);
        tokio::pin!(connection);
        tokio::select! {
            _ = &mut connection => None,
            plan = plans.recv() => plan,
        }
    };
    if let Some(plan) = plan {
        let _ = play(plan, &stream).await;
    }
}

async fn play(plan: Plan, stream: &TcpStream) -> io::Result<()> {
    for step in plan.steps {
        match step {
            Step::Send(bytes) => write_all(stream, &bytes).await?,
            Step::Repeat { chunk, times } => {
                for _ in 0..times {
                    write_all(stream, &chunk).await?;
                }
            }
            Step::Trickle { bytes, per_second } => {
                let per_second = per_second.max(1);
                let size = usize::try_from(per_second / 20).unwrap_or(usize::MAX).max(1);
                let pause = Duration::from_secs(1) * u32::try_from(size).unwrap_or(1)
                    / u32::try_from(per_second).unwrap_or(u32::MAX);
                for part in bytes.chunks(size) {
                    write_all(stream, part).await?;
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }
    match plan.end {
        End::Close => Ok(()),
        End::Reset => stream.set_zero_linger(),
    }
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A stream that the HTTP implementation uses, and that can still be reset from outside.
struct Shared(Arc<TcpStream>);

impl AsyncRead for Shared {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read(buf.initialize_unfilled()) {
                Ok(read) => {
                    buf.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Shared {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write_vectored(slices) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The stream is shared, so it closes when its last owner drops it, a moment later.
        Poll::Ready(Ok(()))
    }
}
