//! The opening of a policy table from its parts.

use crate::fastpath;
use crate::table::validate::validate;
use crate::table::{Flaw, Parts, PolicyTable};

impl PolicyTable {
    /// Validates `parts` and makes a table of them.
    ///
    /// Hosts reach this through `wardgate_bundle::open`, which verifies the origin of the bytes.
    ///
    /// A table with rate limits is refused: a caller that does not know of them would let them fall
    /// away, and [`PolicyTable::from_parts_with_limits`] is for those that do.
    ///
    /// # Errors
    /// The first flaw found.
    pub fn from_parts(parts: Parts) -> Result<Self, Flaw> {
        let mut table = Self::unchecked(parts)?;
        #[cfg(feature = "ratelimit")]
        if table.has_limits() {
            return Err(Flaw::HasLimits);
        }
        table.check_parts()?;
        Ok(table)
    }

    /// Validates `parts`, which may have rate limits, and makes a table of them. The caller charges
    /// what [`PolicyTable::charges`] returns, or decides nothing for a host.
    ///
    /// # Errors
    /// The first flaw found.
    #[cfg(feature = "ratelimit")]
    pub fn from_parts_with_limits(parts: Parts) -> Result<Self, Flaw> {
        let mut table = Self::unchecked(parts)?;
        table.check_parts()?;
        Ok(table)
    }

    fn check_parts(&mut self) -> Result<(), Flaw> {
        let fast_paths = validate(self)?;
        self.look_up();
        fastpath::verify(self, &fast_paths).ok_or(Flaw::FastPaths)
    }
}
