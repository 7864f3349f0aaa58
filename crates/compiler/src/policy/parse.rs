//! From a tree to a policy: fields, types, required values and the shapes of names.
//!
//! Every error of a document is reported, and a document with an error still yields a policy where
//! its kind and name can be read, so that other documents are not blamed for its absence.

mod limit;
pub mod reader;
mod rules;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::reader::{Item, Object, Reader, SCHEMA_FIELD, Value, is_name_of};
use super::model::{
    Body, Common, Definition, Definitions, DerivedRolesBody, Export, Origin, Policy, PrincipalBody,
    ResourceBody, RoleBody, SchemaRef, Schemas, ScopePermissions,
};
use super::name::{DEFAULT_VERSION, Shape};
use crate::diagnostics::{Code, Diagnostic};
use crate::expression::ExprSource;
use crate::source::{Location, SourceFile};
use crate::yaml::{Entry, Kind, Node};

/// Reads one document of `file`, and adds its errors to `errors`.
pub(crate) fn policy(
    file: &Arc<SourceFile>,
    document: &Node,
    errors: &mut Vec<Diagnostic>,
) -> Option<Policy> {
    let mut reader = Reader::new(file);
    let mut policy = reader.policy(document);
    let is_disabled = policy.as_ref().is_some_and(|policy| policy.disabled);
    let found = reader.findings(is_disabled);
    if let Some(policy) = &mut policy {
        policy.sound = found.is_empty();
    }
    errors.extend(found);
    policy
}

/// Returns true if a document is no policy: it is a map, names no API version of Cerbos and has no
/// policy.
pub(crate) fn is_foreign(document: &Node) -> bool {
    let Kind::Map(entries) = &document.kind else { return false };
    let is_ours = |entry: &Entry| {
        let Kind::String(key, _) = &entry.key.kind else { return false };
        match &entry.value.kind {
            Kind::String(version, _) if is_name_of(key, "apiVersion") => {
                version.starts_with(API_GROUP)
            }
            _ => KINDS.iter().any(|kind| is_name_of(key, kind)),
        }
    };
    !entries.iter().any(is_ours)
}

/// Returns the place of the first field of a foreign document that no policy has.
pub(crate) fn foreign_field(file: &Arc<SourceFile>, document: &Node) -> Location {
    let root = Reader::new(file).root(document).location;
    let Kind::Map(entries) = &document.kind else { return root };
    let named = |entry: &Entry| match &entry.key.kind {
        Kind::String(key, _) => Some((Arc::clone(key), entry.key.position)),
        _ => None,
    };
    let is_other = |(key, _): &(Arc<str>, _)| !TOP_LEVEL.iter().any(|name| is_name_of(key, name));
    let found = entries.iter().filter_map(named).find(is_other);
    match found.or_else(|| entries.iter().find_map(named)) {
        Some((key, position)) => Location { position, path: format!("$.{key}").into(), ..root },
        None => root,
    }
}

/// Returns the API version of a document that names another one than that of policies.
pub(crate) fn other_version(document: &Node) -> Option<String> {
    let Kind::Map(entries) = &document.kind else { return None };
    entries.iter().find_map(|entry| match (&entry.key.kind, &entry.value.kind) {
        (Kind::String(key, _), Kind::String(version, _)) if is_name_of(key, "apiVersion") => {
            Some(format!("`{version}`"))
        }
        _ => None,
    })
}

impl Reader<'_> {
    fn policy(&mut self, document: &Node) -> Option<Policy> {
        let root = self.root(document);
        let object = self.object(&root, TOP_LEVEL)?;
        self.api_version(&object);
        for name in ["description", SCHEMA_FIELD] {
            object.get(name).and_then(|value| self.text(value));
        }
        let disabled = object.get("disabled").and_then(|value| self.boolean(value));
        let annotations = self.metadata(&object);
        let variables = self.top_level_variables(&object);
        let (kind, value) = self.one_of(&object, KINDS)?;
        if let (true, false, Some(field)) =
            (kind.starts_with("export"), variables.is_empty(), object.get("variables"))
        {
            let message = "an exported set cannot have `variables` at the top of the document";
            self.checks.push(Diagnostic::error(Code::Validation, &field.location, message));
        }
        let body = self.body(kind, &value, variables)?;
        let deferred = std::mem::take(&mut self.deferred);
        let disabled = disabled.unwrap_or(false);
        Some(Policy { location: root.location, disabled, sound: true, annotations, body, deferred })
    }

    fn body(
        &mut self,
        kind: &str,
        value: &Value<'_>,
        top_level: Vec<Definition<ExprSource>>,
    ) -> Option<Body> {
        match kind {
            "resourcePolicy" => self.resource_policy(value, top_level).map(Body::Resource),
            "principalPolicy" => self.principal_policy(value, top_level).map(Body::Principal),
            "rolePolicy" => self.role_policy(value, top_level).map(Body::Role),
            "derivedRoles" => self.derived_roles(value, top_level).map(Body::DerivedRoles),
            "wardgateLimit" => self.limit(value, top_level).map(|body| Body::Limit(Box::new(body))),
            _ => match kind {
                "exportVariables" => {
                    self.export(value, Self::expression).map(Body::ExportVariables)
                }
                _ => self.export(value, Self::attr).map(Body::ExportConstants),
            },
        }
    }

    fn api_version(&mut self, object: &Object<'_>) {
        let Some(value) = object.get("apiVersion") else {
            self.missing(&object.missing("apiVersion"), "`apiVersion` is required");
            return;
        };
        match self.text(value) {
            Some(version) if version.as_ref() != API_VERSION => {
                let error =
                    Diagnostic::error(Code::Validation, &value.location, "unknown API version");
                let error = error.found(format!("`{version}`"));
                self.errors.push(error.expected(format!("`{API_VERSION}`")));
            }
            _ => {}
        }
    }

    /// Reads the annotations; the other fields of `metadata` are notes of a policy store.
    fn metadata(&mut self, object: &Object<'_>) -> BTreeMap<String, String> {
        let Some(value) = object.get("metadata") else { return BTreeMap::new() };
        let Some(metadata) = self.object(value, METADATA) else { return BTreeMap::new() };
        for name in ["sourceFile", "storeIdentifer", "storeIdentifier", "hash"] {
            metadata.get(name).and_then(|value| self.text(value));
        }
        let attributes = metadata.get("sourceAttributes");
        if let Some(attributes) = attributes.and_then(|value| self.object(value, &["attributes"])) {
            attributes.get("attributes").map(|value| self.attr(value));
        }
        let items = metadata.get("annotations").map(|value| self.map(value)).unwrap_or_default();
        let text = |item: &Item<'_>| {
            Some((item.name.clone(), self.text(&item.value)?.as_ref().to_owned()))
        };
        wardgate_engine::order::in_order(items.iter().filter_map(text))
    }

    fn resource_policy(
        &mut self,
        value: &Value<'_>,
        top_level: Vec<Definition<ExprSource>>,
    ) -> Option<ResourceBody> {
        let object = self.object(value, RESOURCE_POLICY)?;
        Some(ResourceBody {
            common: self.common(&object, "resource", value, top_level),
            import_derived_roles: self.names(&object, "importDerivedRoles", Shape::Identifier),
            schemas: self.schemas(&object),
            rules: self.resource_rules(&object),
        })
    }

    fn principal_policy(
        &mut self,
        value: &Value<'_>,
        top_level: Vec<Definition<ExprSource>>,
    ) -> Option<PrincipalBody> {
        let object = self.object(value, PRINCIPAL_POLICY)?;
        Some(PrincipalBody {
            common: self.common(&object, "principal", value, top_level),
            rules: self.principal_rules(&object),
        })
    }

    fn role_policy(
        &mut self,
        value: &Value<'_>,
        top_level: Vec<Definition<ExprSource>>,
    ) -> Option<RoleBody> {
        let object = self.object(value, ROLE_POLICY)?;
        let parents = self.names(&object, "parentRoles", Shape::Any);
        Some(RoleBody {
            common: self.common(&object, "role", value, top_level),
            parent_roles: parents.into_iter().map(|named| named.name).collect(),
            rules: self.role_rules(&object),
        })
    }

    fn derived_roles(
        &mut self,
        value: &Value<'_>,
        top_level: Vec<Definition<ExprSource>>,
    ) -> Option<DerivedRolesBody> {
        let object = self.object(value, &["name", "definitions", "variables", "constants"])?;
        Some(DerivedRolesBody {
            name: self.required_name(&object, "name", Shape::Identifier),
            variables: self.variables(&object, top_level),
            constants: self.definitions(&object, "constants", Self::attr),
            definitions: self.role_definitions(&object),
        })
    }

    fn export<T>(
        &mut self,
        value: &Value<'_>,
        read: impl FnMut(&mut Self, &Value<'_>) -> Option<T>,
    ) -> Option<Export<T>> {
        let object = self.object(value, &["name", "definitions"])?;
        let name = self.required_name(&object, "name", Shape::Identifier);
        let items = object.get("definitions").map(|value| self.map(value)).unwrap_or_default();
        Some(Export { name, definitions: self.define(items, Origin::Exported, read) })
    }

    fn common(
        &mut self,
        object: &Object<'_>,
        name_field: &str,
        value: &Value<'_>,
        top_level: Vec<Definition<ExprSource>>,
    ) -> Common {
        let permissions = object.get("scopePermissions");
        Common {
            name: self.required_name(object, name_field, Shape::NoPattern),
            version: self.version(object, name_field == "role"),
            scope: self.name(object, "scope", Shape::Scope),
            scope_permissions: permissions
                .and_then(|value| self.scope_permissions(value, name_field == "role")),
            scope_permissions_location: permissions.unwrap_or(value).location.clone(),
            variables: self.variables(object, top_level),
            constants: self.definitions(object, "constants", Self::attr),
        }
    }

    /// Reads the version. Only a role policy may leave it out.
    fn version(&mut self, object: &Object<'_>, of_role: bool) -> String {
        if !of_role {
            return self.required_name(object, "version", Shape::Version);
        }
        let version = object.get("version").and_then(|value| self.text(value));
        match version.is_none_or(|version| version.is_empty()) {
            true => DEFAULT_VERSION.to_owned(),
            false => self.name(object, "version", Shape::Version),
        }
    }

    fn scope_permissions(&mut self, value: &Value<'_>, of_role: bool) -> Option<ScopePermissions> {
        match self.word(value, SCOPE_PERMISSIONS)? {
            1 if of_role => {
                let message = "a role policy always requires parental consent";
                self.invalid(&value.location.clone(), message);
                None
            }
            1 => Some(ScopePermissions::OverrideParent),
            2 => Some(ScopePermissions::RequireParentalConsentForAllows),
            _ => None,
        }
    }

    fn schemas(&mut self, object: &Object<'_>) -> Schemas {
        let fields = &["principalSchema", "resourceSchema"];
        let schemas = object.get("schemas").and_then(|value| self.object(value, fields));
        let Some(schemas) = schemas else { return Schemas::default() };
        Schemas {
            principal: self.schema(&schemas, "principalSchema"),
            resource: self.schema(&schemas, "resourceSchema"),
        }
    }

    fn schema(&mut self, object: &Object<'_>, field: &str) -> Option<SchemaRef> {
        let schema = self.object(object.get(field)?, &["ref", "ignoreWhen"])?;
        let ignore = schema.get("ignoreWhen").and_then(|value| self.object(value, &["actions"]));
        Some(SchemaRef {
            reference: self.required_name(&schema, "ref", Shape::Any),
            ignore_when_actions: ignore
                .map(|ignore| self.required_names(&ignore, "actions"))
                .unwrap_or_default(),
            location: schema
                .get("ref")
                .map_or_else(|| schema.missing("ref"), |v| v.location.clone()),
        })
    }

    fn variables(
        &mut self,
        object: &Object<'_>,
        mut top_level: Vec<Definition<ExprSource>>,
    ) -> Definitions<ExprSource> {
        let mut variables = self.definitions(object, "variables", Self::expression);
        variables.local.append(&mut top_level);
        variables
    }

    fn top_level_variables(&mut self, object: &Object<'_>) -> Vec<Definition<ExprSource>> {
        let items = object.get("variables").map(|value| self.map(value)).unwrap_or_default();
        self.define(items, Origin::TopLevel, Self::expression)
    }

    fn definitions<T>(
        &mut self,
        object: &Object<'_>,
        field: &str,
        read: impl FnMut(&mut Self, &Value<'_>) -> Option<T>,
    ) -> Definitions<T> {
        let fields = &["import", "local"];
        let Some(object) = object.get(field).and_then(|value| self.object(value, fields)) else {
            return Definitions { imports: Vec::new(), local: Vec::new() };
        };
        let imports = self.names(&object, "import", Shape::Identifier);
        let items = object.get("local").map(|value| self.map(value)).unwrap_or_default();
        Definitions { imports, local: self.define(items, Origin::Local, read) }
    }

    fn define<T>(
        &mut self,
        items: Vec<Item<'_>>,
        origin: Origin,
        mut read: impl FnMut(&mut Self, &Value<'_>) -> Option<T>,
    ) -> Vec<Definition<T>> {
        let mut definitions = Vec::with_capacity(items.len());
        for Item { name, key: Location { position: key, .. }, value } in items {
            if let Some(read) = read(self, &value) {
                definitions.push(Definition {
                    name,
                    value: read,
                    location: value.location,
                    key,
                    origin,
                });
            }
        }
        definitions
    }
}

pub(crate) const API_VERSION: &str = "api.cerbos.dev/v1";

/// The beginning of every API version of policies.
const API_GROUP: &str = "api.cerbos.dev/";

const TOP_LEVEL: &[&str] = &[
    "apiVersion",
    "disabled",
    "description",
    "metadata",
    "resourcePolicy",
    "principalPolicy",
    "derivedRoles",
    "exportVariables",
    "rolePolicy",
    "exportConstants",
    "wardgateLimit",
    "variables",
    SCHEMA_FIELD,
];

const KINDS: &[&str] = &[
    "resourcePolicy",
    "principalPolicy",
    "derivedRoles",
    "exportVariables",
    "rolePolicy",
    "exportConstants",
    "wardgateLimit",
];

const METADATA: &[&str] =
    &["sourceFile", "annotations", "hash", "storeIdentifer", "storeIdentifier", "sourceAttributes"];

const RESOURCE_POLICY: &[&str] = &[
    "resource",
    "version",
    "importDerivedRoles",
    "rules",
    "scope",
    "schemas",
    "variables",
    "scopePermissions",
    "constants",
];

const PRINCIPAL_POLICY: &[&str] =
    &["principal", "version", "rules", "scope", "variables", "scopePermissions", "constants"];

const ROLE_POLICY: &[&str] = &[
    "role",
    "version",
    "parentRoles",
    "scope",
    "rules",
    "scopePermissions",
    "variables",
    "constants",
];

const SCOPE_PERMISSIONS: &[&str] = &[
    "SCOPE_PERMISSIONS_UNSPECIFIED",
    "SCOPE_PERMISSIONS_OVERRIDE_PARENT",
    "SCOPE_PERMISSIONS_REQUIRE_PARENTAL_CONSENT_FOR_ALLOWS",
];
