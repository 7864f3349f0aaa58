//! BLAKE3: one message, and a thousand of them.

use std::cell::RefCell;
use std::hint::black_box;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde_json::{Value as Json, json};
use wardgate_crypto::blake3::{self as ours, Digest};

use super::versions::BLAKE3;
use super::{Entry, Work, bytes, size};
use crate::measure::Side;
use crate::report::Section;

/// Messages of one length and their digests.
pub(super) struct Hashes {
    length: usize,
    messages: Vec<Vec<u8>>,
    digests: Vec<Digest>,
}

impl Hashes {
    /// Returns the sizes of the report, one after the other: the largest fill tens of megabytes.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let one = [64, KIB, 64 * KIB, MIB, 16 * MIB].map(|length| (1, length));
        let many = [64, KIB, 64 * KIB].map(|length| (1000, length));
        one.into_iter().chain(many).map(|(count, length)| Self::new(count, length))
    }

    fn new(count: usize, length: usize) -> Self {
        let messages: Vec<Vec<u8>> = (0..count).map(|message| bytes(message, length)).collect();
        let digests = messages.iter().map(|message| blake3::hash(message).into()).collect();
        Self { length, messages, digests }
    }

    /// Makes a row that hashes the message where there is only one.
    fn one<'a>(&'a self, name: &str, side: Side, hash: impl Fn(&[u8]) -> Digest + 'a) -> Entry<'a> {
        let pairs = move || self.messages.iter().zip(&self.digests);
        Entry::new(name, side, move |_| {
            pairs().all(|(message, digest)| hash(black_box(message)) == *digest)
        })
    }

    /// Makes a row that hashes all messages. All digests are compared once, later only the last:
    /// comparing them all would cost more than the fastest row takes.
    fn many<'a>(
        &'a self,
        name: &str,
        side: Side,
        hash: impl Fn(&[&[u8]], &mut [Digest]) + 'a,
    ) -> Result<Entry<'a>, String> {
        let messages: Vec<&[u8]> = self.messages.iter().map(Vec::as_slice).collect();
        let mut digests = vec![Digest::default(); messages.len()];
        hash(&messages, &mut digests);
        if digests != self.digests {
            return Err(format!("{name}: a digest is wrong"));
        }
        let digests = RefCell::new(digests);
        Ok(Entry::new(name, side, move |_| {
            let mut digests = digests.borrow_mut();
            // A digest of the pass before must not pass for one of this pass.
            digests.last_mut().into_iter().for_each(|digest| *digest = Digest::default());
            hash(black_box(&messages), &mut digests);
            digests.last() == self.digests.last()
        }))
    }

    fn rows_of_one(&self) -> Vec<Entry<'_>> {
        let mut entries = vec![
            self.one("Wardgate hash", Side::Ours, ours::hash),
            self.one(BLAKE3, Side::Rival, |message| blake3::hash(message).into()),
        ];
        if self.length >= WORTH_ALL_CORES {
            entries.push(self.one(&format!("all cores: {BLAKE3}"), Side::Rival, |message| {
                blake3::Hasher::new().update_rayon(message).finalize().into()
            }));
        }
        entries
    }

    fn rows_of_many(&self) -> Result<Vec<Entry<'_>>, String> {
        let one_by_one = |hash: fn(&[u8]) -> Digest| {
            move |messages: &[&[u8]], digests: &mut [Digest]| {
                let places = digests.iter_mut().zip(messages);
                places.for_each(|(place, message)| *place = hash(message));
            }
        };
        let rival: fn(&[u8]) -> Digest = |message| blake3::hash(message).into();
        let on_all_cores = move |messages: &[&[u8]], digests: &mut [Digest]| {
            messages
                .par_iter()
                .map(|message| rival(message))
                .zip(digests)
                .for_each(|(digest, place)| *place = digest);
        };
        Ok(vec![
            self.many("Wardgate hash_many", Side::Ours, |messages, digests| {
                // There is a digest for each message.
                let _ = ours::hash_many(messages, digests);
            })?,
            self.many("Wardgate hash, one by one", Side::Ours, one_by_one(ours::hash))?,
            self.many(&format!("{BLAKE3}, one by one"), Side::Rival, one_by_one(rival))?,
            self.many(&format!("all cores: {BLAKE3}"), Side::Rival, on_all_cores)?,
        ])
    }
}

impl Work for Hashes {
    fn section(&self) -> Section {
        let (count, length) = (self.messages.len(), self.length);
        let (name, title) = match count {
            1 => (format!("crypto-blake3-{length}"), format!("BLAKE3: {}", size(length))),
            _ => (
                format!("crypto-blake3-{count}x{length}"),
                format!("BLAKE3: {count} messages of {}", size(length)),
            ),
        };
        Section { bytes: count * length, ..Section::new(name, title, NOTE) }
    }

    fn rows(&self) -> Result<Vec<Entry<'_>>, String> {
        if self.messages.len() == 1 { Ok(self.rows_of_one()) } else { self.rows_of_many() }
    }

    fn job(&self) -> Json {
        json!({
            "work": "hash",
            "count": self.messages.len(),
            "bytes": self.length,
            "digests": STANDARD.encode(self.digests.concat()),
            "names": { "blake3": BLAKE3 },
        })
    }
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The authors advise against it below 128 KiB.
const WORTH_ALL_CORES: usize = 128 * KIB;

const NOTE: &str = "In WebAssembly the bytes are in the module's memory beforehand, except where a row says that \
    each call hands them over; the other rows in Node read them where JavaScript has them.";
