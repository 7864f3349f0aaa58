//! The tokens of one AuthZEN request.
//!
//! Every context may have its own, and verifying one is dear. So they are counted over the whole
//! request.

use std::cell::Cell;

use wardgate_engine::attr::Attr;
use wardgate_engine::request::AuxData;

use crate::limits::MAX_TOKENS;
use crate::shared::Shared;

/// Verifies the tokens of one request, up to a number of them.
pub(super) struct Verifier<'s> {
    shared: &'s Shared,
    left: Cell<usize>,
}

impl<'s> Verifier<'s> {
    pub(super) const fn new(shared: &'s Shared) -> Self {
        Self { shared, left: Cell::new(MAX_TOKENS) }
    }

    /// Verifies the tokens in the value of `cerbos.auxData`, and returns their claims.
    ///
    /// # Errors
    /// One is refused, or there are too many; in words for the sender.
    pub(super) fn read(&self, value: &Attr) -> Result<AuxData, String> {
        let left = self.left.get().checked_sub(tokens(value));
        let left = left.ok_or_else(|| {
            format!("the request brings more than {MAX_TOKENS} tokens to be verified")
        })?;
        self.left.set(left);
        self.shared.tokens().read(value)
    }
}

/// Counts the tokens of one context; at least one, so that malformed ones are bounded too.
fn tokens(value: &Attr) -> usize {
    let Attr::Map(members) = value else { return 1 };
    match members.get("jwts") {
        Some(Attr::Map(named)) => named.entries().len().max(1),
        _ => 1,
    }
}
