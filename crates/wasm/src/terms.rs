//! Terms of the package, and the time at which they apply.
//!
//! `npm/src/pdp/terms.ts` writes terms in the encoding of [`Terms`].

use alloc::vec::Vec;

use wardgate_bundle::{Conditions, OpenError, Opened, Terms, delta, open_with_limits};
use wardgate_engine::table::Flaw;

use crate::clock;
use crate::failure::{Failure, Result};

/// The conditions that depend on the time of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    now: u64,
    min_revision: u64,
}

impl Moment {
    /// Takes the time in milliseconds since 1970. With a clock before 1970, expired bundles would
    /// be valid, so such a time is refused.
    #[expect(clippy::as_conversions, reason = "the package hands in whole numbers below 2^53")]
    pub(crate) fn new(now: f64, min_revision: f64) -> Result<Self> {
        let seconds = clock::timestamp(now)?.seconds();
        let now = u64::try_from(seconds)
            .map_err(|_| Failure::Range("the clock must not be before 1970".into()))?;
        Ok(Self { now, min_revision: min_revision as u64 })
    }

    /// Opens a bundle under these terms.
    pub(crate) fn open(self, bundle: &[u8], terms: &Terms) -> Result<Opened> {
        let Self { now, min_revision } = self;
        let conditions = Conditions { now: Some(now), min_revision, ..terms.conditions() };
        let opened = open_with_limits(bundle, terms.trust(), &conditions)?;
        if opened.table.has_limits() && !terms.enforces_limits() {
            return Err(OpenError::Malformed(Flaw::HasLimits).into());
        }
        Ok(opened)
    }
}

/// Assembles the bundle that a delta makes of its base. It must then be opened, and only opening
/// checks its name.
pub(crate) fn apply(terms: &Terms, base: &[u8], delta: &[u8]) -> Result<Vec<u8>> {
    let conditions = Conditions { name: None, ..terms.conditions() };
    Ok(delta::apply(base, delta, terms.trust(), &conditions)?)
}
