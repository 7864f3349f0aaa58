//! Roles: those of the principal, those that they inherit from, and those that conditions grant.

use alloc::vec::Vec;

use super::session::{Failure, Session};
use crate::cel::value::Message;
use crate::cel::{Error, Value};
use crate::table::layout::Key;
use crate::table::{Block, DerivedRole, Name, PolicyTable, Section, list};
use crate::text::joined;

/// The derived roles that the principal gains from the policy of one scope.
#[derive(Clone, Default)]
pub(crate) struct Effective<'a> {
    /// Sorted by name.
    pub(crate) names: Vec<&'a str>,
    /// The derived roles whose condition failed, sorted; only in strict tables or after a limit was
    /// reached.
    pub(crate) failed: Vec<&'a str>,
    /// True if a derived role is gained for a part of the topics that the request asks about.
    pub(crate) is_partly: bool,
    pub(crate) limit_reached: bool,
}

/// A role of the principal and the roles that it inherits from.
#[derive(Clone, Copy)]
pub(crate) struct Lineage<'a> {
    pub(crate) role: Name<'a>,
    table: &'a PolicyTable,
    pub(super) inherited: &'a [u32],
}

impl<'a> Session<'a> {
    /// Returns `role` and the roles that it inherits from in the requested scope.
    pub(super) fn look_up_lineage(&self, role: &'a str) -> Lineage<'a> {
        let table = self.table;
        let role = table.name(role);
        let key = self.resource_search.scope.id.zip(role.id).map(|(scope, id)| [scope, id, 0]);
        let ancestors = key.and_then(|key| table.find(Key::ParentRoles, key));
        let inherited = ancestors.map_or(&[][..], |at| list(table.section(Section::Blocks), at));
        Lineage { table, role, inherited }
    }

    /// Returns true if the principal has one of `roles`, directly or by inheritance.
    pub(crate) fn has_one_of(&self, roles: &[u32]) -> Result<bool, Failure> {
        if roles.iter().any(|role| self.table.string(*role) == "*") {
            return Ok(true);
        }
        for (index, own) in self.request.principal.roles.iter().enumerate() {
            let own = self.lineage(index, own)?;
            self.charge(roles.len())?;
            if own.names().any(|own| own.id.is_some_and(|id| roles.contains(&id))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Computes the derived roles of the policy in `block`.
    pub(crate) fn effective_roles(&self, block: Block<'a>) -> Effective<'a> {
        let outer = self.enter_derived_roles();
        let mut effective = Effective::default();
        for role in block.derived_roles() {
            let granted = self.grants(role);
            #[cfg(feature = "observe")]
            self.observe_derived_role(block, role, granted);
            match granted {
                Ok(true) => effective.names.push(role.name()),
                Ok(false) => {}
                Err(Failure::Partly) => effective.is_partly = true,
                Err(failure) => {
                    effective.limit_reached |= failure == Failure::Limit;
                    effective.failed.push(role.name());
                }
            }
        }
        self.leave_derived_roles(outer);
        effective
    }

    fn grants(&self, role: DerivedRole<'a>) -> Result<bool, Failure> {
        if !self.has_one_of(role.parent_roles())? {
            return Ok(false);
        }
        self.touch_variables(role.variables());
        role.condition().map_or(Ok(true), |condition| self.satisfies(condition))
    }
}

impl<'a> Lineage<'a> {
    /// Returns the role and the roles that it inherits from, in this order.
    pub(crate) fn names(self) -> impl Iterator<Item = Name<'a>> + use<'a> {
        let Self { table, role, inherited } = self;
        let inherited = inherited.iter().map(|id| Name { text: table.string(*id), id: Some(*id) });
        core::iter::once(role).chain(inherited)
    }
}

impl<'a> Effective<'a> {
    /// Returns the value of `runtime` in a condition.
    pub(crate) fn runtime(&self) -> Value<'a> {
        match self.value() {
            Value::List(names) => Value::Message(Message::Runtime(names)),
            error => error,
        }
    }

    /// Returns the value of `runtime.effectiveDerivedRoles` in a condition.
    pub(crate) fn value(&self) -> Value<'a> {
        if self.limit_reached {
            return Value::Error(Error::Limit);
        }
        if self.is_partly {
            return Value::Error(Error::PartlyFailed("".into()));
        }
        if !self.failed.is_empty() {
            let names = joined(&mut self.failed.iter().map(|name| &**name), ", ");
            let message = format_args!("failed to compute effective derived roles [{names}]");
            return Value::Error(Error::text(message));
        }
        Value::list(self.names.iter().map(|name| Value::string(*name)).collect())
    }
}
