//! The meaning of the names in an expression: variables, types, functions, and the container that
//! unqualified names are looked up in.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::cel::Function;

use super::signature::{Library, Signature};
use super::types::{OPTIONAL, Type};
use crate::nearest::suggestion;

/// An environment that expressions are checked in.
#[derive(Clone, Debug)]
pub struct Env {
    container: String,
    variables: BTreeMap<String, Type>,
    functions: BTreeMap<String, Vec<Signature>>,
    is_cerbos: bool,
    checks_types: bool,
}

impl Env {
    /// Returns the environment of policy conditions.
    #[must_use]
    pub fn cerbos() -> Self {
        let messages = [
            ("request", REQUEST),
            ("P", PRINCIPAL),
            ("R", RESOURCE),
            ("runtime", RUNTIME),
            ("C", VARIABLES),
            ("constants", VARIABLES),
            ("V", VARIABLES),
            ("variables", VARIABLES),
            ("G", VARIABLES),
            ("globals", VARIABLES),
        ];
        let message = |(name, of): (&str, &str)| (name.to_owned(), Type::Message(of.to_owned()));
        let variables = messages.into_iter().map(message).collect();
        Self { variables, is_cerbos: true, ..Self::custom("", []) }
    }

    /// Returns an environment with the standard library, its extensions and these variables.
    #[must_use]
    pub fn custom(container: &str, variables: impl IntoIterator<Item = (String, Type)>) -> Self {
        Self {
            container: container.to_owned(),
            variables: wardgate_engine::order::in_order(variables),
            functions: BTreeMap::new(),
            is_cerbos: false,
            checks_types: true,
        }
    }

    /// Declares a function that expressions may mention; the machine has no meaning for it.
    #[must_use]
    pub fn with_function(mut self, name: &str, signatures: Vec<Signature>) -> Self {
        self.functions.entry(name.to_owned()).or_default().extend(signatures);
        self
    }

    /// Returns the environment that resolves names and accepts every combination of types.
    #[must_use]
    pub fn without_checks(mut self) -> Self {
        self.checks_types = false;
        self
    }

    /// Returns true if this is the environment of policy conditions.
    #[must_use]
    pub const fn is_cerbos(&self) -> bool {
        self.is_cerbos
    }

    pub(super) const fn checks_types(&self) -> bool {
        self.checks_types
    }

    /// Returns the names of the variables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Returns the names of the functions that an author may call, sorted.
    pub(super) fn functions(&self) -> BTreeSet<&str> {
        let mut names: BTreeSet<&str> =
            wardgate_engine::order::in_order(self.functions.keys().map(String::as_str));
        let libraries = [Some(Library::standard()), self.is_cerbos.then(Library::cerbos)];
        for name in libraries.into_iter().flatten().flat_map(Library::names) {
            names.insert(name);
        }
        names.retain(|name| !name.contains(['_', '@']));
        names
    }

    /// Returns the policy name for a name that has a meaning in other languages only.
    pub(super) fn intended(&self, name: &str) -> Option<&'static str> {
        let intended = INTENDED.iter().find(|(wrong, _)| *wrong == name).filter(|_| self.is_cerbos);
        intended.map(|(_, intended)| *intended)
    }

    /// Returns the names that `name` may stand for, innermost container first.
    pub(super) fn candidates(&self, name: &str) -> Vec<String> {
        if let Some(absolute) = name.strip_prefix('.') {
            return vec![absolute.to_owned()];
        }
        let mut candidates = Vec::new();
        let mut container = self.container.as_str();
        while !container.is_empty() {
            candidates.push(format!("{container}.{name}"));
            container = container.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        candidates.push(name.to_owned());
        candidates
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Type> {
        self.variables.get(name)
    }

    /// Returns the signatures of a function, of all libraries.
    pub(super) fn signatures(&self, name: &str) -> Vec<&Signature> {
        let own = self.functions.get(name).into_iter().flatten();
        let cerbos = if self.is_cerbos { Library::cerbos().signatures(name) } else { &[] };
        Library::standard().signatures(name).iter().chain(cerbos).chain(own).collect()
    }
}

/// Returns the machine's function of this name in any library.
pub(super) fn function(name: &str, member: bool) -> Option<Function> {
    Library::standard().function(name, member).or_else(|| Library::cerbos().function(name, member))
}

/// Returns the type of a field of a message; `None` if there is no such field.
pub(super) fn field_type(message: &str, field: &str) -> Option<Type> {
    let strings = || Type::list(Type::String);
    let attributes = || Type::map(Type::String, Type::Dyn);
    let message_type = |name: &str| Type::Message(name.to_owned());
    Some(match (message, field) {
        (VARIABLES, _) => Type::Dyn,
        (REQUEST, "principal") => message_type(PRINCIPAL),
        (REQUEST, "resource") => message_type(RESOURCE),
        (REQUEST, "aux_data" | "auxData") => message_type(AUX_DATA),
        (PRINCIPAL | RESOURCE, "id" | "policy_version" | "policyVersion" | "scope") => Type::String,
        (PRINCIPAL, "roles") => strings(),
        (RESOURCE, "kind") => Type::String,
        (PRINCIPAL | RESOURCE, "attr") => attributes(),
        (AUX_DATA, "jwt") | (JWT, "claims") => attributes(),
        (AUX_DATA, "jwts") => Type::map(Type::String, message_type(JWT)),
        (RUNTIME, "effective_derived_roles" | "effectiveDerivedRoles") => strings(),
        _ => return None,
    })
}

/// Returns the field of a message that is nearest to an unknown one.
pub(super) fn field_suggestion(message: &str, field: &str) -> Option<String> {
    let (_, fields) = FIELDS.iter().find(|(name, _)| *name == message)?;
    suggestion(field, fields.iter().copied())
}

/// Returns the type that a name denotes as a value.
pub(super) fn type_named(name: &str) -> Option<Type> {
    let opaque = |params| Type::Opaque(name.to_owned(), params);
    Some(match name {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "null_type" => Type::Null,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "type" => Type::Type(None),
        "google.protobuf.Timestamp" => Type::Timestamp,
        "google.protobuf.Duration" => Type::Duration,
        OPTIONAL => opaque(vec![Type::Dyn]),
        "net.IP"
        | "net.CIDR"
        | "cerbos.lib.hierarchy"
        | "cerbos.lib.spiffeID"
        | "cerbos.lib.spiffeMatcher"
        | "cerbos.lib.spiffeTrustDomain" => opaque(Vec::new()),
        _ => return None,
    })
}

/// Returns the wrapped type of a protobuf wrapper message.
pub(super) fn wrapper_named(name: &str) -> Option<Type> {
    Some(match name.strip_prefix("google.protobuf.")? {
        "BoolValue" => Type::Bool,
        "BytesValue" => Type::Bytes,
        "DoubleValue" | "FloatValue" => Type::Double,
        "Int32Value" | "Int64Value" => Type::Int,
        "StringValue" => Type::String,
        "UInt32Value" | "UInt64Value" => Type::Uint,
        _ => return None,
    })
}

/// The fields of the messages, in the spelling that messages show.
const FIELDS: [(&str, &[&str]); 6] = [
    (REQUEST, &["principal", "resource", "auxData"]),
    (PRINCIPAL, &["id", "roles", "attr", "policyVersion", "scope"]),
    (RESOURCE, &["kind", "id", "attr", "policyVersion", "scope"]),
    (AUX_DATA, &["jwt", "jwts"]),
    (JWT, &["claims"]),
    (RUNTIME, &["effectiveDerivedRoles"]),
];

/// Returns the CEL function for a function of another language.
pub(super) fn intended_function(name: &str) -> Option<&'static str> {
    OTHER_LANGUAGES.iter().find(|(wrong, _)| *wrong == name).map(|(_, intended)| *intended)
}

/// Functions that have another name here.
const OTHER_LANGUAGES: [(&str, &str); 12] = [
    ("not", "`!`"),
    ("len", "`size`"),
    ("length", "`size`"),
    ("count", "`size`"),
    ("toUpperCase", "`upperAscii`"),
    ("toLowerCase", "`lowerAscii`"),
    ("upper", "`upperAscii`"),
    ("lower", "`lowerAscii`"),
    ("includes", "`in` for a list, `contains` for text"),
    ("any", "`exists`"),
    ("some", "`exists`"),
    ("every", "`all`"),
];

/// Names that policies have under another name.
const INTENDED: [(&str, &str); 6] = [
    ("principal", "`P` or `request.principal`"),
    ("resource", "`R` or `request.resource`"),
    ("auxData", "`request.auxData`"),
    ("aux_data", "`request.auxData`"),
    ("jwt", "`request.auxData.jwt`"),
    ("attr", "`P.attr` or `R.attr`"),
];

const REQUEST: &str = "cerbos.engine.v1.Request";
const PRINCIPAL: &str = "cerbos.engine.v1.Request.Principal";
const RESOURCE: &str = "cerbos.engine.v1.Request.Resource";
const AUX_DATA: &str = "cerbos.engine.v1.AuxData";
const JWT: &str = "cerbos.engine.v1.AuxData.JWT";
const RUNTIME: &str = "cerbos.engine.v1.Runtime";
const VARIABLES: &str = "cerbos.Variables";
