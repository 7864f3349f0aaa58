use std::cell::Cell;

use wardgate_engine::cel::{Timestamp, Value, eval};

use super::*;
use crate::cel::standalone::NoBindings;
use crate::cel::{Env, Standalone, check, parse};

fn value(source: &str) -> String {
    match Standalone::compile(source, &Env::cerbos()) {
        Ok(program) => program.eval(&[], Timestamp::default(), |value| match value {
            Value::Error(error) => error.to_string(),
            value => format!("{value:?}"),
        }),
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    }
}

fn check_value(source: &str, expected: &str) {
    assert_eq!(value(source), expected, "{source}");
}

/// Lowers in a policy with the constants `two` and `list`, the global `on` and the variable `v`.
fn lowered(source: &str) -> (PoolBuilder, u32) {
    let two = ("two".to_owned(), Attr::Number(2.0));
    let list = ("list".to_owned(), Attr::List(vec![Attr::Bool(true)]));
    let constants = BTreeMap::from([two, list]);
    let globals = BTreeMap::from([("on".to_owned(), Attr::Bool(true))]);
    let mut pool = PoolBuilder::default();
    let program =
        pool.program(Program { code: vec![0], registers: 1, source: String::new(), flags: 0 });
    let variables = BTreeMap::from([("v".to_owned(), pool.variable("v", program))]);
    let scope = Scope { constants: &constants, globals: &globals, variables: &variables };
    let checked = check(&parse(source).unwrap(), &Env::cerbos()).unwrap();
    let program = lower(&checked, &scope, &mut pool).unwrap();
    (pool, program)
}

/// Returns the operations of a program.
fn operations(source: &str) -> Vec<Op> {
    let (pool, program) = lowered(source);
    let code = pool.view().program(program).unwrap().code;
    let mut operations = Vec::new();
    let mut at = 0;
    while let Some(word) = code.get(at) {
        let op = Op::from_code(word.to_le_bytes()[0]).unwrap();
        at += 1 + op.extension_words();
        operations.push(op);
    }
    operations
}

#[test]
fn a_path_on_the_request_is_one_slot_in_every_spelling() {
    let check = |left: &str, right: &str| {
        let (mut pool, first) = lowered(left);
        let scope = Scope {
            constants: &BTreeMap::new(),
            globals: &BTreeMap::new(),
            variables: &BTreeMap::new(),
        };
        let checked = super::super::check(&parse(right).unwrap(), &Env::cerbos()).unwrap();
        assert_eq!(lower(&checked, &scope, &mut pool), Ok(first), "{left} and {right}");
    };
    check("P.attr.a.b", "request.principal.attr['a'].b");
    check("R.policyVersion", "request.resource.policy_version");
    check("request.auxData.jwt.iss", "request.aux_data.jwt['iss']");
    check("has(P.attr.a.b)", "has(request.principal.attr['a'].b)");
    check("runtime.effectiveDerivedRoles", "runtime.effective_derived_roles");
}

#[test]
fn names_of_the_policy_become_constants_and_variables() {
    assert_eq!(operations("C.two + 1.0"), [Op::Const, Op::Return]);
    assert_eq!(operations("G.on && C.list[0]"), [Op::Const, Op::Return]);
    assert_eq!(operations("has(C.two) && !has(G.off)"), [Op::Const, Op::Return]);
    assert_eq!(operations("V.v"), [Op::Variable, Op::Return]);
    assert_eq!(operations("has(V.v)"), [Op::HasVariable, Op::Return]);
    assert_eq!(operations("C.three"), [Op::Undefined, Op::Return]);
    assert_eq!(operations("has(V.w)"), [Op::Const, Op::Return]);
}

#[test]
fn only_what_reads_nothing_is_folded() {
    assert_eq!(operations("[1, 2].map(x, x * 2)"), [Op::Const, Op::Return]);
    assert_eq!(operations("1 / 0"), [Op::Const, Op::Const, Op::Div, Op::Return]);
    assert_eq!(operations("now()"), [Op::Call, Op::Return]);
    assert_eq!(operations("P.id in ['a', 'b']"), [Op::Slot, Op::Const, Op::In, Op::Return]);
    assert_eq!(operations("hierarchy('a')"), [Op::Const, Op::Call, Op::Return]);
}

#[test]
fn derived_roles_mark_the_programs_that_read_them() {
    let flags = |source| {
        let (pool, program) = lowered(source);
        pool.view().program(program).unwrap().flags
    };
    assert_eq!(flags("'a' in runtime.effectiveDerivedRoles"), DEPENDS_ON_ROLES);
    assert_eq!(flags("P.id == 'a'"), 0);
}

#[test]
fn macros_compute_what_the_specification_says() {
    check_value("[1, 2, 3].filter(x, x > 1).map(x, x * 2) == [4, 6]", "Bool(true)");
    check_value("[1, 0].exists(x, 1 / x == 1)", "Bool(true)");
    check_value("[0, 1].exists(x, 1 / x == 1)", "Bool(true)");
    check_value("[0, 2].exists(x, 1 / x == 1)", "division by zero");
    check_value("[0, 1].all(x, 1 / x > 5)", "Bool(false)");
    check_value("[1, 2, 1].exists_one(x, x == 2)", "Bool(true)");
    check_value("{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 2) == {'b': 4}", "Bool(true)");
    check_value("['x'].transformMapEntry(i, v, {v: i}) == {'x': 0}", "Bool(true)");
    check_value("[3, 1, 2].sortBy(x, -x) == [3, 2, 1]", "Bool(true)");
    check_value("cel.bind(x, [1], x + x) == [1, 1]", "Bool(true)");
    check_value("optional.of(2).optMap(x, x + 1).value()", "Int(3)");
    check_value("{}.?a.optFlatMap(x, x.?b).hasValue()", "Bool(false)");
    check_value("false && 1 / 0 > 0 || true", "Bool(true)");
    check_value("timestamp(0).getHours('Asia/Tokyo')", "Int(9)");
    check_value("C.x", "undefined field 'x'");
    check_value("V.?x.orValue(1)", "Int(1)");
}

#[test]
fn literals_of_a_format_are_judged_early() {
    check_value(
        "duration('1x')",
        "this is not a duration: expected numbers with units, such as `1h30m` or `250ms`",
    );
    check_value(
        "timestamp(253402300800)",
        "this is not a timestamp: expected seconds since 1970, in the years 1 to 9999",
    );
    check_value(
        "timestamp('yesterday')",
        "this is not a timestamp: expected a time of RFC 3339, such as `2024-05-06T07:08:09Z`",
    );
    check_value(
        "P.id.matches('a(')",
        "this is not a regular expression: missing closing ): found `a(`",
    );
}

#[test]
fn an_expression_out_of_registers_is_an_error() {
    let nested = format!("{}P.id{}", "[[P.id, ".repeat(120), "]]".repeat(120));
    assert!(value(&nested).contains("no such attribute"), "{}", value(&nested));
    let slots = vec!["P.id"; 300].join(", ");
    let message = "the expression holds too many values at once: expected at most 250";
    check_value(&format!("cel.block([{slots}], cel.index(0))"), message);
}

#[test]
fn folding_agrees_with_evaluation() {
    for source in
        ["1 + 2 * 3", "[1, 2].map(x, x)", "'a'.matches('a+')", "timestamp(0) + duration('1h')"]
    {
        let checked = check(&parse(source).unwrap(), &Env::cerbos()).unwrap();
        let scope = Scope {
            constants: &BTreeMap::new(),
            globals: &BTreeMap::new(),
            variables: &BTreeMap::new(),
        };
        let run = |folds: bool| {
            let (mut pool, budget) = (PoolBuilder::default(), Cell::new(MAX_STEPS));
            let mut lowerer = Lowerer::new(true, scope, &mut pool, &budget);
            lowerer.folds = folds;
            let program = lowerer.program(&checked.expr, source).unwrap();
            let pool = pool.view();
            let value = eval(&pool, program, &NoBindings, &Cell::new(MAX_STEPS));
            match &value {
                Value::List(list) => format!("{:?}", list.iter().collect::<Vec<_>>()),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(run(true), run(false), "{source}");
    }
}

#[test]
fn the_deepest_expressions_pass_every_stage() {
    let check = |open: &str, inner: &str, close: &str, levels: usize| {
        let source = format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
        let value = value(&source);
        assert!(
            value.contains("no such attribute") || value.contains("too many values"),
            "{open}: {value}"
        );
    };
    check("[", "P.id", "]", 240);
    check("-(", "P.attr.n", ")", 240);
    check("1 + (", "P.attr.n", ")", 240);
    check("true ? (", "P.id", ") : ''", 240);
    check("[1].map(x, ", "P.id", ")", 240);
    check("cel.bind(x, 1, ", "P.id", ")", 240);
    check("dyn(", "P.id", ")", 240);
    check("{'a': ", "P.id", "}.a", 120);
}
