//! Validation of a request's attributes against the schemas of its policy.

use alloc::vec::Vec;

use super::session::Session;
use crate::attr::AttrMap;
use crate::budget::Budget;
use crate::decision::{ValidationError, ValidationSource};
use crate::glob;
use crate::schema::Schemas;
use crate::table::layout::{FLAG_SCHEMA_REJECT, FLAG_SCHEMA_WARN, Key};
use crate::table::{Section, at, list, word};

/// The result of validation.
#[derive(Default)]
pub(crate) struct Validation {
    pub(crate) errors: Vec<ValidationError>,
    /// True if the request is denied for it.
    pub(crate) rejects: bool,
}

impl<'a> Session<'a> {
    /// Validates the attributes for a request about `actions`.
    ///
    /// The schemas are those of the root scope, and they count only where the most specific scope
    /// has a policy for the kind.
    pub(crate) fn validate<A: AsRef<str>>(&self, actions: &[A]) -> Validation {
        let flags = self.table.header().flags;
        if flags & (FLAG_SCHEMA_WARN | FLAG_SCHEMA_REJECT) == 0 {
            return Validation::default();
        }
        let Some(record) = self.schema_record() else { return Validation::default() };
        self.note_all();
        let request = self.request;
        let mut errors = Vec::new();
        for (source, attributes, schema, ignored) in [
            (
                ValidationSource::Principal,
                &request.principal.attr,
                word(record, 0),
                word(record, 1),
            ),
            (ValidationSource::Resource, &request.resource.attr, word(record, 2), word(record, 3)),
        ] {
            if !self.ignores(ignored, actions) {
                self.violations(source, attributes, schema, &mut errors);
            }
        }
        Validation { rejects: flags & FLAG_SCHEMA_REJECT != 0 && !errors.is_empty(), errors }
    }

    /// Returns true if attributes of resources can make a request about `action` be denied.
    #[cfg(feature = "observe")]
    pub(crate) fn may_reject_resources(&self, action: &str) -> bool {
        let rejects = self.table.header().flags & FLAG_SCHEMA_REJECT != 0;
        let Some(record) = self.schema_record().filter(|_| rejects) else { return false };
        word(record, 2) != 0 && !self.ignores(word(record, 3), &[action])
    }

    fn schema_record(&self) -> Option<&'a [u32]> {
        self.visited_scopes.first()?.rules?;
        let key = [self.kind.id?, self.resource_version.id?, 0];
        let record = self.table.find(Key::Schema, key)?;
        self.table.section(Section::Blocks).get(at(record)..)
    }

    /// Returns true if every action matches one of the patterns in the list.
    fn ignores<A: AsRef<str>>(&self, patterns: u32, actions: &[A]) -> bool {
        let Some(patterns) = patterns.checked_sub(1) else { return false };
        let patterns = list(self.table.section(Section::Blocks), patterns);
        let ignored = |action: &A| {
            patterns.iter().any(|id| {
                let (pattern, action) = (self.table.string(*id), action.as_ref());
                self.charge(glob::steps(pattern, action.len())).is_ok()
                    && glob::matches(pattern, action)
            })
        };
        !patterns.is_empty() && actions.iter().all(ignored)
    }

    fn violations(
        &self,
        source: ValidationSource,
        attributes: &AttrMap,
        schema: u32,
        errors: &mut Vec<ValidationError>,
    ) {
        let Some(node) = schema.checked_sub(1) else { return };
        let schemas =
            Schemas { pool: self.table.pool(), words: self.table.section(Section::Schemas) };
        // The request pays, so that a call about many resources ends at one bound.
        let budget = Budget::new(self.left());
        let violations = schemas.violations_within(node, attributes, &budget);
        let _ = self.charge_steps(self.left().saturating_sub(budget.left()));
        errors.extend(violations.into_iter().map(|violation| ValidationError {
            path: violation.path,
            message: violation.message,
            source,
        }));
    }
}
