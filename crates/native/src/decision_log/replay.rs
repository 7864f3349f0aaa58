//! Deciding again from evidence: by the policies that made the decision, or by others.
//!
//! **No error gives an answer.** Evidence that was not written by these policies about this target gives none.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::{AuxData, Principal, Request, Resource};

use super::entry::Evidence;
use super::evidence::NO_FAST_PATH;
use crate::fast::decide::{Decider, Roles, select};
use crate::fast::index::{Target, Way};
use crate::fast::input::{FastInput, SlotValue, follow_on, read};
use crate::fast::path::{SlotRoot, UnpackedPath};
use crate::fast::values::{MISSING, Stored, TEXT, ValueReader};
use crate::field::{AsField, Field};
use crate::policies::Policies;

/// Decides again from the evidence of a decision alone, about the targets of its outcomes in their order and at the time of
/// its record, in microseconds since 1970. Returns an answer for each target; `None` if the evidence is none, or none of a
/// decision by these policies about this target.
///
/// The same policies give the same answers as they gave when the evidence was written. No error gives an answer.
#[must_use]
pub fn replay(
    policies: &Policies,
    targets: &[Target<'_>],
    evidence: Evidence<'_>,
    micros: i64,
) -> Vec<Option<bool>> {
    let answers = moment(micros).and_then(|now| match evidence {
        Evidence::None | Evidence::TooLarge => None,
        Evidence::Read(bytes) => {
            let again = |(target, part)| replay_read(policies, target, part, now);
            Some(targets.iter().copied().zip(parts(bytes, targets.len())?).map(again).collect())
        }
        Evidence::Request(bytes) => {
            let request = read_request(bytes)?;
            let again = |target| replay_request(policies, target, &request, now);
            Some(targets.iter().copied().map(again).collect())
        }
    });
    answers.unwrap_or_else(|| vec![None; targets.len()])
}

/// Returns the time of a record, which is in microseconds since 1970; `None` if it is beyond the times of the engine.
#[must_use]
pub fn moment(micros: i64) -> Option<Timestamp> {
    let nanos = u32::try_from(micros.rem_euclid(1_000_000).wrapping_mul(1000)).ok()?;
    Timestamp::new(micros.div_euclid(1_000_000), nanos)
}

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

/// Returns the parts of an evidence, if there are just so many.
fn parts(mut bytes: &[u8], count: usize) -> Option<Vec<&[u8]>> {
    let mut parts = Vec::new();
    for _ in 0..count {
        let (length, rest) = bytes.split_first_chunk()?;
        let (part, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        parts.push(part);
        bytes = rest;
    }
    bytes.is_empty().then_some(parts)
}

fn replay_request(
    policies: &Policies,
    target: Target<'_>,
    request: &Request,
    now: Timestamp,
) -> Option<bool> {
    let Resource { kind, policy_version, scope, .. } = &request.resource;
    let is_about = [&**kind, policy_version, scope]
        == [target.kind, target.policy_version, target.scope]
        && request.actions.iter().any(|action| action == target.action);
    is_about.then(|| policies.table().is_allowed(request, target.action, now))
}

fn replay_read(
    policies: &Policies,
    target: Target<'_>,
    bytes: &[u8],
    now: Timestamp,
) -> Option<bool> {
    let part = Part::read(policies, target, bytes)?;
    let Some(fast_path) = part.fast_path else { return Some(false) };
    let word = |role: &Option<&str>| role.map_or(fast_path.others(), |role| fast_path.role(role));
    let roles = Roles::of_words(fast_path, part.roles.iter().map(word))?;
    if policies.has_expired(&now) {
        return Some(false);
    }
    let value = |at: usize| part.values.get(at).map_or(SlotValue::Unsupported, Stored::slot);
    let question = Known { target, part: &part, principal: None, resource: None };
    let decider = Decider { table: policies.table(), fast_path, clock: &now };
    decider.decide_for_roles(&roles, &question, value)
}

/// Returns the request of an evidence of that form.
#[must_use]
pub fn request(evidence: Evidence<'_>) -> Option<Request> {
    if let Evidence::Request(bytes) = evidence { read_request(bytes) } else { None }
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
            roles: part.roles.iter().map(|role| role.unwrap_or(ANOTHER_ROLE).to_owned()).collect(),
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

fn read_request(bytes: &[u8]) -> Option<Request> {
    let mut reader = ValueReader(bytes);
    let text = |reader: &mut ValueReader<'_>, kind| {
        if kind == TEXT { reader.rest_of_text().map(str::to_owned) } else { None }
    };
    let actions = reader.list(text)?;
    let [id, policy_version, scope] = names(&mut reader)?;
    let (roles, attr) = (reader.list(text)?, reader.map()?);
    let principal = Principal { id, policy_version, scope, roles, attr };
    let [kind, policy_version, id, scope] = names(&mut reader)?;
    let resource = Resource { kind, policy_version, id, scope, attr: reader.map()? };
    let aux_data = AuxData { jwt: reader.map()?, jwts: reader.map()? };
    let request = Request { principal, resource, actions, aux_data, ..Request::default() };
    reader.is_at_end().then_some(request)
}

fn names<const N: usize>(reader: &mut ValueReader<'_>) -> Option<[String; N]> {
    let mut names = [const { String::new() }; N];
    for name in &mut names {
        *name = reader.text()?.to_owned();
    }
    Some(names)
}

/// What a fast path has read of a question.
struct Part<'p> {
    /// The id of the principal, if it has policies of its own.
    own: Option<&'p str>,
    /// `None` if no policy is about the target.
    fast_path: Option<&'p UnpackedPath>,
    /// The roles that the fast path tells from others, and `None` for each other one.
    roles: Vec<Option<&'p str>>,
    /// The value of each slot.
    values: Vec<Stored>,
}

impl<'p> Part<'p> {
    /// Reads what the fast path of a target has read.
    fn read(policies: &'p Policies, target: Target<'_>, bytes: &'p [u8]) -> Option<Self> {
        let (table, index) = (policies.table(), policies.index());
        let mut reader = ValueReader(bytes);
        let (own, way) = match reader.byte()? {
            MISSING => match index.fast_path(table, target) {
                Some(fast_path) => (None, Way::FastPath(fast_path)),
                None => (None, index.unusual(table, target, None)),
            },
            TEXT => {
                let own = reader.rest_of_text().filter(|own| index.has_own_policies(own))?;
                (Some(own), index.unusual(table, target, Some([own, ""])))
            }
            _ => return None,
        };
        let fast_path = match (way, reader.number()?) {
            (Way::FastPath(fast_path), id) if fast_path.id == id => fast_path,
            (Way::Denied, NO_FAST_PATH) if reader.is_at_end() => {
                return Some(Self { own, fast_path: None, roles: Vec::new(), values: Vec::new() });
            }
            _ => return None,
        };
        let role = |reader: &mut ValueReader<'p>, kind| match kind {
            TEXT => reader.rest_of_text().map(Some),
            MISSING => Some(None),
            _ => None,
        };
        let roles = reader.list(role)?;
        let values: Option<Vec<Stored>> = fast_path.slots.iter().map(|_| reader.value()).collect();
        let values = values.filter(|_| reader.is_at_end())?;
        Some(Self { own, fast_path: Some(fast_path), roles, values })
    }

    /// Returns the value at the end of a path, if some slot has it or an object around it.
    fn value(&self, root: SlotRoot, path: &[Box<str>]) -> Option<SlotValue<'_>> {
        let slots = self.fast_path?.slots.iter().zip(&self.values);
        let mut found = slots.filter(|(slot, _)| slot.root == root && slot.test.is_none());
        found.find_map(|(slot, value)| {
            let rest = path.strip_prefix(&*slot.path)?;
            Some(match value {
                value if rest.is_empty() => value.slot(),
                Stored::Broken => SlotValue::Broken,
                Stored::Missing => follow_on(Field::Missing, rest),
                Stored::Attr(attr) => follow_on(attr.field(), rest),
                Stored::Json(_) => SlotValue::Unsupported,
            })
        })
    }

    fn text(&self, root: SlotRoot) -> Option<&str> {
        match self.value(root, &[])? {
            SlotValue::Field(Field::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns true if other policies that list these roles tell nothing more of the roles.
    fn knows_roles<'r>(&self, mut listed: impl Iterator<Item = &'r str>) -> bool {
        let is_listed = |role| self.fast_path.is_some_and(|fast_path| fast_path.lists(role));
        self.roles.iter().all(Option::is_some) || listed.all(is_listed)
    }
}

/// A question of which a part is known. The rest is unsupported, so whatever needs it is not decided.
struct Known<'k> {
    target: Target<'k>,
    part: &'k Part<'k>,
    principal: Option<&'k str>,
    resource: Option<&'k str>,
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
        self.part.roles.iter().map(|role| role.unwrap_or(ANOTHER_ROLE))
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

/// Stands for each role that the policies do not tell from others.
const ANOTHER_ROLE: &str = "(another role)";
