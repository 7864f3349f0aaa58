//! `filter` of `[decision-log]`: the decisions that are recorded.

use std::fmt;

use super::{ConfigError, Section};

/// The decisions that are recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// All.
    All,
    /// Those that deny an action.
    Denied,
    /// Those that deny an action, and this share of the others, from 0 to 1.
    Sample(f64),
}

impl Filter {
    /// Reads the key of a table: a word, or a table with `sample`.
    pub(super) fn read(section: &mut Section<'_>) -> Result<Self, ConfigError> {
        if !section.has_table("filter") {
            return Ok(section.choice("filter", WORDS)?.unwrap_or(Self::All));
        }
        let mut sample = section.section("filter")?;
        let share = sample.share("sample")?;
        sample.finish()?;
        let missing = || ConfigError::new("`sample` is missing in `[decision-log.filter]`");
        share.map(Self::Sample).ok_or_else(missing)
    }
}

/// Writes it as the configuration has it.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("\"all\""),
            Self::Denied => f.write_str("\"denied\""),
            Self::Sample(share) => write!(f, "{{ sample = {share} }}"),
        }
    }
}

const WORDS: &[(&str, Filter)] = &[("all", Filter::All), ("denied", Filter::Denied)];
