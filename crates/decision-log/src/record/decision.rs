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

use super::{HEAD_BYTES, ShortText};
use crate::bytes::{Reader, put_bytes};
use crate::limits::{MAX_ACTIONS, MAX_EVIDENCE_BYTES};

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
    /// True if an id or the evidence was longer than a record holds. Such an evidence is left out.
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
}

/// The bytes behind the head of a record and before the outcomes.
const OUTCOMES_AT: usize = 13;

const GENERAL: u8 = 1;
const TRACE: u8 = 2;
const REQUEST: u8 = 4;
const CUT: u8 = 8;

impl Decision {
    pub(super) fn flags(&self) -> u8 {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        flag(self.is_general, GENERAL)
            | flag(self.trace.is_some(), TRACE)
            | flag(self.request.is_some(), REQUEST)
            | flag(self.is_cut, CUT)
            | (self.evidence.form() << 4)
    }

    /// Returns the place of each commitment in the bytes of its record, in their order.
    pub fn commitment_places(&self) -> impl Iterator<Item = usize> {
        let outcomes = self.outcomes.len().min(MAX_ACTIONS).saturating_mul(4);
        let principal = HEAD_BYTES.saturating_add(OUTCOMES_AT).saturating_add(outcomes);
        let resource = principal.saturating_add(self.principal.bytes());
        let behind = [
            resource.saturating_add(self.resource.bytes()),
            if self.trace.is_some() { 16 } else { 0 },
            self.request.as_ref().map_or(0, |request| request.as_str().len().saturating_add(2)),
        ];
        let id = |at: usize, id: &Identity| {
            matches!(id, Identity::Commitment(_)).then_some(at.saturating_add(1))
        };
        let evidence = match self.evidence {
            Evidence::CommittedRead(_) | Evidence::CommittedRequest(_) => {
                Some(behind.into_iter().fold(0, usize::saturating_add))
            }
            _ => None,
        };
        [id(principal, &self.principal), id(resource, &self.resource), evidence]
            .into_iter()
            .flatten()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.micros.to_le_bytes());
        out.extend(self.policies.to_le_bytes());
        let outcomes = self.outcomes.get(..MAX_ACTIONS).unwrap_or(&self.outcomes);
        out.push(u8::try_from(outcomes.len()).unwrap_or(u8::MAX));
        outcomes.iter().for_each(|outcome| out.extend(outcome.word().to_le_bytes()));
        self.principal.write(out);
        self.resource.write(out);
        out.extend(self.trace.iter().flatten());
        self.request.iter().for_each(|request| request.write(out));
        self.evidence.write(out);
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

impl Identity {
    /// Returns how many bytes are written.
    const fn bytes(&self) -> usize {
        match self {
            Self::Absent => 1,
            Self::Clear(id) => id.as_str().len().saturating_add(3),
            Self::Pseudonym(_) => 17,
            Self::Commitment(_) => 33,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Absent => out.push(0),
            Self::Clear(id) => {
                out.push(1);
                id.write(out);
            }
            Self::Pseudonym(digest) => {
                out.push(2);
                out.extend(digest);
            }
            Self::Commitment(digest) => {
                out.push(3);
                out.extend(digest);
            }
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

impl Evidence {
    const fn form(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Read(_) => 1,
            Self::Request(_) => 2,
            Self::Digest(_) => 3,
            Self::CommittedRead(_) => 4,
            Self::CommittedRequest(_) => 5,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Read(bytes) | Self::Request(bytes) => put_bytes(bytes, out),
            Self::Digest(digest) | Self::CommittedRead(digest) | Self::CommittedRequest(digest) => {
                out.extend(digest)
            }
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
            _ => return None,
        })
    }
}
