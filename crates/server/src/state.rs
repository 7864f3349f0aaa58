//! What all answers of one moment are made from.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use wardgate_bundle::{Conditions, Header, OpenError, Trust, TrustSet, open};
use wardgate_native::Policies;

use crate::source::Source;

/// The policies in use. It stays as it is: a reload makes another one.
#[derive(Debug)]
pub struct State {
    policies: Policies,
    header: Header,
    /// How many states there were before it.
    serial: u64,
    since: SystemTime,
}

/// Where states come from: a source, and what is asked of its bundles.
pub struct Origin {
    /// Where bundles are.
    pub source: Box<dyn Source>,
    /// The keys that must have signed. Without them nobody needs to have signed.
    pub trust: Option<TrustSet>,
    /// The lowest revision that is accepted.
    pub min_revision: u64,
    /// The name that a bundle must have.
    pub name: Option<String>,
}

impl State {
    /// The policies.
    #[must_use]
    pub const fn policies(&self) -> &Policies {
        &self.policies
    }

    /// What the signers of the bundle said of it.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// How many states there were before it.
    #[must_use]
    pub const fn serial(&self) -> u64 {
        self.serial
    }

    /// Since when it is in use.
    #[must_use]
    pub const fn since(&self) -> SystemTime {
        self.since
    }
}

impl Origin {
    /// Makes the state after `before` of a bundle; nothing if it is the bundle that is in use. A signed bundle
    /// must not be older than the one in use; where nobody signs, revisions mean nothing.
    ///
    /// # Errors
    /// The bundle is refused.
    pub fn next(&self, bytes: &[u8], before: Option<&State>) -> Result<Option<State>, OpenError> {
        let since = SystemTime::now();
        let opened = open(bytes, self.trust(), &self.conditions(since))?;
        let serial = match before {
            Some(before) if before.header == opened.header => return Ok(None),
            Some(before) => {
                self.must_follow(&before.header, &opened.header)?;
                before.serial + 1
            }
            None => 0,
        };
        let policies = Policies::of(opened.table);
        Ok(Some(State { policies, header: opened.header, serial, since }))
    }

    fn must_follow(&self, before: &Header, next: &Header) -> Result<(), OpenError> {
        let (expected, found) = (before.label.revision, next.label.revision);
        if self.trust.is_some() && found < expected {
            return Err(OpenError::OldRevision { expected, found });
        }
        Ok(())
    }

    fn trust(&self) -> Trust<'_> {
        self.trust.as_ref().map_or(Trust::Unsigned, Trust::Signed)
    }

    fn conditions(&self, now: SystemTime) -> Conditions<'_> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Conditions {
            now: Some(now),
            min_revision: self.min_revision,
            name: self.name.as_deref(),
            ..Conditions::default()
        }
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").field("source", &self.source.name()).finish_non_exhaustive()
    }
}
