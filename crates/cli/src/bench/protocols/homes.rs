//! The threads of clients: those that answer them, or threads of their own.
//!
//! On the threads that answer, a question wakes no other thread, as where client and server are
//! tasks of one scheduler. On threads of their own, each question and each answer may wake one,
//! which takes longer than to answer.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Handle;

/// The threads on which clients run.
pub(crate) enum Homes {
    /// On the threads that answer, in the order in which those get connections.
    Shared(Vec<Handle>),
    /// On threads of their own.
    Apart,
}

/// One end of a connection.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Socket for S {}

impl Homes {
    /// Connects the client with this number.
    pub(crate) fn connect(
        &self,
        client: usize,
        address: SocketAddr,
    ) -> io::Result<Box<dyn Socket>> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        let Some(home) = self.home(client) else { return Ok(Box::new(Waiting(socket))) };
        socket.set_nonblocking(true)?;
        let _within = home.enter();
        Ok(Box::new(tokio::net::TcpStream::from_std(socket)?))
    }

    /// Runs all clients at the same time, and returns their outcomes.
    pub(crate) fn all<W, T>(&self, works: impl IntoIterator<Item = W>) -> Result<Vec<T>, String>
    where
        W: Future<Output = Result<T, String>> + Send + 'static,
        T: Send + 'static,
    {
        let begin = |(client, work): (usize, W)| {
            let (done, outcome) = mpsc::channel();
            // The receiver may be gone.
            let work = async move { drop(done.send(work.await)) };
            match self.home(client) {
                Some(home) => drop(home.spawn(work)),
                None => drop(thread::spawn(move || at_once(work))),
            }
            outcome
        };
        let outcomes: Vec<_> = works.into_iter().enumerate().map(begin).collect();
        let outcome = |outcome: mpsc::Receiver<_>| {
            outcome.recv().unwrap_or_else(|_| Err("a client ended".into()))
        };
        outcomes.into_iter().map(outcome).collect()
    }

    fn home(&self, client: usize) -> Option<&Handle> {
        match self {
            Self::Shared(threads) => threads.get(client.checked_rem(threads.len())?),
            Self::Apart => None,
        }
    }
}

/// Does work that waits for nothing but sockets that keep its thread waiting.
fn at_once(work: impl Future<Output = ()>) {
    let mut work = pin!(work);
    while work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {}
}

/// A socket that keeps its thread waiting.
struct Waiting(TcpStream);

impl AsyncRead for Waiting {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.0.read(buffer.initialize_unfilled());
        Poll::Ready(read.map(|count| buffer.advance(count)))
    }
}

impl AsyncWrite for Waiting {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.shutdown(Shutdown::Write))
    }
}
