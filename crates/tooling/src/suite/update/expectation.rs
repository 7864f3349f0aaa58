//! New expectations: as few of them as possible, and their text.

use wardgate_engine::attr::Attr;
use wardgate_engine::decision::Effect;
use wardgate_engine::wire::attr_json;

use crate::edit::{json_key, key};
use crate::suite::model::{Expectation, ExpectedEffect, ExpectedOutput, OutputEntry, Selection};
use crate::suite::results::effect_word;
use wardgate_compiler::policy::model::Named;
use wardgate_compiler::source::{Location, Position};
use wardgate_compiler::yaml::{Kind, Node};

/// The expected outcome where a principal meets a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PairOutcome {
    /// By action.
    pub(super) effects: Vec<(String, Effect)>,
    /// By action.
    pub(super) outputs: Vec<(String, Vec<RuleOutput>)>,
}

/// The rule of an output, and its value; no output meets an entry without one.
pub(super) type RuleOutput = (String, Option<Attr>);

/// One expectation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NewExpectation {
    principals: Vec<String>,
    resources: Vec<String>,
    outcome: PairOutcome,
}

/// Joins pairs of principal and resource with the same outcome, in their order.
pub(super) fn merge_pairs(pairs: Vec<(String, String, PairOutcome)>) -> Vec<NewExpectation> {
    let mut each: Vec<NewExpectation> = Vec::new();
    for (principal, resource, outcome) in pairs {
        // The pairs of a principal come one after the other.
        let mut own =
            each.iter_mut().rev().take_while(|one| one.principals == [principal.as_str()]);
        match own.find(|one| one.outcome == outcome) {
            Some(known) => known.resources.push(resource),
            None => each.push(NewExpectation {
                principals: vec![principal],
                resources: vec![resource],
                outcome,
            }),
        }
    }
    let mut joined: Vec<NewExpectation> = Vec::new();
    for expectation in each {
        let is_same = |one: &&mut NewExpectation| {
            one.resources == expectation.resources && one.outcome == expectation.outcome
        };
        match joined.iter_mut().find(is_same) {
            Some(known) => known.principals.extend(expectation.principals),
            None => joined.push(expectation),
        }
    }
    joined
}

impl NewExpectation {
    /// Returns the lines of the expectation as an item of a list, without the indentation of each.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("- {}", one_or_many("principal", &self.principals)),
            format!("  {}", one_or_many("resource", &self.resources)),
            "  actions:".to_owned(),
        ];
        let effects = self.outcome.effects.iter();
        lines.extend(
            effects
                .map(|(action, effect)| format!("    {}: {}", key(action), effect_word(*effect))),
        );
        if !self.outcome.outputs.is_empty() {
            lines.push("  outputs:".to_owned());
        }
        for (action, entries) in &self.outcome.outputs {
            lines.push(format!("    - action: {}", key(action)));
            lines.push("      expected:".to_owned());
            for (rule, value) in entries {
                lines.push(format!("        - src: {}", key(rule)));
                lines.extend(
                    value.as_ref().map(|value| format!("          val: {}", attr_json(value))),
                );
            }
        }
        lines
    }

    /// Returns the expectation on one line, which is JSON and YAML.
    pub(super) fn flow(&self) -> String {
        let names = |field: &str, names: &[String]| match names {
            [name] => format!("\"{field}\": {}", json_key(name)),
            names => format!("\"{field}s\": [{}]", list(names, |name| json_key(name))),
        };
        let effects = list(&self.outcome.effects, |(action, effect)| {
            format!("{}: \"{}\"", json_key(action), effect_word(*effect))
        });
        let entry = |(rule, value): &RuleOutput| {
            let value = value
                .as_ref()
                .map_or_else(String::new, |value| format!(", \"val\": {}", attr_json(value)));
            format!("{{ \"src\": {}{value} }}", json_key(rule))
        };
        let outputs = list(&self.outcome.outputs, |(action, entries)| {
            format!(
                "{{ \"action\": {}, \"expected\": [{}] }}",
                json_key(action),
                list(entries, entry)
            )
        });
        let outputs = match self.outcome.outputs.is_empty() {
            true => String::new(),
            false => format!(", \"outputs\": [{outputs}]"),
        };
        let (principals, resources) =
            (names("principal", &self.principals), names("resource", &self.resources));
        format!("{{ {principals}, {resources}, \"actions\": {{ {effects} }}{outputs} }}")
    }

    /// Returns the expectation as it is to be read, at a place that does not matter.
    pub(super) fn expectation(&self, nowhere: &Location) -> Expectation {
        let node = || Node { position: Position::START, offset: usize::MAX, kind: Kind::Null };
        let location = || nowhere.clone();
        let named = |name: &String| Named { name: name.clone(), location: location() };
        let selection = |names: &[String]| Selection {
            names: names.iter().map(named).collect(),
            groups: Vec::new(),
        };
        let effect = |(action, effect): &(String, Effect)| ExpectedEffect {
            action: action.clone(),
            effect: *effect,
            location: location(),
            node: node(),
        };
        let entry = |(rule, value): &RuleOutput| OutputEntry {
            source: rule.clone(),
            value: value.clone(),
            location: location(),
            node: None,
            key: None,
        };
        let output = |(action, entries): &(String, Vec<RuleOutput>)| ExpectedOutput {
            action: action.clone(),
            entries: entries.iter().map(entry).collect(),
            location: location(),
        };
        Expectation {
            principals: selection(&self.principals),
            resources: selection(&self.resources),
            effects: self.outcome.effects.iter().map(effect).collect(),
            outputs: self.outcome.outputs.iter().map(output).collect(),
            offset: usize::MAX,
            location: location(),
        }
    }
}

fn one_or_many(field: &str, names: &[String]) -> String {
    match names {
        [name] => format!("{field}: {}", key(name)),
        names => format!("{field}s: [{}]", list(names, |name| key(name))),
    }
}

fn list<T>(items: &[T], written: impl Fn(&T) -> String) -> String {
    items.iter().map(written).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_with_equal_outcomes_are_joined() {
        let outcome = |effect| PairOutcome {
            effects: vec![("view".to_owned(), effect)],
            outputs: Vec::new(),
        };
        let pair = |principal: &str, resource: &str, effect| {
            (principal.to_owned(), resource.to_owned(), outcome(effect))
        };
        let (allow, deny) = (Effect::Allow, Effect::Deny);
        let found = merge_pairs(vec![
            pair("a", "x", allow),
            pair("a", "y", deny),
            pair("a", "z", allow),
            pair("b", "x", allow),
            pair("b", "z", allow),
            pair("c", "z", allow),
        ]);
        let texts: Vec<String> = found.iter().map(NewExpectation::flow).collect();
        assert_eq!(
            texts,
            [
                r#"{ "principals": ["a", "b"], "resources": ["x", "z"], "actions": { "view": "EFFECT_ALLOW" } }"#,
                r#"{ "principal": "a", "resource": "y", "actions": { "view": "EFFECT_DENY" } }"#,
                r#"{ "principal": "c", "resource": "z", "actions": { "view": "EFFECT_ALLOW" } }"#,
            ]
        );
    }
}
