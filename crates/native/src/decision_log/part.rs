//! The part of an evidence that one outcome has: what the fast path of its target has read.

use std::borrow::Cow;

use wardgate_engine::attr::Attr;

use super::evidence::NO_FAST_PATH;
use crate::fast::index::{Target, Way};
use crate::fast::input::{SlotValue, follow_on};
use crate::fast::path::{SlotRoot, UnpackedPath};
use crate::fast::values::{MISSING, Stored, TEXT, ValueReader};
use crate::field::{AsField, Field};
use crate::policies::Policies;

/// Holds the evidence of one outcome: the values that its fast path has read.
pub(super) struct Part<'p> {
    /// The id of the principal, if it has policies of its own.
    pub(super) own: Option<&'p str>,
    /// `None` if no policy is about the target.
    pub(super) fast_path: Option<&'p UnpackedPath>,
    /// The roles that the fast path tells from others, and `None` for each other one.
    pub(super) roles: Vec<Option<Cow<'p, str>>>,
    /// The value of each slot.
    pub(super) values: Vec<Stored>,
}

impl<'p> Part<'p> {
    /// Reads what the fast path of a target has read.
    pub(super) fn read(
        policies: &'p Policies,
        target: Target<'_>,
        bytes: &'p [u8],
    ) -> Option<Self> {
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
            TEXT => reader.rest_of_text().map(|role| Some(Cow::Borrowed(role))),
            MISSING => Some(None),
            _ => None,
        };
        let roles = reader.list(role)?;
        let values: Option<Vec<Stored>> = fast_path.slots.iter().map(|_| reader.value()).collect();
        let values = values.filter(|_| reader.is_at_end())?;
        let mut part = Self { own, fast_path: Some(fast_path), roles, values };
        if part.roles.iter().any(Option::is_none) {
            part.name_roles();
        }
        Some(part)
    }

    /// Names the other roles too, if a condition has read the names of all.
    fn name_roles(&mut self) {
        let Some(SlotValue::Attr(Attr::List(names))) = self.value(SlotRoot::PrincipalRoles, &[])
        else {
            return;
        };
        let name = |name: &Attr| {
            if let Attr::String(name) = name { Some(name.to_string()) } else { None }
        };
        if let Some(names) = names.iter().map(name).collect::<Option<Vec<_>>>()
            && names.len() == self.roles.len()
        {
            self.roles = names.into_iter().map(|name| Some(Cow::Owned(name))).collect();
        }
    }

    /// Returns the value at the end of a path, if some slot has it or an object around it.
    pub(super) fn value(&self, root: SlotRoot, path: &[Box<str>]) -> Option<SlotValue<'_>> {
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

    pub(super) fn text(&self, root: SlotRoot) -> Option<&str> {
        match self.value(root, &[])? {
            SlotValue::Field(Field::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the names of the roles, with one for all that are not known.
    pub(super) fn role_names(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(|role| role.as_deref().unwrap_or(ANOTHER_ROLE))
    }

    /// Returns true if other policies that list these roles tell nothing more of the roles.
    pub(super) fn knows_roles<'r>(&self, mut listed: impl Iterator<Item = &'r str>) -> bool {
        let is_listed = |role| self.fast_path.is_some_and(|fast_path| fast_path.lists(role));
        self.roles.iter().all(Option::is_some) || listed.all(is_listed)
    }
}

/// Returns the parts of an evidence, if there are just so many.
pub(super) fn parts(mut bytes: &[u8], count: usize) -> Option<Vec<&[u8]>> {
    let mut parts = Vec::new();
    for _ in 0..count {
        let (length, rest) = bytes.split_first_chunk()?;
        let (part, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        parts.push(part);
        bytes = rest;
    }
    bytes.is_empty().then_some(parts)
}

/// Stands for each role that the policies do not tell from others.
const ANOTHER_ROLE: &str = "(another role)";
