//! The quick way: a question written into the frame of the module.

use std::sync::Arc;

use wardgate_native::{Field, Lookup, PrincipalRef, Question, ResourceRef, Target};
use wardgate_plan::layout::{FRAME_WORDS, MAX_SLOTS};
use wardgate_plan::word;

use crate::error::HostError;
use crate::instance::Instance;
use crate::module::FRAME_BYTES;
use crate::pdp::Served;
use crate::plan::{Place, Plan, Slot, plan_of};

/// What questions about one action on one kind of resource are read for. Made by
/// [`Session::prepare`](crate::Session::prepare); it follows reloads and serves any session of its PDP.
#[derive(Debug)]
pub struct Prepared {
    target: Names,
    /// Of which bundle the plan is.
    generation: Option<u64>,
    /// Nothing where questions are asked as text. Kinds with equal rules share it, so that it stays near.
    plan: Option<Arc<Plan>>,
}

/// The names of a target in one piece: kind, version, scope and action.
#[derive(Debug)]
struct Names {
    text: Box<str>,
    /// Where each but the last ends.
    ends: [usize; 3],
}

impl Prepared {
    pub(crate) fn new(target: Target<'_>) -> Self {
        Self { target: Names::new(target), generation: None, plan: None }
    }

    /// Finds the plan in the bundle that an instance has.
    #[cold]
    pub(crate) fn renew(&mut self, served: &mut Served) -> Result<(), HostError> {
        let Served { instance, plans, .. } = served;
        self.plan = match instance {
            Instance::Module(module) => {
                let [kind, version, scope, action] = self.target.names();
                let list = module.plan_list([kind, version, scope])?;
                match plan_of(&list, action) {
                    Some(id) => plans.plan(module, id)?,
                    None => None,
                }
            }
            Instance::Component(_) => None,
        };
        self.generation = Some(served.generation);
        Ok(())
    }

    /// Decides a question, if the quick way can.
    #[inline]
    pub(crate) fn decide<S, P, R>(
        &mut self,
        served: &mut Served,
        question: &Question<'_, S, P, R>,
    ) -> Result<Option<bool>, HostError>
    where
        S: AsRef<str>,
        P: Lookup + ?Sized,
        R: Lookup + ?Sized,
    {
        if self.generation != Some(served.generation) {
            self.renew(served)?;
        }
        let Instance::Module(module) = &mut served.instance else { return Ok(None) };
        let Some(plan) = self.plan.as_deref() else { return Ok(None) };
        let Question { principal, action, resource } = question;
        if !self.target.are(resource, action) || plan.is_apart(principal.id) {
            return Ok(None);
        }
        let Some(roles) = plan.mask(principal.roles) else { return Ok(None) };
        module.decide(plan.id, roles, |frame| fill(frame, plan, principal, resource))
    }
}

impl Names {
    fn new(target: Target<'_>) -> Self {
        let Target { kind, action, policy_version, scope } = target;
        let version = kind.len() + policy_version.len();
        let text = [kind, policy_version, scope, action].concat();
        Self { text: text.into(), ends: [kind.len(), version, version + scope.len()] }
    }

    fn names(&self) -> [&str; 4] {
        let [kind, version, scope] = self.ends;
        let part = |from: usize, to: usize| self.text.get(from..to).unwrap_or("");
        [part(0, kind), part(kind, version), part(version, scope), part(scope, self.text.len())]
    }

    #[inline]
    fn are<R: ?Sized>(&self, resource: &ResourceRef<'_, R>, action: &str) -> bool {
        let given = [resource.kind, resource.policy_version, resource.scope, action];
        self.names() == given
    }
}

impl Plan {
    #[inline]
    fn is_apart(&self, principal: &str) -> bool {
        !self.principals.is_empty() && self.principals.contains(principal)
    }

    /// Unites the masks of roles. Nothing where they are too many or too long for a plan.
    #[inline]
    fn mask<S: AsRef<str>>(&self, roles: &[S]) -> Option<u32> {
        if roles.len() > MAX_ROLES {
            return None;
        }
        roles.iter().map(AsRef::as_ref).try_fold(0, |mask, role| {
            let is_short = role.len() <= MAX_ROLE_BYTES;
            is_short.then(|| mask | self.roles.get(role).unwrap_or(self.others))
        })
    }
}

/// Writes every slot of a plan. Nothing where one holds what the frame cannot.
#[inline]
fn fill<S, P, R>(
    frame: &mut [u8; FRAME_BYTES],
    plan: &Plan,
    principal: &PrincipalRef<'_, S, P>,
    resource: &ResourceRef<'_, R>,
) -> Option<()>
where
    P: Lookup + ?Sized,
    R: Lookup + ?Sized,
{
    let (words, numbers) = frame.split_at_mut(FRAME_WORDS * 4);
    let (words, numbers) = (words.as_chunks_mut::<4>().0, numbers.as_chunks_mut::<8>().0);
    let mut texts = Texts { known: [""; MAX_SLOTS], next: 0 };
    for ((slot, word), number) in plan.slots.iter().zip(words).zip(numbers) {
        let value = match slot.read(principal, resource) {
            None => word::BROKEN,
            Some(Field::Missing) => word::MISSING,
            Some(Field::Null) => word::NULL,
            Some(Field::Bool(false)) => word::FALSE,
            Some(Field::Bool(true)) => word::TRUE,
            Some(Field::Number(value)) if value.is_finite() => {
                *number = value.to_le_bytes();
                word::NUMBER
            }
            Some(Field::Text(text)) => match slot.constants.get(text) {
                Some(word) => word,
                None => texts.word(text)?,
            },
            Some(Field::Number(_) | Field::List(_) | Field::Map(_)) => return None,
        };
        *word = value.to_le_bytes();
    }
    Some(())
}

impl Slot {
    /// Reads the place. Nothing where a step before the last one fails, or the last one looks into a list.
    #[inline]
    fn read<'a, S, P, R>(
        &self,
        principal: &PrincipalRef<'a, S, P>,
        resource: &ResourceRef<'a, R>,
    ) -> Option<Field<'a>>
    where
        P: Lookup + ?Sized,
        R: Lookup + ?Sized,
    {
        let path = &*self.path;
        match self.place {
            Place::PrincipalAttr => follow(principal.attributes, path),
            Place::ResourceAttr => follow(resource.attributes, path),
            Place::PrincipalId => below_text(principal.id, path),
            Place::ResourceKind => below_text(resource.kind, path),
            Place::ResourceId => below_text(resource.id, path),
        }
    }
}

/// Text has no members.
#[inline]
const fn below_text<'a>(text: &'a str, path: &[Box<str>]) -> Option<Field<'a>> {
    match path.len() {
        0 => Some(Field::Text(text)),
        1 => Some(Field::Missing),
        _ => None,
    }
}

/// Follows a path into an object.
#[inline]
fn follow<'a, L: Lookup + ?Sized>(object: &'a L, path: &[Box<str>]) -> Option<Field<'a>> {
    let (first, rest) = path.split_first()?;
    let mut field = object.get(first);
    for (left, name) in (0..rest.len()).rev().zip(rest) {
        field = match field {
            Field::Map(map) => map.get(name),
            Field::Missing | Field::List(_) => return None,
            // What is no object has no members.
            _ if left > 0 => return None,
            _ => return Some(Field::Missing),
        };
    }
    Some(field)
}

/// The texts of one question that are no constants: equal ones have equal words.
struct Texts<'a> {
    known: [&'a str; MAX_SLOTS],
    next: u32,
}

impl<'a> Texts<'a> {
    #[inline]
    fn word(&mut self, text: &'a str) -> Option<u32> {
        let known = self.known.iter().zip(0..self.next).find(|(known, _)| **known == text);
        let number = match known {
            Some((_, number)) => number,
            None => {
                *self.known.get_mut(usize::try_from(self.next).ok()?)? = text;
                self.next += 1;
                self.next - 1
            }
        };
        Some(word::FIRST_TEMPORARY + number)
    }
}

/// What `docs/ABI.md` says of roles.
const MAX_ROLES: usize = 64;
const MAX_ROLE_BYTES: usize = 192;
