//! The record of the journal of changes.
//!
//! A change is its kind (1 byte), the bytes of its rule (4 bytes), and the rule in canonical form.

use crate::journal::frame::{Record, short, word};

/// The effect of a change on a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The rule holds, even if the base files lack it.
    Added = 1,
    /// The rule does not hold, even if the base files have it.
    Hidden = 2,
    /// The rule holds if the base files have it.
    Forgotten = 3,
}

/// One change: its effect on the rule with this canonical text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The effect.
    pub(crate) kind: Kind,
    /// To which rule.
    pub(crate) rule: Vec<u8>,
}

impl Record for Change {
    const START: &'static [u8; 16] = b"wardgate-rules\0\x01";

    fn bytes(&self) -> usize {
        self.rule.len().saturating_add(5)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(match self.kind {
            Kind::Added => 1,
            Kind::Hidden => 2,
            Kind::Forgotten => 3,
        });
        out.extend_from_slice(&short(self.rule.len()));
        out.extend_from_slice(&self.rule);
    }

    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let kind = kind(*bytes.first()?)?;
        let length = usize::try_from(word(bytes, 1)?).ok()?;
        let (change, rest) = bytes.split_at_checked(length.checked_add(5)?)?;
        Some((Self { kind, rule: change.get(5..)?.to_vec() }, rest))
    }
}

const fn kind(byte: u8) -> Option<Kind> {
    match byte {
        1 => Some(Kind::Added),
        2 => Some(Kind::Hidden),
        3 => Some(Kind::Forgotten),
        _ => None,
    }
}
