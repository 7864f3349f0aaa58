//! Replies of a server, read from bytes that may end anywhere.

use crate::limits::{MAX_REPLY_DEPTH, MAX_REPLY_ITEMS, MAX_REPLY_TEXT};
use crate::store::Away;

/// A reply, of the kinds that commands of stores have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Integer(i64),
    /// A text of either kind.
    Text(Vec<u8>),
    Nil,
    /// An error, with its code in front.
    Error(String),
    List(Vec<Reply>),
}

/// Bytes of replies, and the place up to which they are read.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// Reads one reply from the beginning of `bytes`, and returns it with its length; None if it has not
/// come as a whole.
pub(super) fn read(bytes: &[u8]) -> Result<Option<(Reply, usize)>, Away> {
    let mut reader = Reader { bytes, at: 0 };
    let reply = reader.reply(MAX_REPLY_DEPTH)?;
    Ok(reply.map(|reply| (reply, reader.at)))
}

impl Reader<'_> {
    fn reply(&mut self, depth: usize) -> Result<Option<Reply>, Away> {
        let Some(line) = self.line() else { return Ok(None) };
        let Some((kind, rest)) = line.split_first() else { return Err(Away::Garbled) };
        match kind {
            b':' => Ok(Some(Reply::Integer(number(rest)?))),
            b'+' => Ok(Some(Reply::Text(rest.to_vec()))),
            b'-' => Ok(Some(Reply::Error(String::from_utf8_lossy(rest).into_owned()))),
            b'$' => {
                let length = number(rest)?;
                self.text(length)
            }
            b'*' => {
                let items = number(rest)?;
                self.list(items, depth)
            }
            _ => Err(Away::Garbled),
        }
    }

    /// Returns the next line without its end.
    fn line(&mut self) -> Option<&[u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().position(|byte| *byte == b'\n')?;
        self.at = self.at.saturating_add(length).saturating_add(1);
        let line = rest.get(..length)?;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    fn text(&mut self, length: i64) -> Result<Option<Reply>, Away> {
        if length == -1 {
            return Ok(Some(Reply::Nil));
        }
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_REPLY_TEXT);
        let length = length.ok_or(Away::Garbled)?;
        let end = self.at.saturating_add(length);
        let Some(text) = self.bytes.get(self.at..end) else { return Ok(None) };
        match self.bytes.get(end..end.saturating_add(2)) {
            Some(b"\r\n") => self.at = end.saturating_add(2),
            Some(_) => return Err(Away::Garbled),
            None => return Ok(None),
        }
        Ok(Some(Reply::Text(text.to_vec())))
    }

    fn list(&mut self, items: i64, depth: usize) -> Result<Option<Reply>, Away> {
        if items == -1 {
            return Ok(Some(Reply::Nil));
        }
        let items = usize::try_from(items).ok().filter(|items| *items <= MAX_REPLY_ITEMS);
        let items = items.ok_or(Away::Garbled)?;
        let depth = depth.checked_sub(1).ok_or(Away::Garbled)?;
        // An item takes four bytes at least, so that a length alone reserves nothing.
        let rest = self.bytes.len().saturating_sub(self.at);
        let mut list = Vec::with_capacity(items.min(rest / 4));
        for _ in 0..items {
            let Some(item) = self.reply(depth)? else { return Ok(None) };
            list.push(item);
        }
        Ok(Some(Reply::List(list)))
    }
}

fn number(digits: &[u8]) -> Result<i64, Away> {
    let text = core::str::from_utf8(digits).map_err(|_| Away::Garbled)?;
    text.parse().map_err(|_| Away::Garbled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_a_whole_or_not_at_all() {
        let text = |text: &str| Reply::Text(text.as_bytes().to_vec());
        let cases = [
            (":-12\r\n", Reply::Integer(-12)),
            ("+OK\r\n", text("OK")),
            ("-MOVED 1 a:2\r\n", Reply::Error("MOVED 1 a:2".to_owned())),
            ("$2\r\na\n\r\n", text("a\n")),
            ("$-1\r\n", Reply::Nil),
            ("*-1\r\n", Reply::Nil),
            ("*0\r\n", Reply::List(vec![])),
            (
                "*2\r\n*1\r\n:1\r\n$0\r\n\r\n",
                Reply::List(vec![Reply::List(vec![Reply::Integer(1)]), text("")]),
            ),
        ];
        for (bytes, expected) in cases {
            let more = format!("{bytes}:1\r\n");
            assert_eq!(read(more.as_bytes()), Ok(Some((expected, bytes.len()))), "{bytes}");
            for end in 0..bytes.len() {
                assert_eq!(read(&bytes.as_bytes()[..end]), Ok(None), "{bytes} to {end}");
            }
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        let deep = "*1\r\n".repeat(100);
        let cases = [
            "\r\n",
            "HTTP/1.1 400\r\n",
            ":a\r\n",
            "$-2\r\n",
            "$99999999999\r\n",
            "*99999999999\r\n",
            "*-2\r\n",
            "_\r\n",
            "%1\r\n",
            "$1\r\nabc",
            ":99999999999999999999\r\n",
            &deep,
        ];
        for bytes in cases {
            assert_eq!(read(bytes.as_bytes()), Err(Away::Garbled), "{bytes}");
        }
    }
}
