//! A plan of the module as the host needs it: what to read, and the words for it.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use wardgate_native::Names;
use wardgate_plan::layout::{BY_CLASS, MAX_SLOTS, PROGRAMS};

use crate::error::HostError;
use crate::module::ModuleInstance;

/// What a question must be read for, to be decided by one plan.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) id: u32,
    pub(crate) slots: Box<[Slot]>,
    /// The mask of each role that is listed.
    roles: Names<u32>,
    /// The mask of any other.
    others: u32,
    /// Principals with policies of their own, of which plans know nothing.
    apart: Arc<Names<()>>,
}

/// The plans of the bundle that an instance has, each read once.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    read: HashMap<u32, Option<Arc<Plan>>>,
    /// Read before the first plan.
    apart: Option<Arc<Names<()>>>,
}

impl Plans {
    /// Returns a plan. Nothing if questions are to be asked as text.
    pub(crate) fn plan(
        &mut self,
        module: &mut ModuleInstance,
        id: u32,
    ) -> Result<Option<Arc<Plan>>, HostError> {
        if let Some(plan) = self.read.get(&id) {
            return Ok(plan.clone());
        }
        let apart = self.apart(module)?;
        let plan = Plan::parse(id, &module.plan(id)?, apart).map(Arc::new);
        self.read.insert(id, plan.clone());
        Ok(plan)
    }

    /// Returns the principals with policies of their own.
    fn apart(&mut self, module: &mut ModuleInstance) -> Result<Arc<Names<()>>, HostError> {
        if let Some(apart) = &self.apart {
            return Ok(Arc::clone(apart));
        }
        let principals = module.principals()?;
        let name = |id: &Value| id.as_str().map(|id| (Box::from(id), ()));
        let named = principals.as_array().and_then(|all| all.iter().map(name).collect());
        Ok(Arc::clone(self.apart.insert(Arc::new(named.ok_or(HostError::Confused)?))))
    }
}

/// One place of a question.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) place: Place,
    pub(crate) path: Box<[Box<str>]>,
    /// The words of the texts that it is compared with.
    pub(crate) constants: Names<u32>,
}

/// Where the path of a slot starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    PrincipalId,
    PrincipalAttr,
    ResourceKind,
    ResourceId,
    ResourceAttr,
}

/// Returns the plan of `action` in a list, if there is one.
pub(crate) fn plan_of(list: &Value, action: &str) -> Option<u32> {
    let pairs = list.get("actions")?.as_array()?;
    let named = pairs.iter().find(|pair| pair.get(0).and_then(Value::as_str) == Some(action));
    let plan = match named {
        Some(pair) => pair.get(1)?,
        None => list.get("other")?,
    };
    word(plan)
}

impl Plan {
    /// Reads a plan. Nothing if it runs programs or has classes: then questions are asked as text.
    fn parse(id: u32, plan: &Value, apart: Arc<Names<()>>) -> Option<Self> {
        if word(plan.get("flags")?)? & (PROGRAMS | BY_CLASS) != 0 {
            return None;
        }
        let slots: Box<[Slot]> =
            plan.get("slots")?.as_array()?.iter().map(Slot::parse).collect::<Option<_>>()?;
        (slots.len() <= MAX_SLOTS).then_some(Self {
            id,
            slots,
            roles: names(plan.get("roles")?)?,
            others: word(plan.get("others")?)?,
            apart,
        })
    }

    /// Returns whether a principal has policies of its own.
    #[inline]
    pub(crate) fn is_apart(&self, principal: &str) -> bool {
        !self.apart.is_empty() && self.apart.get(principal).is_some()
    }

    /// Unites the masks of roles. Nothing where they are too many or too long for a plan.
    #[inline]
    pub(crate) fn mask<S: AsRef<str>>(&self, roles: &[S]) -> Option<u32> {
        if roles.len() > MAX_ROLES {
            return None;
        }
        roles.iter().map(AsRef::as_ref).try_fold(0, |mask, role| {
            let is_short = role.len() <= MAX_ROLE_BYTES;
            is_short.then(|| mask | self.roles.get(role).unwrap_or(self.others))
        })
    }
}

impl Slot {
    fn parse(slot: &Value) -> Option<Self> {
        let name = |name: &Value| name.as_str().map(Box::from);
        Some(Self {
            place: Place::parse(slot.get("root")?.as_str()?)?,
            path: slot.get("path")?.as_array()?.iter().map(name).collect::<Option<_>>()?,
            constants: names(slot.get("constants")?)?,
        })
    }
}

impl Place {
    fn parse(root: &str) -> Option<Self> {
        Some(match root {
            "principal.id" => Self::PrincipalId,
            "principal.attr" => Self::PrincipalAttr,
            "resource.kind" => Self::ResourceKind,
            "resource.id" => Self::ResourceId,
            "resource.attr" => Self::ResourceAttr,
            // A list is asked about as text.
            _ => return None,
        })
    }
}

fn names(pairs: &Value) -> Option<Names<u32>> {
    let pair = |pair: &Value| Some((Box::from(pair.get(0)?.as_str()?), word(pair.get(1)?)?));
    pairs.as_array()?.iter().map(pair).collect()
}

/// Reads a word; -1 is none.
fn word(number: &Value) -> Option<u32> {
    number.as_u64().and_then(|number| u32::try_from(number).ok())
}

/// What `docs/ABI.md` says of roles.
const MAX_ROLES: usize = 64;
const MAX_ROLE_BYTES: usize = 192;
