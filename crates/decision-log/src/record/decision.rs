//! The record of a decision.
//!
//! It tells what was asked, under which policies, and the answer. Why the answer is so, the bundle
//! and the evidence tell: the engine is deterministic.
//!
//! | bytes | after the head |
//! |---|---|
//! | 8 | the time of the decision, in microseconds since 1970 |
//! | 4 | the number of the policies |
//! | 1 | how many outcomes |
//! | 4 each | the number of a target, times four, plus 0 for denied, 1 for allowed, 2 for limited |
//! | 1 + n | the principal: 0 absent, 1 a text, 2 a pseudonym (16), 3 a commitment (32) |
//! | 1 + n | the resource, likewise |
//! | 16 | the trace, if flag 2 is set |
//! | 2 + n | the id of the request, if flag 4 is set |
//! | n | the evidence of the form that the upper half of the flags names |
//!
//! Flag 1 says that the general path decided, flag 8 that an id was cut or an evidence left out.

use alloc::vec::Vec;

use wardgate_crypto::blake3;

use super::{ShortText, put_head, put_length};
use crate::bytes::{Reader, beginning, put_bytes};
use crate::limits::{MAX_ACTIONS, MAX_EVIDENCE_BYTES, MAX_TEXT_BYTES};

/// A decision about one principal and one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The time of the decision, in microseconds since 1970.
    pub micros: i64,
    /// The number of the policies that decided.
    pub policies: u32,
    /// The answer for each action; at most 255 are written.
    pub outcomes: Vec<Outcome>,
    /// The id of the principal.
    pub principal: Identity,
    /// The id of the resource.
    pub resource: Identity,
    /// The id of the trace that the request belongs to.
    pub trace: Option<[u8; 16]>,
    /// The id that the caller gave to the request.
    pub request: Option<ShortText>,
    /// True if the general path decided.
    pub is_general: bool,
    /// True if an id was cut, or an evidence left out.
    pub is_cut: bool,
    /// The evidence for the decision.
    pub evidence: Evidence,
}

/// The answer for one action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The number of the kind, version, scope and action, below 2^30.
    pub target: u32,
    /// The answer.
    pub effect: Effect,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The policies deny.
    Denied,
    /// The action is allowed.
    Allowed,
    /// The policies allow and a rate limit denies.
    Limited,
}

/// An id, or what stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// No id was recorded.
    Absent,
    /// The id.
    Clear(ShortText),
    /// A keyed digest of the id, equal for equal ids.
    Pseudonym([u8; 16]),
    /// A commitment to the id, which a sealed value beside the log opens.
    Commitment([u8; 32]),
}

/// The evidence for a decision: its request, or the part that it read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// No evidence.
    None,
    /// All that the fast path reads.
    Read(Vec<u8>),
    /// The request.
    Request(Vec<u8>),
    /// The BLAKE3 digest of the request.
    Digest([u8; 32]),
    /// A commitment to what the fast path reads, which a sealed value beside the log opens.
    CommittedRead([u8; 32]),
    /// A commitment to the request, which a sealed value beside the log opens.
    CommittedRequest([u8; 32]),
    /// A commitment to the digest of the request, which a sealed value beside the log opens.
    CommittedDigest([u8; 32]),
}

/// Returns the digest of a request in the form of an evidence, with the members of each object in the order of their names. It is
/// what a record has of a request that is too long for it.
#[must_use]
pub fn request_digest(request: &[u8]) -> [u8; 32] {
    blake3::hash(request)
}

/// A decision that borrows: what writers of many records have. It is written like the [`Decision`] of the same content, without
/// memory of its own.
#[derive(Clone, Copy, Debug)]
pub struct BorrowedDecision<'d> {
    /// As in a decision.
    pub micros: i64,
    /// As in a decision.
    pub policies: u32,
    /// As in a decision.
    pub outcomes: &'d [Outcome],
    /// As in a decision.
    pub principal: BorrowedIdentity<'d>,
    /// As in a decision.
    pub resource: BorrowedIdentity<'d>,
    /// As in a decision.
    pub trace: Option<&'d [u8; 16]>,
    /// As in a decision. Only the beginning of a text that is too long is written.
    pub request: Option<&'d str>,
    /// As in a decision.
    pub is_general: bool,
    /// As in a decision.
    pub is_cut: bool,
    /// As in a decision.
    pub evidence: BorrowedEvidence<'d>,
}

/// An [`Identity`] that borrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BorrowedIdentity<'d> {
    /// No id was recorded.
    Absent,
    /// The id. Only the beginning of one that is too long is written.
    Clear(&'d str),
    /// A keyed digest of the id.
    Pseudonym([u8; 16]),
    /// A commitment to the id.
    Commitment([u8; 32]),
}

/// An [`Evidence`] that borrows. What is longer than a record holds must not be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BorrowedEvidence<'d> {
    /// No evidence.
    None,
    /// All that the fast path reads.
    Read(&'d [u8]),
    /// The request.
    Request(&'d [u8]),
    /// The BLAKE3 digest of the request.
    Digest([u8; 32]),
    /// A commitment to what the fast path reads.
    CommittedRead([u8; 32]),
    /// A commitment to the request.
    CommittedRequest([u8; 32]),
    /// A commitment to the digest of the request.
    CommittedDigest([u8; 32]),
}

/// The places of commitments in the bytes of a record: of the principal, the resource and the evidence.
pub type CommitmentPlaces = [Option<usize>; 3];

const GENERAL: u8 = 1;
const TRACE: u8 = 2;
const REQUEST: u8 = 4;
const CUT: u8 = 8;

impl<'d> BorrowedDecision<'d> {
    /// Writes the record behind `out`, and returns the places of its commitments in `out`.
    pub fn write(
        &self,
        stream: u16,
        caller: u16,
        sequence: u32,
        out: &mut Vec<u8>,
    ) -> CommitmentPlaces {
        let from = put_head(1, self.flags(), (stream, caller, sequence), out);
        let places = self.write_body(out);
        put_length(from, out);
        places
    }

    fn flags(&self) -> u8 {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        flag(self.is_general, GENERAL)
            | flag(self.trace.is_some(), TRACE)
            | flag(self.request.is_some(), REQUEST)
            | flag(self.is_cut, CUT)
            | (self.evidence.form() << 4)
    }

    fn write_body(&self, out: &mut Vec<u8>) -> CommitmentPlaces {
        out.extend_from_slice(&self.micros.to_le_bytes());
        out.extend_from_slice(&self.policies.to_le_bytes());
        let outcomes = self.outcomes.get(..MAX_ACTIONS).unwrap_or(self.outcomes);
        out.push(u8::try_from(outcomes.len()).unwrap_or(u8::MAX));
        outcomes.iter().for_each(|outcome| out.extend_from_slice(&outcome.word().to_le_bytes()));
        let principal = self.principal.write(out);
        let resource = self.resource.write(out);
        if let Some(trace) = self.trace {
            out.extend_from_slice(trace);
        }
        if let Some(request) = self.request {
            put_bytes(beginning(request, MAX_TEXT_BYTES).as_bytes(), out);
        }
        [principal, resource, self.evidence.write(out)]
    }
}

impl Decision {
    fn borrowed(&self) -> BorrowedDecision<'_> {
        BorrowedDecision {
            micros: self.micros,
            policies: self.policies,
            outcomes: &self.outcomes,
            principal: self.principal.borrowed(),
            resource: self.resource.borrowed(),
            trace: self.trace.as_ref(),
            request: self.request.as_ref().map(ShortText::as_str),
            is_general: self.is_general,
            is_cut: self.is_cut,
            evidence: self.evidence.borrowed(),
        }
    }

    pub(super) fn flags(&self) -> u8 {
        self.borrowed().flags()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.borrowed().write_body(out);
    }

    pub(super) fn read(flags: u8, reader: &mut Reader<'_>) -> Option<Self> {
        let (micros, policies, count) = (reader.signed()?, reader.word()?, reader.byte()?);
        let outcomes: Option<Vec<Outcome>> =
            (0..count).map(|_| Outcome::of(reader.word()?)).collect();
        let is = |flag: u8| flags & flag != 0;
        Some(Self {
            micros,
            policies,
            outcomes: outcomes?,
            principal: Identity::read(reader)?,
            resource: Identity::read(reader)?,
            trace: if is(TRACE) { Some(reader.array()?) } else { None },
            request: if is(REQUEST) { Some(ShortText::read(reader)?) } else { None },
            is_general: is(GENERAL),
            is_cut: is(CUT),
            evidence: Evidence::read(flags >> 4, reader)?,
        })
    }
}

impl Outcome {
    fn word(self) -> u32 {
        let effect = match self.effect {
            Effect::Denied => 0,
            Effect::Allowed => 1,
            Effect::Limited => 2,
        };
        self.target.wrapping_shl(2) | effect
    }

    fn of(word: u32) -> Option<Self> {
        let effect = match word & 3 {
            0 => Effect::Denied,
            1 => Effect::Allowed,
            2 => Effect::Limited,
            _ => return None,
        };
        Some(Self { target: word >> 2, effect })
    }
}

impl BorrowedIdentity<'_> {
    /// Writes the id, and returns the place of its commitment.
    fn write(&self, out: &mut Vec<u8>) -> Option<usize> {
        match self {
            Self::Absent => out.push(0),
            Self::Clear(id) => {
                out.push(1);
                put_bytes(beginning(id, MAX_TEXT_BYTES).as_bytes(), out);
            }
            Self::Pseudonym(digest) => {
                out.push(2);
                out.extend_from_slice(digest);
            }
            Self::Commitment(digest) => {
                out.push(3);
                out.extend_from_slice(digest);
                return out.len().checked_sub(digest.len());
            }
        }
        None
    }
}

impl Identity {
    const fn borrowed(&self) -> BorrowedIdentity<'_> {
        match self {
            Self::Absent => BorrowedIdentity::Absent,
            Self::Clear(id) => BorrowedIdentity::Clear(id.as_str()),
            Self::Pseudonym(digest) => BorrowedIdentity::Pseudonym(*digest),
            Self::Commitment(digest) => BorrowedIdentity::Commitment(*digest),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(match reader.byte()? {
            0 => Self::Absent,
            1 => Self::Clear(ShortText::read(reader)?),
            2 => Self::Pseudonym(reader.array()?),
            3 => Self::Commitment(reader.array()?),
            _ => return None,
        })
    }
}

impl BorrowedEvidence<'_> {
    const fn form(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Read(_) => 1,
            Self::Request(_) => 2,
            Self::Digest(_) => 3,
            Self::CommittedRead(_) => 4,
            Self::CommittedRequest(_) => 5,
            Self::CommittedDigest(_) => 6,
        }
    }

    /// Writes the evidence, and returns the place of its commitment.
    fn write(&self, out: &mut Vec<u8>) -> Option<usize> {
        match self {
            Self::None => {}
            Self::Read(bytes) | Self::Request(bytes) => put_bytes(bytes, out),
            Self::Digest(digest) => out.extend_from_slice(digest),
            Self::CommittedRead(digest)
            | Self::CommittedRequest(digest)
            | Self::CommittedDigest(digest) => {
                out.extend_from_slice(digest);
                return out.len().checked_sub(digest.len());
            }
        }
        None
    }
}

impl Evidence {
    fn borrowed(&self) -> BorrowedEvidence<'_> {
        match self {
            Self::None => BorrowedEvidence::None,
            Self::Read(bytes) => BorrowedEvidence::Read(bytes),
            Self::Request(bytes) => BorrowedEvidence::Request(bytes),
            Self::Digest(digest) => BorrowedEvidence::Digest(*digest),
            Self::CommittedRead(digest) => BorrowedEvidence::CommittedRead(*digest),
            Self::CommittedRequest(digest) => BorrowedEvidence::CommittedRequest(*digest),
            Self::CommittedDigest(digest) => BorrowedEvidence::CommittedDigest(*digest),
        }
    }

    fn read(form: u8, reader: &mut Reader<'_>) -> Option<Self> {
        Some(match form {
            0 => Self::None,
            1 => Self::Read(reader.bytes(MAX_EVIDENCE_BYTES)?.to_vec()),
            2 => Self::Request(reader.bytes(MAX_EVIDENCE_BYTES)?.to_vec()),
            3 => Self::Digest(reader.array()?),
            4 => Self::CommittedRead(reader.array()?),
            5 => Self::CommittedRequest(reader.array()?),
            6 => Self::CommittedDigest(reader.array()?),
            _ => return None,
        })
    }
}
