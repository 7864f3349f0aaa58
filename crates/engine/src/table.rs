//! The policy table: all data of decisions, read without copies from words.
//!
//! A table is immutable and closed-world: kinds, actions, roles, scopes and paths are interned to
//! ids. [`PolicyTable::from_parts`] proves once that every reference inside is sound; a lookup that
//! finds no entry afterwards means "no such rule", never a panic.

mod actions;
mod block;
pub(crate) mod candidates;
mod index;
mod inspect;
pub mod layout;
#[cfg(feature = "ratelimit")]
pub mod limit;
pub(crate) mod validate;

use alloc::boxed::Box;
use alloc::vec::Vec;

pub use block::{Block, DerivedRole, Name, Rule, RuleSet, Values, list};
#[cfg(feature = "observe")]
pub(crate) use inspect::path_name;
pub use inspect::{Inspection, PolicyRecord};
pub use layout::Section;
pub use validate::Flaw;

use crate::cel::pool::string;
use crate::cel::{Pool, Timestamp};
use layout::{FLAG_LENIENT_SCOPE_SEARCH, FLAG_STRICT, Header};

/// The raw parts of a table, as a bundle carries them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Header and sections. See [`layout`].
    pub words: Vec<u32>,
    /// All strings, one after the other.
    pub text: Box<str>,
    /// All byte strings, one after the other.
    pub blob: Box<[u8]>,
    /// Texts that no decision depends on: names of files and the sources of expressions, one after
    /// the other. Empty if they were left out.
    pub explanations: Box<str>,
}

/// An immutable, validated set of compiled policies.
#[derive(Debug)]
pub struct PolicyTable {
    parts: Parts,
    header: Header,
    lookup: index::Lookup,
    /// Seconds since 1970 from which on every action is denied.
    expires: Option<i64>,
}

/// The meaning of an error in a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// An error denies the actions whose rules it touches.
    Strict,
    /// An erroring expression counts as not satisfied.
    Lenient,
}

impl PolicyTable {
    /// Reads the header of `parts`; the sections are not checked yet.
    pub(crate) fn unchecked(parts: Parts) -> Result<Self, Flaw> {
        let header = Header::read(&parts.words).ok_or(Flaw::Header)?;
        Ok(Self { parts, header, lookup: index::Lookup::default(), expires: None })
    }

    /// Returns the table, which denies every action from `expires` on, in seconds since 1970.
    #[must_use]
    pub fn expiring(self, expires: Option<i64>) -> Self {
        Self { expires, ..self }
    }

    /// Returns the second since 1970 from which on the table denies every action, or `None`.
    #[must_use]
    pub const fn expires(&self) -> Option<i64> {
        self.expires
    }

    /// Returns true if the table denies every action at `now`.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| now.seconds() >= expires)
    }

    /// Returns the parts, for packing into a bundle.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns the meaning of an error in a condition.
    #[must_use]
    pub fn evaluation(&self) -> Evaluation {
        if self.header.flags & FLAG_STRICT != 0 { Evaluation::Strict } else { Evaluation::Lenient }
    }

    /// Returns true if a scope without policies falls back to its nearest ancestor that has some.
    #[must_use]
    pub fn lenient_scope_search(&self) -> bool {
        self.header.flags & FLAG_LENIENT_SCOPE_SEARCH != 0
    }

    /// Returns the policy version for requests without one.
    #[must_use]
    pub fn default_version(&self) -> &str {
        self.string(self.header.default_version)
    }

    /// Returns the words of `section`.
    #[must_use]
    pub fn section(&self, section: Section) -> &[u32] {
        let (start, length) = self.header.bounds(section);
        self.parts.words.get(start..start.saturating_add(length)).unwrap_or(&[])
    }

    /// Returns string `id`, or the empty string if there is none.
    #[must_use]
    pub fn string(&self, id: u32) -> &str {
        string(&self.parts.text, self.section(Section::Strings), id).unwrap_or("")
    }

    /// Returns explanation `id`, or the empty string if there is none.
    #[must_use]
    pub fn explanation(&self, id: u32) -> &str {
        string(&self.parts.explanations, self.section(Section::Explanations), id).unwrap_or("")
    }

    /// Returns the source text of `program`; it is empty in a table without explanations.
    #[must_use]
    pub fn source(&self, program: u32) -> &str {
        self.pool().program(program).map_or("", |program| self.explanation(program.source))
    }

    /// Returns true if the explanations were left out.
    #[must_use]
    pub fn is_stripped(&self) -> bool {
        let end = self.section(Section::Explanations).last().copied().unwrap_or(0);
        end > 0 && self.parts.explanations.is_empty()
    }

    /// Returns the length of explanation `id` in bytes, even if it was left out.
    pub(crate) fn explanation_len(&self, id: u32) -> usize {
        let offsets = self.section(Section::Explanations);
        let end = word(offsets, at(id).saturating_add(1));
        at(end.saturating_sub(word(offsets, at(id))))
    }

    /// Returns the pool for the evaluator.
    #[must_use]
    pub fn pool(&self) -> Pool<'_> {
        Pool {
            text: &self.parts.text,
            blob: &self.parts.blob,
            strings: self.section(Section::Strings),
            constants: self.section(Section::Constants),
            slots: self.section(Section::Slots),
            programs: self.section(Section::Programs),
            code: self.section(Section::Code),
            variables: self.section(Section::Variables),
            explanations: self.section(Section::Explanations),
        }
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.header
    }
}

/// Returns word `at` of `words`, or 0 beyond the end.
pub fn word(words: &[u32], at: usize) -> u32 {
    words.get(at).copied().unwrap_or(0)
}

/// Widens an index. On every supported target `usize` has at least 32 bits.
pub fn at(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}
