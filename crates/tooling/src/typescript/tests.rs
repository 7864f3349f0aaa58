use wardgate_compiler::compile::FilesByPath;

use super::*;

/// Returns the declarations of files, as lines without the head.
fn written(files: &[(&str, &str)]) -> String {
    let files: Vec<(String, Vec<u8>)> =
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).into())).collect();
    let found = FilesByPath::of(&files);
    let load = |path: &str| found.schema(path);
    let text = declarations(&found.repository(), &Options::default(), &load, [0xab; 32]).unwrap();
    assert_eq!(digest_in(&text), Some("ab".repeat(32).as_str()));
    text
}

/// Returns a policy for `kind` with one rule.
fn policy(kind: &str, rule: &str) -> String {
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy: {{resource: {kind}, version: default, rules: [{{roles: [user], effect: EFFECT_ALLOW, {rule}}}]}}\n"
    )
}

/// Checks the attributes that a condition reads: those of the resource, and of the principal.
fn reads(condition: &str, resource: &str, principal: &str) {
    let condition = condition.replace('\'', "''");
    let rule = format!("actions: [a], condition: {{match: {{expr: '{condition}'}}}}");
    let text = written(&[("a.yaml", &policy("doc", &rule))]);
    for (start, expected) in [("      attr: ", resource), ("    attr: ", principal)] {
        let of = if start.len() == 12 { "  resources: {" } else { "  principal: {" };
        let rest = text.split_once(of).unwrap().1;
        let rest = rest.split_once(start).unwrap().1;
        let ends = [";\n      version:", ";\n  };\n  resources:"];
        let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap();
        let words: Vec<&str> = rest[..end].split_whitespace().collect();
        let found = words.join(" ").replace(" | null | undefined", "");
        assert_eq!(found, expected, "{condition}");
    }
}

#[test]
fn the_interface_has_kinds_actions_roles_and_outputs() {
    let rule = "name: r, actions: [view, 'get:*'], output: {when: {ruleActivated: R.id}}";
    let text = written(&[("a.yaml", &policy("doc", rule))]);
    let expected = r#"
/** The policies, for `open<Policies>` of the package `wardgate`. */
export interface Policies {
  roles: "user";
  principal: {
    attr: object;
  };
  resources: {
    doc: {
      action: "view" | `get:${string}`;
      attr: object;
      version: "default";
      scope: "";
      output: "resource.doc.vdefault#r";
    };
  };
  outputs: {
    "resource.doc.vdefault#r": string;
  };
}
"#;
    assert_eq!(text.split_once('\n').unwrap().1.split_once('\n').unwrap().1, expected);
}

#[test]
fn names_are_written_as_strings() {
    for (kind, expected) in [
        ("'a\"b'", r#"    "a\"b": {"#),
        ("leave.request", r#"    "leave.request": {"#),
        ("größe", "    \"größe\": {"),
        ("__proto__", "    __proto__: {"),
        ("'a:b'", r#"    "a:b": {"#),
    ] {
        let text = written(&[("a.yaml", &policy(kind, "actions: ['*/', '`$\\{x\\}*']"))]);
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("action: `${string}/` | `\\`\\${x}${string}`;"), "{text}");
    }
}

#[test]
fn kinds_by_pattern_are_an_index_that_accepts_the_others() {
    let principal = "apiVersion: api.cerbos.dev/v1\nprincipalPolicy: {principal: p, version: default, rules: [{resource: 'log_*', actions: [{action: rotate, effect: EFFECT_ALLOW}]}]}\n";
    let text = written(&[
        ("a.yaml", &policy("log_http", "actions: [read]")),
        ("b.yaml", &policy("doc", "actions: [view]")),
        ("p.yaml", principal),
    ]);
    assert!(text.contains("    log_http: {\n      action: \"read\" | \"rotate\";"), "{text}");
    let index = "    [kind: `log_${string}`]: {\n      action: \"read\" | \"rotate\" | \"view\";\n      attr: object;\n      version: string;\n      scope: string;\n      output: never;";
    assert!(text.contains(index), "{text}");
}

#[test]
fn attributes_have_the_types_of_their_use() {
    reads("R.attr.owner == P.id", "Open<{ owner?: string; }>", "object");
    reads("request.resource.attr['a b'] != 'x'", r#"Open<{ "a b"?: string; }>"#, "object");
    reads("R.attr.n > 3 || R.attr.m + 1 < 2", "Open<{ m?: number; n?: number; }>", "object");
    reads("R.attr.on && !P.attr.off", "Open<{ on?: boolean; }>", "Open<{ off?: boolean; }>");
    reads("R.attr.s in ['a', 'b']", "Open<{ s?: string; }>", "object");
    reads(
        "P.id in R.attr.l",
        "Open<{ l?: readonly (string | null)[] | ReadonlySet<string | null>; }>",
        "object",
    );
    reads("R.attr.s.startsWith('x')", "Open<{ s?: string; }>", "object");
    reads("timestamp(R.attr.t) < now()", "Open<{ t?: string | Date; }>", "object");
    reads("R.attr.a == 1 || R.attr.a == 'x'", "Open<{ a?: string | number; }>", "object");
    reads("R.attr.a.b == true", "Open<{ a?: Open<{ b?: boolean; }>; }>", "object");
}

#[test]
fn loops_and_variables_lead_to_attributes() {
    reads(
        "R.attr.l.exists(x, x.by == P.id)",
        "Open<{ l?: readonly (Open<{ by?: string; }> | null)[] | ReadonlySet<Open<{ by?: string; }> | null>; }>",
        "object",
    );
    reads("cel.bind(x, R.attr.a, x == 'b')", "Open<{ a?: string; }>", "object");
    reads("[1].exists(R, R == 2)", "object", "object");
    let variables = policy("doc", "actions: [a], condition: {match: {expr: V.mine && V.late}}")
        .replace("version: default,", "version: default, variables: {local: {owner: R.attr.owner, mine: V.owner == P.id, late: R.attr.n > 3}},");
    let text = written(&[("a.yaml", &variables)]);
    assert!(text.contains("n?: number | null | undefined;\n        owner?: string"), "{text}");
}

#[test]
fn attributes_of_which_nothing_is_known_may_be_anything() {
    reads("has(R.attr.a)", "Open<{ a?: unknown; }>", "object");
    reads("size(R.attr.a) > 1", "Open<{ a?: unknown; }>", "object");
    reads("R.attr.a == P.attr.b", "Open<{ a?: unknown; }>", "Open<{ b?: unknown; }>");
    reads("R.attr.a[P.id] == 1", "Open<{ a?: unknown; }>", "object");
    reads("R.attr.l.exists(i, v, v == 1)", "Open<{ l?: unknown; }>", "object");
}

#[test]
fn schemas_describe_attributes() {
    let policy = policy("doc", "actions: [a]").replace(
        "rules:",
        "schemas: {resourceSchema: {ref: 'cerbos:///a.json'}, principalSchema: {ref: 'cerbos:///a.json#/$defs/p'}}, rules:",
    );
    let schema = r##"{"type": "object", "required": ["s"], "properties": {
        "s": {"type": ["string", "null"]}, "e": {"enum": ["a", "b"]}, "n": {"type": "integer"},
        "l": {"type": "array", "items": {"$ref": "#/$defs/p"}}, "any": true,
        "u": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "boolean"}]}},
        "$defs": {"p": {"type": "object", "additionalProperties": false, "properties": {"x": {"type": "number"}}}}}"##;
    let text = written(&[("a.yaml", &policy), ("_schemas/a.json", schema)]);
    let expected = r#"      attr: Open<{
        any?: unknown;
        e?: "a" | "b" | undefined;
        l?: readonly ({
          x?: number | undefined;
        })[] | ReadonlySet<{
          x?: number | undefined;
        }> | undefined;
        n?: number | undefined;
        s: string | null;
        u?: string | Date | boolean | undefined;
      }>;"#;
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("    attr: {\n      x?: number | undefined;\n    };"), "{text}");
}

#[test]
fn the_order_of_files_makes_no_difference() {
    let (a, b) = (policy("a", "actions: [x, y]"), policy("b", "actions: [y, x]"));
    let text = |files: &[(&str, &str)]| written(files);
    assert_eq!(text(&[("1.yaml", &a), ("2.yaml", &b)]), text(&[("2.yaml", &b), ("1.yaml", &a)]));
}

/// Checks the type of an output.
fn emits(expression: &str, expected: &str) {
    let expression = expression.replace('\'', "''");
    let rule =
        format!("name: r, actions: [a], output: {{when: {{ruleActivated: '{expression}'}}}}");
    let text = written(&[("a.yaml", &policy("doc", &rule))]);
    let rest = text.split_once("    \"resource.doc.vdefault#r\": ").unwrap().1;
    let (found, rest) = rest.split_once(";\n  };\n}\n").unwrap();
    let words: Vec<&str> = found.split_whitespace().collect();
    assert_eq!(words.join(" "), expected, "{expression}");
    assert_eq!(rest.contains("type Json"), expected.contains("Json"), "{expression}");
}

#[test]
fn outputs_have_the_types_of_their_expressions() {
    emits("'a'", r#""a""#);
    emits("R.id + 'a'", "string");
    emits("403", "403");
    emits("9007199254740993", "number");
    emits("1.5", "number");
    emits("true", "true");
    emits("1 < 2", "boolean");
    emits("null", "null");
    emits("R.attr.a", "Json");
    emits("['a', 'b', R.id]", "readonly string[]");
    emits("['a', 1]", r#"readonly ("a" | 1)[]"#);
    emits("[]", "readonly Json[]");
    emits("R.id.split('/')", "readonly string[]");
    emits("{'a': {'b': [true]}, 'c': R.attr.c}", "{ a: { b: readonly true[]; }; c: Json; }");
    emits("{?'a': R.attr[?'b']}", "{ a?: Json; }");
    emits("{R.id: 1}", "Json");
}

#[test]
fn outputs_of_a_rule_have_the_types_of_both_expressions() {
    let rule = "name: r, actions: [a], output: {when: {ruleActivated: '{\"as\": \"a\", \"n\": 1}', conditionNotMet: '{\"as\": \"b\"}'}}";
    let text = written(&[("a.yaml", &policy("doc", rule))]);
    let expected =
        "    \"resource.doc.vdefault#r\": {\n      as: \"a\" | \"b\";\n      n?: 1;\n    };";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_kind_has_the_outputs_of_the_rules_about_it() {
    let principal = "apiVersion: api.cerbos.dev/v1\nprincipalPolicy: {principal: p, version: default, rules: [{resource: 'log_*', actions: [{name: r, action: rotate, effect: EFFECT_ALLOW, output: {when: {ruleActivated: 'true'}}}]}]}\n";
    let text = written(&[
        (
            "a.yaml",
            &policy(
                "log_http",
                "name: r, actions: [read], output: {when: {ruleActivated: 'true'}}",
            ),
        ),
        ("b.yaml", &policy("doc", "actions: [view]")),
        ("p.yaml", principal),
    ]);
    let both = r#""principal.p.vdefault#r" | "resource.log_http.vdefault#r""#;
    let found: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("output: ")).collect();
    assert_eq!(found, ["never;", &format!("{both};"), &format!("{both};")]);
}
