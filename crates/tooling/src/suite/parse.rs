//! From a tree to a suite: tables, inputs, expectations and settings.
//!
//! Every error of a file is reported. A missing required field is an error only where no field is
//! misspelt, as in policies.

use std::sync::Arc;

use wardgate_engine::cel::time::parse_timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::table::Evaluation;

use super::model::{
    Expectation, ExpectedEffect, ExpectedOutput, Input, OutputEntry, Selection, Settings, Suite,
    Table,
};
use super::reader::SuiteReader;
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::policy::model::Named;
use wardgate_compiler::policy::name::Shape;
use wardgate_compiler::policy::parse::reader::{Object, SCHEMA_FIELD, Value};
use wardgate_compiler::source::{Location, SourceFile};
use wardgate_compiler::yaml::{Kind, Node};

/// Reads a suite.
pub(super) fn suite(file: &Arc<SourceFile>, document: &Node) -> Result<Suite, Vec<Diagnostic>> {
    read(file, document, |_| true)
}

/// Reads a suite whose tables may lack expectations.
pub(super) fn draft(file: &Arc<SourceFile>, document: &Node) -> Result<Suite, Vec<Diagnostic>> {
    let lacks_expectations = |error: &Diagnostic| {
        let table =
            error.path.strip_prefix("$.tests[").and_then(|path| path.strip_suffix("].expected"));
        let is_table = table.is_some_and(|number| number.parse::<usize>().is_ok());
        is_table && error.code == Code::Validation
    };
    read(file, document, |error| !lacks_expectations(error))
}

fn read(
    file: &Arc<SourceFile>,
    document: &Node,
    counts: impl Fn(&Diagnostic) -> bool,
) -> Result<Suite, Vec<Diagnostic>> {
    let mut reader = SuiteReader::new(file);
    let suite = reader.suite(document);
    let errors: Vec<Diagnostic> = reader.findings(false).into_iter().filter(counts).collect();
    suite.filter(|_| errors.is_empty()).ok_or(errors)
}

impl SuiteReader<'_> {
    fn suite(&mut self, document: &Node) -> Option<Suite> {
        let root = self.root(document);
        let object = self.object(&root, SUITE)?;
        object.get(SCHEMA_FIELD).and_then(|value| self.text(value));
        Some(Suite {
            name: self.required_name(&object, "name", Shape::Any),
            description: self.optional_text(&object, "description"),
            skip: self.skip(&object),
            tables: self.tables(&object),
            fixtures: self.fixtures(&object),
            settings: self.settings(&object).unwrap_or_default(),
        })
    }

    pub(super) fn optional_text(&mut self, object: &Object<'_>, field: &str) -> String {
        let text = object.get(field).and_then(|value| self.text(value));
        text.map_or_else(String::new, |text| text.as_ref().to_owned())
    }

    /// Returns the reason for leaving something out, if it is left out.
    fn skip(&mut self, object: &Object<'_>) -> Option<String> {
        let reason = self.optional_text(object, "skipReason");
        let skip = object.get("skip").and_then(|value| self.boolean(value));
        skip.unwrap_or(false).then_some(reason)
    }

    fn tables(&mut self, object: &Object<'_>) -> Vec<Table> {
        self.require_items(object, "tests");
        let items = object.get("tests").cloned().and_then(|value| self.list(&value));
        items.unwrap_or_default().iter().filter_map(|value| self.table(value)).collect()
    }

    fn table(&mut self, value: &Value<'_>) -> Option<Table> {
        let object = self.object(value, TABLE)?;
        let name = self.required_name(&object, "name", Shape::Any);
        let location = object.get("name").map_or(&value.location, |name| &name.location).clone();
        let input = match object.get("input") {
            Some(input) => self.input(input),
            None => {
                self.missing(&object.missing("input"), "`input` is required");
                None
            }
        };
        let table = Table {
            name: Named { name, location },
            description: self.optional_text(&object, "description"),
            skip: self.skip(&object),
            expected: self.expectations(&object),
            settings: self.settings(&object),
            location: value.location.clone(),
            offset: value.node.offset,
            list: object.get("expected").map(|list| list.node.offset),
            input: input?,
        };
        Some(table)
    }

    fn input(&mut self, value: &Value<'_>) -> Option<Input> {
        let object = self.object(value, INPUT)?;
        let input = Input {
            principals: self.selection(&object, "principals", "principalGroups"),
            resources: self.selection(&object, "resources", "resourceGroups"),
            actions: self.named_items(&object, "actions"),
            aux_data: self.named(&object, "auxData"),
            location: value.location.clone(),
        };
        self.require_some(&value.location, &input.principals, "`principals` or `principalGroups`");
        self.require_some(&value.location, &input.resources, "`resources` or `resourceGroups`");
        Some(input)
    }

    fn expectations(&mut self, object: &Object<'_>) -> Vec<Expectation> {
        self.require_items(object, "expected");
        let items = object.get("expected").cloned().and_then(|value| self.list(&value));
        items.unwrap_or_default().iter().filter_map(|value| self.expectation(value)).collect()
    }

    fn expectation(&mut self, value: &Value<'_>) -> Option<Expectation> {
        let object = self.object(value, EXPECTATION)?;
        let location = &value.location;
        let expectation = Expectation {
            principals: self.one_or_many(&object, location, PRINCIPALS),
            resources: self.one_or_many(&object, location, RESOURCES),
            effects: self.effects(&object),
            outputs: self.outputs(&object),
            location: location.clone(),
            offset: value.node.offset,
        };
        let (principals, resources) = (&expectation.principals, &expectation.resources);
        self.require_some(location, principals, "`principal`, `principals` or `principalGroups`");
        self.require_some(location, resources, "`resource`, `resources` or `resourceGroups`");
        Some(expectation)
    }

    /// Reads a fixture by name, or several, or groups of them.
    fn one_or_many(&mut self, object: &Object<'_>, at: &Location, fields: [&str; 3]) -> Selection {
        let [one, many, groups] = fields;
        let mut selection = self.selection(object, many, groups);
        if let Some(named) = self.named(object, one) {
            if selection.names.is_empty() {
                selection.names.push(named);
            } else {
                let message = format!("`{one}` cannot be combined with `{many}`");
                self.checks.push(Diagnostic::error(Code::Validation, at, message));
            }
        }
        selection
    }

    fn selection(&mut self, object: &Object<'_>, names: &str, groups: &str) -> Selection {
        Selection {
            names: self.names(object, names, Shape::Any),
            groups: self.names(object, groups, Shape::Any),
        }
    }

    fn require_some(&mut self, location: &Location, selection: &Selection, what: &str) {
        if selection.names.is_empty() && selection.groups.is_empty() {
            self.missing(location, format!("{what} is required"));
        }
    }

    fn effects(&mut self, object: &Object<'_>) -> Vec<ExpectedEffect> {
        let Some(value) = object.get("actions") else {
            self.missing(&object.missing("actions"), "`actions` is required");
            return Vec::new();
        };
        let items = self.map(value);
        if items.is_empty() {
            self.missing(&value.location, "`actions` must not be empty");
        }
        let mut effects = Vec::with_capacity(items.len());
        for item in items {
            if item.name.is_empty() {
                self.invalid(&item.key, "the name of an action must not be empty");
            }
            let Some(effect) = self.expected_effect(&item.value) else { continue };
            let (location, node) = (item.key, item.value.node.clone());
            effects.push(ExpectedEffect { action: item.name, effect, location, node });
        }
        effects
    }

    /// Reads an effect. Two of those that there are can be expected.
    fn expected_effect(&mut self, value: &Value<'_>) -> Option<Effect> {
        let number = match &value.node.kind {
            Kind::String(word, _) => EFFECTS.iter().position(|effect| *effect == word.as_ref()),
            Kind::Integer(number) => usize::try_from(*number).ok().filter(|n| *n < EFFECTS.len()),
            Kind::Null => Some(0),
            _ => return self.mismatch(value, EXPECTED),
        };
        let (code, message) = match number {
            Some(1) => return Some(Effect::Allow),
            Some(2) => return Some(Effect::Deny),
            Some(_) => (Code::Validation, "this effect cannot be expected"),
            None => (Code::Parse, "this is not an effect"),
        };
        let error = Diagnostic::error(code, &value.location, message).expected(EXPECTED);
        let error = match &value.node.kind {
            Kind::String(word, _) => error.found(format!("`{word}`")),
            Kind::Integer(number) => error.found(format!("`{number}`")),
            _ => error.found(value.node.describe()),
        };
        if code == Code::Parse { &mut self.errors } else { &mut self.checks }.push(error);
        None
    }

    fn outputs(&mut self, object: &Object<'_>) -> Vec<ExpectedOutput> {
        let items = object.get("outputs").cloned().and_then(|value| self.list(&value));
        items.unwrap_or_default().iter().filter_map(|value| self.output_of_action(value)).collect()
    }

    fn output_of_action(&mut self, value: &Value<'_>) -> Option<ExpectedOutput> {
        let object = self.object(value, &["action", "expected"])?;
        let action = self.required_name(&object, "action", Shape::Any);
        self.require_items(&object, "expected");
        let items = object.get("expected").cloned().and_then(|value| self.list(&value));
        let entries = items.unwrap_or_default();
        let entries = entries.iter().filter_map(|value| self.output_entry(value)).collect();
        Some(ExpectedOutput { action, entries, location: value.location.clone() })
    }

    fn output_entry(&mut self, value: &Value<'_>) -> Option<OutputEntry> {
        let object = self.object(value, &["src", "val", "action", "error"])?;
        for name in ["action", "error"] {
            object.get(name).and_then(|value| self.text(value));
        }
        let expected = object.get("val");
        Some(OutputEntry {
            source: self.optional_text(&object, "src"),
            value: expected.and_then(|value| self.attr(value)),
            location: value.location.clone(),
            node: expected.map(|value| value.node.clone()),
            key: expected.map(|value| value.location.clone()),
        })
    }

    fn settings(&mut self, object: &Object<'_>) -> Option<Settings> {
        let object = self.object(object.get("options")?, SETTINGS)?;
        let mut flag = |name| object.get(name).and_then(|value| self.boolean(value));
        let lenient_scope_search = flag("lenientScopeSearch").unwrap_or(false);
        let evaluation = flag("strictEvaluation").map(|is_strict| match is_strict {
            true => Evaluation::Strict,
            false => Evaluation::Lenient,
        });
        let globals = object.get("globals").map(|value| self.map(value)).unwrap_or_default();
        let globals = globals.into_iter();
        Some(Settings {
            now: object.get("now").and_then(|value| self.time(value)),
            lenient_scope_search,
            globals: globals
                .filter_map(|item| Some((item.name, self.attr(&item.value)?)))
                .collect(),
            default_version: self.optional_text(&object, "defaultPolicyVersion"),
            default_scope: self.optional_text(&object, "defaultScope"),
            evaluation,
        })
    }

    fn time(&mut self, value: &Value<'_>) -> Option<wardgate_engine::cel::Timestamp> {
        let text = self.text(value)?;
        let time = parse_timestamp(&text).ok();
        if time.is_none() {
            let location = Location { position: value.node.position, ..value.location.clone() };
            let error = Diagnostic::error(Code::Parse, &location, "this is not a time");
            let error = error.found(format!("`{text}`"));
            self.errors.push(error.expected("a time such as `2024-05-06T07:08:09Z`"));
        }
        time
    }

    fn named(&mut self, object: &Object<'_>, field: &str) -> Option<Named> {
        let value = object.get(field)?;
        let name = self.text(value)?.as_ref().to_owned();
        (!name.is_empty()).then(|| Named { name, location: value.location.clone() })
    }

    /// Reads a list of names that must hold at least one.
    pub(super) fn named_items(&mut self, object: &Object<'_>, field: &str) -> Vec<Named> {
        let names = self.names(object, field, Shape::Any);
        self.require_items(object, field);
        names
    }
}

const SUITE: &[&str] = &[
    "name",
    "description",
    "skip",
    "skipReason",
    "tests",
    "principals",
    "resources",
    "auxData",
    "options",
    SCHEMA_FIELD,
    "principalGroups",
    "resourceGroups",
];

const TABLE: &[&str] =
    &["name", "description", "skip", "skipReason", "input", "expected", "options"];

const INPUT: &[&str] =
    &["principals", "resources", "actions", "auxData", "principalGroups", "resourceGroups"];

const EXPECTATION: &[&str] = &[
    "principal",
    "resource",
    "actions",
    "outputs",
    "principals",
    "resources",
    "principalGroups",
    "resourceGroups",
];

const PRINCIPALS: [&str; 3] = ["principal", "principals", "principalGroups"];
const RESOURCES: [&str; 3] = ["resource", "resources", "resourceGroups"];

const SETTINGS: &[&str] = &[
    "now",
    "lenientScopeSearch",
    "globals",
    "defaultPolicyVersion",
    "defaultScope",
    "strictEvaluation",
];

const EXPECTED: &str = "`EFFECT_ALLOW` or `EFFECT_DENY`";

const EFFECTS: &[&str] = &["EFFECT_UNSPECIFIED", "EFFECT_ALLOW", "EFFECT_DENY", "EFFECT_NO_MATCH"];
