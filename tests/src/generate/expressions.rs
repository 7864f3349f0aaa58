//! Generated CEL: what policies usually say, over attributes that may be missing or of another type.
//!
//! Most operands are of no type that the checker knows, so nearly every expression compiles and many
//! fail when they are evaluated.

use proptest::prelude::*;
use proptest::sample::select;

/// Expressions that may read these names of variables.
#[derive(Clone)]
pub(super) struct Expressions {
    /// Whether something holds.
    pub(super) condition: BoxedStrategy<String>,
    /// Any value.
    pub(super) value: BoxedStrategy<String>,
}

impl Expressions {
    pub(super) fn new(variables: &[&'static str]) -> Self {
        let texts = pool(TEXTS, variables);
        let numbers = pool(NUMBERS, variables);
        let lists = pool(LISTS, variables);
        let leaf = leaf(&texts, &numbers, &lists, variables);
        let condition = leaf.prop_recursive(3, 8, 3, |inner| {
            let pair = (inner.clone(), inner.clone());
            let three = (inner.clone(), inner.clone(), inner.clone());
            prop_oneof![
                inner.prop_map(|one| format!("!({one})")),
                pair.clone().prop_map(|(a, b)| format!("({a}) && ({b})")),
                pair.prop_map(|(a, b)| format!("({a}) || ({b})")),
                three.prop_map(|(a, b, c)| format!("(({a}) ? ({b}) : ({c}))")),
            ]
        });
        let condition = condition.boxed();
        let value = value(&texts, &numbers, &lists, &condition);
        Self { condition, value }
    }
}

fn leaf(
    texts: &BoxedStrategy<String>,
    numbers: &BoxedStrategy<String>,
    lists: &BoxedStrategy<String>,
    variables: &[&'static str],
) -> BoxedStrategy<String> {
    let plain = ["true", "false", "R.attr.locked", "R.attr.owner == P.id", "R.attr.owner"];
    let plain = [plain.as_slice(), variables].concat();
    let compare = select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let sum = (
        numbers.clone(),
        select(vec!["+", "-", "*", "/"]),
        operand(),
        compare.clone(),
        numbers.clone(),
    );
    let whole = (numbers.clone(), select(vec!["%", "/", "-"]), numbers.clone());
    prop_oneof![
        4 => select(plain).prop_map(str::to_owned),
        3 => (texts.clone(), select(vec!["==", "!=", "<"]), texts.clone()).prop_map(|(a, op, b)| format!("dyn({a}) {op} {b}")),
        3 => (numbers.clone(), compare, operand()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        2 => sum.prop_map(|(a, op, b, compare, c)| format!("{a} {op} {b} {compare} {c}")),
        1 => whole.prop_map(|(a, op, b)| format!("int({a}) {op} int({b}) == 1")),
        3 => (texts.clone(), lists.clone()).prop_map(|(a, list)| format!("{a} in {list}")),
        2 => select(PRESENCE.to_vec()).prop_map(str::to_owned),
        2 => (texts.clone(), select(vec!["startsWith", "endsWith", "contains"]), texts.clone()).prop_map(|(a, f, b)| format!("{a}.{f}({b})")),
        1 => (texts.clone(), texts.clone()).prop_map(|(a, b)| format!("{a}.lowerAscii() + {b} == \"redred\"")),
        2 => lists.clone().prop_map(|list| format!("size({list}) > 1")),
        3 => (lists.clone(), select(vec!["exists", "all", "exists_one"]), each()).prop_map(|(list, f, each)| format!("{list}.{f}(x, {each})")),
        1 => (lists.clone(), each()).prop_map(|(list, each)| format!("{list}.filter(x, {each}).size() == 1")),
        1 => (texts.clone(), lists.clone()).prop_map(|(a, list)| format!("{a} in {list}.map(x, dyn(x) + \"\")")),
        1 => (lists.clone(), each(), texts.clone()).prop_map(|(list, each, a)| format!("{a} in {list}.map(x, {each}, dyn(x))")),
        1 => (lists.clone(), lists.clone()).prop_map(|(a, b)| format!("hasIntersection({a}, {b})")),
        2 => select(TIMES.to_vec()).prop_map(str::to_owned),
        2 => select(ROLES.to_vec()).prop_map(str::to_owned),
    ]
    .boxed()
}

/// Maps are written in the order of their keys: the engine walks a literal as written, the oracle by key.
fn value(
    texts: &BoxedStrategy<String>,
    numbers: &BoxedStrategy<String>,
    lists: &BoxedStrategy<String>,
    condition: &BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    prop_oneof![
        3 => texts.clone(),
        2 => numbers.clone(),
        2 => lists.clone(),
        2 => condition.clone(),
        2 => (texts.clone(), numbers.clone()).prop_map(|(a, b)| format!("{{\"many\": [{b}, null], \"who\": {a}}}")),
        1 => (lists.clone(), each()).prop_map(|(list, each)| format!("{list}.map(x, {each})")),
        1 => Just("runtime.effectiveDerivedRoles".to_owned()),
        1 => (condition.clone(), texts.clone(), numbers.clone()).prop_map(|(a, b, c)| format!("({a}) ? dyn({b}) : dyn({c})")),
    ]
    .boxed()
}

fn pool(usual: &[&'static str], variables: &[&'static str]) -> BoxedStrategy<String> {
    let usual = select(usual.to_vec());
    if variables.is_empty() {
        return usual.prop_map(str::to_owned).boxed();
    }
    prop_oneof![6 => usual, 1 => select(variables.to_vec())].prop_map(str::to_owned).boxed()
}

fn operand() -> BoxedStrategy<String> {
    let operands = vec!["1.0", "2.5", "dyn(2)", "0.0", "C.limit", "R.attr.count", "P.attr.level"];
    select(operands).prop_map(str::to_owned).boxed()
}

/// What is asked of each element `x` of a list.
fn each() -> BoxedStrategy<String> {
    select(vec![
        "x == P.id",
        "x in P.attr.teams",
        "dyn(x) > 1.0",
        "dyn(x).startsWith(\"r\")",
        "x == R.attr.owner",
        "size(dyn(x)) > 3",
        "P.roles.exists(x, x == \"boss\")",
        "R.attr.tags.exists(y, y == x)",
        "dyn(x)",
    ])
    .prop_map(str::to_owned)
    .boxed()
}

const TEXTS: &[&str] = &[
    "P.id",
    "R.attr.owner",
    "\"sam\"",
    "P.attr.dept",
    "R.kind",
    "R.scope",
    "P.attr[\"dept\"]",
    "C.team",
    "G.env",
    "R.attr.meta.a",
    "R.attr.tags[0]",
    "request.principal.id",
    "request.resource.policyVersion",
    "request.auxData.jwt.sub",
    "P.scope",
];
const NUMBERS: &[&str] = &[
    "R.attr.count",
    "P.attr.level",
    "C.limit",
    "G.max",
    "R.attr.meta.a",
    "G.missing",
    "P.attr.teams[1]",
];
const LISTS: &[&str] = &[
    "R.attr.tags",
    "P.attr.teams",
    "P.roles",
    "[\"red\", P.id, R.attr.owner]",
    "C.names",
    "G.names",
    "R.attr.meta",
    "P.attr.profile",
    "runtime.effectiveDerivedRoles",
    "[]",
];
const PRESENCE: &[&str] = &[
    "has(R.attr.owner)",
    "has(P.attr.level)",
    "has(R.attr.meta.a)",
    "has(R.attr.meta.b.c)",
    "has(R.attr.tags.a)",
    "has(R.attr.owner) && R.attr.owner == P.id",
    "\"owner\" in R.attr",
    "R.attr.meta.b.c",
    "P.attr == R.attr",
    "R.attr.tags == P.attr.teams",
    "R.attr.owner == null",
];
const TIMES: &[&str] = &[
    "now() > timestamp(R.attr.at)",
    "timestamp(R.attr.at) >= timestamp(\"2024-01-01T00:00:00Z\")",
    "timestamp(R.attr.at).timeSince() < duration(\"24h\")",
    "now() - timestamp(R.attr.at) > duration(\"90m\")",
    "timestamp(R.attr.at) + duration(\"1h\") == now()",
    "timestamp(R.attr.at).getHours() < 8",
    "now().getDayOfWeek() == 1",
];
const ROLES: &[&str] = &[
    "\"owner\" in runtime.effectiveDerivedRoles",
    "size(runtime.effectiveDerivedRoles) > 0",
    "runtime.effectiveDerivedRoles.exists(x, x == \"lead\")",
];
