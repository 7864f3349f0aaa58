//! Recorded decisions that are made again, as `docs/ABI.md` writes them.

use wardgate_native::Target;
use wardgate_native::decision_log::Evidence;

use crate::failure::{Failure, Kind};

/// The targets and the evidence of a recorded decision.
pub(crate) struct RecordedDecision<'b> {
    pub(crate) targets: Vec<Target<'b>>,
    pub(crate) evidence: Evidence<'b>,
}

impl<'b> RecordedDecision<'b> {
    /// Reads a recorded decision.
    pub(crate) fn read(bytes: &'b [u8]) -> Result<Self, Failure> {
        Self::parsed(bytes).ok_or_else(|| {
            let message = "expected a form of evidence, the targets and the evidence";
            Failure::new(Kind::Request, message)
        })
    }

    fn parsed(bytes: &'b [u8]) -> Option<Self> {
        let ([form, count], mut bytes) = bytes.split_first_chunk()?;
        let mut targets = Vec::new();
        for _ in 0..*count {
            let [kind, policy_version, scope, action] = names(&mut bytes)?;
            targets.push(Target { kind, action, policy_version, scope });
        }
        let evidence = match *form {
            READ => Evidence::Read(bytes),
            REQUEST => Evidence::Request(bytes),
            _ => return None,
        };
        Some(Self { targets, evidence })
    }
}

/// Returns the bytes for the answers: 0 for denied, 1 for allowed, and 2 where there is none.
pub(crate) fn answers(again: Vec<Option<bool>>) -> Vec<u8> {
    again.into_iter().map(|answer| answer.map_or(NO_ANSWER, u8::from)).collect()
}

/// Reads texts, each after its length.
fn names<'b, const N: usize>(bytes: &mut &'b [u8]) -> Option<[&'b str; N]> {
    let mut names = [""; N];
    for name in &mut names {
        let (length, rest) = bytes.split_first_chunk()?;
        let (text, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        *name = std::str::from_utf8(text).ok()?;
        *bytes = rest;
    }
    Some(names)
}

/// The forms of evidence, as records of the decision log have them.
const READ: u8 = 1;
const REQUEST: u8 = 2;

const NO_ANSWER: u8 = 2;
