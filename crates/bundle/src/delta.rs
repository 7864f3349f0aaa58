//! Deltas: what changed between two bundles, small enough to send on every change.
//!
//! A delta is the new bundle without the chunks that its base has: the new header with its signatures,
//! the new index, and the chunks that are new. Applying it gives exactly the bytes of the new bundle,
//! which are then opened like any others, so a delta needs no trust of its own. It names its base by
//! root and revision; anything else is refused before a byte is put together.

use alloc::vec;
use alloc::vec::Vec;

use wardgate_crypto::blake3::Digest;

use crate::cbor::wide;
use crate::conditions::Conditions;
pub use crate::container::Base;
use crate::container::{Container, Kind, take};
use crate::envelope::Envelope;
use crate::error::OpenError;
use crate::index::Index;

/// Returns what `new` has and `old` has not, as a delta for `old`.
///
/// # Errors
/// One of the bundles is refused.
pub fn delta(old: &[u8], new: &[u8]) -> Result<Vec<u8>, OpenError> {
    let (old, new) = (Container::verified(old)?, Container::verified(new)?);
    let mut known = Chunks::of(&old.index, old.content, new.index.entries().count());
    let mut carried = Vec::new();
    let mut rest = new.content;
    for entry in new.index.entries() {
        let chunk = take(&mut rest, entry.length)?;
        if known.find(entry.digest).is_none() {
            known.add(entry.digest, chunk);
            carried.extend_from_slice(chunk);
        }
    }
    Ok(Container { base: Some(base(&old)?), content: &carried, ..new }.bytes())
}

/// Returns the bundle that `delta` makes of `base`. Nobody has vouched for it yet: it must be opened.
///
/// # Errors
/// The base or the delta is damaged, the delta is for another base, or the bundle would be larger than
/// the conditions say; of them, nothing but the size is looked at.
pub fn apply(
    base_bytes: &[u8],
    delta_bytes: &[u8],
    conditions: &Conditions<'_>,
) -> Result<Vec<u8>, OpenError> {
    conditions.size(delta_bytes)?;
    let delta = Container::read(delta_bytes, Kind::Delta)?;
    let old = Container::read(base_bytes, Kind::Bundle)?;
    let (expected, found) = (delta.base.ok_or(OpenError::NotADelta)?, base(&old)?);
    if expected != found {
        let (expected, found) = (expected.revision, found.revision);
        return Err(OpenError::WrongBase { expected, found });
    }
    let content = together(&old, &delta, conditions)?;
    let bundle = Container { base: None, content: &content, ..delta };
    bundle.index.verify(&content)?;
    let bytes = bundle.bytes();
    conditions.size(&bytes)?;
    Ok(bytes)
}

/// Puts the new content together, from chunks of the base and those that the delta carries.
fn together(
    old: &Container<'_>,
    delta: &Container<'_>,
    conditions: &Conditions<'_>,
) -> Result<Vec<u8>, OpenError> {
    let length = delta.index.lengths().into_iter().sum();
    // One chunk of the base may stand in many places: the sum counts, not what was sent.
    conditions.length(length)?;
    let mut known = Chunks::of(&old.index, old.content, delta.index.entries().count());
    let mut content = Vec::with_capacity(length);
    let mut rest = delta.content;
    for entry in delta.index.entries() {
        let chunk = match known.find(entry.digest) {
            Some(chunk) => chunk,
            None => {
                let chunk = take(&mut rest, entry.length).map_err(|_| OpenError::WrongDigest)?;
                known.add(entry.digest, chunk);
                chunk
            }
        };
        // A chunk of the base may have a length that the index does not announce.
        if chunk.len() != entry.length {
            return Err(OpenError::WrongDigest);
        }
        content.extend_from_slice(chunk);
    }
    if rest.is_empty() {
        return Ok(content);
    }
    let found = wide(delta.content.len());
    Err(OpenError::WrongLength { expected: found.saturating_sub(wide(rest.len())), found })
}

fn base(container: &Container<'_>) -> Result<Base, OpenError> {
    let header = container.header(&Envelope::read(container.envelope)?)?;
    Ok(Base { content: container.root, revision: header.label.revision })
}

/// Chunks found by their digests: a table twice as large as what it will hold.
struct Chunks<'b> {
    places: Vec<Option<(&'b Digest, &'b [u8])>>,
}

impl<'b> Chunks<'b> {
    /// Takes the chunks of a content, and keeps room for `more`.
    fn of(index: &Index<'b>, content: &'b [u8], more: usize) -> Self {
        let count = index.entries().count().saturating_add(more);
        let mut chunks = Self { places: vec![None; (2 * count + 1).next_power_of_two()] };
        let mut rest = content;
        for entry in index.entries() {
            let Ok(chunk) = take(&mut rest, entry.length) else { break };
            chunks.add(entry.digest, chunk);
        }
        chunks
    }

    fn find(&self, digest: &Digest) -> Option<&'b [u8]> {
        self.places(digest)
            .map_while(|at| *self.places.get(at)?)
            .find_map(|(known, chunk)| (known == digest).then_some(chunk))
    }

    fn add(&mut self, digest: &'b Digest, chunk: &'b [u8]) {
        let free = self.places(digest).find(|at| matches!(self.places.get(*at), Some(None)));
        if let Some(place) = free.and_then(|at| self.places.get_mut(at)) {
            *place = Some((digest, chunk));
        }
    }

    /// The places where a digest may be, in the order of the search.
    fn places(&self, digest: &Digest) -> impl Iterator<Item = usize> + use<> {
        let mask = self.places.len() - 1;
        let [a, b, c, d, ..] = *digest;
        let start = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(0);
        (0..=mask).map(move |step| start.wrapping_add(step) & mask)
    }
}
