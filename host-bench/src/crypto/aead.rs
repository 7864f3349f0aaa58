//! Authenticated encryption: a text is sealed in its place, and opened again.
//!
//! So every pass starts from the same bytes, and no row copies any. Ciphers have their keys ready
//! where their interface lets them.

mod rivals;

use std::cell::RefCell;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use wardgate_crypto::aead::aegis::Suite;
use wardgate_crypto::aead::{self, Key, Nonce, Tag, aegis};

use super::versions::CHACHA20POLY1305;
use super::{Entry, Work, bytes, size};
use crate::measure::Side;
use crate::report::Section;

/// A text to seal, and its right tags.
pub(super) struct Text {
    text: Vec<u8>,
    chacha: Tag,
    aes: Tag,
    aegis: Tag,
}

/// Something that seals and opens.
trait Cipher {
    /// Turns a text into its ciphertext; returns `None` if the library refuses.
    fn seal(&self, text: &mut [u8]) -> Option<Tag>;

    /// Turns a ciphertext into its text, and returns true if it is authentic.
    fn open(&self, text: &mut [u8], tag: &Tag) -> bool;
}

impl Text {
    /// Returns the sizes of the report.
    pub(super) fn all() -> Result<Vec<Self>, String> {
        [64, 1024, 64 * 1024, 1024 * 1024].into_iter().map(Self::new).collect()
    }

    /// Makes a text of this length. The tags come from libraries of others.
    fn new(length: usize) -> Result<Self, String> {
        let text = bytes(0, length);
        let tag = |cipher: &dyn Cipher| cipher.seal(&mut text.clone()).ok_or("no tag to expect");
        let (chacha, aes) = (tag(&rivals::chacha20poly1305())?, tag(&*rivals::expected_aes()?)?);
        let aegis = tag(&Suite::Aegis256X4)?;
        Ok(Self { chacha, aes, aegis, text })
    }

    fn entry<'a>(
        &'a self,
        name: &str,
        side: Side,
        cipher: impl Cipher + 'a,
        expected: &'a Tag,
    ) -> Result<Entry<'a>, String> {
        self.confirm(&cipher, expected).map_err(|error| format!("{name}: {error}"))?;
        let text = RefCell::new(self.text.clone());
        Ok(Entry::new(name, side, move |_| {
            let mut text = text.borrow_mut();
            let tag = cipher.seal(&mut text);
            tag.is_some_and(|tag| tag == *expected && cipher.open(&mut text, &tag))
        }))
    }

    /// Seals and opens once, and compares every byte; then it does so with a forged text.
    fn confirm(&self, cipher: &impl Cipher, expected: &Tag) -> Result<(), &'static str> {
        let mut text = self.text.clone();
        let mut tag = cipher.seal(&mut text).ok_or("does not seal")?;
        if tag != *expected || text == self.text {
            return Err("seals to something else");
        }
        let sealed = text.clone();
        if !cipher.open(&mut text, &tag) || text != self.text {
            return Err("does not open what it sealed");
        }
        tag[0] ^= 1;
        if cipher.open(&mut sealed.clone(), &tag) { Err("opens what is forged") } else { Ok(()) }
    }
}

impl Work for Text {
    fn section(&self) -> Section {
        let length = self.text.len();
        let title = format!("Authenticated encryption: {} sealed and opened again", size(length));
        // Each byte is processed twice.
        Section { bytes: 2 * length, ..Section::new(format!("crypto-aead-{length}"), title, NOTE) }
    }

    fn rows(&self) -> Result<Vec<Entry<'_>>, String> {
        let mut entries = vec![
            self.entry(OURS, Side::Ours, Ours, &self.chacha)?,
            self.entry(AEGIS, Side::Ours, Suite::Aegis256X4, &self.aegis)?,
        ];
        for (name, cipher) in rivals::chacha()? {
            entries.push(self.entry(&name, Side::Rival, cipher, &self.chacha)?);
        }
        for (name, cipher) in rivals::aes()? {
            entries.push(self.entry(&name, Side::Rival, cipher, &self.aes)?);
        }
        Ok(entries)
    }

    fn job(&self) -> Json {
        json!({
            "work": "aead",
            "bytes": self.text.len(),
            "key": STANDARD.encode(KEY),
            "nonce": STANDARD.encode(NONCE),
            "associated": STANDARD.encode(ASSOCIATED),
            "chacha": STANDARD.encode(self.chacha),
            "aes": STANDARD.encode(self.aes),
            "names": { "chacha20poly1305": CHACHA20POLY1305 },
        })
    }
}

impl<T: Cipher + ?Sized> Cipher for Box<T> {
    fn seal(&self, text: &mut [u8]) -> Option<Tag> {
        (**self).seal(text)
    }

    fn open(&self, text: &mut [u8], tag: &Tag) -> bool {
        (**self).open(text, tag)
    }
}

/// Wardgate.
struct Ours;

impl Cipher for Ours {
    fn seal(&self, text: &mut [u8]) -> Option<Tag> {
        aead::seal_in_place(&KEY, &NONCE, ASSOCIATED, text).ok()
    }

    fn open(&self, text: &mut [u8], tag: &Tag) -> bool {
        aead::open_in_place(&KEY, &NONCE, ASSOCIATED, text, tag).is_ok()
    }
}

/// The suite between native hosts.
impl Cipher for Suite {
    fn seal(&self, text: &mut [u8]) -> Option<Tag> {
        Some(self.seal_in_place(&KEY, &LONG_NONCE, ASSOCIATED, text))
    }

    fn open(&self, text: &mut [u8], tag: &Tag) -> bool {
        self.open_in_place(&KEY, &LONG_NONCE, ASSOCIATED, text, tag).is_ok()
    }
}

const OURS: &str = "Wardgate ChaCha20-Poly1305";
const AEGIS: &str = "Wardgate AEGIS-256X4, between native hosts";
const NOTE: &str = "Throughput counts the bytes of both directions. WebAssembly has them in its memory beforehand.";
const KEY: Key = [7; 32];
/// Used again in every pass, which is forbidden outside a benchmark.
const NONCE: Nonce = [9; 12];
const LONG_NONCE: aegis::Nonce = [9; 32];
const ASSOCIATED: &[u8] = b"sixteen bytes...";
