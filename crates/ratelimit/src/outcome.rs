//! Operations and their outcomes.

/// An operation on the state of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Takes that many tokens, all or none. A cost of 0 only looks.
    Charge(u64),
    /// Tells what a charge of that cost would meet, and changes nothing.
    Look(u64),
    /// Returns that many tokens, at most until the key is full.
    Refund(u64),
    /// Takes back a charge of that many tokens that was done at this very time, however late that is.
    /// Tokens of a window that is over stay where they are: those of a later one are others.
    Undo(u64),
    /// Makes the key full.
    Reset,
}

/// The outcome of an operation. All durations are in microseconds from the time of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The answer to the cost.
    pub admission: Admission,
    /// The tokens that a charge can take after the operation.
    pub remaining: u64,
    /// The duration until the key is full if nothing more is charged; 0 if it is full.
    pub reset: u64,
}

/// The answer to a cost: if its tokens are there, or when they will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The tokens are there.
    Allowed,
    /// They will be if nothing else is charged.
    After {
        /// The shortest duration until then, at least 1.
        micros: u64,
    },
    /// They never will: the cost is more than a full key has.
    Never,
}

impl Outcome {
    /// Returns true if the tokens were there.
    pub const fn is_allowed(&self) -> bool {
        matches!(self.admission, Admission::Allowed)
    }
}
