//! Opens the evidence of a recorded decision, and finds the names of its targets.

use std::fmt;

use wardgate_decision_log::record::{self, Decision, Identity, ShortText, Target};
use wardgate_decision_log::redaction::{Field, ValuePosition};
use wardgate_native::Target as Question;
use wardgate_native::decision_log::{Evidence, RecordedDecision};
use wardgate_server::decision_log::{Names, Unsealed, Unsealer};

use super::given::GivenRequests;
use super::refused;
use crate::failure::Result;

/// Why a decision cannot be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Absence {
    NotRecorded,
    TooLarge,
    OnlyDigest,
    Erased,
    Missing,
    Changed,
    NoTarget,
    NoPolicies,
    OnlyResults,
    Unreadable,
}

/// A decision with the values that could be opened in the places of their commitments.
pub(crate) struct Revealed {
    pub(crate) decision: Decision,
    /// Why it has no evidence, if it has none.
    absence: Option<Absence>,
}

impl Revealed {
    /// Opens the values of the record with this number.
    pub(crate) fn open(number: u64, decision: &Decision, values: &mut Unsealer) -> Result<Self> {
        let mut decision = decision.clone();
        let mut open = |field: Field, commitment: &[u8; 32]| {
            let place = ValuePosition { record: number, field };
            values.open_value(place, commitment).map_err(refused)
        };
        for (field, identity) in
            [(Field::Principal, &mut decision.principal), (Field::Resource, &mut decision.resource)]
        {
            let Identity::Commitment(commitment) = identity else { continue };
            if let Unsealed::Value(id) = open(field, commitment)? {
                *identity = Identity::Clear(ShortText::cut(&String::from_utf8_lossy(&id)));
            }
        }
        type Reveal = fn(Vec<u8>) -> record::Evidence;
        let (commitment, reveal): (_, Reveal) = match &decision.evidence {
            record::Evidence::CommittedRead(commitment) => (commitment, record::Evidence::Read),
            record::Evidence::CommittedRequest(commitment) => {
                (commitment, record::Evidence::Request)
            }
            record::Evidence::CommittedDigest(commitment) => (commitment, digest),
            other => {
                let absence = match other {
                    record::Evidence::None if decision.is_cut => Some(Absence::TooLarge),
                    record::Evidence::None => Some(Absence::NotRecorded),
                    record::Evidence::Digest(_) => Some(Absence::OnlyDigest),
                    _ => None,
                };
                return Ok(Self { decision, absence });
            }
        };
        let absence = match open(Field::Evidence, commitment)? {
            Unsealed::Value(bytes) => {
                decision.evidence = reveal(bytes);
                let is_digest = matches!(decision.evidence, record::Evidence::Digest(_));
                is_digest.then_some(Absence::OnlyDigest)
            }
            Unsealed::Erased => Some(Absence::Erased),
            Unsealed::Missing => Some(Absence::Missing),
            Unsealed::Changed => Some(Absence::Changed),
        };
        Ok(Self { decision, absence })
    }

    /// Puts the request in the place of its digest, if it was given beside the log.
    pub(super) fn confirm(&mut self, given: &GivenRequests) {
        if let record::Evidence::Digest(digest) = &self.decision.evidence
            && let Some(request) = given.of_digest(digest)
        {
            self.decision.evidence = record::Evidence::Request(request.to_vec());
            self.absence = None;
        }
    }

    pub(super) fn evidence(&self) -> Result<Evidence<'_>, Absence> {
        match (&self.decision.evidence, self.absence) {
            (_, Some(absence)) => Err(absence),
            (record::Evidence::Read(bytes), None) => Ok(Evidence::Read(bytes)),
            (record::Evidence::Request(bytes), None) => Ok(Evidence::Request(bytes)),
            (_, None) => Err(Absence::NotRecorded),
        }
    }

    /// Returns the decision as it is decided again. Ids that are not known as a whole are left out.
    pub(crate) fn recorded<'r>(
        &'r self,
        targets: &'r [Question<'r>],
    ) -> Result<RecordedDecision<'r>, Absence> {
        let Decision { principal, resource, is_cut, micros, .. } = &self.decision;
        let [principal, resource] = [principal, resource].map(|id| match id {
            Identity::Clear(id) if !is_cut => Some(id.as_str()),
            _ => None,
        });
        let (evidence, micros) = (self.evidence()?, *micros);
        Ok(RecordedDecision { targets, evidence, micros, principal, resource })
    }
}

fn digest(bytes: Vec<u8>) -> record::Evidence {
    bytes.try_into().map_or(record::Evidence::None, record::Evidence::Digest)
}

/// Returns the targets of the outcomes of a decision, if all are defined.
pub(crate) fn targets<'n>(
    decision: &Decision,
    names: &'n Names,
) -> Result<Vec<&'n Target>, Absence> {
    let target = |outcome| names.target(decision, outcome).ok_or(Absence::NoTarget);
    decision.outcomes.iter().map(target).collect()
}

/// Returns a target as the engine takes it.
pub(crate) fn question(target: &Target) -> Question<'_> {
    Question {
        kind: target.kind.as_str(),
        action: target.action.as_str(),
        policy_version: target.version.as_str(),
        scope: target.scope.as_str(),
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NotRecorded => "without evidence",
            Self::TooLarge => "whose evidence was too large",
            Self::OnlyDigest => "with a digest alone",
            Self::Erased => "that are erased",
            Self::Missing => "whose sealed values are not beside the log",
            Self::Changed => "whose sealed values have changed",
            Self::NoTarget => "about a target of a deleted segment",
            Self::NoPolicies => "by policies that were not given",
            Self::OnlyResults => "that have results of tests instead of values",
            Self::Unreadable => "whose evidence these policies cannot read",
        })
    }
}
