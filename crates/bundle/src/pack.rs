//! Packing: a policy table becomes an unsigned bundle.
//!
//! The same table and label give the same bytes.

use alloc::vec::Vec;
use core::fmt;

use wardgate_crypto::blake3::hash;
use wardgate_engine::table::layout::FLAG_STRICT;
use wardgate_engine::table::{Evaluation, Parts};

use crate::chunks::cut;
use crate::compress::compress;
use crate::container::Container;
use crate::envelope::Envelope;
use crate::error::OpenError;
use crate::header::{Header, Label};
use crate::index::{BLOB, EXPLANATIONS, Index, RULES, TEXT, WORDS};
use crate::limits::{MAX_BUNDLE_BYTES, MAX_NAME_BYTES, MAX_NUMBER};
use crate::words;

/// The reason why a bundle was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackError {
    /// The label cannot be written: its name, a number or the order of its dates is wrong.
    Label,
    /// The table is larger than any bundle that is opened.
    TooLarge {
        /// The size of the table in bytes.
        bytes: usize,
    },
    /// The bundle to label again was refused.
    Refused(OpenError),
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label => write!(
                f,
                "expected a name of at most {MAX_NAME_BYTES} bytes without control characters, \
                 numbers up to {MAX_NUMBER} and an expiry after the beginning"
            ),
            Self::TooLarge { bytes } => write!(
                f,
                "the bundle would have {bytes} bytes, at most {MAX_BUNDLE_BYTES} are allowed"
            ),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PackError {}

/// Writes a table as an unsigned bundle without a name, of revision 0.
///
/// A table that is too large becomes a bundle that does not open; [`pack_as`] reports it at once.
///
/// # Examples
/// ```
/// use wardgate_bundle::{Conditions, Kind, Trust, open, pack};
/// use wardgate_engine::table::Parts;
///
/// let parts = Parts { words: vec![1, 2, 3, 4], text: "".into(), blob: [].into(), explanations: "".into() };
/// let bundle = pack(&parts);
/// assert_eq!(Kind::of(&bundle), Ok(Kind::Bundle));
/// // The digests fit, and these words are no policy table.
/// let refused = open(&bundle, Trust::Unsigned, &Conditions::default());
/// assert_eq!(refused.unwrap_err().code(), "malformed");
/// ```
#[must_use]
pub fn pack(parts: &Parts) -> Vec<u8> {
    packed(parts, &[], Label::default())
}

/// Writes a table as an unsigned bundle with this label.
///
/// # Errors
/// The label or the table cannot be written.
pub fn pack_as(parts: &Parts, label: &Label) -> Result<Vec<u8>, PackError> {
    labelled(parts, &[], label)
}

/// Writes a table, and rules in the encoding of a bundle.
pub(crate) fn labelled(parts: &Parts, rules: &[u8], label: &Label) -> Result<Vec<u8>, PackError> {
    if !label.is_sound() {
        return Err(PackError::Label);
    }
    let bundle = packed(parts, rules, label.clone());
    if bundle.len() > MAX_BUNDLE_BYTES {
        return Err(PackError::TooLarge { bytes: bundle.len() });
    }
    Ok(bundle)
}

/// Returns the bundle under another label, without its signatures: they were over the old label.
///
/// # Errors
/// The bundle is refused, or the label cannot be written.
pub fn relabel(bundle: &[u8], label: &Label) -> Result<Vec<u8>, PackError> {
    if !label.is_sound() {
        return Err(PackError::Label);
    }
    let container = Container::verified(bundle).map_err(PackError::Refused)?;
    let envelope = Envelope::read(container.envelope).map_err(PackError::Refused)?;
    let header = container.header(&envelope).map_err(PackError::Refused)?;
    let payload = Header { label: label.clone(), ..header }.payload();
    let envelope = Envelope { payload: &payload, signatures: Vec::new() }.bytes();
    Ok(Container { envelope: &envelope, ..container }.bytes())
}

fn packed(parts: &Parts, rules: &[u8], label: Label) -> Vec<u8> {
    let words = words::write(&parts.words);
    let pieces = [
        (WORDS, words.as_slice()),
        (TEXT, parts.text.as_bytes()),
        (BLOB, &parts.blob),
        (EXPLANATIONS, parts.explanations.as_bytes()),
        (RULES, rules),
    ];
    let (mut index, mut content) = (Vec::new(), Vec::new());
    for (part, piece) in pieces {
        for plain in cut(piece) {
            let block = if part == RULES { None } else { compress(plain) };
            let chunk = block.as_deref().unwrap_or(plain);
            Index::write(&mut index, part, plain.len(), chunk);
            content.extend_from_slice(chunk);
        }
    }
    let root = hash(&index);
    let payload = Header { label, evaluation: evaluation(parts), content: root }.payload();
    let envelope = Envelope { payload: &payload, signatures: Vec::new() }.bytes();
    let index = Index::unread(&index);
    let is_stripped = false;
    Container { base: None, root, envelope: &envelope, index, is_stripped, content: &content }
        .bytes()
}

/// Returns the bundle without its explanations: names of files and sources of expressions. Its
/// signatures stay, and its decisions but for the expressions that errors name. A delta from it to
/// the whole bundle carries the explanations.
///
/// # Errors
/// The first reason found to refuse the bundle.
pub fn strip(bundle: &[u8]) -> Result<Vec<u8>, OpenError> {
    let container = Container::verified(bundle)?;
    let kept = container.chunks().filter(|(entry, _)| entry.part != EXPLANATIONS);
    let content: Vec<u8> = kept.flat_map(|(_, chunk)| chunk).copied().collect();
    Ok(Container { is_stripped: true, content: &content, ..container }.bytes())
}

/// Returns the mode that the table states, valid or not: opening compares it with the header.
fn evaluation(parts: &Parts) -> Evaluation {
    let flags = parts.words.get(FLAGS_WORD).copied().unwrap_or(0);
    if flags & FLAG_STRICT != 0 { Evaluation::Strict } else { Evaluation::Lenient }
}

/// The index of the word with the flags in a table.
const FLAGS_WORD: usize = 2;
