//! The quick way: a question written where the code looks for it.

use std::sync::Arc;

use wardgate_native::{Clock, Known, Lookup, Question, ResourceRef, Target};

use crate::error::HostError;
use crate::fast_path::HostPath;
use crate::instance::Instance;
use crate::pdp::Served;

/// What questions about one action on one kind of resource are read for. Made by
/// [`Session::prepare`](crate::Session::prepare); it follows reloads and serves any session of its PDP.
#[derive(Debug)]
pub struct Prepared {
    target: Names,
    /// Of which bundle the fast path is.
    generation: Option<u64>,
    /// Nothing where questions are asked as text. Kinds with equal rules share it, so that it stays near.
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

    /// Finds the fast path in the bundle that an instance has.
    #[cold]
    pub(crate) fn renew(&mut self, served: &mut Served) -> Result<(), HostError> {
        let Served { instance, fast_paths, .. } = served;
        self.fast_path = fast_paths.fast_path(instance, self.target.target())?;
        self.generation = Some(served.generation);
        Ok(())
    }

    /// Decides a question, if the quick way can.
    #[inline]
    pub(crate) fn decide<S, P, R>(
        &mut self,
        served: &mut Served,
        question: &Question<'_, S, P, R>,
        clock: &impl Clock,
    ) -> Result<Option<bool>, HostError>
    where
        S: AsRef<str>,
        P: Lookup + ?Sized,
        R: Lookup + ?Sized,
    {
        if self.generation != Some(served.generation) {
            self.renew(served)?;
        }
        let Some(fast_path) = self.fast_path.as_deref() else { return Ok(None) };
        let Question { principal, action, resource } = question;
        if !self.target.are(resource, action) || fast_path.has_own_policies(principal.id) {
            return Ok(None);
        }
        let Some(roles) = fast_path.mask(principal.roles) else { return Ok(None) };
        // Only a bundle that can expire makes the host look at its clock.
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

/// Whether two names are equal that are mostly empty.
#[inline]
fn is_same(left: &str, right: &str) -> bool {
    left.len() == right.len() && (left.is_empty() || left == right)
}
