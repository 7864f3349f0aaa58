//! The calls that both forms of the code answer.

use wardgate_native::decision_log::Evidence;
use wardgate_native::{Target, Timestamp};

use crate::error::Result;
use crate::terms::{Moment, Terms};

/// One instance of the code, with at most one open bundle. One thread at a time uses it.
pub(crate) trait Calls {
    /// Opens a bundle.
    fn open(&mut self, bundle: &[u8], terms: &Terms, moment: Moment) -> Result<()>;

    /// Opens a bundle in place of the open one.
    fn reload(&mut self, bundle: &[u8], moment: Moment) -> Result<()>;

    /// Returns the revision of the open bundle.
    fn revision(&mut self) -> Result<u64>;

    /// Returns true if the open bundle has a date on which it expires.
    fn can_expire(&mut self) -> Result<bool>;

    /// Decides one action.
    fn is_allowed(&mut self, json: &[u8], now: Timestamp) -> Result<bool>;

    /// Answers a question as text.
    fn ask(&mut self, question: TextQuestion, json: &[u8], now: Timestamp) -> Result<Vec<u8>>;

    /// Returns the indices of the resources on which the action is allowed.
    fn filter(&mut self, json: &[u8], now: Timestamp) -> Result<Vec<u32>>;

    /// Decides again from the evidence of a recorded decision.
    fn replay(
        &mut self,
        targets: &[Target<'_>],
        evidence: Evidence<'_>,
        micros: i64,
    ) -> Result<Vec<Option<bool>>>;
}

/// A question as text with an answer in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextQuestion {
    /// A decision.
    Check,
    /// A decision and every rule that was considered.
    Explain,
    /// A response of AuthZEN.
    Evaluate,
}
