//! A stream that replays its first bytes, and that closes lingeringly.
//!
//! A socket that is closed while input is unread is reset, and the client may never see its answer,
//! for example that its request was too long. So input is read and dropped for a moment after the
//! end, unless the connection was cut.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;

use super::connections::Connection;
use crate::limits::{LINGER, MAX_PASSED_OVER};

/// A stream of a connection.
pub(crate) struct Rewind<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> {
    /// Taken out when it ends.
    stream: Option<S>,
    connection: Arc<Connection>,
    /// The bytes to replay before anything else.
    prefix: Bytes,
    /// True if the client has closed its side, or the stream has failed.
    has_ended: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Rewind<S> {
    pub(crate) const fn new(stream: S, connection: Arc<Connection>) -> Self {
        Self { stream: Some(stream), connection, prefix: Bytes::new(), has_ended: false }
    }

    /// Replays `bytes` before anything else.
    pub(crate) fn rewind(&mut self, bytes: Vec<u8>) {
        self.prefix = Bytes::from(bytes);
    }

    /// Returns the stream and the bytes that were not replayed, unless it has ended.
    pub(crate) fn into_inner(mut self) -> Option<(S, Bytes)> {
        let prefix = std::mem::take(&mut self.prefix);
        self.stream.take().filter(|_| !self.has_ended).map(|stream| (stream, prefix))
    }

    fn stream(&mut self) -> io::Result<Pin<&mut S>> {
        self.stream.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Drop for Rewind<S> {
    fn drop(&mut self) {
        let Some(stream) = self.stream.take() else { return };
        let runtime = tokio::runtime::Handle::try_current();
        if let (false, false, Ok(runtime)) = (self.has_ended, self.connection.is_cut(), runtime) {
            runtime.spawn(timeout(LINGER, linger(stream)));
        }
    }
}

/// Closes the own side, and reads and drops the rest of the input.
async fn linger(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut bytes = [0; 4096];
    let mut left = MAX_PASSED_OVER;
    if stream.shutdown().await.is_err() {
        return;
    }
    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
        let Some(less) = left.checked_sub(count) else { return };
        left = less;
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> AsyncRead for Rewind<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.prefix.is_empty() {
            let count = buffer.remaining().min(self.prefix.len());
            buffer.put_slice(&self.prefix.split_to(count));
            if self.prefix.is_empty() {
                self.prefix = Bytes::new();
            }
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = self.stream()?.poll_read(context, buffer);
        match &read {
            Poll::Ready(Ok(())) if buffer.filled().len() > before => self.connection.received(),
            Poll::Ready(_) => self.has_ended = true,
            Poll::Pending => {}
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> AsyncWrite for Rewind<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(context)
    }
}
