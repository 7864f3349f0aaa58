//! A plan of the module as the host needs it: what to read, and the words for it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use wardgate_plan::layout::{BY_CLASS, MAX_SLOTS, PROGRAMS};

use crate::error::HostError;
use crate::module::ModuleInstance;
use crate::names::Names;

/// What a question must be read for, to be decided by one plan.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) id: u32,
    pub(crate) slots: Box<[Slot]>,
    /// The mask of each role that is listed.
    pub(crate) roles: Names,
    /// The mask of any other.
    pub(crate) others: u32,
    /// Principals with policies of their own, of which plans know nothing.
    pub(crate) principals: HashSet<String>,
}

/// The plans of the bundle that an instance has, each read once.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    read: HashMap<u32, Option<Arc<Plan>>>,
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
        let plan = Plan::parse(id, &module.plan(id)?, &module.principals()?).map(Arc::new);
        self.read.insert(id, plan.clone());
        Ok(plan)
    }
}

/// One place of a question.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) place: Place,
    pub(crate) path: Box<[Box<str>]>,
    /// The words of the texts that it is compared with.
    pub(crate) constants: Names,
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
    pub(crate) fn parse(id: u32, plan: &Value, principals: &Value) -> Option<Self> {
        if word(plan.get("flags")?)? & (PROGRAMS | BY_CLASS) != 0 {
            return None;
        }
        let slots: Box<[Slot]> =
            plan.get("slots")?.as_array()?.iter().map(Slot::parse).collect::<Option<_>>()?;
        let name = |id: &Value| id.as_str().map(str::to_owned);
        (slots.len() <= MAX_SLOTS).then_some(Self {
            id,
            slots,
            roles: names(plan.get("roles")?)?,
            others: word(plan.get("others")?)?,
            principals: principals.as_array()?.iter().map(name).collect::<Option<_>>()?,
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

fn names(pairs: &Value) -> Option<Names> {
    let pair = |pair: &Value| Some((pair.get(0)?.as_str()?.into(), word(pair.get(1)?)?));
    pairs.as_array()?.iter().map(pair).collect()
}

/// Reads a word; -1 is none.
fn word(number: &Value) -> Option<u32> {
    number.as_u64().and_then(|number| u32::try_from(number).ok())
}
