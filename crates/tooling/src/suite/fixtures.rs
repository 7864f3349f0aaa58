//! From a tree to fixtures: principals, resources, data about requests, and groups.

use std::collections::BTreeMap;
use std::sync::Arc;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{AuxData, Principal, Resource};

use super::model::Fixtures;
use super::reader::SuiteReader;
use super::selection::AvailableFixtures;
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::policy::model::Named;
use wardgate_compiler::policy::name::Shape;
use wardgate_compiler::policy::parse::reader::{Item, Object, SCHEMA_FIELD, Value};
use wardgate_compiler::source::SourceFile;
use wardgate_compiler::yaml::Node;

/// The kinds of file that hold fixtures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Principals,
    Resources,
    AuxData,
}

/// Adds the fixtures of a file. Groups can only name fixtures of the same file.
pub(super) fn add(
    into: &mut Fixtures,
    kind: Kind,
    file: &Arc<SourceFile>,
    document: &Node,
) -> Result<(), Vec<Diagnostic>> {
    let mut reader = SuiteReader::new(file);
    let found = reader.file(kind, document);
    let mut errors = reader.findings(false);
    if errors.is_empty() {
        let missing = "which this file does not define";
        AvailableFixtures { own: &found, shared: None }.check_groups(&found, missing, &mut errors);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    match kind {
        Kind::Principals => {
            (into.principals, into.principal_groups) = (found.principals, found.principal_groups);
        }
        Kind::Resources => {
            (into.resources, into.resource_groups) = (found.resources, found.resource_groups);
        }
        Kind::AuxData => into.aux_data = found.aux_data,
    }
    Ok(())
}

impl SuiteReader<'_> {
    fn file(&mut self, kind: Kind, document: &Node) -> Fixtures {
        let root = self.root(document);
        let fields: &[&str] = match kind {
            Kind::Principals => &["principals", SCHEMA_FIELD, "principalGroups"],
            Kind::Resources => &["resources", SCHEMA_FIELD, "resourceGroups"],
            Kind::AuxData => &["auxData", SCHEMA_FIELD],
        };
        let Some(object) = self.object(&root, fields) else { return Fixtures::default() };
        object.get(SCHEMA_FIELD).and_then(|value| self.text(value));
        self.fixtures(&object)
    }

    /// Reads the fixtures of all kinds that an object has.
    pub(super) fn fixtures(&mut self, object: &Object<'_>) -> Fixtures {
        Fixtures {
            principals: self.named_values(object, "principals", Self::principal),
            resources: self.named_values(object, "resources", Self::resource),
            aux_data: self.named_values(object, "auxData", Self::aux_data),
            principal_groups: self.groups(object, "principalGroups", "principals"),
            resource_groups: self.groups(object, "resourceGroups", "resources"),
        }
    }

    fn groups(
        &mut self,
        object: &Object<'_>,
        field: &str,
        members: &'static str,
    ) -> BTreeMap<String, Vec<Named>> {
        self.named_values(object, field, |reader, value| {
            let object = reader.object(value, &[members])?;
            Some(reader.named_items(&object, members))
        })
    }

    fn named_values<T>(
        &mut self,
        object: &Object<'_>,
        field: &str,
        mut read: impl FnMut(&mut Self, &Value<'_>) -> Option<T>,
    ) -> BTreeMap<String, T> {
        let items = object.get(field).map(|value| self.map(value)).unwrap_or_default();
        let mut values = BTreeMap::new();
        for Item { name, value, .. } in items {
            if let Some(read) = read(self, &value) {
                values.insert(name, read);
            }
        }
        values
    }

    fn principal(&mut self, value: &Value<'_>) -> Option<Principal> {
        let object = self.object(value, &["id", "policyVersion", "roles", "attr", "scope"])?;
        Some(Principal {
            id: self.required_name(&object, "id", Shape::Any),
            policy_version: self.request_version(&object),
            scope: self.name(&object, "scope", Shape::Scope),
            roles: self.required_names(&object, "roles"),
            attr: self.attributes(&object, "attr"),
        })
    }

    fn resource(&mut self, value: &Value<'_>) -> Option<Resource> {
        let object = self.object(value, &["kind", "policyVersion", "id", "attr", "scope"])?;
        Some(Resource {
            kind: self.required_name(&object, "kind", Shape::Any),
            id: self.required_name(&object, "id", Shape::Any),
            policy_version: self.request_version(&object),
            scope: self.name(&object, "scope", Shape::Scope),
            attr: self.attributes(&object, "attr"),
        })
    }

    fn aux_data(&mut self, value: &Value<'_>) -> Option<AuxData> {
        let object = self.object(value, &["jwt", "jwts"])?;
        let tokens = self.named_values(&object, "jwts", |reader, value| {
            let token = reader.object(value, &["claims"])?;
            Some(reader.attributes(&token, "claims"))
        });
        let data = AuxData {
            jwt: self.attributes(&object, "jwt"),
            jwts: tokens
                .into_iter()
                .map(|(name, claims)| {
                    let token = AttrMap::from_iter([("claims".into(), Attr::Map(claims))]);
                    (name.into_boxed_str(), Attr::Map(token))
                })
                .collect(),
        };
        if !data.jwt.entries().is_empty() && !data.jwts.entries().is_empty() {
            let message = "`jwt` cannot be combined with `jwts`";
            self.checks.push(Diagnostic::error(Code::Validation, &value.location, message));
        }
        Some(data)
    }

    /// Reads the version of a request, which may be empty.
    fn request_version(&mut self, object: &Object<'_>) -> String {
        match self.optional_text(object, "policyVersion") {
            empty if empty.is_empty() => empty,
            _ => self.name(object, "policyVersion", Shape::Version),
        }
    }

    fn attributes(&mut self, object: &Object<'_>, field: &str) -> AttrMap {
        let items = object.get(field).map(|value| self.map(value)).unwrap_or_default();
        let mut entries = Vec::with_capacity(items.len());
        for Item { name, key, value } in items {
            if name.is_empty() {
                self.invalid(&key, "the name of an attribute must not be empty");
            }
            if let Some(read) = self.attr(&value) {
                entries.push((name.into_boxed_str(), read));
            }
        }
        entries.into_iter().collect()
    }
}
