//! The PDP of a Rust host: policies that many threads read and one replaces.
//!
//! Readers never wait, not even during a reload. One decision uses one set of policies.

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
    /// The revision of the current policies. Locked during a reload, so that two reloads do not
    /// mix.
    revision: Mutex<u64>,
    /// The number of cached answers of each set of policies.
    entries: usize,
}

/// The policies of one moment. They stay the same while the PDP is reloaded.
#[derive(Clone, Debug)]
pub struct Snapshot(Arc<Policies>);

impl Pdp {
    /// Opens a bundle. A bundle with a period of validity needs [`Self::open_under`], which takes
    /// the time.
    ///
    /// ```no_run
    /// use wardgate_native::{Pdp, Trust};
    ///
    /// let bundle = std::fs::read("policies.wardgate")?;
    /// let pdp = Pdp::open(&bundle, Trust::Unsigned)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The bundle is refused.
    pub fn open(bundle: &[u8], trust: Trust<'_>) -> Result<Self, OpenError> {
        Self::open_with_cache(bundle, trust, 0)
    }

    /// Opens a bundle, and caches answers in at least `entries` entries of about 540 bytes, up to
    /// 65,536 of them.
    ///
    /// It helps if the same questions come back soon and their conditions are long: regular
    /// expressions, ranges of addresses, lists. A question is decided again each time if its fast
    /// path has comparisons only, reads the time, or reads more than 512 bytes. An answer is reused
    /// only if all readable values are the same, and by the same policies. The cache is allocated
    /// here and at each reload, and at no other time.
    ///
    /// Objects of the host must not change during a decision.
    ///
    /// ```no_run
    /// use wardgate_native::{Pdp, Trust};
    ///
    /// let bundle = std::fs::read("policies.wardgate")?;
    /// let pdp = Pdp::open_with_cache(&bundle, Trust::Unsigned, 4096)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// Opens a bundle that also meets `conditions`: age, lowest revision and name. Caches answers
    /// as [`Self::open_with_cache`] does; 0 entries mean no cache.
    ///
    /// ```no_run
    /// use wardgate_native::{Conditions, Pdp, Trust};
    ///
    /// let bundle = std::fs::read("policies.wardgate")?;
    /// let conditions = Conditions::default();
    /// let pdp = Pdp::open_under(&bundle, Trust::Unsigned, &conditions, 0)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The bundle is refused.
    pub fn open_under(
        bundle: &[u8],
        trust: Trust<'_>,
        conditions: &Conditions<'_>,
        entries: usize,
    ) -> Result<Self, OpenError> {
        Ok(Self::of(open(bundle, trust, conditions)?, entries))
    }

    /// Makes a PDP of an opened bundle, with a cache of at least `entries` answers.
    pub(crate) fn of(opened: Opened, entries: usize) -> Self {
        let policies = Policies::new(opened.table, 0, entries);
        let shared = Shared {
            current: ArcSwap::from_pointee(policies),
            serial: AtomicU64::new(0),
            revision: Mutex::new(opened.header.label.revision),
            entries,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Replaces the policies. Decisions that have begun end by the old ones; those that begin after
    /// this returns use the new ones. A signed bundle must not be older than the current one; with
    /// [`Trust::Unsigned`] the revision is not compared.
    ///
    /// ```no_run
    /// # use wardgate_native::{Pdp, Trust};
    /// # let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// let bundle = std::fs::read("policies-2.wardgate")?;
    /// pdp.reload(&bundle, Trust::Unsigned)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The bundle is refused; the policies then stay the same.
    pub fn reload(&self, bundle: &[u8], trust: Trust<'_>) -> Result<(), OpenError> {
        self.reload_under(bundle, trust, &Conditions::default()).map(drop)
    }

    /// Replaces the policies by those of a bundle that also meets `conditions`, and returns its
    /// header. A signed bundle must not be older than the current one, as in [`Self::reload`], also
    /// if two reloads run at once.
    ///
    /// # Errors
    /// The bundle is refused; the policies then stay the same.
    pub fn reload_under(
        &self,
        bundle: &[u8],
        trust: Trust<'_>,
        conditions: &Conditions<'_>,
    ) -> Result<Header, OpenError> {
        self.replace(open(bundle, trust, conditions)?, trust)
    }

    /// Replaces the policies by those of an opened bundle, which must not be older if it is signed.
    pub(crate) fn replace(&self, opened: Opened, trust: Trust<'_>) -> Result<Header, OpenError> {
        let Opened { table, header, .. } = opened;
        let shared = &*self.shared;
        // A thread that panicked with the lock has replaced the policies or has not.
        let mut revision = shared.revision.lock().unwrap_or_else(PoisonError::into_inner);
        trust.must_follow(*revision, header.label.revision)?;
        let serial = shared.serial.load(Ordering::Relaxed).wrapping_add(1);
        shared.current.store(Arc::new(Policies::new(table, serial, shared.entries)));
        shared.serial.store(serial, Ordering::Release);
        *revision = header.label.revision;
        Ok(header)
    }

    /// Returns the policies of this moment, for several questions that need the same ones. Each
    /// question then also takes less time: finding the current policies is an eighth of the
    /// instructions of a short decision.
    ///
    /// ```no_run
    /// # use wardgate_native::{Pdp, SystemClock, Trust};
    /// # let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// # let requests: Vec<Vec<u8>> = Vec::new();
    /// let policies = pdp.snapshot();
    /// for request in &requests {
    ///     let is_allowed = policies.is_allowed_json(request, SystemClock)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.shared.current.load_full())
    }

    /// Returns true if the principal of `request` may perform `action`; the list of actions of the
    /// request is not read.
    ///
    /// ```no_run
    /// use wardgate_native::{Pdp, Principal, Request, Resource, SystemClock, Trust};
    ///
    /// let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// let request = Request {
    ///     principal: Principal {
    ///         id: "ada".to_owned(),
    ///         roles: vec!["member".to_owned()],
    ///         ..Principal::default()
    ///     },
    ///     resource: Resource {
    ///         kind: "document".to_owned(),
    ///         id: "d1".to_owned(),
    ///         ..Resource::default()
    ///     },
    ///     ..Request::default()
    /// };
    /// let is_allowed = pdp.is_allowed(&request, "view", SystemClock);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn is_allowed(&self, request: &Request, action: &str, clock: impl Clock) -> bool {
        self.current().is_allowed(request, action, clock)
    }

    /// Returns true if the principal of a question may perform its action; attributes are found by
    /// their names: see [`Policies::is_allowed_fields`].
    ///
    /// ```no_run
    /// use wardgate_native::{Pdp, PrincipalRef, Question, ResourceRef, SystemClock, Trust};
    ///
    /// let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// let attributes = vec![("owner", "ada")];
    /// let question = Question {
    ///     principal: PrincipalRef::new("ada", &["member"], &()),
    ///     action: "delete",
    ///     resource: ResourceRef::new("document", "d1", &attributes),
    /// };
    /// let is_allowed = pdp.is_allowed_fields(&question, SystemClock);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn is_allowed_fields<S: AsRef<str>, P: Lookup + ?Sized, R: Lookup + ?Sized>(
        &self,
        question: &Question<'_, S, P, R>,
        clock: impl Clock,
    ) -> bool {
        self.current().is_allowed_fields(question, clock)
    }

    /// Decides a request that is a JSON value: see [`Policies::is_allowed_value`].
    ///
    /// # Errors
    /// The value is not a request.
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
    /// ```no_run
    /// use wardgate_native::{Pdp, SystemClock, Trust};
    ///
    /// let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// let request = br#"{
    ///     "principal": { "id": "ada", "roles": ["member"] },
    ///     "action": "view",
    ///     "resource": { "kind": "document", "id": "d1" }
    /// }"#;
    /// let is_allowed = pdp.is_allowed_json(request, SystemClock)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The text is not JSON, or not a request.
    #[inline]
    pub fn is_allowed_json(&self, request: &[u8], clock: impl Clock) -> Result<bool, RequestError> {
        self.current().is_allowed_json(request, clock)
    }

    /// Decides every action of `request`, and returns the decision with its reasons and outputs.
    ///
    /// ```no_run
    /// use wardgate_native::protocol::documents;
    /// use wardgate_native::{Effect, Pdp, SystemClock, Trust};
    ///
    /// let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// let request = documents::check(
    ///     br#"{
    ///         "principal": { "id": "ada", "roles": ["member"] },
    ///         "actions": ["view", "delete"],
    ///         "resource": { "kind": "document", "id": "d1" }
    ///     }"#,
    /// )?;
    /// for decided in pdp.check(&request, SystemClock).actions {
    ///     println!("{}: {}", decided.action, decided.effect == Effect::Allow);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn check(&self, request: &Request, clock: impl Clock) -> Decision {
        self.current().check(request, clock)
    }

    /// Decides like [`Pdp::check`], and returns every rule that was considered as well.
    #[must_use]
    pub fn explain(&self, request: &Request, clock: impl Clock) -> Explanation {
        self.current().explain(request, clock)
    }

    /// Returns the topics of MQTT that the principal of `request` may use for `action`, as lists of
    /// filters: see [`Policies::grants`].
    ///
    /// ```no_run
    /// use wardgate_native::{Pdp, Principal, Request, SystemClock, Trust};
    ///
    /// let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// let request = Request {
    ///     principal: Principal {
    ///         id: "d1".to_owned(),
    ///         roles: vec!["device".to_owned()],
    ///         ..Principal::default()
    ///     },
    ///     ..Request::default()
    /// };
    /// let grants = pdp.grants(&request, "publish", SystemClock);
    /// println!("{:?} without {:?}, exact: {}", grants.allow, grants.deny, grants.is_exact());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "grants")]
    #[must_use]
    pub fn grants(
        &self,
        request: &Request,
        action: &str,
        clock: impl Clock,
    ) -> crate::mqtt::Grants {
        self.current().grants(request, action, clock)
    }

    /// Prepares questions with the host's own types, about one action on one kind of resource. The
    /// policies are those of the default version and the root scope.
    ///
    /// ```no_run
    /// use wardgate_native::{AsPrincipal, AsResource, Pdp, SystemClock, Trust, attributes};
    ///
    /// struct Person {
    ///     name: String,
    ///     roles: Vec<String>,
    /// }
    ///
    /// struct Document {
    ///     id: String,
    ///     owner: String,
    /// }
    ///
    /// attributes! { Person {} }
    /// attributes! { Document { owner } }
    ///
    /// impl AsPrincipal for Person {
    ///     fn id(&self) -> &str {
    ///         &self.name
    ///     }
    ///
    ///     fn roles(&self) -> impl Iterator<Item = &str> {
    ///         self.roles.iter().map(String::as_str)
    ///     }
    /// }
    ///
    /// impl AsResource for Document {
    ///     fn id(&self) -> &str {
    ///         &self.id
    ///     }
    /// }
    ///
    /// let pdp = Pdp::open(&std::fs::read("policies.wardgate")?, Trust::Unsigned)?;
    /// let may_delete = pdp.prepare::<Person, Document>("document", "delete");
    /// let ada = Person { name: "ada".to_owned(), roles: vec!["member".to_owned()] };
    /// let document = Document { id: "d1".to_owned(), owner: "ada".to_owned() };
    /// let is_allowed = may_delete.is_allowed(&ada, &document, SystemClock);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn prepare<P: AsPrincipal, R: AsResource>(
        &self,
        kind: &str,
        action: &str,
    ) -> Prepared<P, R> {
        self.prepare_in(Target { kind, action, ..Target::default() })
    }

    /// Prepares questions about one action on one kind of resource in one version and scope.
    ///
    /// ```no_run
    /// use wardgate_native::{AsPrincipal, AsResource, Pdp, Prepared, Target};
    ///
    /// fn may_view<P: AsPrincipal, R: AsResource>(pdp: &Pdp) -> Prepared<P, R> {
    ///     let target = Target { kind: "document", action: "view", scope: "acme", ..Target::default() };
    ///     pdp.prepare_in(target)
    /// }
    /// ```
    #[must_use]
    pub fn prepare_in<P: AsPrincipal, R: AsResource>(&self, target: Target<'_>) -> Prepared<P, R> {
        Prepared::new(self.clone(), target)
    }

    /// Returns true if the current policies have this serial number.
    #[inline]
    pub(crate) fn is_current(&self, serial: u64) -> bool {
        self.shared.serial.load(Ordering::Acquire) == serial
    }

    #[inline]
    pub(crate) fn current(&self) -> Guard<Arc<Policies>> {
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
