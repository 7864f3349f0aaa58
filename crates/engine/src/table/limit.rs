//! The rate limits of a table: the requests that each is for, and the programs of its key, cost and
//! quota.
//!
//! The words of the limits are: the offset of a head in [`Section::Blocks`](super::Section::Blocks),
//! whose block has one rule for each limit; then the records of the limits, [`LIMIT_WORDS`] each, in
//! the order of the rules; then the lists of the programs of their keys. The rule gives the name,
//! the actions, the kinds of resource and the condition.
//!
//! A table without limits has no such words, and its header does not mention them.

use super::layout::FLAG_LIMITS;
use super::{Block, PolicyTable, Rule, at, word};
use crate::codes::codes;
use crate::limits::MAX_LIMIT_KEYS;
use crate::names::sanitized;

/// The number of words of one record.
pub const LIMIT_WORDS: usize = 13;

/// The positions of the fields in a record. Numbers of 64 bits are two words, low word first.
pub mod field {
    /// Offset of the list of the programs of the key, from the start of the words: count, programs.
    pub const KEY: usize = 0;
    /// Program of the cost plus one; 0 for one token.
    pub const COST: usize = 1;
    /// Program of the quota.
    pub const QUOTA: usize = 2;
    /// Microseconds of the window, two words; 0 for a month of the calendar.
    pub const WINDOW: usize = 3;
    /// Tokens of the burst, two words; 0 for the quota.
    pub const BURST: usize = 5;
    /// An [`Algorithm`](super::Algorithm).
    pub const ALGORITHM: usize = 7;
    /// A [`Charged`](super::Charged).
    pub const CHARGED: usize = 8;
    /// A [`Consistency`](super::Consistency).
    pub const CONSISTENCY: usize = 9;
    /// A [`Failure`](super::Failure).
    pub const FAILURE: usize = 10;
    /// A [`Mode`](super::Mode).
    pub const MODE: usize = 11;
    /// Id of the explanation that names the source file.
    pub const FILE: usize = 12;
}

codes! {
    /// The algorithm by which a limit counts.
    pub enum Algorithm {
        /// The generic cell rate algorithm.
        Gcra = 0,
        /// A count for each window, aligned to UTC.
        Fixed = 1,
        /// The weighted counts of two windows.
        Sliding = 2,
    }
}

codes! {
    /// The actions that a limit charges.
    pub enum Charged {
        /// Those that the policies allow.
        Allowed = 0,
        /// All of them.
        Always = 1,
    }
}

codes! {
    /// The place of the states of a limit.
    pub enum Consistency {
        /// The store, asked for each charge.
        Exact = 0,
        /// The store, with tokens paid in advance.
        Leased = 1,
        /// The memory of each process.
        Local = 2,
    }
}

codes! {
    /// The treatment of a limit while its store is away.
    pub enum Failure {
        /// A part of the quota holds in each process.
        Local = 0,
        /// The action is denied.
        Deny = 1,
        /// The limit does not hold.
        Allow = 2,
    }
}

codes! {
    /// The effect of a limit.
    pub enum Mode {
        /// It denies where it refuses.
        Enforce = 0,
        /// It is charged and reported, and denies nothing.
        Shadow = 1,
    }
}

/// One rate limit.
#[derive(Clone, Copy)]
pub struct Limit<'t> {
    rule: Rule<'t>,
    table: &'t PolicyTable,
    record: &'t [u32],
    number: usize,
}

impl PolicyTable {
    /// Returns true if the table has rate limits.
    #[must_use]
    pub fn has_limits(&self) -> bool {
        self.header().flags & FLAG_LIMITS != 0
    }

    /// Returns the rate limits, in the order of their names.
    pub fn limits(&self) -> impl Iterator<Item = Limit<'_>> {
        let count = self.limit_block().map_or(0, |block| block.rule_count());
        (0..count).filter_map(|number| self.limit(number))
    }

    /// Returns true if a resource of this kind may meet a rate limit, whatever the action.
    #[must_use]
    pub fn may_limit(&self, kind: &str) -> bool {
        let kind = sanitized(kind);
        self.limit_block().is_some_and(|block| {
            let mut candidates = block.candidates();
            block.narrow_resources(&mut candidates, self.name(&kind));
            candidates.next().is_some()
        })
    }

    /// Returns the block whose rules say which requests the limits are for.
    pub(crate) fn limit_block(&self) -> Option<Block<'_>> {
        self.has_limits().then(|| Block::new(self, word(self.limit_words(), 0)))
    }

    /// Returns the limit of this rule of the block.
    pub(crate) fn limit(&self, number: usize) -> Option<Limit<'_>> {
        let start = number.checked_mul(LIMIT_WORDS)?.checked_add(1)?;
        let record = self.limit_words().get(start..start.checked_add(LIMIT_WORDS)?)?;
        Some(Limit { rule: self.limit_block()?.rule(number), table: self, record, number })
    }

    /// Returns the words of the limits.
    #[must_use]
    pub fn limit_words(&self) -> &[u32] {
        let (start, length) = self.header().limits();
        self.parts().words.get(start..start.saturating_add(length)).unwrap_or(&[])
    }
}

impl<'t> Limit<'t> {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &'t str {
        self.rule.name()
    }

    /// Returns the string id of the name.
    pub(crate) fn name_id(&self) -> u32 {
        self.rule.name_id()
    }

    /// Returns the number of the limit in the order of names.
    pub(crate) fn number(&self) -> u32 {
        u32::try_from(self.number).unwrap_or(u32::MAX)
    }

    /// Returns the file, which is empty in a table without explanations, and the line of the limit.
    #[must_use]
    pub fn file(&self) -> (&'t str, u32) {
        (self.table.explanation(word(self.record, field::FILE)), self.rule.file().1)
    }

    /// Returns the offset of the condition.
    pub(crate) fn condition(&self) -> Option<u32> {
        self.rule.condition()
    }

    /// Returns the programs of the parts of the key.
    #[must_use]
    pub fn key(&self) -> &'t [u32] {
        super::list(self.table.limit_words(), word(self.record, field::KEY))
    }

    /// Returns the program of the cost; `None` for one token.
    #[must_use]
    pub fn cost(&self) -> Option<u32> {
        word(self.record, field::COST).checked_sub(1)
    }

    /// Returns the program of the quota.
    #[must_use]
    pub fn quota(&self) -> u32 {
        word(self.record, field::QUOTA)
    }

    /// Returns the microseconds of the window; `None` for a month of the calendar in UTC.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        long(self.record, field::WINDOW)
    }

    /// Returns the tokens of a full key, in GCRA; `None` for the quota.
    #[must_use]
    pub fn burst(&self) -> Option<u64> {
        long(self.record, field::BURST)
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        Algorithm::from_code(word(self.record, field::ALGORITHM)).unwrap_or(Algorithm::Gcra)
    }

    /// Returns the actions that it charges.
    #[must_use]
    pub fn charged(&self) -> Charged {
        Charged::from_code(word(self.record, field::CHARGED)).unwrap_or(Charged::Always)
    }

    /// Returns the place of its states.
    #[must_use]
    pub fn consistency(&self) -> Consistency {
        Consistency::from_code(word(self.record, field::CONSISTENCY)).unwrap_or(Consistency::Exact)
    }

    /// Returns the treatment while its store is away.
    #[must_use]
    pub fn failure(&self) -> Failure {
        Failure::from_code(word(self.record, field::FAILURE)).unwrap_or(Failure::Deny)
    }

    /// Returns the effect.
    #[must_use]
    pub fn mode(&self) -> Mode {
        Mode::from_code(word(self.record, field::MODE)).unwrap_or(Mode::Enforce)
    }
}

impl core::fmt::Debug for Limit<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Limit").field(&self.name()).finish()
    }
}

/// The numbers of codes of the fields from [`field::ALGORITHM`] to [`field::MODE`].
const CODES: [usize; 5] = [
    Algorithm::ALL.len(),
    Charged::ALL.len(),
    Consistency::ALL.len(),
    Failure::ALL.len(),
    Mode::ALL.len(),
];

/// Checks the records of so many limits and the lists of their keys.
pub(super) fn validate(
    words: &[u32],
    count: usize,
    is_program: &dyn Fn(&u32) -> bool,
    is_explanation: &dyn Fn(u32) -> bool,
) -> Option<()> {
    let end = count.checked_mul(LIMIT_WORDS)?.checked_add(1)?;
    for record in words.get(1..end)?.chunks_exact(LIMIT_WORDS) {
        let key = at(word(record, field::KEY));
        let length = at(*words.get(key)?);
        let programs = words.get(key.checked_add(1)?..)?.get(..length)?;
        let cost = word(record, field::COST).checked_sub(1);
        let mut codes = CODES.iter().zip(record.get(field::ALGORITHM..)?);
        let is_sound = codes.all(|(codes, word)| at(*word) < *codes)
            && key >= end
            && length <= MAX_LIMIT_KEYS
            && programs.iter().all(is_program)
            && cost.as_ref().is_none_or(is_program)
            && is_program(&word(record, field::QUOTA))
            && is_explanation(word(record, field::FILE));
        is_sound.then_some(())?;
    }
    (count > 0).then_some(())
}

/// Reads a number of two words; `None` for 0.
fn long(record: &[u32], field: usize) -> Option<u64> {
    let [low, high] = [word(record, field), word(record, field + 1)].map(u64::from);
    Some(high << 32 | low).filter(|number| *number > 0)
}
