//! What a decision reads of the resource.
//!
//! The machine reads a request by slots alone, so a decision whose slots are known depends on nothing
//! else: evaluation is deterministic, and the same values lead to the same slots. Schemas read all
//! attributes.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::session::Session;
use crate::budget::Budget;
use crate::cel::pool::Root;
use crate::cel::{Pool, Timestamp};
use crate::request::Request;
use crate::table::{PolicyTable, Section, at, list, word};

/// An answer, and what it was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sourced {
    /// True if the action is allowed.
    pub is_allowed: bool,
    /// True if the decision has read nothing of the resource but its kind, version, scope, id and one
    /// attribute, and not the time: until the policies expire, another request with the same values
    /// there gets the same answer, whatever its other attributes are.
    pub is_by_attribute: bool,
}

impl PolicyTable {
    /// Decides like [`PolicyTable::is_allowed_within`], and tells whether the answer depends on no attribute of the
    /// resource but `attribute`.
    #[must_use]
    pub fn is_allowed_by_attribute(
        &self,
        request: &Request,
        (action, attribute): (&str, &str),
        now: Timestamp,
        budget: &Budget,
    ) -> Sourced {
        let pool = self.pool();
        let reads = Reads::of(self, attribute);
        let session = Session::new(self, &pool, (request, now), None, budget).noting(&reads);
        let is_allowed = session.answer(action, budget, Session::allows);
        let is_by_attribute = !reads.has_more() && !session.depends_on_time.get();
        Sourced { is_allowed, is_by_attribute }
    }

    /// Returns the attributes that a decision about `action` reads, sorted. It reads an attribute that
    /// the request lacks too. Schemas, and expressions about all attributes at once, read none by name.
    #[must_use]
    pub fn attributes_read(
        &self,
        request: &Request,
        action: &str,
        now: Timestamp,
    ) -> Vec<Attribute<'_>> {
        let (pool, budget) = (self.pool(), Budget::default());
        let reads = Reads { slots: Some(RefCell::default()), ..Reads::of(self, "") };
        let session = Session::new(self, &pool, (request, now), None, &budget).noting(&reads);
        let _ = session.answer(action, &budget, Session::allows);
        let slots = reads.slots.as_ref().map(RefCell::take).unwrap_or_default();
        sorted(slots.into_iter().filter_map(|slot| self.attribute(slot)).collect())
    }

    /// Returns every attribute that some expression of the table reads by name, sorted.
    #[must_use]
    pub fn attributes_named(&self) -> Vec<Attribute<'_>> {
        let slots = self.section(Section::Slots);
        let (mut named, mut offset) = (Vec::new(), 0_usize);
        while offset < slots.len() {
            named.extend(u32::try_from(offset).ok().and_then(|slot| self.attribute(slot)));
            offset = offset.saturating_add(2).saturating_add(at(word(slots, offset + 1)));
        }
        sorted(named)
    }

    /// Returns the attribute that a slot begins with.
    fn attribute(&self, slot: u32) -> Option<Attribute<'_>> {
        let slots = self.section(Section::Slots);
        let owner = match Root::from_code(word(slots, at(slot)))? {
            Root::PrincipalAttr => Owner::Principal,
            Root::ResourceAttr => Owner::Resource,
            Root::AuxDataJwt => Owner::Claims,
            Root::AuxDataJwts => Owner::Tokens,
            _ => return None,
        };
        let path = list(slots, slot.checked_add(1)?);
        path.first().map(|name| Attribute { owner, name: self.string(*name) })
    }
}

/// An attribute, by its owner and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attribute<'a> {
    /// The owner.
    pub owner: Owner,
    /// The name.
    pub name: &'a str,
}

/// The part of a request that has an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The principal.
    Principal,
    /// The resource.
    Resource,
    /// The claims of the token.
    Claims,
    /// The tokens, by name.
    Tokens,
}

fn sorted(mut attributes: Vec<Attribute<'_>>) -> Vec<Attribute<'_>> {
    attributes.sort_unstable();
    attributes.dedup();
    attributes
}

/// The reads of one decision.
pub(crate) struct Reads {
    /// The string id of the attribute that may be read; `None` if no slot names it.
    attribute: Option<u32>,
    has_more: Cell<bool>,
    /// All slots that are read, if they are wanted.
    slots: Option<RefCell<Vec<u32>>>,
}

impl Reads {
    /// Returns reads of which `attribute` is expected.
    pub(crate) fn of(table: &PolicyTable, attribute: &str) -> Self {
        Self { attribute: table.string_id(attribute), has_more: Cell::new(false), slots: None }
    }

    /// Returns true if more of the resource was read than the attribute and what names it.
    pub(crate) const fn has_more(&self) -> bool {
        self.has_more.get()
    }

    /// Notes that slot `id` is read.
    pub(crate) fn note(&self, id: u32, pool: &Pool<'_>) {
        self.slots.iter().for_each(|slots| slots.borrow_mut().push(id));
        if !self.is_expected(id, pool) {
            self.has_more.set(true);
        }
    }

    /// Notes that all attributes are read.
    pub(crate) fn note_all(&self) {
        self.has_more.set(true);
    }

    fn is_expected(&self, id: u32, pool: &Pool<'_>) -> bool {
        let Some([root, count, path @ ..]) = pool.slots.get(at(id)..) else { return false };
        match Root::from_code(*root) {
            Some(Root::ResourceAttr) => {
                *count > 0 && self.attribute.is_some() && path.first().copied() == self.attribute
            }
            // Conditions of derived roles may read anything.
            Some(
                Root::Request
                | Root::Resource
                | Root::Free
                | Root::EffectiveDerivedRoles
                | Root::Runtime,
            )
            | None => false,
            Some(
                Root::PrincipalId
                | Root::PrincipalRoles
                | Root::PrincipalAttr
                | Root::PrincipalPolicyVersion
                | Root::PrincipalScope
                | Root::ResourceKind
                | Root::ResourceId
                | Root::ResourcePolicyVersion
                | Root::ResourceScope
                | Root::AuxDataJwt
                | Root::AuxDataJwts
                | Root::Principal
                | Root::AuxData,
            ) => true,
        }
    }
}
