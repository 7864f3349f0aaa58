use super::*;
use crate::cel::parse;

fn verdict(source: &str, env: &Env) -> String {
    let checked = parse(source).and_then(|expr| check(&expr, env));
    match checked {
        Ok(checked) => checked.result.to_string(),
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    }
}

fn check_cerbos(source: &str, expected: &str) {
    assert_eq!(verdict(source, &Env::cerbos()), expected, "{source}");
}

#[test]
fn requests_have_the_types_of_their_messages() {
    check_cerbos("P.id + R.kind", "string");
    check_cerbos("P.attr.a.b > 1", "bool");
    check_cerbos("request.auxData.jwt.iss", "dyn");
    check_cerbos("request.aux_data.jwt", "map(string, dyn)");
    check_cerbos("runtime.effectiveDerivedRoles", "list(string)");
    check_cerbos("V.x + C.y", "dyn");
    check_cerbos(
        "P.name",
        "there is no field `name`: expected one of `id`, `roles`, `attr`, `policyVersion`, `scope`",
    );
    check_cerbos(
        "R.id.x",
        "`x` cannot be read from a value without fields: expected a map or a message, found `string`",
    );
    check_cerbos("x.y", "there is no name `x`");
    check_cerbos("foo(1)", "there is no function `foo`");
}

#[test]
fn calls_take_the_overload_that_fits() {
    check_cerbos("1 + 'a'", "`+` does not work with these types: found `int + string`");
    check_cerbos("1 < 2.0", "bool");
    check_cerbos(
        "1 == 2.0",
        "`==` does not work with these types: expected two values of one type, found `int == double`",
    );
    check_cerbos("'a'.size() + size([1])", "int");
    check_cerbos("'a'.foo()", "there is no function `foo`");
    check_cerbos(
        "'a'.startsWith(1)",
        "`startsWith` is called with the wrong types: expected `string.startsWith(string)`, found `string.startsWith(int)`",
    );
    check_cerbos("1 && true", "the value has the wrong type: expected `bool`, found `int`");
    check_cerbos("math.greatest(1, 2.0)", "dyn");
    check_cerbos("hierarchy('a.b')[0]", "string");
    check_cerbos("[1].intersect([2])", "list(int)");
    check_cerbos("now() - timestamp('2021-01-01T00:00:00Z')", "duration");
    check_cerbos("spiffeID('x').trustDomain().name()", "string");
    check_cerbos("size([].unwrapOpt())", "int");
}

#[test]
fn macros_declare_their_names() {
    check_cerbos("[1, 2].map(x, x * 2)", "list(int)");
    check_cerbos("[1, 2].map(x, x > 1, string(x))", "list(string)");
    check_cerbos("{'a': 1}.filter(k, k == 'a')", "list(string)");
    check_cerbos("{'a': 1}.transformMap(k, v, string(v))", "map(string, string)");
    check_cerbos("['a'].transformMapEntry(i, v, {v: i})", "map(string, int)");
    check_cerbos("[1].exists(x, x)", "the value has the wrong type: expected `bool`, found `int`");
    check_cerbos(
        "1.all(x, true)",
        "this value cannot be iterated: expected a list or a map, found `int`",
    );
    check_cerbos("cel.bind(a, 'x', a + a)", "string");
    check_cerbos("optional.of(1).optMap(x, string(x))", "optional_type(string)");
    check_cerbos("optional.of([1]).optFlatMap(x, x[?0])", "optional_type(int)");
    check_cerbos("[3, 1].sortBy(x, -x)", "list(int)");
    check_cerbos("x.exists(y, y == x)", "there is no name `x`; there is no name `x`");
    check_cerbos("cel.block([1, cel.index(0) + 1], cel.index(1))", "int");
}

#[test]
fn literals_join_their_elements() {
    check_cerbos("[]", "list(dyn)");
    check_cerbos("[1, 'a']", "list(dyn)");
    check_cerbos("[null, 1]", "list(dyn)");
    check_cerbos("[null, optional.of(1), null]", "list(optional_type(int))");
    check_cerbos("[[], [1]]", "list(list(int))");
    check_cerbos("[[], [[]], [[[]]], [[[[]]]]]", "list(list(list(list(list(dyn)))))");
    check_cerbos("{'a': 1, 'b': 2}", "map(string, int)");
    check_cerbos("[optional.none(), optional.of(1)]", "list(optional_type(int))");
    check_cerbos(
        "[?1]",
        "`?` marks a value that is not optional: expected an optional value, found `int`",
    );
    check_cerbos("([].map(x, x))[0].foo", "dyn");
    check_cerbos("type(1) == int", "bool");
}

#[test]
fn names_are_looked_up_from_the_inside_out() {
    let variables =
        [("a.b.x", Type::Int), ("a.x", Type::String), ("x", Type::Bool), ("y.z", Type::Double)];
    let variables = variables.map(|(name, of)| (name.to_owned(), of));
    let check = |container: &str, source: &str, expected: &str| {
        let env = Env::custom(container, variables.clone());
        assert_eq!(verdict(source, &env), expected, "{container}: {source}");
    };
    check("a.b", "x", "int");
    check("a.c", "x", "string");
    check("c", "x", "bool");
    check("a.b", ".x", "bool");
    check("", "y.z", "double");
    check("a.b", "[true].map(x, x)", "list(bool)");
    check("", "[{'z': ''}].map(y, y.z)", "list(string)");
    check("", "[{'z': ''}].map(y, .y.z)", "list(double)");
    check("a", "w", "there is no name `w`");
}

#[test]
fn a_type_that_doubles_ends_as_dyn() {
    let mut source = "[1]".to_owned();
    for depth in 0..40 {
        source = format!("cel.bind(a{depth}, {source}, {{a{depth}: a{depth}}})");
    }
    assert!(verdict(&source, &Env::cerbos()).starts_with("map("));
}
