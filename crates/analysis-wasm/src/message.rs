//! Messages: a head of JSON, and files.
//!
//! The head follows its length, and so do the path and the contents of each file. Lengths are words of four bytes,
//! the low byte first. Files end where the message ends.

use serde::de::DeserializeOwned;

use crate::refusal::Refusal;

/// The files and options that the host sends with a call.
#[derive(Debug)]
pub(crate) struct Message<'m> {
    head: &'m [u8],
    /// Paths and contents.
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

impl<'m> Message<'m> {
    /// Reads a message.
    pub(crate) fn read(bytes: &'m [u8]) -> Result<Self, Refusal> {
        let (head, mut rest) = split(bytes).ok_or(Refusal::Malformed)?;
        let mut files = Vec::new();
        while !rest.is_empty() {
            let (path, behind) = split(rest).ok_or(Refusal::Malformed)?;
            let (contents, behind) = split(behind).ok_or(Refusal::Malformed)?;
            let path = std::str::from_utf8(path).map_err(|_| Refusal::Malformed)?;
            files.push((path.to_owned(), contents.to_vec()));
            rest = behind;
        }
        Ok(Self { head, files })
    }

    /// Reads the head.
    pub(crate) fn head<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(self.head).map_err(|_| Refusal::Malformed)
    }
}

/// Returns the first part of some bytes, which follows its length, and the rest.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        [length.as_slice(), bytes].concat()
    }

    #[test]
    fn a_message_has_a_head_and_files() {
        let bytes = [part(b"[1]"), part("é.yaml".as_bytes()), part(b"\xff")].concat();
        let message = Message::read(&bytes).unwrap();
        assert_eq!(message.head::<Vec<u8>>().unwrap(), [1]);
        assert_eq!(message.files, [("é.yaml".to_owned(), vec![0xff])]);
    }

    #[test]
    fn malformed_messages_are_refused() {
        let whole = [part(b"{}"), part(b"a"), part(b"b")].concat();
        for end in [0, 3, 5, 7, 10, 11, whole.len() - 1] {
            assert!(matches!(Message::read(&whole[..end]), Err(Refusal::Malformed)), "{end}");
        }
        assert!(Message::read(&[part(b"{}"), part(b"\xff"), part(b"b")].concat()).is_err());
        let head = part(b"{");
        assert!(Message::read(&head).unwrap().head::<Vec<u8>>().is_err());
    }
}
