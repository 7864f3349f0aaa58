//! The PDP of a host: one bundle, many threads, instances out of a pool.
//!
//! A reload verifies the new bundle in one instance before any other uses it. The other instances
//! follow at their next question: a decision that begins after a reload has returned is made by the
//! new bundle.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wardgate_native::decision_log::Evidence;
use wardgate_native::{Clock, Target};

use crate::code::Code;
use crate::error::{HostError, Result};
use crate::fast_path::HostPaths;
use crate::instance::Instance;
use crate::session::Session;
use crate::terms::{Moment, Terms};

/// A policy decision point. Clones are cheap and share their bundle and their instances.
#[derive(Clone)]
pub struct Pdp {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    code: Code,
    terms: Terms,
    source: Mutex<Arc<Source>>,
    /// The generation of the source, written after it.
    generation: AtomicU64,
    /// Locked while a bundle is replaced, so that two reloads do not mix.
    reloading: Mutex<()>,
    /// The idle instances.
    idle: Mutex<Vec<Served>>,
}

/// A verified bundle, and the moment of its verification.
struct Source {
    bundle: Box<[u8]>,
    moment: Moment,
    generation: u64,
}

/// An instance with the bundle of some generation.
pub(crate) struct Served {
    pub(crate) instance: Instance,
    pub(crate) generation: u64,
    /// The fast paths of this bundle that were read.
    pub(crate) fast_paths: HostPaths,
    /// True if the bundle has a date on which it expires.
    pub(crate) can_expire: bool,
}

impl Pdp {
    /// Opens a bundle.
    ///
    /// # Errors
    /// The bundle or the terms are refused, or all instances are in use.
    pub fn open(
        code: &Code,
        bundle: &[u8],
        terms: &Terms,
        moment: Moment,
    ) -> Result<Self, HostError> {
        let source = Source { bundle: bundle.into(), moment, generation: 0 };
        let shared = Shared {
            code: code.clone(),
            terms: terms.clone(),
            source: Mutex::new(Arc::new(source)),
            generation: AtomicU64::new(0),
            reloading: Mutex::new(()),
            idle: Mutex::new(Vec::new()),
        };
        let served = shared.served()?;
        shared.give_back(served);
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Replaces the bundle, under the same terms. Decisions that have begun are completed by the
    /// old one; those that begin after this returns are made by the new one. A signed bundle must
    /// not be older than the one in use.
    ///
    /// # Errors
    /// The bundle is refused, or all instances are in use; the old bundle remains in use.
    pub fn reload(&self, bundle: &[u8], moment: Moment) -> Result<(), HostError> {
        let shared = &*self.shared;
        let _alone = lock(&shared.reloading);
        let mut served = shared.served()?;
        let outcome = served.instance.calls().reload(bundle, moment);
        if outcome.is_ok() {
            let generation = served.generation.wrapping_add(1);
            served.renew(generation);
            *lock(&shared.source) = Arc::new(Source { bundle: bundle.into(), moment, generation });
            shared.generation.store(generation, Ordering::Release);
        }
        if outcome.as_ref().err().is_none_or(HostError::is_sound) {
            shared.give_back(served);
        }
        outcome
    }

    /// Returns a session for several questions of one thread. Its instance follows reloads, and
    /// returns to the pool when the session is dropped.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(Arc::clone(&self.shared))
    }

    /// Returns the revision of the bundle in use.
    ///
    /// # Errors
    /// The code gives no answer.
    pub fn revision(&self) -> Result<u64, HostError> {
        self.session().revision()
    }

    /// Decides `{"principal", "action", "resource"}`.
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn is_allowed(&self, request: &[u8], clock: &impl Clock) -> Result<bool, HostError> {
        self.session().is_allowed(request, clock)
    }

    /// Decides `{"principal", "actions", "resource"}`, and returns the decision as canonical JSON:
    /// the same bytes on every host.
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn decision_bytes(&self, request: &[u8], clock: &impl Clock) -> Result<Vec<u8>, HostError> {
        self.session().decision_bytes(request, clock)
    }

    /// Decides `{"principal", "action", "resources"}`, and returns the indices of the resources on
    /// which the action is allowed.
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn filter(&self, request: &[u8], clock: &impl Clock) -> Result<Vec<u32>, HostError> {
        self.session().filter(request, clock)
    }

    /// Decides `{"principal", "action", "resource"}`, and returns the decision and every rule that
    /// was considered as JSON.
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn explain(&self, request: &[u8], clock: &impl Clock) -> Result<Vec<u8>, HostError> {
        self.session().explain(request, clock)
    }

    /// Decides again from the evidence of a recorded decision alone, about the targets of its outcomes in their order and at
    /// the time of its record, in microseconds since 1970. Returns an answer for each target; `None` where the evidence
    /// is none of a decision by this bundle about the target.
    ///
    /// # Errors
    /// The code gives no answer.
    pub fn replay(
        &self,
        targets: &[Target<'_>],
        evidence: Evidence<'_>,
        micros: i64,
    ) -> Result<Vec<Option<bool>>, HostError> {
        self.session().replay(targets, evidence, micros)
    }

    /// Answers an evaluation request of the AuthZEN Authorization API 1.0 with its response.
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn authzen_evaluate(
        &self,
        request: &[u8],
        clock: &impl Clock,
    ) -> Result<Vec<u8>, HostError> {
        self.session().authzen_evaluate(request, clock)
    }
}

impl Shared {
    /// Takes an instance with the bundle in use.
    pub(crate) fn served(&self) -> Result<Served> {
        let idle = lock(&self.idle).pop();
        match idle {
            Some(served) => self.renewed(served),
            None => {
                let source = Arc::clone(&lock(&self.source));
                let mut instance = self.code.instance()?;
                let calls = instance.calls();
                calls.open(&source.bundle, &self.terms, source.moment)?;
                let can_expire = calls.can_expire()?;
                let (generation, fast_paths) = (source.generation, HostPaths::default());
                Ok(Served { instance, generation, fast_paths, can_expire })
            }
        }
    }

    /// Loads the bundle in use into an instance, unless it has it already.
    pub(crate) fn renewed(&self, mut served: Served) -> Result<Served> {
        if !self.is_current(served.generation) {
            let source = Arc::clone(&lock(&self.source));
            served.instance.calls().reload(&source.bundle, source.moment)?;
            served.can_expire = served.instance.calls().can_expire()?;
            served.renew(source.generation);
        }
        Ok(served)
    }

    /// Returns true if no bundle is newer than that of this generation.
    #[inline]
    pub(crate) fn is_current(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Acquire) == generation
    }

    /// Returns an instance to the pool for the next question.
    pub(crate) fn give_back(&self, served: Served) {
        lock(&self.idle).push(served);
    }
}

impl Served {
    /// Records that the instance has another bundle.
    fn renew(&mut self, generation: u64) {
        self.generation = generation;
        self.fast_paths = HostPaths::default();
    }
}

impl std::fmt::Debug for Pdp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let generation = self.shared.generation.load(Ordering::Relaxed);
        f.debug_struct("Pdp").field("generation", &generation).finish_non_exhaustive()
    }
}

/// Locks a mutex. The guarded data are consistent even after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
