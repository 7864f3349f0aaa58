//! Peeking at the head of the first request of a connection.
//!
//! A connection holds little until that head is there. A client that opens thousands of connections
//! and sends half of a head on each takes as much memory as it sends.

use std::io;

use httparse::{EMPTY_HEADER, Request, Status};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits::{MAX_HEAD_BYTES, MAX_HEADERS};

/// Reads until a head is complete, invalid or too long, or until the client sends no more. The
/// caller replays the bytes to the reader of requests, which judges them.
///
/// # Errors
/// Those of the stream.
pub(crate) async fn peek(
    stream: &mut (impl AsyncRead + Unpin),
    bytes: &mut Vec<u8>,
) -> io::Result<()> {
    bytes.reserve(ROOM);
    loop {
        let before = bytes.len();
        if stream.read_buf(bytes).await? == 0 || is_due(bytes, before) {
            return Ok(());
        }
    }
}

/// Returns true if the head must be read now. The bytes from `fresh` on are new.
fn is_due(bytes: &[u8], fresh: usize) -> bool {
    let is_line = bytes.get(fresh..).is_some_and(|fresh| fresh.contains(&b'\n'));
    // A head that comes byte by byte is not parsed at each byte.
    if bytes.len() > FIRST && !is_line {
        return bytes.len() >= MAX_HEAD_BYTES;
    }
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let is_partial = matches!(Request::new(&mut headers).parse(bytes), Ok(Status::Partial));
    !is_partial || bytes.len() >= MAX_HEAD_BYTES
}

/// Room for the usual head.
const ROOM: usize = 512;

/// As far as it is looked for nonsense at every byte.
const FIRST: usize = 64;

#[cfg(test)]
mod tests {
    use super::{is_due, peek};
    use crate::limits::MAX_HEAD_BYTES;

    #[test]
    fn only_incomplete_heads_are_waited_for() {
        for (bytes, expected) in [
            ("", false),
            ("POST", false),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Le", false),
            ("\r\nGET / HTTP/1.1\r\n", false),
            ("GET / HTTP/1.1\r\n\r\n", true),
            ("GET / HTTP/1.1\nHost: a\n\n", true),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n{GET / HT", true),
            ("GET / HTTP/2.0\r\n", true),
            ("\u{16}\u{3}\u{1}", true),
            ("GET / HTTP/1.1\r\nHo st: a\r\n", true),
        ] {
            assert_eq!(is_due(bytes.as_bytes(), 0), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_head_ends_somewhere() {
        let line = format!("GET /{} HTTP/1.1\r\n", "a".repeat(MAX_HEAD_BYTES));
        assert!(is_due(&line.as_bytes()[..MAX_HEAD_BYTES], 100));
        assert!(!is_due(&line.as_bytes()[..MAX_HEAD_BYTES - 1], 100));
        let headers = "X: a\r\n".repeat(65);
        assert!(is_due(format!("GET / HTTP/1.1\r\n{headers}").as_bytes(), 0));
    }

    /// For each cut of a request into pieces, the bytes are a beginning of it that holds the head.
    #[tokio::test]
    async fn peeked_bytes_begin_the_request() {
        let request = "POST /api/check/resources HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n{}".repeat(2);
        let head = request.find("{}").unwrap();
        for size in 1..=request.len() {
            let (mut client, mut server) = tokio::io::duplex(size);
            let sent = request.clone();
            let client = tokio::spawn(async move {
                // The other end listens no longer than it has to.
                let _ = tokio::io::AsyncWriteExt::write_all(&mut client, sent.as_bytes()).await;
            });
            let mut bytes = Vec::new();
            peek(&mut server, &mut bytes).await.unwrap();
            drop(server);
            client.await.unwrap();
            assert!(request.as_bytes().starts_with(&bytes) && bytes.len() >= head, "{size}");
        }
    }

    #[tokio::test]
    async fn a_client_that_has_closed_is_not_waited_for() {
        for sent in ["", "GET / HT"] {
            let mut bytes = Vec::new();
            peek(&mut sent.as_bytes(), &mut bytes).await.unwrap();
            assert_eq!(bytes, sent.as_bytes());
        }
    }
}
