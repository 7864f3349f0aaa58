//! A plain client of HTTP/1.1 that keeps its connections.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value as Json;

/// A call, and the length of its right answer.
pub(crate) struct Call {
    pub(super) bytes: Vec<u8>,
    pub(super) length: usize,
}

impl Call {
    pub(crate) fn post(path: &str, body: &Json) -> Self {
        let body = body.to_string();
        let bytes = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self { bytes: bytes.into_bytes(), length: 0 }
    }

    /// Makes a call without a body, with one more header.
    #[cfg(feature = "shop")]
    pub(crate) fn get(path: &str, header: &str) -> Self {
        let bytes = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n");
        Self { bytes: bytes.into_bytes(), length: 0 }
    }

    /// Makes the call once, notes the length of the answer, and returns it.
    ///
    /// # Errors
    /// There is no answer with status 200; the message is its first line then.
    pub(crate) fn learn(&mut self, server: SocketAddr) -> Result<Vec<u8>, String> {
        let mut connection = Connection::open(server)?;
        let body = connection.call(&self.bytes)?.to_vec();
        self.length = body.len();
        Ok(body)
    }
}

/// A connection with a buffer for answers.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Bytes of all calls, and of all answers, with their heads.
    pub(super) carried: [u64; 2],
}

impl Connection {
    pub(super) fn open(server: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(server).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        Ok(Self { stream, buffer: vec![0; FIRST_ROOM], carried: [0; 2] })
    }

    /// Makes a call, whose answer must have the length of the one that was checked.
    pub(super) fn repeat(&mut self, call: &Call) -> Result<(), String> {
        let length = self.call(&call.bytes)?.len();
        if length == call.length {
            return Ok(());
        }
        Err(format!("an answer of {length} bytes instead of {}", call.length))
    }

    /// Sends a call, and returns the body of its answer.
    fn call(&mut self, bytes: &[u8]) -> Result<&[u8], String> {
        self.stream.write_all(bytes).map_err(|error| error.to_string())?;
        let (mut filled, mut end) = (0, None);
        loop {
            if filled == self.buffer.len() {
                if filled >= MAX_ANSWER {
                    return Err("an answer is too long".to_owned());
                }
                self.buffer.resize(filled * 2, 0);
            }
            let free = self.buffer.get_mut(filled..).unwrap_or_default();
            let read = self.stream.read(free).map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("the server has closed a connection".to_owned());
            }
            filled += read;
            let answer = self.buffer.get(..filled).unwrap_or_default();
            end = end.map_or_else(|| head(answer), |end| Ok(Some(end)))?;
            if let Some((body, whole)) = end
                && filled >= whole
            {
                let [sent, received] = &mut self.carried;
                *sent += counted(bytes.len());
                *received += counted(whole);
                return self.buffer.get(body..whole).ok_or_else(|| "no body".to_owned());
            }
        }
    }
}

fn counted(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Returns the places of the body and of its end, once the head is there.
fn head(answer: &[u8]) -> Result<Option<(usize, usize)>, String> {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = String::from_utf8_lossy(answer.get(..end).unwrap_or_default());
    if !head.starts_with("HTTP/1.1 200") {
        return Err(head.lines().next().unwrap_or_default().to_owned());
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.ok_or("an answer has no length")?;
    Ok(Some((end + 4, end.saturating_add(4).saturating_add(length))))
}

const FIRST_ROOM: usize = 1 << 12;
const MAX_ANSWER: usize = 1 << 18;
const PATIENCE: Duration = Duration::from_secs(10);
