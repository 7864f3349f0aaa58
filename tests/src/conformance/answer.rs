//! Brings answers to requests into one shape so that they can be compared.
//!
//! Sets and maps are sorted. An answer is a list of lines, so that the first line that differs
//! shows the fault.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::check::field;

/// The answer to one request: the content of each line, by its key.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    lines: BTreeMap<String, String>,
}

impl Answer {
    /// Returns the first line in which two answers differ: this answer's and the one of `other`.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<(String, String)> {
        let keys = self.lines.keys().chain(other.lines.keys());
        let key = keys.filter(|key| self.lines.get(*key) != other.lines.get(*key)).min()?;
        let show = |answer: &Self| {
            let value = answer.lines.get(key).map_or("nothing", String::as_str);
            format!("{key}: {value}")
        };
        Some((show(self), show(other)))
    }

    fn render(&mut self, key: impl Into<String>, line: impl Into<String>) {
        self.lines.insert(key.into(), line.into());
    }

    /// Adds a list, one line for each item, in its order.
    fn list(&mut self, key: &str, items: impl IntoIterator<Item = String>) {
        for (at, item) in items.into_iter().enumerate() {
            self.render(format!("{key} {at:03}"), item);
        }
    }

    fn common(&mut self, json: &Json, action: impl Fn(&Json) -> String) {
        self.render("request", word(json, "requestId"));
        self.render("resource", word(json, "resourceId"));
        for (name, decision) in json.get("actions").and_then(Json::as_object).into_iter().flatten()
        {
            let (policy, scope) = (word(decision, "policy"), word(decision, "scope"));
            self.render(
                format!("action {name}"),
                format!("{} by `{policy}` in `{scope}`", action(decision)),
            );
        }
        let mut roles: Vec<_> =
            items(json, "effectiveDerivedRoles").iter().map(ToString::to_string).collect();
        roles.sort();
        self.list("derived role", roles);
        let mut violations: Vec<_> = items(json, "validationErrors").iter().collect();
        violations.sort_by_key(|error| (word(error, "source"), word(error, "path")));
        let violation = |error: &&Json| {
            format!("{} {}: {}", word(error, "source"), word(error, "path"), word(error, "message"))
        };
        self.list("violation", violations.iter().map(violation));
        let mut outputs: Vec<_> = items(json, "outputs").iter().collect();
        outputs.sort_by_key(|output| word(output, "src"));
        self.list("output", outputs.into_iter().map(output));
    }
}

/// Reads an answer of Cerbos.
#[must_use]
pub fn from_cerbos(json: &Json) -> Answer {
    let mut answer = Answer::default();
    answer.common(json, |decision| {
        word(decision, "effect").trim_start_matches("EFFECT_").to_lowercase()
    });
    let errors =
        items(json, "evaluationErrors").iter().filter_map(|error| field(error, "celError"));
    answer.list("error", errors.map(error));
    answer
}

/// Reads an answer of this project.
#[must_use]
pub fn from_wire(json: &Json) -> Answer {
    let mut answer = Answer::default();
    answer.common(json, |decision| word(decision, "effect").to_owned());
    answer.list("error", items(json, "evaluationErrors").iter().map(error));
    answer
}

fn error(json: &Json) -> String {
    format!("`{}`: {}", word(json, "expression"), word(json, "message"))
}

/// Renders an output as Cerbos does: it leaves out a value that is null, and reports of an output
/// that failed only the failure.
fn output(json: &Json) -> String {
    let value = match json.get("error").and_then(Json::as_str) {
        Some(error) => format!("error {error}"),
        None => {
            json.get("val").map_or_else(|| "null".to_owned(), |value| doubles(value).to_string())
        }
    };
    format!("{} for {}: {value}", word(json, "src"), word(json, "action"))
}

/// Returns the value with every number as a double, which is the type of each of them.
fn doubles(json: &Json) -> Json {
    match json {
        Json::Number(number) => number.as_f64().map_or(Json::Null, Json::from),
        Json::Array(items) => items.iter().map(doubles).collect(),
        Json::Object(map) => map.iter().map(|(key, value)| (key.clone(), doubles(value))).collect(),
        other => other.clone(),
    }
}

fn items<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    field(json, key).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

fn word<'a>(json: &'a Json, key: &str) -> &'a str {
    field(json, key).and_then(Json::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{from_cerbos, from_wire};

    #[test]
    fn the_same_answer_in_both_shapes_is_equal() {
        let cerbos = json!({
            "requestId": "r", "resourceId": "x",
            "actions": {"view": {"effect": "EFFECT_ALLOW", "policy": "p"}},
            "effectiveDerivedRoles": ["b", "a"],
            "outputs": [{"src": "s", "action": "view", "val": {"n": 1}}],
            "evaluationErrors": [{"celError": {"expression": "e", "message": "m"}}]
        });
        let wire = json!({
            "requestId": "r", "resourceId": "x",
            "actions": {"view": {"effect": "allow", "policy": "p", "scope": "", "reason": {"kind": "no-policy"}}},
            "effectiveDerivedRoles": ["a", "b"],
            "outputs": [{"src": "s", "action": "view", "val": {"n": 1.0}}],
            "evaluationErrors": [{"expression": "e", "message": "m"}]
        });
        assert_eq!(from_cerbos(&cerbos).first_difference(&from_wire(&wire)), None);
    }

    #[test]
    fn the_first_difference_shows_both_lines() {
        let effect = |effect: &str| {
            from_wire(&json!({"actions": {"view": {"effect": effect, "policy": "p"}}}))
        };
        let (expected, found) = effect("allow").first_difference(&effect("deny")).unwrap();
        assert_eq!(expected, "action view: allow by `p` in ``");
        assert_eq!(found, "action view: deny by `p` in ``");
    }
}
