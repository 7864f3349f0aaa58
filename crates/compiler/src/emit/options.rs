//! Options of a table: settings that hold for all of its policies.

use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::table::Evaluation;

/// The options of a table beside its policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The meaning of an error in a condition.
    pub evaluation: Evaluation,
    /// True if a scope without policies falls back to its nearest ancestor that has some.
    pub lenient_scope_search: bool,
    /// The policy version that a request without one means.
    pub default_version: String,
    /// The treatment of requests whose attributes do not fit the schemas of their policy.
    pub schema_enforcement: Enforcement,
    /// The values of `globals`.
    pub globals: BTreeMap<String, Attr>,
}

/// The treatment of requests whose attributes do not fit the schemas of their policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enforcement {
    /// Schemas are not looked at.
    #[default]
    None,
    /// The decision reports the errors.
    Warn,
    /// The decision reports the errors and denies.
    Reject,
}

impl Default for Options {
    /// Returns strict evaluation, strict scope search, version `default`, no schemas, no globals.
    fn default() -> Self {
        Self {
            evaluation: Evaluation::Strict,
            lenient_scope_search: false,
            default_version: "default".to_owned(),
            schema_enforcement: Enforcement::None,
            globals: BTreeMap::new(),
        }
    }
}
