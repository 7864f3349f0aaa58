//! Questions of AuthZEN as S-expressions: the cases of `tests/authzen`.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stand outside of the functions that clippy knows as tests"
)]

use serde_json::Value as Json;
use wardgate_native::protocol::authzen::{NoDirectory, Shape, evaluation};
use wardgate_spocp::Expression;
use wardgate_tests::conformance::yaml;
use wardgate_tests::program::root;

#[test]
fn every_question_becomes_the_expression_that_is_written_down() {
    let cases = yaml(&root().join("tests/authzen/expressions.yaml")).unwrap();
    for case in cases.as_array().unwrap() {
        let what = case.get("what").and_then(Json::as_str).unwrap();
        match case.get("refused") {
            Some(message) => assert_eq!(&expression(case).unwrap_err(), message, "{what}"),
            None => {
                let expected = case.get("expression").and_then(Json::as_str).unwrap();
                let expected = Expression::from_advanced(expected.as_bytes()).unwrap();
                let expected = String::from_utf8(expected.to_canonical()).unwrap();
                assert_eq!(expression(case).unwrap(), expected, "{what}");
            }
        }
    }
}

fn expression(case: &Json) -> Result<String, String> {
    let request = evaluation(case.get("request").unwrap().to_string().as_bytes()).unwrap();
    let text = request.expression(&NoDirectory, &shape(case), &mut 1_000_000);
    let text = text.map_err(|error| error.to_string())?;
    // The written text can be read, and is the canonical form.
    assert_eq!(Expression::from_canonical(&text).unwrap().to_canonical(), text);
    Ok(String::from_utf8(text).unwrap())
}

fn shape(case: &Json) -> Shape {
    let names = |of: &str| {
        let names = case.get("shape")?.get(of)?.as_array()?.iter();
        Some(names.map(|name| name.as_str().unwrap().to_owned()).collect())
    };
    Shape {
        subject: names("subject"),
        action: names("action"),
        resource: names("resource"),
        context: names("context"),
    }
}
