//! Options of a table: what holds for all of its policies.

use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::table::Evaluation;

/// What a table is to be beyond its policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What an error in a condition means.
    pub evaluation: Evaluation,
    /// Whether a scope without policies falls back to its nearest ancestor that has some.
    pub lenient_scope_search: bool,
    /// The policy version that a request without one means.
    pub default_version: String,
    /// What becomes of requests whose attributes do not fit the schemas of their policy.
    pub schema_enforcement: Enforcement,
    /// The values of `globals`.
    pub globals: BTreeMap<String, Attr>,
}

/// What becomes of requests whose attributes do not fit the schemas of their policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enforcement {
    /// Schemas are not looked at.
    #[default]
    None,
    /// The decision says so.
    Warn,
    /// The decision says so and denies.
    Reject,
}

impl Default for Options {
    /// Strict evaluation, strict scope search, version `default`, no schemas, no globals.
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
