//! Signed notes and the keys that verify them (C2SP, signed-note).

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};

use crate::limits::{MAX_KEY_NAME_BYTES, MAX_NOTE_BYTES, MAX_SIGNATURES};

/// A text with signatures, none of which was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The text, with its last line feed.
    pub text: String,
    /// The signatures.
    pub signatures: Vec<Signature>,
}

/// A signature of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name of the key.
    pub name: String,
    /// The id of the key.
    pub id: [u8; 4],
    /// The signature, whose form the type of the key gives.
    pub bytes: Vec<u8>,
}

/// A public key with a name, as verifiers are given it: `name+id+base64(type, key)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    /// The name of the key.
    pub name: String,
    /// The type of its signatures.
    pub kind: u8,
    /// The public key.
    pub key: Vec<u8>,
}

/// The reason for which bytes are no note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteError {
    /// It is longer than notes are read, or has more signatures.
    Long,
    /// It is not UTF-8, or has control characters.
    Characters,
    /// It has no text, no empty line, or a line that is no signature.
    Form,
}

impl Note {
    /// Reads a note.
    ///
    /// # Errors
    /// The bytes are no note.
    pub fn read(bytes: &[u8]) -> Result<Self, NoteError> {
        if bytes.len() > MAX_NOTE_BYTES {
            return Err(NoteError::Long);
        }
        let all = core::str::from_utf8(bytes).map_err(|_| NoteError::Characters)?;
        if all.chars().any(|one| one < ' ' && one != '\n') {
            return Err(NoteError::Characters);
        }
        let at = all.rfind("\n\n").ok_or(NoteError::Form)?.saturating_add(1);
        let (text, rest) = all.split_at_checked(at).ok_or(NoteError::Form)?;
        let lines = rest.strip_prefix('\n').and_then(|rest| rest.strip_suffix('\n'));
        let lines: Vec<&str> = lines.ok_or(NoteError::Form)?.split('\n').collect();
        if lines.len() > MAX_SIGNATURES {
            return Err(NoteError::Long);
        }
        let signatures: Option<Vec<Signature>> =
            lines.into_iter().map(Signature::read_line).collect();
        Ok(Self { text: text.to_owned(), signatures: signatures.ok_or(NoteError::Form)? })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(f, "{signature}"))
    }
}

impl Signature {
    fn read_line(line: &str) -> Option<Self> {
        let (name, base64) = line.strip_prefix("— ")?.split_once(' ')?;
        let bytes = Base64::decode_vec(base64).ok()?;
        let (id, bytes) = bytes.split_first_chunk()?;
        is_key_name(name).then(|| Self { name: name.to_owned(), id: *id, bytes: bytes.to_vec() })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [self.id.as_slice(), &self.bytes].concat();
        write!(f, "— {} {}", self.name, Base64::encode_string(&bytes))
    }
}

impl VerifierKey {
    /// Reads a key in its text form. Returns `None` if it is none, or if its id is that of another key.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '+');
        let (name, id, base64) = (parts.next()?, parts.next()?, parts.next()?);
        let bytes = Base64::decode_vec(base64).ok()?;
        let (kind, key) = bytes.split_first()?;
        let key = Self { name: name.to_owned(), kind: *kind, key: key.to_vec() };
        (is_key_name(name) && key.id_text() == id).then_some(key)
    }

    /// Returns the id of the key.
    #[must_use]
    pub fn id(&self) -> [u8; 4] {
        let hash = Sha256::new().chain_update(&self.name).chain_update([b'\n', self.kind]);
        let [a, b, c, d, ..] = <[u8; 32]>::from(hash.chain_update(&self.key).finalize());
        [a, b, c, d]
    }

    fn id_text(&self) -> String {
        format!("{:08x}", u32::from_be_bytes(self.id()))
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&[self.kind], self.key.as_slice()].concat();
        write!(f, "{}+{}+{}", self.name, self.id_text(), Base64::encode_string(&bytes))
    }
}

/// Returns true if a key may have this name.
#[must_use]
pub fn is_key_name(name: &str) -> bool {
    let is_odd = |one: char| one == '+' || one.is_whitespace() || one.is_control();
    (1..=MAX_KEY_NAME_BYTES).contains(&name.len()) && !name.contains(is_odd)
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Long => "expected a signed note, found one that is too long",
            Self::Characters => "expected a signed note, found bytes that are no such text",
            Self::Form => "expected a text, an empty line and signatures",
        })
    }
}

impl core::error::Error for NoteError {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    // The example of C2SP, signed-note.
    const NOTE: &str = "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n";

    #[test]
    fn a_note_is_written_as_it_was_read() {
        let note = Note::read(NOTE.as_bytes()).unwrap();
        assert!(note.text.ends_with("ed è subito sera.\n"));
        assert_eq!(note.signatures[0].name, "quasimodo.example/salvatore");
        assert_eq!(
            (note.signatures[0].id, note.signatures[0].bytes.len()),
            ([0x36, 0x7b, 0xa0, 0x4b], 64)
        );
        assert_eq!(note.to_string(), NOTE);
    }

    #[test]
    fn other_texts_are_no_notes() {
        let check =
            |text: &str, error| assert_eq!(Note::read(text.as_bytes()), Err(error), "{text}");
        check("", NoteError::Form);
        check("text\n", NoteError::Form);
        check("text\n\n", NoteError::Form);
        check("text\n\n— name\n", NoteError::Form);
        check("text\n\n— name AAAA\n", NoteError::Form);
        check("text\n\n— na+me AAAAAA==\n", NoteError::Form);
        check("text\n\n— name AAAAAA==", NoteError::Form);
        check("text\n\n- name AAAAAA==\n", NoteError::Form);
        check("te\txt\n\n— name AAAAAA==\n", NoteError::Characters);
        check(&"x".repeat(MAX_NOTE_BYTES + 1), NoteError::Long);
        let many = format!("text\n\n{}", "— name AAAAAA==\n".repeat(MAX_SIGNATURES + 1));
        check(&many, NoteError::Long);
        assert_eq!(Note::read(b"\xff\n\n"), Err(NoteError::Characters));
        assert!(Note::read(many.replacen("— name AAAAAA==\n", "", 1).as_bytes()).is_ok());
    }

    #[test]
    fn a_key_is_written_as_it_was_read() {
        let key = VerifierKey { name: "log.example/a".into(), kind: 6, key: alloc::vec![7; 1312] };
        let text = key.to_string();
        assert_eq!(VerifierKey::read(&text), Some(key));
        assert_eq!(VerifierKey::read(&text.replacen("log", "lag", 1)), None);
        assert_eq!(VerifierKey::read("name+00000000"), None);
        assert_eq!(VerifierKey::read(""), None);
    }

    #[test]
    fn the_id_of_a_key_is_that_of_another_implementation() {
        // The key of the Go checksum database, as its users know it.
        let key = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
        assert_eq!(VerifierKey::read(key).unwrap().to_string(), key);
    }
}
