//! Schemas: the node of each schema in effect, and the actions that it ignores.

use wardgate_engine::cel::pool::Root;
use wardgate_engine::names::sanitized;
use wardgate_engine::table::layout::Key;

use super::Emitter;
use crate::policy::model::SchemaRef;
use crate::pool::PoolBuilder;
use crate::resolve::model::ResourcePolicy;
use crate::schema::{Load, SchemaWriter};

impl Emitter<'_> {
    /// Writes the schemas of the root scope's policies: only those are in effect.
    pub(super) fn schemas(&mut self, policies: &[ResourcePolicy], load: &Load<'_>) {
        let mut writer = SchemaWriter::new(load);
        for policy in policies.iter().filter(|policy| policy.head.scope.is_empty()) {
            let schemas = [&policy.schemas.principal, &policy.schemas.resource];
            if schemas.iter().all(|schema| schema.is_none()) {
                continue;
            }
            let record = schemas.map(|schema| self.schema(&mut writer, schema.as_ref()));
            let at = self.assembly.push(record.as_flattened());
            let kind = sanitized(&policy.head.name);
            let key = self.assembly.ids([&kind, &policy.head.version, ""]);
            self.assembly.name(Key::Schema, [key[0], key[1], 0], at);
            // A fast path reads all attributes to check them.
            for (schema, root) in schemas.iter().zip([Root::PrincipalAttr, Root::ResourceAttr]) {
                if schema.is_some() {
                    self.assembly.pool.slot(root, &[]);
                }
            }
        }
        self.assembly.schemas = writer.finish();
        self.unused_schemas(policies, load);
    }

    /// Reads the schemas that are not in effect too: an error in one of them is an error of the
    /// policy.
    fn unused_schemas(&mut self, policies: &[ResourcePolicy], load: &Load<'_>) {
        let (mut writer, mut pool) = (SchemaWriter::new(load), PoolBuilder::default());
        for policy in policies.iter().filter(|policy| !policy.head.scope.is_empty()) {
            for schema in policy.schemas.principal.iter().chain(&policy.schemas.resource) {
                self.errors.extend(writer.add(&mut pool, schema).err().into_iter().flatten());
            }
        }
    }

    /// Returns the node and the list of actions that are not validated, each plus one.
    fn schema(&mut self, writer: &mut SchemaWriter<'_>, schema: Option<&SchemaRef>) -> [u32; 2] {
        let Some(schema) = schema else { return [0, 0] };
        match writer.add(&mut self.assembly.pool, schema) {
            Ok(node) => {
                let ignored = schema.ignore_when_actions.iter().map(String::as_str);
                [node + 1, self.assembly.names(ignored) + 1]
            }
            Err(mut errors) => {
                self.errors.append(&mut errors);
                [0, 0]
            }
        }
    }
}
