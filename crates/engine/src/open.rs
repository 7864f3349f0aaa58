//! The way from the parts of a policy table to a table that can be decided with.

use crate::fastpath;
use crate::table::validate::validate;
use crate::table::{Flaw, Parts, PolicyTable};

impl PolicyTable {
    /// Validates `parts` and makes a table of them.
    ///
    /// Hosts reach this through `wardgate_bundle::open`, which checks where the bytes come from.
    ///
    /// # Errors
    /// The first flaw found; then no table exists.
    pub fn from_parts(parts: Parts) -> Result<Self, Flaw> {
        let table = Self::unchecked(parts)?;
        let fast_paths = validate(&table)?;
        fastpath::verify(&table, &fast_paths).ok_or(Flaw::FastPaths)?;
        Ok(table)
    }
}
