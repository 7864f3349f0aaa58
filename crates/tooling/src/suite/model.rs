//! Suites and fixtures as their authors wrote them.
//!
//! Everything that a message may point at carries its [`Location`]; an expectation also holds the
//! node of its value, so that it can be corrected there.

use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::{AuxData, Principal, Resource};
use wardgate_engine::table::Evaluation;

use wardgate_compiler::policy::model::Named;
use wardgate_compiler::source::Location;
use wardgate_compiler::yaml::Node;

/// One file of tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// The subject.
    pub description: String,
    /// True if and why it is left out.
    pub skip: Option<String>,
    /// Its tables, in order.
    pub tables: Vec<Table>,
    /// The fixtures that only it knows; they come before those of its directory.
    pub fixtures: Fixtures,
    /// The settings of its tests.
    pub settings: Settings,
}

/// One table of tests: every principal with every resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name, which no other table of the suite has.
    pub name: Named,
    /// The subject.
    pub description: String,
    /// True if and why it is left out.
    pub skip: Option<String>,
    /// The requests.
    pub input: Input,
    /// The expected decisions.
    pub expected: Vec<Expectation>,
    /// The settings of its tests, if it has some: then nothing of the suite's settings holds.
    pub settings: Option<Settings>,
    /// Its location.
    pub location: Location,
    /// Byte offset of its first character.
    pub offset: usize,
    /// Byte offset of the list of expectations, if there is one.
    pub list: Option<usize>,
}

/// The requests of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The principals.
    pub principals: Selection,
    /// The resources.
    pub resources: Selection,
    /// The actions.
    pub actions: Vec<Named>,
    /// Data about the request, if there is any.
    pub aux_data: Option<Named>,
    /// Its location.
    pub location: Location,
}

/// Fixtures by their names, and groups of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Names of fixtures.
    pub names: Vec<Named>,
    /// Names of groups.
    pub groups: Vec<Named>,
}

/// The expected decisions where one of the principals meets one of the resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The principals.
    pub principals: Selection,
    /// The resources.
    pub resources: Selection,
    /// The effects, by action.
    pub effects: Vec<ExpectedEffect>,
    /// The outputs, by action.
    pub outputs: Vec<ExpectedOutput>,
    /// Its location.
    pub location: Location,
    /// Byte offset of its first character.
    pub offset: usize,
}

/// The effect that an action should have.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedEffect {
    /// The action.
    pub action: String,
    /// The expected effect.
    pub effect: Effect,
    /// The location of the action's name.
    pub location: Location,
    /// The node of the value.
    pub node: Node,
}

/// The outputs that the rules of an action should give.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedOutput {
    /// The action.
    pub action: String,
    /// The outputs, each with the rule that it comes from.
    pub entries: Vec<OutputEntry>,
    /// Its location.
    pub location: Location,
}

/// An output that a rule should give.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputEntry {
    /// The rule, as `policy#rule`.
    pub source: String,
    /// The value; no output meets an entry without one.
    pub value: Option<Attr>,
    /// Its location.
    pub location: Location,
    /// The node of the value.
    pub node: Option<Node>,
    /// The location of the value's name.
    pub key: Option<Location>,
}

/// Principals, resources and data about requests, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fixtures {
    /// The principals.
    pub principals: BTreeMap<String, Principal>,
    /// The resources.
    pub resources: BTreeMap<String, Resource>,
    /// The contexts of requests.
    pub aux_data: BTreeMap<String, AuxData>,
    /// Names for several principals.
    pub principal_groups: BTreeMap<String, Vec<Named>>,
    /// Names for several resources.
    pub resource_groups: BTreeMap<String, Vec<Named>>,
}

/// The settings of tests. An absent one has the value of the caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The time of `now()`; a test whose policies read it needs it.
    pub now: Option<Timestamp>,
    /// True if a scope without policies falls back to its nearest ancestor that has some.
    pub lenient_scope_search: bool,
    /// The values of `globals`.
    pub globals: BTreeMap<String, Attr>,
    /// The policy version of requests that name none.
    pub default_version: String,
    /// The scope of principals and resources that name none.
    pub default_scope: String,
    /// The meaning of an error in a condition.
    pub evaluation: Option<Evaluation>,
}
