//! Redaction: records that prove a value without holding it, and values that can be forgotten.
//!
//! Each subject has a random key. With it the log commits to a value, and seals the value beside the log.
//! Whoever deletes the key forgets the values of the subject in every copy: sealed values cannot be opened,
//! commitments cannot be tried with guesses, and the proofs of all records hold as before, since
//! they are over commitments.
//!
//! Keys are secrets. A commitment is of one field of one record, so equal values do not look equal.
//!
//! # Examples
//! ```
//! use wardgate_decision_log::redaction::{Field, ValuePosition, SubjectKey};
//!
//! let key = SubjectKey::new([7; 32]); // random, and kept beside the log
//! let place = ValuePosition { record: 12, field: Field::Principal };
//! let (commitment, sealed) = key.seal(place, b"ada").unwrap();
//! assert_eq!(key.unseal(place, &commitment, &sealed).as_deref(), Some(&b"ada"[..]));
//! assert!(key.is_commitment(&commitment, place, b"ada"));
//! assert!(!key.is_commitment(&commitment, place, b"eve"));
//! ```

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::iter;

use wardgate_crypto::blake3::{self, KeyedBlock};

use crate::bytes::{Reader, put_bytes};
use crate::limits::MAX_SEALED_BYTES;

/// The values of records that are committed to and sealed. Their numbers are in commitments, and stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The id of the principal.
    Principal,
    /// The id of the resource.
    Resource,
    /// The evidence.
    Evidence,
}

/// The place of a value in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePosition {
    /// The number of the record.
    pub record: u64,
    /// The field of the record.
    pub field: Field,
}

/// The key of a subject: a secret.
pub struct SubjectKey {
    number: [u8; 16],
    salts: [u8; 32],
    sealing: [u8; 32],
}

/// The key of a log by which pseudonyms are made and keys of subjects are found: a secret.
pub struct LogSecret {
    pseudonyms: [u8; 32],
    subjects: [u8; 32],
}

/// A value that was sealed, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The place of the value.
    pub place: ValuePosition,
    /// The number of the key that opens it.
    pub key: [u8; 16],
    /// The ciphertext.
    pub bytes: Vec<u8>,
}

impl Field {
    const fn code(self) -> u8 {
        match self {
            Self::Principal => 1,
            Self::Resource => 2,
            Self::Evidence => 3,
        }
    }

    const fn of(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Principal),
            2 => Some(Self::Resource),
            3 => Some(Self::Evidence),
            _ => None,
        }
    }
}

impl ValuePosition {
    /// Returns the bytes that stand for the place, of which no two places have the same.
    fn bytes(self) -> [u8; PLACE_BYTES] {
        let [a, b, c, d, e, f, g, h] = self.record.to_le_bytes();
        [a, b, c, d, e, f, g, h, self.field.code(), 0, 0, 0]
    }
}

impl SubjectKey {
    /// Makes the key of 32 random bytes.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            number: half(blake3::derive_key("wardgate decision log 1: number of a key", &key)),
            salts: blake3::derive_key("wardgate decision log 1: salts of a subject", &key),
            sealing: blake3::derive_key("wardgate decision log 1: sealing for a subject", &key),
        }
    }

    /// Returns the number by which sealed values name the key. It comes from the key alone, so once that is deleted nothing
    /// ties the number to the subject.
    #[must_use]
    pub const fn number(&self) -> [u8; 16] {
        self.number
    }

    /// Returns the commitment to a value at a place.
    #[must_use]
    pub fn commit(&self, place: ValuePosition, value: &[u8]) -> [u8; 32] {
        let salt = blake3::keyed(&self.salts, &place.bytes());
        blake3::keyed(&salt, value)
    }

    /// Returns true if the commitment is to this value at this place.
    #[must_use]
    pub fn is_commitment(&self, commitment: &[u8; 32], place: ValuePosition, value: &[u8]) -> bool {
        self.commit(place, value) == *commitment
    }

    /// Commits to a value at a place, and seals it. Returns `None` if the value is longer than sealed values are read.
    ///
    /// The key stream follows from the commitment, which also tells whether a value was opened right. So two values at one
    /// place, of which the first record was lost, have two key streams, and one value is sealed into the same bytes again.
    #[must_use]
    pub fn seal(&self, place: ValuePosition, value: &[u8]) -> Option<([u8; 32], Vec<u8>)> {
        if value.len() > MAX_SEALED_BYTES {
            return None;
        }
        let commitment = self.commit(place, value);
        Some((commitment, self.encrypted(&commitment, value)))
    }

    /// Opens a value that was sealed at a place, or returns `None` if it is none of this subject, place and commitment.
    #[must_use]
    pub fn unseal(
        &self,
        place: ValuePosition,
        commitment: &[u8; 32],
        sealed: &[u8],
    ) -> Option<Vec<u8>> {
        let value = self.encrypted(commitment, sealed);
        self.is_commitment(commitment, place, &value).then_some(value)
    }

    /// Encrypts bytes, or decrypts them.
    fn encrypted(&self, commitment: &[u8; 32], bytes: &[u8]) -> Vec<u8> {
        let mut stream = vec![0; bytes.len()];
        blake3::keyed_xof(&self.sealing, commitment, &mut stream);
        xor(&mut stream, bytes);
        stream
    }
}

/// Values of many records and subjects that are hidden together: their digests share the lanes of the machine.
#[derive(Debug, Default)]
pub struct ValueBatch {
    values: Vec<Value>,
    bytes: Vec<u8>,
    commitments: Vec<[u8; 32]>,
}

/// A value of a batch, whose bytes begin where those before it end.
#[derive(Debug)]
struct Value {
    key: Arc<SubjectKey>,
    place: ValuePosition,
    end: usize,
}

/// A value that was hidden.
#[derive(Clone, Copy, Debug)]
pub struct HiddenValue<'v> {
    /// The place of the value.
    pub place: ValuePosition,
    /// The number of the key that opens it.
    pub key: [u8; 16],
    /// The commitment to it.
    pub commitment: [u8; 32],
    /// The ciphertext.
    pub bytes: &'v [u8],
}

impl ValueBatch {
    /// Adds a value of a subject at a place. Returns false, and adds nothing, if it is longer than sealed values are read.
    #[must_use]
    pub fn add(&mut self, key: &Arc<SubjectKey>, place: ValuePosition, value: &[u8]) -> bool {
        if value.len() > MAX_SEALED_BYTES {
            return false;
        }
        self.bytes.extend_from_slice(value);
        self.values.push(Value { key: Arc::clone(key), place, end: self.bytes.len() });
        true
    }

    /// Returns the number of values.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Commits to all values and seals them, as [`SubjectKey::seal`] does. It is called once for the values of a batch.
    pub fn hide(&mut self) {
        let places: Vec<_> = self.values.iter().map(|value| value.place.bytes()).collect();
        let salts = digests(self.values.iter().zip(&places).map(|(value, place)| KeyedBlock {
            key: &value.key.salts,
            message: place,
            number: 0,
        }));
        self.commitments = digests(salts.iter().zip(self.texts()).map(|(salt, text)| KeyedBlock {
            key: salt,
            message: text,
            number: 0,
        }));
        let streams = self.values.iter().zip(&self.commitments).zip(self.texts());
        let blocks = streams.flat_map(|((value, commitment), text)| {
            let block =
                |number| KeyedBlock { key: &value.key.sealing, message: commitment, number };
            (0..).map(block).take(text.len().div_ceil(STREAM_BYTES))
        });
        let stream = output(blocks);
        let (mut blocks, mut start) = (stream.as_slice(), 0);
        for value in &self.values {
            let text = self.bytes.get_mut(start..value.end).unwrap_or_default();
            let count = text.len().div_ceil(STREAM_BYTES);
            let (own, rest) = blocks.split_at_checked(count).unwrap_or_default();
            xor(text, own.as_flattened());
            (blocks, start) = (rest, value.end);
        }
    }

    /// Returns the values that were hidden, in the order in which they were added.
    pub fn hidden(&self) -> impl Iterator<Item = HiddenValue<'_>> {
        let values = self.values.iter().zip(&self.commitments).zip(self.texts());
        values.map(|((value, commitment), bytes)| HiddenValue {
            place: value.place,
            key: value.key.number,
            commitment: *commitment,
            bytes,
        })
    }

    /// Removes all values, and keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.bytes.clear();
        self.commitments.clear();
    }

    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.values.iter().map(|value| value.end);
        let starts = iter::once(0).chain(ends.clone());
        starts.zip(ends).map(|(start, end)| self.bytes.get(start..end).unwrap_or_default())
    }
}

/// Returns the digest of each message.
fn digests<'a>(inputs: impl Iterator<Item = KeyedBlock<'a>>) -> Vec<[u8; 32]> {
    let halves = output(inputs).into_iter().map(|block| block.first_chunk().copied());
    halves.map(Option::unwrap_or_default).collect()
}

fn output<'a>(inputs: impl Iterator<Item = KeyedBlock<'a>>) -> Vec<blake3::OutputBlock> {
    let inputs: Vec<_> = inputs.collect();
    let mut blocks = vec![[0; STREAM_BYTES]; inputs.len()];
    // The lengths are equal.
    blake3::keyed_blocks(&inputs, &mut blocks).unwrap_or_default();
    blocks
}

fn xor(bytes: &mut [u8], with: &[u8]) {
    bytes.iter_mut().zip(with).for_each(|(byte, with)| *byte ^= with);
}

impl LogSecret {
    /// Makes the key of 32 random bytes.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            pseudonyms: blake3::derive_key("wardgate decision log 1: pseudonyms", &key),
            subjects: blake3::derive_key("wardgate decision log 1: names of subjects", &key),
        }
    }

    /// Returns the pseudonym of an id: equal for equal ids of one field.
    #[must_use]
    pub fn pseudonym(&self, field: Field, id: &str) -> [u8; 16] {
        half(blake3::keyed(&self.pseudonyms, &[&[field.code()], id.as_bytes()].concat()))
    }

    /// Returns the name under which the key of a subject is kept, from which the id cannot be read.
    #[must_use]
    pub fn subject(&self, id: &str) -> [u8; 16] {
        half(blake3::keyed(&self.subjects, id.as_bytes()))
    }
}

impl Sealed {
    /// Writes the value behind `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        put_sealed((self.place, &self.key, &self.bytes), out);
    }

    /// Reads the value at the beginning of `bytes`, and returns the rest, or `None` if there is none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut reader = Reader::new(bytes);
        let place = ValuePosition { record: reader.long()?, field: Field::of(reader.byte()?)? };
        let (key, sealed) = (reader.array()?, reader.bytes(MAX_SEALED_BYTES)?);
        Some((Self { place, key, bytes: sealed.to_vec() }, reader.rest()))
    }
}

impl HiddenValue<'_> {
    /// Writes the sealed value behind `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        put_sealed((self.place, &self.key, self.bytes), out);
    }
}

fn put_sealed((place, key, bytes): (ValuePosition, &[u8; 16], &[u8]), out: &mut Vec<u8>) {
    out.extend(place.record.to_le_bytes());
    out.push(place.field.code());
    out.extend(key);
    put_bytes(bytes, out);
}

/// Shows no secret.
impl fmt::Debug for SubjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubjectKey")
    }
}

/// Shows no secret.
impl fmt::Debug for LogSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogSecret")
    }
}

fn half(digest: [u8; 32]) -> [u8; 16] {
    let (half, _) = digest.as_chunks::<16>();
    half.first().copied().unwrap_or_default()
}

/// The bytes that stand for a place.
const PLACE_BYTES: usize = 12;

/// The bytes of a block of a key stream.
const STREAM_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    fn place(record: u64, field: Field) -> ValuePosition {
        ValuePosition { record, field }
    }

    #[test]
    fn equal_values_have_different_commitments_in_each_place() {
        let (key, other) = (SubjectKey::new([1; 32]), SubjectKey::new([2; 32]));
        let here = place(1, Field::Principal);
        let commitment = key.commit(here, b"ada");
        for there in [place(2, Field::Principal), place(1, Field::Resource)] {
            assert_ne!(key.commit(there, b"ada"), commitment);
            assert!(!key.is_commitment(&commitment, there, b"ada"));
        }
        assert_ne!(other.commit(here, b"ada"), commitment);
        assert!(key.is_commitment(&commitment, here, b"ada"));
    }

    #[test]
    fn without_the_key_no_guess_can_be_tried() {
        let commitment = SubjectKey::new([1; 32]).commit(place(1, Field::Principal), b"word 7");
        let words: Vec<String> = (0..1000).map(|number| format!("word {number}")).collect();
        let (other, here) = (SubjectKey::new([0; 32]), place(1, Field::Principal));
        let is_found = |word: &String| other.is_commitment(&commitment, here, word.as_bytes());
        assert!(!words.iter().any(is_found));
    }

    #[test]
    fn values_are_opened_by_their_key_in_their_place() {
        let (key, here) = (SubjectKey::new([1; 32]), place(9, Field::Evidence));
        let (commitment, sealed) = key.seal(here, b"value").unwrap();
        assert_eq!(commitment, key.commit(here, b"value"));
        assert_eq!(key.unseal(here, &commitment, &sealed).as_deref(), Some(&b"value"[..]));
        assert_eq!(key.unseal(place(8, Field::Evidence), &commitment, &sealed), None);
        assert_eq!(key.unseal(place(9, Field::Resource), &commitment, &sealed), None);
        assert_eq!(key.unseal(here, &key.commit(here, b"other"), &sealed), None);
        assert_eq!(SubjectKey::new([2; 32]).unseal(here, &commitment, &sealed), None);
        assert_eq!(key.seal(here, &[0; MAX_SEALED_BYTES + 1]), None);
        let mut changed = sealed;
        changed[0] ^= 1;
        assert_eq!(key.unseal(here, &commitment, &changed), None);
    }

    #[test]
    fn two_values_at_one_place_share_no_key_stream() {
        let (key, here) = (SubjectKey::new([1; 32]), place(9, Field::Evidence));
        let sealed = |value: &[u8]| key.seal(here, value).unwrap().1;
        let (one, other) = (sealed(&[0; 32]), sealed(&[1; 32]));
        let differs = one.iter().zip(&other).take(32).any(|(one, other)| one ^ other != 1);
        assert!(differs, "the texts follow from the sealed values");
        assert_eq!(sealed(&[0; 32]), one);
    }

    #[test]
    fn a_batch_hides_each_value_as_its_key_does_alone() {
        let keys: Vec<_> = (0..5).map(|seed| Arc::new(SubjectKey::new([seed; 32]))).collect();
        let text: Vec<u8> = (0..2000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let mut batch = ValueBatch::default();
        for count in [0, 1, 2, 3, 17, 100] {
            batch.clear();
            let values = (0..count).map(|at| {
                let field = [Field::Principal, Field::Resource, Field::Evidence][at % 3];
                let length = [0, 3, 31, 64, 65, 128, 1025, 2000][at * 3 % 8];
                (&keys[at % 5], place(u64::try_from(at).unwrap(), field), &text[..length])
            });
            let values: Vec<_> = values.collect();
            assert!(values.iter().all(|(key, place, value)| batch.add(key, *place, value)));
            assert!(!batch.add(&keys[0], place(0, Field::Evidence), &[0; MAX_SEALED_BYTES + 1]));
            batch.hide();
            assert_eq!((batch.count(), batch.hidden().count()), (count, count));
            for (hidden, (key, place, value)) in batch.hidden().zip(&values) {
                let (commitment, sealed) = key.seal(*place, value).unwrap();
                assert_eq!((hidden.place, hidden.key), (*place, key.number()));
                assert_eq!((hidden.commitment, hidden.bytes), (commitment, &*sealed));
            }
        }
    }

    #[test]
    fn sealed_values_are_read_as_they_were_written() {
        let values = [
            Sealed { place: place(1, Field::Principal), key: [1; 16], bytes: alloc::vec![1, 2, 3] },
            Sealed { place: place(u64::MAX, Field::Evidence), key: [2; 16], bytes: Vec::new() },
        ];
        let mut bytes = Vec::new();
        values.iter().for_each(|value| value.write(&mut bytes));
        let (first, rest) = Sealed::read(&bytes).unwrap();
        let (second, rest) = Sealed::read(rest).unwrap();
        assert_eq!(([first, second], rest.len()), (values, 0));
        assert_eq!(Sealed::read(&bytes[..10]), None);
    }

    #[test]
    fn pseudonyms_join_equal_ids_of_a_field() {
        let secret = LogSecret::new([3; 32]);
        assert_eq!(
            secret.pseudonym(Field::Principal, "a"),
            secret.pseudonym(Field::Principal, "a")
        );
        assert_ne!(secret.pseudonym(Field::Principal, "a"), secret.pseudonym(Field::Resource, "a"));
        assert_ne!(secret.pseudonym(Field::Principal, "a"), secret.subject("a"));
        assert_ne!(secret.subject("a"), LogSecret::new([4; 32]).subject("a"));
    }

    #[test]
    fn no_secret_is_shown() {
        assert_eq!(format!("{:?}", SubjectKey::new([1; 32])), "SubjectKey");
        assert_eq!(format!("{:?}", LogSecret::new([1; 32])), "LogSecret");
    }
}
