//! References, and keywords that depend on what other keywords evaluate.

use super::*;

#[test]
fn references() {
    let address =
        r##"{"type": "object", "required": ["city"], "properties": {"next": {"$ref": "#"}}}"##;
    let customer = r##"{"properties": {"home": {"$ref": "cerbos:///parts/address.json"}, "work": {"$ref": "#/$defs/w"}},
        "$defs": {"w": {"$ref": "parts/address.json"}}}"##;
    let files = [("customer.json", customer), ("parts/address.json", address)];
    let attributes = r#"{"home": {"city": 1, "next": {}}, "work": 1}"#;
    let found = ["/home/next missing properties: 'city'", "/work expected object, but got number"];
    assert_eq!(report(&files, attributes).unwrap(), found);
}

#[test]
fn references_by_name() {
    let schema = r##"{"properties": {"a": {"$ref": "#name"}, "b": {"$ref": "other/b.json#inner"}, "c": {"$ref": "/other/b.json"}},
        "$defs": {"x": {"$anchor": "name", "type": "string"},
            "y": {"$id": "other/b.json", "type": "null", "not": {"$anchor": "inner", "type": "number"}}}}"##;
    check_all(
        schema,
        r#"{"a": 1, "b": null, "c": 1}"#,
        &[
            "/a expected string, but got number",
            "/b expected number, but got null",
            "/c expected null, but got number",
        ],
    );
    let named = r#"{"$defs": {"x": {"$anchor": "name", "type": "string"}}}"#;
    let files =
        [("s.json", r#"{"properties": {"a": {"$ref": "t.json#name"}}}"#), ("t.json", named)];
    assert_eq!(report(&files, r#"{"a": 1}"#).unwrap(), ["/a expected string, but got number"]);
    let older = r##"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#name"}},
        "definitions": {"x": {"$id": "#name", "type": "string"}}}"##;
    check_all(older, r#"{"a": 1}"#, &["/a expected string, but got number"]);
}

#[test]
fn references_that_are_dynamic() {
    let tree = r##"{"$dynamicAnchor": "tree", "properties": {"data": {"type": "string"}, "next": {"$dynamicRef": "#tree"}}}"##;
    let found = ["/next/data expected string, but got number"];
    assert_eq!(report(&[("t.json", tree)], r#"{"next": {"data": 1}}"#).unwrap(), found);
    let strict = r#"{"$dynamicAnchor": "tree", "$ref": "t.json", "unevaluatedProperties": false}"#;
    let refused = report(&[("s.json", strict), ("t.json", tree)], "{}").unwrap_err();
    assert_eq!(
        refused,
        [
            "t.json#/properties/next: more than one schema has `$dynamicAnchor: tree`, and a reference to it is not supported",
            "policy.yaml$: schema `cerbos:///s.json` cannot be used",
        ]
    );
    let recursive = r##"{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true,
        "properties": {"data": {"type": "string"}, "next": {"$recursiveRef": "#"}}}"##;
    check_all(recursive, r#"{"next": {"data": 1}}"#, &found);
}

#[test]
fn properties_that_no_other_keyword_evaluates() {
    let closed = r#"{"properties": {"x": {}}, "patternProperties": {"^y": {}}, "unevaluatedProperties": false,
        "anyOf": [{"required": ["p"], "properties": {"p": {"type": "null"}}}, {"properties": {"q": {}}}],
        "if": {"required": ["r"], "properties": {"r": {}}}, "then": {"properties": {"s": {}}},
        "dependentSchemas": {"x": {"properties": {"t": {}}}}, "$ref": "u.json"}"#;
    let check = |attributes: &str, expected: &[&str]| {
        let files = [("s.json", closed), ("u.json", r#"{"properties": {"u": {}}}"#)];
        assert_eq!(report(&files, attributes).unwrap(), expected, "{attributes}");
    };
    check(r#"{"x": 1, "y1": 1, "q": 1, "t": 1, "u": 1}"#, &[]);
    check(r#"{"q": 1, "t": 1}"#, &["/t not allowed"]);
    check(r#"{"p": null, "q": 1}"#, &[]);
    check(r#"{"p": 1, "q": 1}"#, &["/p not allowed"]);
    check(r#"{"r": 1, "s": 1}"#, &[]);
    check(r#"{"s": 1}"#, &["/s not allowed"]);
    check_all(
        r#"{"allOf": [{"properties": {"a": {}}, "unevaluatedProperties": {"type": "null"}}], "unevaluatedProperties": false}"#,
        r#"{"a": 1, "b": null}"#,
        &[],
    );
    check_all(
        r#"{"allOf": [{"properties": {"a": {}}}, {"unevaluatedProperties": false}]}"#,
        r#"{"a": 1}"#,
        &["/a not allowed"],
    );
    check_all(
        r#"{"properties": {"a": {"properties": {"b": {}}, "unevaluatedProperties": false}}, "not": {"required": ["b"]}}"#,
        r#"{"a": {"b": 1, "a": 1}}"#,
        &["/a/a not allowed"],
    );
}

#[test]
fn items_that_no_other_keyword_evaluates() {
    let closed =
        r#"{"prefixItems": [{}], "contains": {"type": "string"}, "unevaluatedItems": false}"#;
    check(closed, r#"[1, "x", "y"]"#, &[]);
    check(closed, r#"[1, 2, "y"]"#, &["/1 not allowed"]);
    check(r#"{"items": {}, "unevaluatedItems": false}"#, "[1]", &[]);
    check(
        r#"{"anyOf": [{"prefixItems": [{"type": "null"}, {}]}, {"prefixItems": [{}]}], "unevaluatedItems": {"type": "null"}}"#,
        "[1, 2, null]",
        &["/1 expected null, but got number"],
    );
    let older = |rest: &str| {
        format!(
            r#"{{"$schema": "https://json-schema.org/draft/2019-09/schema", "properties": {{"a": {rest}}}}}"#
        )
    };
    check_all(
        &older(r#"{"contains": {"type": "string"}, "unevaluatedItems": false}"#),
        r#"{"a": ["x"]}"#,
        &["/a/0 not allowed"],
    );
    check_all(
        &older(r#"{"items": [{}], "additionalItems": true, "unevaluatedItems": false}"#),
        r#"{"a": [1, 2]}"#,
        &[],
    );
}
