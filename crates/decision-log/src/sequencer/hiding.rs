//! What a sequencer hides: the ids and the evidence that isolates sent as they are.
//!
//! Only here is the number of a record known, which commitments are over. Records get commitments under the key of their principal,
//! and the sealed values go beside the segment. **A value that cannot be hidden is left out.**

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, mem};

use wardgate_crypto::blake3;

use super::{Condition, SequencerError, Write};
use crate::limits::MAX_SUBJECTS;
use crate::record::{Decision, Evidence, Identity, ShortText};
use crate::redaction::{Field, LogSecret, Sealed, SubjectKey, ValuePosition};
use crate::subjects::{ENTRY_BYTES, SubjectName, SubjectSecret, entry, read_entry};

/// The object of the keys of subjects.
const KEYS: &str = "private/keys.wgk";

/// The keys of subjects, and the values of the next segment.
pub(super) struct Hiding {
    secret: LogSecret,
    keys: BTreeMap<SubjectName, SubjectSecret>,
    /// True if the object of the keys is not as they are.
    have_changed: bool,
    seed: Seed,
    values: Vec<u8>,
    /// The random number of the sequencer, by which no two of them write one object of values.
    instance: [u8; 16],
}

/// A source of random keys. Each key leaves a seed behind from which it cannot be computed again: a key that is
/// erased is in no memory.
struct Seed([u8; 32]);

impl Hiding {
    /// Reads the keys of subjects; none are in an object that is empty. `randomness` is a random seed.
    pub(super) fn read(
        (secret, instance): (LogSecret, [u8; 16]),
        keys: &[u8],
        randomness: [u8; 32],
    ) -> Result<Self, SequencerError> {
        let (entries, rest) = keys.as_chunks::<ENTRY_BYTES>();
        if !rest.is_empty() || entries.len() > MAX_SUBJECTS {
            return Err(SequencerError::Keys);
        }
        let mut known = BTreeMap::new();
        // Not collected: that sorts, which makes a larger module.
        for found in entries {
            let (name, secret) = read_entry(found).ok_or(SequencerError::Keys)?;
            known.insert(name, secret);
        }
        let (have_changed, seed, values) = (false, Seed(randomness), Vec::new());
        Ok(Self { secret, keys: known, have_changed, seed, values, instance })
    }

    /// Returns the bytes of the values of the next segment.
    pub(super) const fn length(&self) -> usize {
        self.values.len()
    }

    /// Puts commitments in the places of the ids and the evidence of a decision whose record has this number.
    pub(super) fn hide(&mut self, decision: &mut Decision, record: u64) {
        let key = match &decision.principal {
            Identity::Clear(id) => self.key(id.as_str()),
            _ => None,
        };
        let mut seal = |field, value: &[u8]| {
            let place = ValuePosition { record, field };
            let key = key.as_ref()?;
            let (commitment, bytes) = key.seal(place, value)?;
            Sealed { place, key: key.number(), bytes }.write(&mut self.values);
            Some(commitment)
        };
        let ids = [
            (Field::Principal, &mut decision.principal),
            (Field::Resource, &mut decision.resource),
        ];
        for (field, identity) in ids {
            if let Identity::Clear(id) = identity {
                let commitment = seal(field, id.as_str().as_bytes());
                *identity = commitment.map_or(Identity::Absent, Identity::Commitment);
            }
        }
        let hidden = match &decision.evidence {
            Evidence::Read(bytes) => seal(Field::Evidence, bytes).map(Evidence::CommittedRead),
            Evidence::Request(bytes) => {
                seal(Field::Evidence, bytes).map(Evidence::CommittedRequest)
            }
            // With a digest as it is, requests could be guessed.
            Evidence::Digest(digest) => {
                seal(Field::Evidence, digest).map(Evidence::CommittedDigest)
            }
            Evidence::None
            | Evidence::CommittedRead(_)
            | Evidence::CommittedRequest(_)
            | Evidence::CommittedDigest(_) => return,
        };
        decision.evidence = hidden.unwrap_or(Evidence::None);
    }

    /// Returns the key of a subject, a new one if it has none; `None` if there are too many.
    fn key(&mut self, subject: &str) -> Option<SubjectKey> {
        let name = self.secret.subject(subject);
        if let Some(known) = self.keys.get(&name) {
            return Some(SubjectKey::new(*known));
        }
        if self.keys.len() >= MAX_SUBJECTS {
            return None;
        }
        let secret = self.seed.next();
        self.keys.insert(name, secret);
        self.have_changed = true;
        Some(SubjectKey::new(secret))
    }

    /// Deletes the keys of subjects, and returns how many of them had one.
    pub(super) fn erase<'s>(&mut self, subjects: impl Iterator<Item = &'s str>) -> u32 {
        let mut erased = 0_u32;
        for subject in subjects {
            // As the id of a record is cut.
            let name = self.secret.subject(ShortText::cut(subject).as_str());
            if self.keys.remove(&name).is_some() {
                (erased, self.have_changed) = (erased.saturating_add(1), true);
            }
        }
        erased
    }

    /// Returns the writes that come before the segment of this number: of the keys if they have changed, and of its values.
    pub(super) fn take(&mut self, segment: u64) -> impl Iterator<Item = Write> {
        let keys = mem::take(&mut self.have_changed).then(|| {
            let entries = self.keys.iter().flat_map(|(name, secret)| entry(name, secret));
            Write { name: KEYS.into(), bytes: entries.collect(), condition: Condition::Unchanged }
        });
        let bytes = mem::take(&mut self.values);
        let values = (!bytes.is_empty()).then(|| {
            let random: String = self.instance.iter().map(|byte| format!("{byte:02x}")).collect();
            let name = format!("private/{segment:012}.{random}.wgv");
            Write { name, bytes, condition: Condition::Always }
        });
        keys.into_iter().chain(values)
    }
}

impl Seed {
    fn next(&mut self) -> SubjectSecret {
        let key = blake3::derive_key("wardgate decision log 1: random key of a subject", &self.0);
        self.0 = blake3::derive_key("wardgate decision log 1: next random seed", &self.0);
        key
    }
}

/// Shows no secret.
impl fmt::Debug for Hiding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hiding")
    }
}
