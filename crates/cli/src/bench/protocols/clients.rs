//! Clients as light as they can be, so that what is measured is the server.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use wardgate_server::tcp::reply::Reply;

use super::Client;
use super::workload::{Query, Workload};

/// Asks over SPOCP, one query after the other.
pub(crate) struct Spocp(Stream);

/// Asks over SPOCP, many queries at once.
pub(crate) struct Piped(Stream);

/// Asks AuthZEN over HTTP, one query after the other.
pub(crate) struct Http(Stream);

/// A connection, and what was read from it.
struct Stream {
    socket: TcpStream,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were looked at.
    at: usize,
}

impl Spocp {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        Stream::connect(address).map(Self)
    }
}

impl Piped {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        Stream::connect(address).map(Self)
    }
}

impl Http {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        Stream::connect(address).map(Self)
    }
}

impl Http {
    /// Asks once and returns the first line of the answer, whatever it is.
    pub(crate) fn status(address: SocketAddr, query: &Query) -> Result<String, String> {
        let mut stream = Stream::connect(address).map_err(|error| error.to_string())?;
        stream.write(&query.http)?;
        loop {
            if let Some(end) = find(stream.rest(), b"\r\n") {
                return Ok(stream.rest().get(..end).unwrap_or_default().escape_ascii().to_string());
            }
            stream.more()?;
        }
    }
}

impl Client for Spocp {
    fn ask(&mut self, workload: &Workload, from: usize, until: usize) -> Result<(), String> {
        for query in workload.queries.get(from..until).unwrap_or_default() {
            self.0.write(&query.spocp)?;
            self.0.reply(query)?;
        }
        Ok(())
    }
}

impl Client for Piped {
    fn ask(&mut self, workload: &Workload, from: usize, until: usize) -> Result<(), String> {
        let mut windows = workload.queries.get(from..until).unwrap_or_default().chunks(WINDOW);
        let (mut bytes, mut before): (Vec<u8>, &[Query]) = (Vec::new(), &[]);
        loop {
            let window = windows.next().unwrap_or_default();
            bytes.clear();
            window.iter().for_each(|query| bytes.extend_from_slice(&query.spocp));
            self.0.write(&bytes)?;
            // While the server answers these, the answers to those before are read.
            before.iter().try_for_each(|query| self.0.reply(query))?;
            if window.is_empty() {
                return Ok(());
            }
            before = window;
        }
    }
}

impl Client for Http {
    fn ask(&mut self, workload: &Workload, from: usize, until: usize) -> Result<(), String> {
        for query in workload.queries.get(from..until).unwrap_or_default() {
            self.0.write(&query.http)?;
            self.0.response(query)?;
        }
        Ok(())
    }
}

impl Stream {
    fn connect(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        Ok(Self { socket, buffer: Vec::new(), at: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.socket.write_all(bytes).map_err(|error| error.to_string())
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    fn more(&mut self) -> Result<(), String> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let held = self.buffer.len();
        self.buffer.resize(held + ROOM, 0);
        let read = self.socket.read(self.buffer.get_mut(held..).unwrap_or_default());
        let read = read.map_err(|error| error.to_string())?;
        self.buffer.truncate(held + read);
        if read == 0 { Err("the server ended the connection".into()) } else { Ok(()) }
    }

    /// Reads one reply and compares it.
    fn reply(&mut self, query: &Query) -> Result<(), String> {
        let expected = if query.is_allowed { Reply::Ok.bytes() } else { Reply::Denied.bytes() };
        while self.rest().len() < expected.len() && expected.starts_with(self.rest()) {
            self.more()?;
        }
        if !self.rest().starts_with(expected) {
            let found = self.rest().get(..40).unwrap_or(self.rest()).escape_ascii().to_string();
            return Err(format!("`{}` is answered with `{found}`", query.text.escape_ascii()));
        }
        self.at += expected.len();
        Ok(())
    }

    /// Reads one response of HTTP and compares what it decides.
    fn response(&mut self, query: &Query) -> Result<(), String> {
        let (head, length) = loop {
            if let Some(end) = find(self.rest(), b"\r\n\r\n") {
                let head = self.rest().get(..end).unwrap_or_default().to_ascii_lowercase();
                let length =
                    find(&head, LENGTH).and_then(|at| number(head.get(at + LENGTH.len()..)?));
                break (end + 4, length.ok_or("a response has no length")?);
            }
            self.more()?;
        };
        while self.rest().len() < head + length {
            self.more()?;
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
