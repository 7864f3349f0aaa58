//! MQTT over WebSocket (MQTT 5.0, section 6): a stream of bytes over binary frames.
//!
//! The boundaries of frames mean nothing: a packet may span frames, and a frame may hold many. Everything
//! else is as over TCP: the relay reads payloads and writes payloads, and what it does not read
//! stays in the socket.

mod frames;

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use frames::{BINARY, CLOSE, End, Frames, PONG, head};

/// A client behind WebSocket.
#[derive(Debug)]
pub(super) struct WebSocket<S> {
    stream: S,
    /// Bytes that came right behind the request.
    early: Vec<u8>,
    frames: Frames,
    /// The head of a frame, or a control frame, that is not written in full.
    out: Vec<u8>,
    /// The payload bytes that the frame which has begun still lacks.
    // INVARIANT: the next write offers at least as many: a writer does not take back what it offered.
    owed: usize,
    /// The close frame was put into `out`.
    has_closed: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocket<S> {
    /// Makes the stream behind a handshake. Frames have at most `most` bytes.
    pub(super) const fn new(stream: S, early: Vec<u8>, most: u32) -> Self {
        #[expect(clippy::as_conversions, reason = "it widens, in a constant function")]
        let frames = Frames::new(most as u64);
        Self { stream, early, frames, out: Vec::new(), owed: 0, has_closed: false }
    }

    /// Reads from the connection, or what came before.
    fn poll_raw(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.early.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let count = self.early.len().min(buffer.remaining());
        buffer.put_slice(self.early.get(..count).unwrap_or_default());
        self.early.drain(..count);
        if self.early.is_empty() {
            self.early = Vec::new();
        }
        Poll::Ready(Ok(()))
    }

    /// Writes what is left of a head or control frame, and the answer to a PING between frames.
    fn poll_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            while !self.out.is_empty() {
                let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.out))?;
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                self.out.drain(..written);
            }
            let may_answer = self.owed == 0 && !self.has_closed;
            let Some(ping) = may_answer.then(|| self.frames.take_ping()).flatten() else {
                self.out.shrink_to(HEAD_ROOM);
                return Poll::Ready(Ok(()));
            };
            self.put_control(PONG, &ping);
        }
    }

    fn put_control(&mut self, opcode: u8, payload: &[u8]) {
        // A control frame has 125 bytes at most.
        let (head, len) = head(opcode, u16::try_from(payload.len()).unwrap_or(0));
        self.out.extend_from_slice(head.get(..len).unwrap_or_default());
        self.out.extend_from_slice(payload);
    }

    /// Returns the end of what is read as the result of a read.
    fn ended(&self) -> Option<io::Result<()>> {
        match self.frames.end()? {
            End::Closed(_) => Some(Ok(())),
            End::Fault(fault) => {
                Some(Err(io::Error::new(io::ErrorKind::InvalidData, fault.to_string())))
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for WebSocket<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let start = buffer.filled().len();
        loop {
            // A client that takes no answers is read all the same.
            if let Poll::Ready(Err(error)) = this.poll_out(context) {
                return Poll::Ready(Err(error));
            }
            if let Some(ended) = this.ended() {
                return Poll::Ready(ended);
            }
            ready!(this.poll_raw(context, buffer))?;
            let fresh = buffer.filled_mut().get_mut(start..).unwrap_or_default();
            if fresh.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let count = this.frames.read(fresh);
            buffer.set_filled(start.saturating_add(count));
            if count > 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WebSocket<S> {
    /// Writes bytes as the payload of binary frames, at most one for each call.
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if this.has_closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if this.owed == 0 {
            ready!(this.poll_out(context))?;
            let len = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
            let (head, head_len) = head(BINARY, len);
            this.out.extend_from_slice(head.get(..head_len).unwrap_or_default());
            this.owed = usize::from(len);
        }
        let payload = bytes.get(..this.owed).unwrap_or(bytes);
        loop {
            let both = [IoSlice::new(&this.out), IoSlice::new(payload)];
            let pieces =
                if this.out.is_empty() { both.get(1..).unwrap_or_default() } else { &both };
            let written = ready!(Pin::new(&mut this.stream).poll_write_vectored(context, pieces))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_head = written.min(this.out.len());
            this.out.drain(..of_head);
            let count = written.saturating_sub(of_head);
            if count > 0 {
                this.owed = this.owed.saturating_sub(count);
                return Poll::Ready(Ok(count));
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_out(context))?;
        Pin::new(&mut this.stream).poll_flush(context)
    }

    /// Writes a close frame, with the status code of the client or of its fault, and closes the own
    /// side.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.has_closed && this.owed == 0 {
            let status = match this.frames.end() {
                Some(End::Closed(status)) => status,
                Some(End::Fault(fault)) => Some(fault.status()),
                None => Some(NORMAL),
            };
            let payload = status.map(u16::to_be_bytes);
            this.put_control(CLOSE, payload.as_ref().map_or(&[], |status| status));
            this.has_closed = true;
        }
        ready!(this.poll_out(context))?;
        ready!(Pin::new(&mut this.stream).poll_flush(context))?;
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

/// The status code of a connection that has done what it was for.
const NORMAL: u16 = 1000;

/// Room that stays for the heads of frames.
const HEAD_ROOM: usize = 8;
