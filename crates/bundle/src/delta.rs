//! Deltas: the difference between two bundles, small enough to send on every change.
//!
//! A delta is the new bundle without the chunks that its base has: the new header with its
//! signatures, the new index, and the chunks that are new. Applying it gives exactly the bytes of
//! the new bundle, which are then opened like any other, so a delta needs no signature of its own.
//! It names its base by root and revision; any other base is refused before a byte is assembled.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wardgate_crypto::blake3::Digest;
use wardgate_engine::order::sort_by;

use crate::cbor::wide;
use crate::conditions::Conditions;
pub use crate::container::Base;
use crate::container::{Container, Kind, take};
use crate::envelope::Envelope;
use crate::error::OpenError;
use crate::trust::Trust;

/// Returns the delta that turns the bundle `old` into the bundle `new`.
///
/// # Errors
/// Either bundle is refused.
///
/// # Examples
/// ```
/// use wardgate_bundle::{Conditions, Label, OpenError, Trust, delta, pack_as};
/// use wardgate_engine::table::Parts;
///
/// let bundle = |revision, text: &str| {
///     let parts = Parts { words: vec![], text: text.into(), blob: [].into(), explanations: "".into() };
///     pack_as(&parts, &Label { revision, ..Label::default() }).unwrap()
/// };
/// let (old, new) = (bundle(1, "view"), bundle(2, "view edit"));
/// let delta = delta::delta(&old, &new)?;
/// let applied = delta::apply(&old, &delta, Trust::Unsigned, &Conditions::default())?;
/// assert_eq!(applied, new);
/// # Ok::<(), OpenError>(())
/// ```
pub fn delta(old: &[u8], new: &[u8]) -> Result<Vec<u8>, OpenError> {
    let (old, new) = (Container::verified(old)?, Container::verified(new)?);
    let mut known: Chunks<'_> = old.chunks().map(|(entry, chunk)| (entry.digest, chunk)).collect();
    let mut carried = Vec::new();
    for (entry, chunk) in new.chunks() {
        if known.insert(entry.digest, chunk).is_none() {
            carried.extend_from_slice(chunk);
        }
    }
    Ok(Container { base: Some(base(&old)?), content: &carried, ..new }.bytes())
}

/// Returns the bundle that `delta` makes of `base_bytes`. The caller must still open it: of the
/// conditions only the size is checked, and the table is not validated.
///
/// The signatures are verified here already. A delta carries the signed header and the whole index,
/// and an unsigned one could name a chunk of its base a thousand times.
///
/// # Errors
/// The base or the delta is damaged, the delta is for another base, its signatures do not satisfy
/// `trust`, or the bundle would be too large.
pub fn apply(
    base_bytes: &[u8],
    delta_bytes: &[u8],
    trust: Trust<'_>,
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
    let envelope = Envelope::read(delta.envelope)?;
    trust.verify(&envelope)?;
    delta.header(&envelope)?;
    let content = together(&old, &delta, conditions)?;
    let bundle = Container { base: None, content: &content, ..delta };
    bundle.verify()?;
    let bytes = bundle.bytes();
    conditions.size(&bytes)?;
    Ok(bytes)
}

/// Assembles the new content from chunks of the base and the chunks that the delta carries.
fn together(
    old: &Container<'_>,
    delta: &Container<'_>,
    conditions: &Conditions<'_>,
) -> Result<Vec<u8>, OpenError> {
    let length = delta.entries().map(|entry| entry.length).sum();
    // One chunk of the base may occur many times, so the sum of the lengths counts and the size of
    // the delta does not.
    conditions.length(delta.index.plain())?;
    let digests: Vec<&Digest> = delta.entries().map(|entry| entry.digest).collect();
    let mut known = KnownChunks::new(digests);
    known.add(old);
    let mut content = Vec::with_capacity(length);
    let mut rest = delta.content;
    for entry in delta.entries() {
        let chunk = known.of(entry.digest, || take(&mut rest, entry.length))?;
        // A chunk of the base may have another length than the index announces.
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

/// The chunks of the digests of a delta, sorted by them. It is no hash table: an attacker may choose
/// the digests of a delta, and could make them collide in one bucket.
struct KnownChunks<'b> {
    chunks: Vec<(&'b Digest, Option<&'b [u8]>)>,
}

impl<'b> KnownChunks<'b> {
    fn new(digests: Vec<&'b Digest>) -> Self {
        let mut chunks: Vec<_> = digests.into_iter().map(|digest| (digest, None)).collect();
        sort_by(&mut chunks, |(a, _), (b, _)| a.cmp(b));
        chunks.dedup_by(|(a, _), (b, _)| a == b);
        Self { chunks }
    }

    /// Adds the chunks of a bundle.
    fn add(&mut self, bundle: &Container<'b>) {
        for (entry, chunk) in bundle.chunks() {
            if let Some(known) = self.get(entry.digest) {
                *known = Some(chunk);
            }
        }
    }

    /// Returns the chunk of a digest of the delta; `read` reads it if it is new.
    fn of(
        &mut self,
        digest: &Digest,
        read: impl FnOnce() -> Result<&'b [u8], OpenError>,
    ) -> Result<&'b [u8], OpenError> {
        let known = self.get(digest).ok_or(OpenError::WrongDigest)?;
        if known.is_none() {
            *known = Some(read().map_err(|_| OpenError::WrongDigest)?);
        }
        known.ok_or(OpenError::WrongDigest)
    }

    fn get(&mut self, digest: &Digest) -> Option<&mut Option<&'b [u8]>> {
        let position = self.chunks.binary_search_by(|(known, _)| (*known).cmp(digest)).ok()?;
        self.chunks.get_mut(position).map(|(_, chunk)| chunk)
    }
}

/// Chunks by their digests. It is a tree and no hash table: an attacker may choose the digests of a
/// delta, and could make them collide in one bucket.
type Chunks<'b> = BTreeMap<&'b Digest, &'b [u8]>;
