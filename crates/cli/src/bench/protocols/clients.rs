//! Clients that are as light as possible, so that the measurement is that of the server.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wardgate_server::spocp::reply::Reply;

use super::homes::Socket;
use super::workload::Query;

/// A way to ask the server.
pub(crate) trait Way {
    /// Asks these queries and compares the answers.
    fn ask(
        stream: &mut Stream,
        queries: &[Query],
    ) -> impl Future<Output = Result<(), String>> + Send;
}

/// Asks over SPOCP, one query after the other.
pub(crate) struct Spocp;

/// Asks over SPOCP, many queries at once.
pub(crate) struct Piped;

/// Asks AuthZEN over HTTP, one query after the other.
pub(crate) struct Http;

/// A connection, and the bytes that were read from it.
pub(crate) struct Stream {
    socket: Box<dyn Socket>,
    /// The buffer; its first `filled` bytes were read.
    buffer: Vec<u8>,
    filled: usize,
    /// Bytes of the buffer that were looked at.
    at: usize,
}

impl Http {
    /// Sends one query and returns the first line of the answer.
    pub(crate) async fn status(stream: &mut Stream, query: &Query) -> Result<String, String> {
        stream.write(&query.http).await?;
        loop {
            if let Some(end) = find(stream.rest(), b"\r\n") {
                return Ok(stream.rest().get(..end).unwrap_or_default().escape_ascii().to_string());
            }
            stream.more().await?;
        }
    }
}

impl Way for Spocp {
    async fn ask(stream: &mut Stream, queries: &[Query]) -> Result<(), String> {
        for query in queries {
            stream.write(&query.spocp).await?;
            stream.reply(query).await?;
        }
        Ok(())
    }
}

impl Way for Piped {
    async fn ask(stream: &mut Stream, queries: &[Query]) -> Result<(), String> {
        let mut windows = queries.chunks(WINDOW);
        let (mut bytes, mut before): (Vec<u8>, &[Query]) = (Vec::new(), &[]);
        loop {
            let window = windows.next().unwrap_or_default();
            bytes.clear();
            window.iter().for_each(|query| bytes.extend_from_slice(&query.spocp));
            stream.write(&bytes).await?;
            // While the server answers these, the answers to those before are read.
            for query in before {
                stream.reply(query).await?;
            }
            if window.is_empty() {
                return Ok(());
            }
            before = window;
        }
    }
}

impl Way for Http {
    async fn ask(stream: &mut Stream, queries: &[Query]) -> Result<(), String> {
        for query in queries {
            stream.write(&query.http).await?;
            stream.response(query).await?;
        }
        Ok(())
    }
}

impl Stream {
    pub(crate) fn new(socket: Box<dyn Socket>) -> Self {
        Self { socket, buffer: vec![0; ROOM], filled: 0, at: 0 }
    }

    /// Ends the conversation, and waits until the server has closed the connection.
    pub(crate) async fn close(mut self) {
        if self.socket.shutdown().await.is_ok() {
            while self.more().await.is_ok() {}
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.socket.write_all(bytes).await.map_err(|error| error.to_string())
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..self.filled).unwrap_or_default()
    }

    async fn more(&mut self) -> Result<(), String> {
        self.buffer.copy_within(self.at..self.filled, 0);
        (self.filled, self.at) = (self.filled - self.at, 0);
        if self.filled == self.buffer.len() {
            self.buffer.resize(2 * self.filled, 0);
        }
        let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
        let read = self.socket.read(room).await.map_err(|error: io::Error| error.to_string())?;
        self.filled += read;
        if read == 0 { Err("the server ended the connection".into()) } else { Ok(()) }
    }

    /// Reads one reply and compares it.
    async fn reply(&mut self, query: &Query) -> Result<(), String> {
        let expected = if query.is_allowed { Reply::Ok.bytes() } else { Reply::Denied.bytes() };
        while self.rest().len() < expected.len() && expected.starts_with(self.rest()) {
            self.more().await?;
        }
        if !self.rest().starts_with(expected) {
            let found = self.rest().get(..40).unwrap_or(self.rest()).escape_ascii().to_string();
            return Err(format!("`{}` is answered with `{found}`", query.text.escape_ascii()));
        }
        self.at += expected.len();
        Ok(())
    }

    /// Reads one response of HTTP and compares its decision.
    async fn response(&mut self, query: &Query) -> Result<(), String> {
        let (head, length) = loop {
            if let Some(end) = find(self.rest(), b"\r\n\r\n") {
                let head = self.rest().get(..end).unwrap_or_default().to_ascii_lowercase();
                let length =
                    find(&head, LENGTH).and_then(|at| number(head.get(at + LENGTH.len()..)?));
                break (end + 4, length.ok_or("a response has no length")?);
            }
            self.more().await?;
        };
        while self.rest().len() < head + length {
            self.more().await?;
        }
        let body = self.rest().get(head..head + length).unwrap_or_default();
        let expected: &[u8] =
            if query.is_allowed { b"\"decision\":true" } else { b"\"decision\":false" };
        if find(body, expected).is_none() {
            let found = body.escape_ascii().to_string();
            return Err(format!("`{}` is answered with `{found}`", query.text.escape_ascii()));
        }
        self.at += head + length;
        Ok(())
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn number(text: &[u8]) -> Option<usize> {
    let digits = text.trim_ascii_start().iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |number, digit| Some(number.unwrap_or(0) * 10 + usize::from(digit - b'0')))
}

const LENGTH: &[u8] = b"content-length:";
const WINDOW: usize = 256;
const ROOM: usize = 64 << 10;
