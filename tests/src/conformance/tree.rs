//! Compares trees of JSON: the first position where they differ shows the fault.

use serde_json::{Value as Json, json};

use super::Failure;

/// Compares two trees. Numbers are doubles.
///
/// # Errors
/// The first difference, with its path.
pub fn same(expected: &Json, found: &Json) -> Result<(), Failure> {
    match difference("$", expected, found) {
        None => Ok(()),
        Some((path, expected, found)) => {
            Err(Failure::new(format!("{path} = {expected}"), format!("{path} = {found}")))
        }
    }
}

/// Writes a field of an object; any other value becomes an object.
pub fn put(object: &mut Json, field: &str, value: Json) {
    match object {
        Json::Object(fields) => {
            fields.insert(field.to_owned(), value);
        }
        other => *other = json!({field: value}),
    }
}

/// Drops nulls, and empty texts, lists and objects: protobuf does not distinguish them from absent
/// ones.
#[must_use]
pub fn without_empties(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(without_empties).collect(),
        Json::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.clone(), without_empties(value)));
            fields.filter(|(_, value)| !is_empty(value)).collect()
        }
        other => other.clone(),
    }
}

fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

fn difference(path: &str, expected: &Json, found: &Json) -> Option<(String, String, String)> {
    match (expected, found) {
        (Json::Object(a), Json::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let path = format!("{path}.{key}");
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => difference(&path, a, b),
                    (a, b) => Some((path, shown(a), shown(b))),
                }
            })
        }
        (Json::Array(a), Json::Array(b)) => (0..a.len().max(b.len())).find_map(|at| {
            let path = format!("{path}[{at}]");
            match (a.get(at), b.get(at)) {
                (Some(a), Some(b)) => difference(&path, a, b),
                (a, b) => Some((path, shown(a), shown(b))),
            }
        }),
        (Json::Number(a), Json::Number(b)) if a.as_f64() == b.as_f64() => None,
        (a, b) if a == b => None,
        (a, b) => Some((path.to_owned(), shown(Some(a)), shown(Some(b)))),
    }
}

fn shown(json: Option<&Json>) -> String {
    json.map_or_else(|| "nothing".to_owned(), Json::to_string)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{same, without_empties};

    #[test]
    fn the_first_difference_is_reported_with_its_path() {
        let check = |a, b, expected: &str| {
            let found = same(&a, &b).map_or_else(|failure| failure.found, |()| "same".to_owned());
            assert_eq!(found, expected);
        };
        check(json!({"a": [1, {"b": 2}]}), json!({"a": [1.0, {"b": 2}]}), "same");
        check(json!({"a": [1, {"b": 2}]}), json!({"a": [1, {"b": 3}]}), "$.a[1].b = 3");
        check(json!({"a": 1}), json!({}), "$.a = nothing");
        check(json!([1]), json!([1, 2]), "$[1] = 2");
        check(json!([1]), json!({}), "$ = {}");
    }

    #[test]
    fn empty_values_are_absent() {
        let tree = json!({"a": {}, "b": [{"c": ""}], "d": false, "e": null});
        assert_eq!(without_empties(&tree), json!({"b": [{}], "d": false}));
    }
}
