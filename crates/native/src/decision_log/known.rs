//! Deciding by other policies, and explaining, from what a fast path has read.
//!
//! An attribute that no rule has read is not in the evidence: a decision that needs it gets no answer.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::{Principal, Request, Resource};

use super::entry::Evidence;
use super::part::{Part, parts};
use super::replay::{moment, replay, request};
use crate::fast::decide::{Decider, select};
use crate::fast::index::{Target, Way};
use crate::fast::input::{FastInput, SlotValue, read};
use crate::fast::path::SlotRoot;
use crate::fast::values::Stored;
use crate::policies::Policies;

/// A recorded decision, for deciding by other policies.
#[derive(Clone, Copy, Debug)]
pub struct RecordedDecision<'r> {
    /// The targets of its outcomes, in their order.
    pub targets: &'r [Target<'r>],
    /// The evidence.
    pub evidence: Evidence<'r>,
    /// The time, in microseconds since 1970.
    pub micros: i64,
    /// The id of the principal, if it is known.
    pub principal: Option<&'r str>,
    /// The id of the resource, if it is known.
    pub resource: Option<&'r str>,
}

/// Decides by other policies than those that made the recorded decision. Returns an answer for each target; `None`
/// if the evidence does not give it: what a fast path has read tells only of the attributes that it read.
#[must_use]
pub fn replay_with(
    recorded: &Policies,
    candidate: &Policies,
    decision: &RecordedDecision<'_>,
) -> Vec<Option<bool>> {
    let RecordedDecision { targets, evidence, micros, .. } = *decision;
    let Evidence::Read(bytes) = evidence else {
        return replay(candidate, targets, evidence, micros);
    };
    let answers = moment(micros).and_then(|now| {
        let again = |(target, bytes)| {
            let part = &Part::read(recorded, target, bytes)?;
            let principal = decision.principal.or(part.own).or(part.text(SlotRoot::PrincipalId));
            let resource = decision.resource.or(part.text(SlotRoot::ResourceId));
            Known { target, part, principal, resource }.decide(candidate, now)
        };
        Some(targets.iter().copied().zip(parts(bytes, targets.len())?).map(again).collect())
    });
    answers.unwrap_or_else(|| vec![None; targets.len()])
}

/// Returns a request about one target of a recorded decision, by its number, that the policies which decided cannot tell from
/// the one that was asked. It has what they read and nothing more; a role that no rule names is `(another role)`.
/// Returns `None` if the evidence holds a result of a test in the place of a value.
#[must_use]
pub fn known_request(
    recorded: &Policies,
    decision: &RecordedDecision<'_>,
    target: usize,
) -> Option<Request> {
    let RecordedDecision { targets, evidence, .. } = *decision;
    let asked = *targets.get(target)?;
    let Evidence::Read(bytes) = evidence else {
        let actions = vec![asked.action.to_owned()];
        return Some(Request { actions, ..request(evidence)? });
    };
    let bytes = *parts(bytes, targets.len())?.get(target)?;
    let part = Part::read(recorded, asked, bytes)?;
    let id = |known: Option<&str>, root| known.or(part.text(root)).unwrap_or_default().to_owned();
    let mut request = Request {
        actions: vec![asked.action.to_owned()],
        principal: Principal {
            id: id(decision.principal.or(part.own), SlotRoot::PrincipalId),
            roles: part.role_names().map(str::to_owned).collect(),
            ..Principal::default()
        },
        resource: Resource {
            kind: asked.kind.to_owned(),
            id: id(decision.resource, SlotRoot::ResourceId),
            policy_version: asked.policy_version.to_owned(),
            scope: asked.scope.to_owned(),
            ..Resource::default()
        },
        ..Request::default()
    };
    let slots = part.fast_path.map_or(&[][..], |fast_path| &*fast_path.slots);
    for (slot, value) in slots.iter().zip(part.values) {
        if slot.is_time() {
            continue;
        }
        let attributes = match slot.root {
            SlotRoot::PrincipalAttr => &mut request.principal.attr,
            SlotRoot::ResourceAttr => &mut request.resource.attr,
            SlotRoot::Claims => &mut request.aux_data.jwt,
            SlotRoot::Tokens => &mut request.aux_data.jwts,
            _ => continue,
        };
        let value = match value {
            _ if slot.test.is_some() => return None,
            Stored::Broken => continue,
            Stored::Missing => None,
            Stored::Attr(attr) => Some(attr),
            Stored::Json(_) => return None,
        };
        set(attributes, &slot.path, value);
    }
    Some(request)
}

/// Sets the value at the end of a path. Without one, the objects on the way to it are made.
fn set(object: &mut AttrMap, path: &[Box<str>], value: Option<Attr>) {
    let Some((name, rest)) = path.split_first() else { return };
    let found = object.get(name).cloned();
    let member = match (rest.is_empty(), value) {
        (true, None) => return,
        (true, Some(value)) => value,
        (false, value) => {
            let mut inner = if let Some(Attr::Map(inner)) = found { inner } else { AttrMap::new() };
            set(&mut inner, rest, value);
            Attr::Map(inner)
        }
    };
    let others = std::mem::take(object).into_iter().filter(|(known, _)| known != name);
    *object = others.chain([(name.clone(), member)]).collect();
}

/// A question of which a part is known. The rest is unsupported, so whatever needs it is not decided.
pub(super) struct Known<'k> {
    pub(super) target: Target<'k>,
    pub(super) part: &'k Part<'k>,
    pub(super) principal: Option<&'k str>,
    pub(super) resource: Option<&'k str>,
}

impl Known<'_> {
    /// Decides by policies; `None` if that needs what is not known.
    fn decide(&self, policies: &Policies, now: Timestamp) -> Option<bool> {
        let (table, index) = (policies.table(), policies.index());
        // Of a principal without policies of its own, neither the scope nor, mostly, the id was read.
        let may_have_own = match (self.part.own, self.principal) {
            (Some(_), _) => false,
            (None, Some(principal)) => index.has_own_policies(principal),
            (None, None) => index.has_principals(),
        };
        if may_have_own {
            return None;
        }
        let fast_path = match select(table, index, self) {
            Way::Denied => return Some(false),
            Way::General => return None,
            Way::FastPath(fast_path) => fast_path,
        };
        let roles = table.fast_paths().get(fast_path.id)?;
        let mut listed = roles.roles().iter().map(|[role, _]| table.string(*role));
        let is_known = |root: SlotRoot| match root {
            SlotRoot::PrincipalId => self.principal.is_some(),
            SlotRoot::ResourceId => self.resource.is_some(),
            SlotRoot::PrincipalRoles => self.part.roles.iter().all(Option::is_some),
            _ => true,
        };
        let mut slots = fast_path.slots.iter();
        // No policy was about the target, so nothing of the request was read.
        let is_read = self.part.fast_path.is_some();
        let are_known = slots.all(|slot| slot.is_time() || is_known(slot.root));
        if !is_read || !are_known || !self.part.knows_roles(&mut listed) {
            return None;
        }
        if policies.has_expired(&now) {
            return Some(false);
        }
        let value = |at: usize| {
            fast_path.slots.get(at).map_or(SlotValue::Unsupported, |slot| read(self, slot))
        };
        Decider { table, fast_path, clock: &now }.decide(self, value)
    }

    fn attribute(&self, root: SlotRoot, path: &[Box<str>]) -> SlotValue<'_> {
        self.part.value(root, path).unwrap_or(SlotValue::Unsupported)
    }
}

impl FastInput for Known<'_> {
    fn target(&self) -> Target<'_> {
        self.target
    }

    fn principal(&self) -> &str {
        self.principal.unwrap_or_default()
    }

    fn principal_scope(&self) -> &str {
        ""
    }

    fn resource(&self) -> &str {
        self.resource.unwrap_or_default()
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        self.part.role_names()
    }

    fn principal_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        self.attribute(SlotRoot::PrincipalAttr, path)
    }

    fn resource_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        self.attribute(SlotRoot::ResourceAttr, path)
    }

    fn claim(&self, path: &[Box<str>]) -> SlotValue<'_> {
        self.attribute(SlotRoot::Claims, path)
    }

    fn token(&self, path: &[Box<str>]) -> SlotValue<'_> {
        self.attribute(SlotRoot::Tokens, path)
    }
}
