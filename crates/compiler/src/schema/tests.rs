//! Schemas from their text to the report, in the words of the library that Cerbos uses.

mod references;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::schema::Schemas;

use super::*;
use crate::message::sentence;

/// Compiles `files` and returns the report of the first of them about `attributes`, or the errors
/// of the schemas.
fn report(files: &[(&str, &str)], attributes: &str) -> Result<Vec<String>, Vec<String>> {
    let load = |path: &str| {
        let (path, text) =
            files.iter().find(|(name, _)| *name == path).ok_or(Unavailable::Missing)?;
        let source = source(path, text);
        let root = read(&source);
        Ok(SchemaFile::new(source, root))
    };
    let mut pool = PoolBuilder::default();
    let mut writer = SchemaWriter::new(&load);
    let location =
        Location { file: source("policy.yaml", ""), position: Position::START, path: "$".into() };
    let reference = format!("cerbos:///{}", files[0].0);
    let wanted = SchemaRef { reference, ignore_when_actions: Vec::new(), location };
    let shown = |e: &Diagnostic| {
        let sentence = sentence(&e.message, e.found.as_deref(), e.expected.as_deref());
        format!("{}{}: {sentence}", e.file, e.path)
    };
    let node = writer
        .add(&mut pool, &wanted)
        .map_err(|errors| errors.iter().map(shown).collect::<Vec<_>>())?;
    let words = writer.finish();
    let Attr::Map(attributes) = attr(&read(&source("a.json", attributes))) else {
        panic!("not an object")
    };
    let schemas = Schemas { pool: pool.view(), words: &words };
    let found = schemas.violations(node, &attributes).into_iter();
    Ok(found.map(|violation| format!("{} {}", violation.path, violation.message)).collect())
}

fn source(path: &str, text: &str) -> Arc<SourceFile> {
    SourceFile::of(path, text)
}

fn read(source: &Arc<SourceFile>) -> Node {
    let read = crate::yaml::read(source);
    assert_eq!(read.errors, []);
    read.documents.into_iter().next().unwrap()
}

fn attr(node: &Node) -> Attr {
    match &node.kind {
        Kind::Null => Attr::Null,
        Kind::Bool(value) => Attr::Bool(*value),
        Kind::Integer(value) => Attr::Number(value.to_string().parse().unwrap()),
        Kind::Float(value) => Attr::Number(*value),
        Kind::String(text, _) => Attr::String(text.as_ref().into()),
        Kind::Seq(items) => Attr::List(items.iter().map(attr).collect()),
        Kind::Map(entries) => {
            let entry = |e: &crate::yaml::Entry| (text(&e.key).unwrap().into(), attr(&e.value));
            Attr::Map(entries.iter().map(entry).collect::<AttrMap>())
        }
    }
}

/// Checks `{"a": value}` against a schema for `a`; all the paths of the report start with `/a`.
fn check(schema: &str, value: &str, expected: &[&str]) {
    let schema = format!(r#"{{"properties": {{"a": {schema}}}}}"#);
    let found = report(&[("s.json", &schema)], &format!(r#"{{"a": {value}}}"#)).unwrap();
    let found: Vec<_> =
        found.iter().map(|line| line.strip_prefix("/a").unwrap().trim_start()).collect();
    assert_eq!(found, expected, "{schema} {value}");
}

/// Checks all attributes.
fn check_all(schema: &str, attributes: &str, expected: &[&str]) {
    let found = report(&[("s.json", schema)], attributes).unwrap();
    assert_eq!(found, expected, "{schema} {attributes}");
}

#[test]
fn types() {
    check(r#"{"type": "string"}"#, "3", &["expected string, but got number"]);
    check(r#"{"type": ["string", "null"]}"#, "[]", &["expected string or null, but got array"]);
    check(r#"{"type": "integer"}"#, "3.0", &[]);
    check(r#"{"type": "integer"}"#, "3.5", &["expected integer, but got number"]);
    check(r#"{"type": "object", "enum": [1]}"#, "true", &["expected object, but got boolean"]);
    check("false", "1", &["not allowed"]);
    check("true", "1", &[]);
    check("{}", "1", &[]);
}

#[test]
fn constants() {
    let values = r#"{"enum": [1, 2.5, "x", true, null]}"#;
    check(values, "3", &[r#"value must be one of "1", "2.5", "x", true, <nil>"#]);
    check(values, "1.0", &[]);
    check(r#"{"enum": ["only"]}"#, "1", &[r#"value must be "only""#]);
    check(r#"{"enum": [{"b": 1}]}"#, "3", &["enum failed"]);
    check(r#"{"enum": [{"b": 1, "a": [2]}]}"#, r#"{"a": [2], "b": 1}"#, &[]);
    check(r#"{"const": 5}"#, r#""q""#, &[r#"value must be "5""#]);
    check(r#"{"const": 1.0}"#, "2", &[r#"value must be "1.0""#]);
    check(r#"{"const": [1, 2]}"#, "[1, 3]", &["const failed"]);
}

#[test]
fn numbers() {
    check(
        r#"{"minimum": 5, "multipleOf": 0.1}"#,
        "0.35",
        &["must be >= 5 but found 0.35", "0.35 not multipleOf 0.1"],
    );
    check(r#"{"exclusiveMinimum": 5}"#, "5", &["must be > 5 but found 5"]);
    check(r#"{"maximum": 1e20}"#, "1e21", &["must be <= 1e+20 but found 1e+21"]);
    check(r#"{"exclusiveMaximum": -1}"#, "-1", &["must be < -1 but found -1"]);
    check(r#"{"minimum": 5}"#, r#""text""#, &[]);
}

#[test]
fn strings() {
    check(r#"{"minLength": 3}"#, r#""éé""#, &["length must be >= 3, but got 2"]);
    check(r#"{"maxLength": 1}"#, r#""éé""#, &["length must be <= 1, but got 2"]);
    check(r#"{"pattern": "^a'b$"}"#, r#""q""#, &[r"does not match pattern '^a\'b$'"]);
    check(r#"{"pattern": "b+"}"#, r#""abc""#, &[]);
    check(r#"{"format": "email"}"#, r#""x'y""#, &[r"'x\'y' is not valid 'email'"]);
    check(r#"{"format": "no such format"}"#, r#""x""#, &[]);
}

#[test]
fn lists() {
    check(r#"{"minItems": 2}"#, "[1]", &["minimum 2 items required, but found 1 items"]);
    check(r#"{"maxItems": 0}"#, "[1]", &["maximum 0 items required, but found 1 items"]);
    let tuple = r#"{"prefixItems": [{"type": "string"}], "items": false, "uniqueItems": true}"#;
    check(
        tuple,
        "[1, 1]",
        &[
            "items at index 0 and 1 are equal",
            "/0 expected string, but got number",
            "/1 not allowed",
        ],
    );
    check(
        r#"{"items": {"type": "string"}}"#,
        r#"["x", 1]"#,
        &["/1 expected string, but got number"],
    );
    let two = r#"{"contains": {"type": "string"}, "minContains": 2}"#;
    check(two, r#"[1, "x"]"#, &["/0 expected string, but got number"]);
    check(two, r#"["y", 1, "x"]"#, &[]);
    check(r#"{"contains": {"type": "string"}}"#, "[]", &["valid must be >= 1, but got 0"]);
    check(r#"{"contains": {}, "maxContains": 1}"#, "[1, 2]", &["valid must be <= 1, but got 2"]);
}

#[test]
fn objects() {
    let both = r#"{"required": ["a", "b'c\"d"], "minProperties": 3}"#;
    check_all(
        both,
        "{}",
        &[
            "/ minimum 3 properties allowed, but found 0 properties",
            r#"/ missing properties: 'a', 'b\'c"d'"#,
        ],
    );
    check_all(
        r#"{"maxProperties": 0}"#,
        r#"{"a": 1}"#,
        &["/ maximum 0 properties allowed, but found 1 properties"],
    );
    let closed = r#"{"additionalProperties": false, "properties": {"b": false, "a": true}, "patternProperties": {"^x": {"type": "null"}}}"#;
    let found = [
        "/b not allowed",
        "/x1 expected null, but got number",
        "/ additionalProperties 'c', 'd' not allowed",
    ];
    check_all(closed, r#"{"a": 3, "d": 1, "b": 1, "c": 2, "x1": 1}"#, &found);
    check_all(
        r#"{"additionalProperties": {"type": "null"}}"#,
        r#"{"a b/c~": 3}"#,
        &["/a%20b~1c~0 expected null, but got number"],
    );
    check_all(
        r#"{"propertyNames": {"maxLength": 2}}"#,
        r#"{"abc/": 1}"#,
        &["/abc~1 length must be <= 2, but got 4"],
    );
    check(
        r#"{"dependentRequired": {"x": ["y"]}}"#,
        r#"{"x": 1}"#,
        &["property 'y' is required, if 'x' property exists"],
    );
    check(r#"{"dependentSchemas": {"x": false}}"#, r#"{"x": 1}"#, &["not allowed"]);
}

#[test]
fn combinations() {
    let any = r#"{"anyOf": [{"type": "string"}, {"minimum": 10}, {"allOf": [{"type": "null"}, {"enum": [1]}]}]}"#;
    let found = [
        "expected string, but got number",
        "must be >= 10 but found 3",
        "expected null, but got number",
        r#"value must be "1""#,
    ];
    check(any, "3", &found);
    check(any, "30", &[]);
    check(r#"{"not": {"type": "number"}}"#, "3", &["not failed"]);
    let one = r#"{"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}"#;
    check(one, r#"{"a": 3, "b": 2}"#, &["valid against schemas at indexes 0 and 1"]);
    check(one, "{}", &["missing properties: 'a'", "missing properties: 'b'"]);
    check(one, r#"{"b": 2}"#, &[]);
    let branch = r#"{"if": {"type": "number"}, "then": {"minimum": 5}, "else": {"minLength": 3}}"#;
    check(branch, "1", &["must be >= 5 but found 1"]);
    check(branch, r#""x""#, &["length must be >= 3, but got 1"]);
    check(branch, "7", &[]);
}

#[test]
fn content_of_texts() {
    check(r#"{"contentEncoding": "base64"}"#, r#""aGVsbG8=""#, &[]);
    check(r#"{"contentEncoding": "base64"}"#, r#""aGVsbG8""#, &["value is not base64 encoded"]);
    check(r#"{"contentEncoding": "base64"}"#, "3", &[]);
    check(
        r#"{"contentEncoding": "base32", "contentMediaType": "application/json", "contentSchema": false}"#,
        r#""{""#,
        &[],
    );
    check(r#"{"contentMediaType": "text/html", "contentSchema": false}"#, r#""{""#, &[]);
    check(r#"{"format": "regex"}"#, r#""^(abc]""#, &["'^(abc]' is not valid 'regex'"]);
    check(r#"{"format": "regex"}"#, r#""^\\p{Greek}$""#, &[]);
}

#[test]
fn older_drafts() {
    let draft = |number: &str, rest: &str| {
        format!(
            r#"{{"$schema": "http://json-schema.org/draft-0{number}/schema#", "properties": {{"a": {rest}}}}}"#
        )
    };
    let tuple = draft("7", r#"{"items": [{"type": "string"}], "additionalItems": false}"#);
    let found =
        ["/a/0 expected string, but got number", "/a only 1 items are allowed, but found 2 items"];
    check_all(&tuple, r#"{"a": [3, 2]}"#, &found);
    check_all(
        &draft("4", r#"{"minimum": 5, "exclusiveMinimum": true}"#),
        r#"{"a": 5}"#,
        &["/a must be > 5 but found 5"],
    );
    check_all(
        &draft("7", r##"{"$ref": "#/properties/b", "minimum": 50}"##)
            .replace("}}", r#"}, "b": {}}"#),
        r#"{"a": 5}"#,
        &[],
    );
    check_all(
        &draft("7", r#"{"dependencies": {"x": ["y"], "z": false}}"#),
        r#"{"a": {"x": 1, "z": 1}}"#,
        &["/a property 'y' is required, if 'x' property exists", "/a not allowed"],
    );
}

#[test]
fn endless_schemas_forbid_everything() {
    let schema = r##"{"$defs": {"a": {"$ref": "#/$defs/a"}}, "not": {"$ref": "#/$defs/a"}}"##;
    check_all(schema, "{}", &["/ the schema is too complex to check the value"]);
    let wide = r##"{"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}, "anyOf": [true, {"$ref": "#/$defs/a"}]}"##;
    check_all(wide, "{}", &["/ the schema is too complex to check the value"]);
}

/// A schema, and its error below it.
const BROKEN: &str = r##"
{"properties": {"a": {"type": "strng"}}}
    s.json#/properties/a: `type` has a wrong value: expected one of `null`, `boolean`, `number`, `integer`, `string`, `array` and `object`, found the text `strng`
{"contentMediaType": "application/json"}
    s.json#: `contentMediaType` is not supported, and to ignore it would change what is valid
{"$ref": "#a", "$defs": {"x": {"$id": "b.json", "$anchor": "a"}}}
    s.json#: the reference `#a` has no target
{"$defs": {"x": {"$anchor": "a"}, "y": {"$anchor": "a"}}}
    s.json#: two schemas have the name `#a`
{"$defs": {"x": {"$id": "a"}, "y": {"$id": "/a"}}}
    s.json#: two schemas have the name `cerbos:///a`
{"allOf": [3]}
    s.json#/allOf/0: this is not a schema: expected an object, `true` or `false`, found `3`
{"minLength": -1}
    s.json#: `minLength` has a wrong value: expected a number from 0, found `-1`
{"$ref": "x.json"}
    s.json#: schema `x.json` does not exist in `_schemas`
{"$ref": "https://example.com/x.json"}
    s.json#: no schema is fetched: expected a file of `_schemas`, found `https://example.com/x.json`
{"$ref": "#/x"}
    s.json#/x: the reference `#/x` has no target
{"$schema": "https://example.com/draft/2020-12/mine"}
    s.json#: this draft of JSON Schema is unknown: expected a draft from 4 to 2020-12, such as `https://json-schema.org/draft/2020-12/schema`, found the text `https://example.com/draft/2020-12/mine`
"##;

#[test]
fn broken_schemas_are_errors_with_a_location() {
    let lines: Vec<&str> = BROKEN.trim().lines().map(str::trim).collect();
    for case in lines.chunks(2) {
        let unusable = "policy.yaml$: schema `cerbos:///s.json` cannot be used";
        let found = report(&[("s.json", case[0])], "{}").unwrap_err();
        assert_eq!(found, [case[1], unusable], "{}", case[0]);
    }
}

#[test]
fn expensive_schemas_are_refused() {
    let refused = "/ the schema is too complex to check the value";
    let check = |schema: &str, attributes: &str| {
        let found = report(&[("s.json", schema)], attributes).unwrap();
        assert_eq!(found.last().unwrap(), refused);
        assert!(found.iter().map(String::len).sum::<usize>() < 64 << 20);
    };
    let name = "n".repeat(1 << 20);
    let numbers = vec!["1"; 1000].join(",");
    check(
        r#"{"additionalProperties": {"items": {"type": "string"}}}"#,
        &format!(r#"{{"{name}": [{numbers}]}}"#),
    );
    let long = "x".repeat(4096);
    let texts: Vec<String> = (0..1000).map(|n| format!("\"{long}{n:04}\"")).collect();
    check(
        r#"{"properties": {"a": {"uniqueItems": true}}}"#,
        &format!(r#"{{"a": [{}]}}"#, texts.join(",")),
    );
}

#[test]
fn equal_input_gives_equal_words() {
    let schema =
        r#"{"properties": {"b": {"enum": [1]}, "a": {"pattern": "x"}}, "required": ["a"]}"#;
    let words = || {
        let load =
            |path: &str| Ok(SchemaFile::new(source(path, schema), read(&source(path, schema))));
        let mut writer = SchemaWriter::new(&load);
        let location =
            Location { file: source("p.yaml", ""), position: Position::START, path: "$".into() };
        let wanted = SchemaRef {
            reference: "cerbos:///s.json".to_owned(),
            ignore_when_actions: Vec::new(),
            location,
        };
        writer.add(&mut PoolBuilder::default(), &wanted).unwrap();
        writer.finish()
    };
    assert_eq!(words(), words());
}
