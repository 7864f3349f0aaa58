//! What a decision reads of the resource.
//!
//! The machine reads a request by slots alone, so a decision whose slots are known depends on nothing
//! else: evaluation is deterministic, and the same values lead to the same slots. Schemas read all
//! attributes.

use core::cell::Cell;

use crate::cel::Pool;
use crate::cel::pool::Root;
use crate::table::{PolicyTable, at};

/// The reads of one decision.
pub(crate) struct Reads {
    /// The string id of the attribute that may be read; `None` if no slot names it.
    attribute: Option<u32>,
    has_more: Cell<bool>,
}

impl Reads {
    /// Returns reads of which `attribute` is expected.
    pub(crate) fn of(table: &PolicyTable, attribute: &str) -> Self {
        Self { attribute: table.string_id(attribute), has_more: Cell::new(false) }
    }

    /// Returns true if more of the resource was read than the attribute and what names it.
    pub(crate) const fn has_more(&self) -> bool {
        self.has_more.get()
    }

    /// Notes that slot `id` is read.
    pub(crate) fn note(&self, id: u32, pool: &Pool<'_>) {
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
