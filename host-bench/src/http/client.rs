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
    /// The body of an answer that came in chunks.
    joined: Vec<u8>,
    /// Bytes of all calls, and of all answers, with their heads.
    pub(super) carried: [u64; 2],
}

impl Connection {
    pub(super) fn open(server: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(server).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        Ok(Self { stream, buffer: vec![0; FIRST_ROOM], joined: Vec::new(), carried: [0; 2] })
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
        let (mut filled, mut found) = (0, None);
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
            found = found.map_or_else(|| head(answer), |found| Ok(Some(found)))?;
            let Some((begin, length)) = found else { continue };
            let rest = answer.get(begin..).unwrap_or_default();
            let end = match length {
                Some(length) => Some(length).filter(|length| rest.len() >= *length),
                None => join(rest, &mut self.joined)?,
            };
            let Some(end) = end.map(|end| begin.saturating_add(end)) else { continue };
            let [sent, received] = &mut self.carried;
            *sent += counted(bytes.len());
            *received += counted(end);
            return match length {
                Some(_) => self.buffer.get(begin..end).ok_or_else(|| "no body".to_owned()),
                None => Ok(&self.joined),
            };
        }
    }
}

/// Joins the chunks of a body, and returns their length in the answer once all are there.
fn join(mut rest: &[u8], body: &mut Vec<u8>) -> Result<Option<usize>, String> {
    let whole = rest.len();
    body.clear();
    loop {
        let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else { return Ok(None) };
        let line = str::from_utf8(rest.get(..end).unwrap_or_default()).unwrap_or_default();
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| "a chunk has no size".to_owned())?;
        let (begin, after) = (end + 2, end.saturating_add(4).saturating_add(size));
        let Some(following) = rest.get(after..) else { return Ok(None) };
        body.extend_from_slice(rest.get(begin..after - 2).unwrap_or_default());
        rest = following;
        if size == 0 {
            return Ok(Some(whole - rest.len()));
        }
    }
}

fn counted(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Returns where the body begins, and its length unless it comes in chunks, once the head is there.
fn head(answer: &[u8]) -> Result<Option<(usize, Option<usize>)>, String> {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = String::from_utf8_lossy(answer.get(..end).unwrap_or_default());
    if !head.starts_with("HTTP/1.1 200") {
        return Err(head.lines().next().unwrap_or_default().to_owned());
    }
    let value = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(found, _)| found.eq_ignore_ascii_case(name));
        values.next().map(|(_, value)| value.trim())
    };
    if value("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return Ok(Some((end + 4, None)));
    }
    let length = value("content-length").and_then(|value| value.parse().ok());
    Ok(Some((end + 4, Some(length.ok_or("an answer has no length")?))))
}

const FIRST_ROOM: usize = 1 << 12;
const MAX_ANSWER: usize = 1 << 18;
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn chunks_are_joined_once_all_are_there() {
        let whole = b"4\r\nabcd\r\n3;name=value\r\nefg\r\n0\r\n\r\n";
        let mut body = Vec::new();
        for end in 0..whole.len() {
            assert_eq!(join(&whole[..end], &mut body), Ok(None), "{end}");
        }
        assert_eq!(join(whole, &mut body), Ok(Some(whole.len())));
        assert_eq!(body, b"abcdefg");
        assert!(join(b"abcd\r\n", &mut body).is_ok());
        assert!(join(b"size\r\n", &mut body).is_err());
    }
}
