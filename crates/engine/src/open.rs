//! The opening of a policy table from its parts.

use crate::fastpath;
use crate::table::validate::validate;
use crate::table::{Flaw, Parts, PolicyTable};

impl PolicyTable {
    /// Validates `parts` and makes a table of them.
    ///
    /// Hosts reach this through `wardgate_bundle::open`, which verifies the origin of the bytes.
    ///
    /// # Errors
    /// The first flaw found.
    pub fn from_parts(parts: Parts) -> Result<Self, Flaw> {
        let mut table = Self::unchecked(parts)?;
        let fast_paths = validate(&table)?;
        table.look_up();
        fastpath::verify(&table, &fast_paths).ok_or(Flaw::FastPaths)?;
        Ok(table)
    }
}
