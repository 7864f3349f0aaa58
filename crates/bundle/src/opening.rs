//! Opening: the only way from bytes to a policy table.
//!
//! The order of the checks is the law: lengths, digests, signatures, dates, revision and name,
//! structure. No later part is read before the check in front of it holds; in particular no byte of
//! the content is interpreted before a trusted key has signed it.

use alloc::string::String;
use alloc::vec::Vec;

use wardgate_crypto::blake3::{DIGEST_BYTES, Digest};
use wardgate_crypto::ml_dsa::Level;
use wardgate_engine::table::{Flaw, Parts, PolicyTable};

use crate::conditions::Conditions;
use crate::container::{Base, Container, Kind, PREFIX_BYTES};
use crate::envelope::Envelope;
use crate::error::OpenError;
use crate::header::Header;
use crate::index::{BLOB, EXPLANATIONS, RULES, TEXT, WORDS};
use crate::key_id::{KeyId, algorithm};
use crate::trust::{LEVELS, Trust};
use crate::words;

/// A bundle that was opened.
#[derive(Debug)]
pub struct Opened {
    /// The policy table that decisions are made from.
    pub table: PolicyTable,
    /// The header that its signers vouched for.
    pub header: Header,
    /// The trusted keys that signed, each once. Empty where unsigned bundles are trusted.
    pub signers: Vec<KeyId>,
    /// The offset in the bytes at which the rules of SPOCP begin; they end with the bytes. The
    /// signatures cover them like the table, and [`open`] does not parse them.
    pub rules: usize,
}

/// The statements of a bundle about itself, unverified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The header.
    pub header: Header,
    /// The claimed signers, in the order of the signatures.
    pub signers: Vec<Signer>,
    /// The bundle that a delta is for.
    pub base: Option<Base>,
    /// The number of chunks of the content.
    pub chunks: usize,
}

/// The signer that a signature claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signer {
    /// The id of the key.
    pub key: KeyId,
    /// The level of the key, or `None` if its algorithm is unknown.
    pub level: Option<Level>,
}

/// Opens a bundle: the only way from bytes to a policy table. Rules of SPOCP in it are skipped.
///
/// # Errors
/// The first reason found to refuse it.
///
/// # Examples
/// ```
/// use wardgate_bundle::{Conditions, Trust, open};
///
/// let conditions = Conditions { now: Some(1_800_000_000), ..Conditions::default() };
/// let refused = open(b"policies", Trust::Unsigned, &conditions);
/// assert_eq!(refused.unwrap_err().code(), "not-a-bundle");
/// ```
pub fn open(
    bytes: &[u8],
    trust: Trust<'_>,
    conditions: &Conditions<'_>,
) -> Result<Opened, OpenError> {
    open_by(bytes, trust, conditions, PolicyTable::from_parts)
}

/// Opens a bundle that may have rate limits: for a host that charges what
/// [`PolicyTable::charges`] returns, and for a tool that decides nothing for a host. [`open`] refuses
/// a bundle with limits, since they would fall away.
///
/// # Errors
/// The first reason found to refuse it.
#[cfg(feature = "ratelimit")]
pub fn open_with_limits(
    bytes: &[u8],
    trust: Trust<'_>,
    conditions: &Conditions<'_>,
) -> Result<Opened, OpenError> {
    open_by(bytes, trust, conditions, PolicyTable::from_parts_with_limits)
}

fn open_by(
    bytes: &[u8],
    trust: Trust<'_>,
    conditions: &Conditions<'_>,
    table: impl FnOnce(Parts) -> Result<PolicyTable, Flaw>,
) -> Result<Opened, OpenError> {
    conditions.size(bytes)?;
    let container = Container::verified(bytes)?;
    let envelope = Envelope::read(container.envelope)?;
    let signers = trust.verify(&envelope)?;
    let header = container.header(&envelope)?;
    conditions.header(&header)?;
    conditions.length(container.index.plain())?;
    let table = table(parts(&container)?).map_err(OpenError::Malformed)?;
    if table.evaluation() != header.evaluation {
        return Err(OpenError::WrongEvaluation);
    }
    let table = table.expiring(conditions.denies_from(&header));
    let rules = container.entries().filter(|entry| entry.part == RULES);
    let rules: usize = rules.map(|entry| entry.length).sum();
    Ok(Opened { table, header, signers, rules: bytes.len().saturating_sub(rules) })
}

/// Reads the statements of a bundle or delta about itself, without verifying any signature.
///
/// # Errors
/// The bytes are sealed, damaged or no bundle.
pub fn describe(bytes: &[u8]) -> Result<Description, OpenError> {
    let container = match Kind::of(bytes)? {
        Kind::Delta => Container::read(bytes, Kind::Delta)?,
        Kind::Bundle | Kind::Sealed => Container::verified(bytes)?,
    };
    let envelope = Envelope::read(container.envelope)?;
    let signers = envelope.signatures.iter().map(|signature| Signer {
        key: signature.key,
        level: LEVELS.into_iter().find(|level| algorithm(*level) == signature.algorithm),
    });
    Ok(Description {
        header: container.header(&envelope)?,
        signers: signers.collect(),
        base: container.base,
        chunks: container.index.entries().count(),
    })
}

/// Returns the root of the content that the bytes of a bundle state, or `None` for sealed bytes and
/// those that are no bundle. Only [`open`] verifies the root. Signing a bundle does not change it.
#[must_use]
pub fn digest(bytes: &[u8]) -> Option<Digest> {
    let stated = bytes.get(PREFIX_BYTES..PREFIX_BYTES + DIGEST_BYTES)?;
    stated.try_into().ok().filter(|_| !matches!(Kind::of(bytes), Err(_) | Ok(Kind::Sealed)))
}

fn parts(container: &Container<'_>) -> Result<Parts, OpenError> {
    let text = |part| {
        let text = String::from_utf8(container.part(part)?).map_err(|_| OpenError::NotText)?;
        Ok(text.into_boxed_str())
    };
    Ok(Parts {
        words: words::read(&container.part(WORDS)?).ok_or(OpenError::MalformedContent)?,
        text: text(TEXT)?,
        blob: container.part(BLOB)?.into(),
        explanations: text(EXPLANATIONS)?,
    })
}
