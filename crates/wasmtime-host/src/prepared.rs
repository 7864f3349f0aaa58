//! Prepared targets: the values of a question are written where the code reads them.

use std::sync::Arc;

use wardgate_native::{Clock, Known, Lookup, Question, ResourceRef, Target};

use crate::error::Result;
use crate::fast_path::HostPath;
use crate::instance::Instance;
use crate::pdp::Served;

/// The prepared lookups for questions about one action on one kind of resource. Made by
/// [`Session::prepare`](crate::Session::prepare); it follows reloads and serves any session of its
/// PDP.
#[derive(Debug)]
pub struct Prepared {
    target: Names,
    /// The generation of the bundle of the fast path.
    generation: Option<u64>,
    /// `None` if questions are sent as text. Kinds with equal rules share the fast path, so that it
    /// stays in the cache.
    fast_path: Option<Arc<HostPath>>,
}

/// The names of a target.
#[derive(Debug)]
struct Names {
    kind: Known,
    action: Known,
    version: Box<str>,
    scope: Box<str>,
}

impl Prepared {
    pub(crate) fn new(target: Target<'_>) -> Self {
        Self { target: Names::new(target), generation: None, fast_path: None }
    }

    /// Finds the fast path in the bundle of an instance.
    #[cold]
    pub(crate) fn renew(&mut self, served: &mut Served) -> Result<()> {
        let Served { instance, fast_paths, .. } = served;
        self.fast_path = fast_paths.fast_path(instance, self.target.target())?;
        self.generation = Some(served.generation);
        Ok(())
    }

    /// Decides a question by the fast path; returns `None` if it cannot.
    #[inline]
    pub(crate) fn decide<S: AsRef<str>, P: Lookup + ?Sized, R: Lookup + ?Sized>(
        &mut self,
        served: &mut Served,
        question: &Question<'_, S, P, R>,
        clock: &impl Clock,
    ) -> Result<Option<bool>> {
        if self.generation != Some(served.generation) {
            self.renew(served)?;
        }
        let Some(fast_path) = self.fast_path.as_deref() else { return Ok(None) };
        let Question { principal, action, resource } = question;
        if !self.target.are(resource, action) || fast_path.has_own_policies(principal.id) {
            return Ok(None);
        }
        let Some(roles) = fast_path.mask(principal.roles) else { return Ok(None) };
        // The clock is read only if the bundle can expire.
        let seconds = served.can_expire.then(|| clock.now().seconds());
        match &mut served.instance {
            Instance::Module(module) => module.decide(fast_path.id, roles, seconds, |frame| {
                fast_path.read(principal, resource, |slot, value| frame.put(slot, value))
            }),
            Instance::Component(component) => {
                component.decide(fast_path.id, roles, seconds, |values| {
                    fast_path.read(principal, resource, |_, value| values.push(value.into()))
                })
            }
        }
    }
}

impl Names {
    fn new(target: Target<'_>) -> Self {
        let Target { kind, action, policy_version, scope } = target;
        Self {
            kind: Known::from(Box::from(kind)),
            action: Known::from(Box::from(action)),
            version: policy_version.into(),
            scope: scope.into(),
        }
    }

    fn target(&self) -> Target<'_> {
        Target {
            kind: self.kind.text(),
            action: self.action.text(),
            policy_version: &self.version,
            scope: &self.scope,
        }
    }

    #[inline]
    fn are<R: ?Sized>(&self, resource: &ResourceRef<'_, R>, action: &str) -> bool {
        self.kind.is(resource.kind)
            && self.action.is(action)
            && is_same(&self.version, resource.policy_version)
            && is_same(&self.scope, resource.scope)
    }
}

/// Compares two names that are mostly empty.
#[inline]
fn is_same(left: &str, right: &str) -> bool {
    left.len() == right.len() && (left.is_empty() || left == right)
}
