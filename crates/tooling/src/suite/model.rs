//! Suites and fixtures as their authors wrote them.
//!
//! Whatever a message may point at carries its [`Location`]; what a test expects also says where its value
//! stands in the file, so that it can be put right there.

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
    /// What it is about.
    pub description: String,
    /// True if and why it is left out.
    pub skip: Option<String>,
    /// Its tables, in order.
    pub tables: Vec<Table>,
    /// The fixtures that only it knows; they come before those of its directory.
    pub fixtures: Fixtures,
    /// Under what its tests are decided.
    pub settings: Settings,
}

/// One table of tests: every principal with every resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name, which no other table of the suite has.
    pub name: Named,
    /// What it is about.
    pub description: String,
    /// True if and why it is left out.
    pub skip: Option<String>,
    /// What is asked.
    pub input: Input,
    /// What is to be answered.
    pub expected: Vec<Expectation>,
    /// Under what its tests are decided, if it says so: then nothing of the suite's settings holds.
    pub settings: Option<Settings>,
    /// Where it stands.
    pub location: Location,
    /// Byte offset of its first character.
    pub offset: usize,
    /// Byte offset of the list of what is expected, if there is one.
    pub list: Option<usize>,
}

/// What the tests of a table ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Who asks.
    pub principals: Selection,
    /// About what.
    pub resources: Selection,
    /// What they want to do.
    pub actions: Vec<Named>,
    /// Data about the request, if there is any.
    pub aux_data: Option<Named>,
    /// Where it stands.
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

/// What is expected where one of the principals meets one of the resources.
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
    /// Where it stands.
    pub location: Location,
    /// Byte offset of its first character.
    pub offset: usize,
}

/// The effect that an action should have.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedEffect {
    /// The action.
    pub action: String,
    /// What should become of it.
    pub effect: Effect,
    /// Where the name of the action stands.
    pub location: Location,
    /// What stands there.
    pub node: Node,
}

/// The outputs that the rules of an action should give.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedOutput {
    /// The action.
    pub action: String,
    /// The outputs, each with the rule that it comes from.
    pub entries: Vec<OutputEntry>,
    /// Where it stands.
    pub location: Location,
}

/// An output that a rule should give.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputEntry {
    /// The rule, as `policy#rule`.
    pub source: String,
    /// The value; an entry that does not say is met by no output.
    pub value: Option<Attr>,
    /// Where it stands.
    pub location: Location,
    /// What stands there as the value.
    pub node: Option<Node>,
    /// Where the name of the value stands.
    pub key: Option<Location>,
}

/// Principals, resources and data about requests, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fixtures {
    /// Who asks.
    pub principals: BTreeMap<String, Principal>,
    /// What they ask about.
    pub resources: BTreeMap<String, Resource>,
    /// What is known of the request itself.
    pub aux_data: BTreeMap<String, AuxData>,
    /// Names for several principals.
    pub principal_groups: BTreeMap<String, Vec<Named>>,
    /// Names for several resources.
    pub resource_groups: BTreeMap<String, Vec<Named>>,
}

/// Under what tests are decided. What is left out is as the caller has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// What `now()` means; a test whose policies ask for it needs it.
    pub now: Option<Timestamp>,
    /// True if a scope without policies falls back to its nearest ancestor that has some.
    pub lenient_scope_search: bool,
    /// The values of `globals`.
    pub globals: BTreeMap<String, Attr>,
    /// The policy version of requests that name none.
    pub default_version: String,
    /// The scope of principals and resources that name none.
    pub default_scope: String,
    /// What an error in a condition means.
    pub evaluation: Option<Evaluation>,
}
