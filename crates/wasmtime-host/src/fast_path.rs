//! A fast path as the host uses it: the slots to read, and the words for their texts.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use wardgate_fastpath::layout::{BY_CLASS, MAX_SLOTS, PROGRAMS};
use wardgate_native::{Names, Target};

use crate::component::{ComponentInstance, types};
use crate::error::{HostError, Result};
use crate::instance::Instance;
use crate::module::ModuleInstance;

/// The parts of a question that one fast path reads.
#[derive(Debug)]
pub(crate) struct HostPath {
    pub(crate) id: u64,
    pub(crate) slots: Box<[Slot]>,
    /// The mask of each listed role.
    roles: Names<u32>,
    /// The mask of all other roles.
    others: u32,
    /// The principals with principal policies, which no fast path covers.
    own_policies: OwnPolicies,
}

/// The principals with principal policies, which no fast path covers.
type OwnPolicies = Arc<Names<()>>;

/// The fast paths of the bundle of an instance, each read once.
#[derive(Debug, Default)]
pub(crate) struct HostPaths {
    read: HashMap<u64, Option<Arc<HostPath>>>,
    /// The principals with principal policies, read before the first fast path.
    own_policies: Option<OwnPolicies>,
}

impl HostPaths {
    /// Returns the fast path of a target; `None` if questions must be sent as text.
    pub(crate) fn fast_path(
        &mut self,
        instance: &mut Instance,
        target: Target<'_>,
    ) -> Result<Option<Arc<HostPath>>> {
        let own_policies = self.own_policies(instance)?;
        match instance {
            Instance::Module(module) => self.of_module(module, target, own_policies),
            Instance::Component(component) => self.of_component(component, target, own_policies),
        }
    }

    fn of_module(
        &mut self,
        module: &mut ModuleInstance,
        target: Target<'_>,
        own_policies: OwnPolicies,
    ) -> Result<Option<Arc<HostPath>>> {
        let Target { kind, action, policy_version, scope } = target;
        let list = module.fast_path_list([kind, policy_version, scope])?;
        let Some(id) = fast_path_of(&list, action) else { return Ok(None) };
        if let Some(fast_path) = self.read.get(&id.into()) {
            return Ok(fast_path.clone());
        }
        let fast_path = HostPath::parse(id, &module.fast_path(id)?, own_policies).map(Arc::new);
        self.read.insert(id.into(), fast_path.clone());
        Ok(fast_path)
    }

    fn of_component(
        &mut self,
        component: &mut ComponentInstance,
        target: Target<'_>,
        own_policies: OwnPolicies,
    ) -> Result<Option<Arc<HostPath>>> {
        let Some(fast_path) = component.prepare(target)? else { return Ok(None) };
        let id = fast_path.id;
        let made = || HostPath::of(fast_path, own_policies).map(Arc::new);
        Ok(self.read.entry(id).or_insert_with(made).clone())
    }

    /// Returns the principals with principal policies.
    fn own_policies(&mut self, instance: &mut Instance) -> Result<OwnPolicies> {
        if let Some(own_policies) = &self.own_policies {
            return Ok(Arc::clone(own_policies));
        }
        let own_policies = match instance {
            Instance::Module(module) => {
                let principals = module.principals()?;
                let name = |id: &Value| id.as_str().map(|id| (Box::<str>::from(id), ()));
                let named = principals.as_array().and_then(|all| all.iter().map(name).collect());
                named.ok_or(HostError::Confused)?
            }
            Instance::Component(component) => {
                component.principals()?.into_iter().map(|id| (id, ())).collect()
            }
        };
        Ok(Arc::clone(self.own_policies.insert(Arc::new(own_policies))))
    }
}

/// One slot of a question.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) position: SlotRoot,
    pub(crate) path: Box<[Box<str>]>,
    /// The words of the texts that its value is compared with.
    pub(crate) constants: Names<u32>,
}

/// The root of the path of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotRoot {
    PrincipalId,
    PrincipalAttr,
    ResourceKind,
    ResourceId,
    ResourceAttr,
}

/// Returns the fast path of `action` in a list, if there is one.
fn fast_path_of(list: &Value, action: &str) -> Option<u32> {
    let pairs = list.get("actions")?.as_array()?;
    let named = pairs.iter().find(|pair| pair.get(0).and_then(Value::as_str) == Some(action));
    let fast_path = match named {
        Some(pair) => pair.get(1)?,
        None => list.get("other")?,
    };
    word(fast_path)
}

impl HostPath {
    /// Reads a fast path; returns `None` if it runs programs or has classes: then questions are
    /// sent as text.
    fn parse(id: u32, fast_path: &Value, own_policies: OwnPolicies) -> Option<Self> {
        if word(fast_path.get("flags")?)? & (PROGRAMS | BY_CLASS) != 0 {
            return None;
        }
        let slots: Box<[Slot]> =
            fast_path.get("slots")?.as_array()?.iter().map(Slot::parse).collect::<Option<_>>()?;
        (slots.len() <= MAX_SLOTS).then_some(Self {
            id: id.into(),
            slots,
            roles: names(fast_path.get("roles")?)?,
            others: word(fast_path.get("others")?)?,
            own_policies,
        })
    }

    /// Converts a fast path of the component; returns `None` if it has more slots than a fast path
    /// can have.
    fn of(fast_path: types::Plan, own_policies: OwnPolicies) -> Option<Self> {
        let types::Plan { id, slots, roles, others } = fast_path;
        (slots.len() <= MAX_SLOTS).then(|| Self {
            id,
            slots: slots.into_iter().map(Slot::from).collect(),
            roles: roles.into_iter().collect(),
            others,
            own_policies,
        })
    }

    /// Returns true if a principal has principal policies.
    #[inline]
    pub(crate) fn has_own_policies(&self, principal: &str) -> bool {
        !self.own_policies.is_empty() && self.own_policies.get(principal).is_some()
    }

    /// Returns the union of the masks of roles; `None` if they are too many or too long for a fast
    /// path.
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
            position: SlotRoot::parse(slot.get("root")?.as_str()?)?,
            path: slot.get("path")?.as_array()?.iter().map(name).collect::<Option<_>>()?,
            constants: names(slot.get("constants")?)?,
        })
    }
}

impl From<types::Slot> for Slot {
    fn from(slot: types::Slot) -> Self {
        let types::Slot { root, path, texts } = slot;
        Self {
            position: root.into(),
            path: path.into_iter().map(Box::from).collect(),
            constants: texts.into_iter().collect(),
        }
    }
}

impl From<types::Root> for SlotRoot {
    fn from(root: types::Root) -> Self {
        match root {
            types::Root::PrincipalId => Self::PrincipalId,
            types::Root::PrincipalAttr => Self::PrincipalAttr,
            types::Root::ResourceKind => Self::ResourceKind,
            types::Root::ResourceId => Self::ResourceId,
            types::Root::ResourceAttr => Self::ResourceAttr,
        }
    }
}

impl SlotRoot {
    fn parse(root: &str) -> Option<Self> {
        Some(match root {
            "principal.id" => Self::PrincipalId,
            "principal.attr" => Self::PrincipalAttr,
            "resource.kind" => Self::ResourceKind,
            "resource.id" => Self::ResourceId,
            "resource.attr" => Self::ResourceAttr,
            // A list is sent as text.
            _ => return None,
        })
    }
}

fn names(pairs: &Value) -> Option<Names<u32>> {
    let pair = |pair: &Value| Some((Box::<str>::from(pair.get(0)?.as_str()?), word(pair.get(1)?)?));
    pairs.as_array()?.iter().map(pair).collect()
}

/// Reads a word; -1 gives `None`.
fn word(number: &Value) -> Option<u32> {
    number.as_u64().and_then(|number| u32::try_from(number).ok())
}

/// The bounds of `docs/ABI.md` on roles.
const MAX_ROLES: usize = 64;
const MAX_ROLE_BYTES: usize = 192;
