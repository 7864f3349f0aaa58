//! Suite `cel-spec`: the conformance tests of the CEL specification that need no protobuf message.
//!
//! Judged as cel-go judges itself: a value is compared by type, an expected error is any error of
//! compilation or evaluation, and a deduced type must be the declared one.

use std::path::Path;
use std::rc::Rc;

use serde_json::Value as Json;
use wardgate_compiler::cel::{Signature, Type};

use super::vectors::{items, json, word};
use super::{Case, Failure, Outcome, files, stem};
use crate::datum::{Datum, one_or_many, type_from_json};
use crate::expression::{Declaration, Expression};

/// Reads the cases.
///
/// # Errors
/// If a file is missing or is not JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in files(&corpora.join("cel-spec/json"), "json")? {
        let file = json(&path)?;
        for section in items(&file, "sections") {
            for test in items(section, "tests").iter().filter(|test| !needs_proto(test)) {
                let name = format!("{}/{}/{}", stem(&path), name(section), name(test));
                let test = Rc::new(test.clone());
                let reason = deviation(&name);
                cases.push(Case::new(name, move || judged(run(&test), reason)));
            }
        }
    }
    Ok(cases)
}

/// Returns how many tests need protobuf messages, which are not among the cases.
///
/// # Errors
/// If a file is missing or is not JSON.
pub fn with_protobuf(corpora: &Path) -> Result<usize, String> {
    let mut count = 0;
    for path in files(&corpora.join("cel-spec/json"), "json")? {
        let file = json(&path)?;
        let tests = items(&file, "sections").iter().flat_map(|section| items(section, "tests"));
        count += tests.filter(|test| needs_proto(test)).count();
    }
    Ok(count)
}

/// The name of the suite.
pub const NAME: &str = "cel-spec";

/// Judges a test that has a known deviation: where the specification and cel-go differ, this
/// project does what cel-go does, because policies written for Cerbos were tested against it. Such
/// a test must go on failing: one that passes has been overtaken and must leave the list.
fn judged(result: Result<(), Failure>, deviation: Option<&'static str>) -> Outcome {
    match (result, deviation) {
        (result, None) => result.into(),
        (Err(_), Some(reason)) => Outcome::Skipped(reason.to_owned()),
        (Ok(()), Some(reason)) => {
            Outcome::failed("a deviation", format!("none any more: {reason}"))
        }
    }
}

fn deviation(name: &str) -> Option<&'static str> {
    DEVIATIONS.iter().find(|(deviating, _)| *deviating == name).map(|(_, reason)| *reason)
}

const DEVIATIONS: [(&str, &str); 4] = [
    ("network_ext/ipv4/ipv4_equals_ipv6", MAPPED_ADDRESS),
    ("network_ext/ipv4/ipv4_not_equals_ipv6", MAPPED_ADDRESS),
    ("string_ext/value_errors/indexof_out_of_range", OFFSET_BEYOND_END),
    ("string_ext/value_errors/lastindexof_out_of_range", OFFSET_BEYOND_END),
];

const MAPPED_ADDRESS: &str =
    "as in cel-go, an IPv4-mapped IPv6 address is refused in every spelling";

const OFFSET_BEYOND_END: &str = "as in cel-go, a search that starts beyond the end finds nothing";

fn run(test: &Json) -> Result<(), Failure> {
    let unreadable = |found: String| Failure::new("a test that can be read", found);
    let expression = expression(test).map_err(unreadable)?;
    let expected = Expected::of(test).map_err(unreadable)?;
    expected.compare(&expression, flag(test, "check_only")).map_err(|mut failure| {
        failure.expected = format!("{}\n  of {}", failure.expected, expression.text);
        failure
    })
}

enum Expected {
    Value(Datum),
    Typed(Option<Datum>, Type),
    Error,
}

impl Expected {
    fn of(test: &Json) -> Result<Self, String> {
        if let Some(value) = test.get("value") {
            return Datum::from_json(value).map(Self::Value);
        }
        if let Some(typed) = test.get("typed_result") {
            let kind = type_from_json(typed.get("deduced_type").unwrap_or(&Json::Null))?;
            let value = typed.get("result").map(Datum::from_json).transpose()?;
            return Ok(Self::Typed(value, kind));
        }
        if ["eval_error", "any_eval_errors"].iter().any(|key| test.get(key).is_some()) {
            return Ok(Self::Error);
        }
        if let Some(unknown) = ["unknown", "any_unknowns"].iter().find_map(|key| test.get(key)) {
            return Err(format!("expects unknowns {unknown}"));
        }
        Ok(Self::Value(Datum::Bool(true)))
    }

    fn compare(&self, expression: &Expression, check_only: bool) -> Result<(), Failure> {
        match self {
            Self::Value(value) => same(value, expression.evaluate()),
            Self::Typed(value, kind) => {
                let found = expression.deduced_type();
                if found.as_ref() != Ok(kind) {
                    let found = found.map_or_else(|error| error, |found| format!("type {found}"));
                    return Err(Failure::new(format!("type {kind}"), found));
                }
                match value {
                    Some(value) if !check_only => same(value, expression.evaluate()),
                    _ => Ok(()),
                }
            }
            Self::Error => match expression.evaluate() {
                Err(_) => Ok(()),
                Ok(found) => Err(Failure::new("an error", found)),
            },
        }
    }
}

fn same(expected: &Datum, found: Result<Datum, String>) -> Result<(), Failure> {
    let found = match found {
        Ok(found) if found.same(expected) => return Ok(()),
        Ok(found) => found.to_string(),
        Err(error) => error,
    };
    Err(Failure::new(expected, found))
}

fn expression(test: &Json) -> Result<Expression, String> {
    if flag(test, "disable_macros") {
        return Err("asks for a parser without macros".to_owned());
    }
    let bindings = test.get("bindings").and_then(Json::as_object);
    Ok(Expression {
        text: word(test, "expr").to_owned(),
        container: word(test, "container").to_owned(),
        checked: !flag(test, "disable_check"),
        declarations: items(test, "type_env").iter().map(declaration).collect::<Result<_, _>>()?,
        bindings: bindings
            .into_iter()
            .flatten()
            .map(|(name, value)| Ok((name.clone(), Datum::from_json(value)?)))
            .collect::<Result<_, String>>()?,
    })
}

fn declaration(json: &Json) -> Result<Declaration, String> {
    let name = name(json).to_owned();
    if let Some(kind) = json.pointer("/ident/type") {
        return Ok(Declaration::Variable(name, type_from_json(kind)?));
    }
    let signatures = one_or_many(json.pointer("/function/overloads")).into_iter().map(signature);
    Ok(Declaration::Function(name, signatures.collect::<Result<_, _>>()?))
}

fn signature(json: &Json) -> Result<Signature, String> {
    let params = one_or_many(json.get("params")).into_iter().map(type_from_json);
    Ok(Signature {
        member: flag(json, "is_instance_function"),
        params: params.collect::<Result<_, _>>()?,
        result: type_from_json(json.get("result_type").unwrap_or(&Json::Null))?,
    })
}

fn name(json: &Json) -> &str {
    word(json, "name")
}

fn flag(json: &Json, key: &str) -> bool {
    json.get(key).and_then(Json::as_bool).unwrap_or_default()
}

fn needs_proto(test: &Json) -> bool {
    flag(test, "needs_proto")
}
