//! The PDP of a Rust host: policies that many threads ask and one replaces.
//!
//! Readers never wait, not even while new policies come. One decision is made by one set of policies.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, Guard};
use serde_json::Value;
use wardgate_bundle::{Conditions, Header, OpenError, Opened, Trust, open};
use wardgate_engine::decide::Explanation;
use wardgate_engine::decision::Decision;
use wardgate_engine::request::Request;

use crate::attributes::{AsPrincipal, AsResource};
use crate::clock::Clock;
use crate::error::RequestError;
use crate::fast::index::Target;
use crate::field::Lookup;
use crate::policies::Policies;
use crate::prepared::Prepared;
use crate::question::Question;

/// A policy decision point. Clones are cheap and share their policies, reloads included.
#[derive(Clone, Debug)]
pub struct Pdp {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    current: ArcSwap<Policies>,
    /// The serial number of the current policies, written after them.
    serial: AtomicU64,
    /// The revision of the current policies. Held while they are replaced, so that two reloads do not mix.
    revision: Mutex<u64>,
    /// How many answers each set of policies remembers.
    entries: usize,
}

/// The policies of one moment. They stay as they are while the PDP is reloaded.
#[derive(Clone, Debug)]
pub struct Snapshot(Arc<Policies>);

impl Pdp {
    /// Opens a bundle. One that is valid for a time only needs [`Self::open_under`], which takes the time.
    ///
    /// # Errors
    /// The bundle is refused.
    pub fn open(bundle: &[u8], trust: Trust<'_>) -> Result<Self, OpenError> {
        Self::open_with_cache(bundle, trust, 0)
    }

    /// Opens a bundle, and remembers answers in at least `entries` places of about 540 bytes, up to 65,536
    /// of them.
    ///
    /// It helps where the same questions come back soon and their conditions are long: regular expressions,
    /// ranges of addresses, lists. Whatever decides by comparisons alone, reads the time, or reads more than
    /// 512 bytes is decided anew each time. An answer is found again only if everything that can be read is
    /// the same, and by the same policies. Nothing is allocated after this, but for the cache of a reload.
    ///
    /// Objects of the host's own must not change while they are asked about.
    ///
    /// # Errors
    /// The bundle is refused.
    pub fn open_with_cache(
        bundle: &[u8],
        trust: Trust<'_>,
        entries: usize,
    ) -> Result<Self, OpenError> {
        Self::open_under(bundle, trust, &Conditions::default(), entries)
    }

    /// Opens a bundle that meets `conditions` too: not too old, of this revision or a later one, of this
    /// name. Remembers answers as [`Self::open_with_cache`] does; 0 places are none.
    ///
    /// # Errors
    /// The bundle is refused.
    pub fn open_under(
        bundle: &[u8],
        trust: Trust<'_>,
        conditions: &Conditions<'_>,
        entries: usize,
    ) -> Result<Self, OpenError> {
        let opened = open(bundle, trust, conditions)?;
        let policies = Policies::new(opened.table, 0, entries);
        let shared = Shared {
            current: ArcSwap::from_pointee(policies),
            serial: AtomicU64::new(0),
            revision: Mutex::new(opened.header.label.revision),
            entries,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Replaces the policies. Decisions that have begun end by the old ones; those that begin after
    /// this returns are made by the new ones. A signed bundle must not be older than the one in use; where
    /// unsigned bundles are trusted, revisions mean nothing.
    ///
    /// # Errors
    /// The bundle is refused; then the policies stay as they were.
    pub fn reload(&self, bundle: &[u8], trust: Trust<'_>) -> Result<(), OpenError> {
        self.reload_under(bundle, trust, &Conditions::default()).map(drop)
    }

    /// Replaces the policies by those of a bundle that meets `conditions` too, and returns its header. What
    /// [`Self::reload`] says of older bundles holds here too, whichever of two reloads comes first.
    ///
    /// # Errors
    /// The bundle is refused; then the policies stay as they were.
    pub fn reload_under(
        &self,
        bundle: &[u8],
        trust: Trust<'_>,
        conditions: &Conditions<'_>,
    ) -> Result<Header, OpenError> {
        let Opened { table, header, .. } = open(bundle, trust, conditions)?;
        let shared = &*self.shared;
        // Whoever panicked while holding it has replaced the policies or has not.
        let mut revision = shared.revision.lock().unwrap_or_else(PoisonError::into_inner);
        let (expected, found) = (*revision, header.label.revision);
        if matches!(trust, Trust::Signed(_)) && found < expected {
            return Err(OpenError::OldRevision { expected, found });
        }
        let serial = shared.serial.load(Ordering::Relaxed).wrapping_add(1);
        shared.current.store(Arc::new(Policies::new(table, serial, shared.entries)));
        shared.serial.store(serial, Ordering::Release);
        *revision = found;
        Ok(header)
    }

    /// Returns the policies of this moment, for several questions that are to be answered alike. Each of them
    /// then also takes less: finding the current policies is an eighth of the instructions of a short decision.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.shared.current.load_full())
    }

    /// Decides whether the principal of `request` may perform `action`; its list of actions is not
    /// read.
    #[inline]
    #[must_use]
    pub fn is_allowed(&self, request: &Request, action: &str, clock: impl Clock) -> bool {
        self.current().is_allowed(request, action, clock)
    }

    /// Decides a question whose attributes are found by their names: see
    /// [`Policies::is_allowed_fields`].
    #[inline]
    #[must_use]
    pub fn is_allowed_fields<S, P, R>(
        &self,
        question: &Question<'_, S, P, R>,
        clock: impl Clock,
    ) -> bool
    where
        S: AsRef<str>,
        P: Lookup + ?Sized,
        R: Lookup + ?Sized,
    {
        self.current().is_allowed_fields(question, clock)
    }

    /// Decides a request that is a JSON value: see [`Policies::is_allowed_value`].
    ///
    /// # Errors
    /// The value is no request.
    #[inline]
    pub fn is_allowed_value(
        &self,
        request: &Value,
        clock: impl Clock,
    ) -> Result<bool, RequestError> {
        self.current().is_allowed_value(request, clock)
    }

    /// Decides a request that is JSON text: see [`Policies::is_allowed_json`].
    ///
    /// # Errors
    /// The text is no JSON, or no request.
    #[inline]
    pub fn is_allowed_json(&self, request: &[u8], clock: impl Clock) -> Result<bool, RequestError> {
        self.current().is_allowed_json(request, clock)
    }

    /// Decides on every action of `request`, and says why.
    #[must_use]
    pub fn check(&self, request: &Request, clock: impl Clock) -> Decision {
        self.current().check(request, clock)
    }

    /// Decides like [`Pdp::check`] and writes down every rule that was considered.
    #[must_use]
    pub fn explain(&self, request: &Request, clock: impl Clock) -> Explanation {
        self.current().explain(request, clock)
    }

    /// Prepares questions about one action on one kind of resource, asked with the host's own types.
    #[must_use]
    pub fn prepare<P: AsPrincipal, R: AsResource>(
        &self,
        kind: &str,
        action: &str,
    ) -> Prepared<P, R> {
        self.prepare_in(Target { kind, action, ..Target::default() })
    }

    /// Prepares questions about one action on one kind of resource in some version and scope.
    #[must_use]
    pub fn prepare_in<P: AsPrincipal, R: AsResource>(&self, target: Target<'_>) -> Prepared<P, R> {
        Prepared::new(self.clone(), target)
    }

    /// Returns whether no policies came after those with this serial number.
    #[inline]
    pub(crate) fn is_current(&self, serial: u64) -> bool {
        self.shared.serial.load(Ordering::Acquire) == serial
    }

    #[inline]
    fn current(&self) -> Guard<Arc<Policies>> {
        self.shared.current.load()
    }
}

impl Deref for Snapshot {
    type Target = Policies;

    #[inline]
    fn deref(&self) -> &Policies {
        &self.0
    }
}
