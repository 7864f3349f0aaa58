//! Generated CEL: the usual conditions of policies, over attributes that may be missing or of
//! another type.
//!
//! Most operands are of no type that the checker knows, so nearly every expression compiles and
//! many fail when they are evaluated.

use proptest::prelude::*;
use proptest::sample::select;

use super::typical;
use crate::items::items;

/// Expressions that may read these names of variables.
#[derive(Clone)]
pub(super) struct Expressions {
    /// A boolean expression.
    pub(super) condition: BoxedStrategy<String>,
    /// Any value.
    pub(super) value: BoxedStrategy<String>,
}

impl Expressions {
    /// Returns expressions of everything that the language has, sensible or not.
    pub(super) fn new(variables: &[&'static str]) -> Self {
        let texts = pool(TEXTS, variables);
        let numbers = pool(NUMBERS, variables);
        let lists = pool(LISTS, variables);
        let condition = logic(leaf(&texts, &numbers, &lists, variables), 3);
        let value = value(&texts, &numbers, &lists, &condition);
        Self { condition, value }
    }

    /// Returns the expressions that policies usually have.
    pub(super) fn typical(variables: &[&'static str]) -> Self {
        let condition = logic(typical::leaf(variables), 2);
        let value = prop_oneof![2 => pool(TEXTS, variables), 1 => condition.clone()].boxed();
        Self { condition, value }
    }

    /// Returns mostly the expressions that policies usually have.
    pub(super) fn mixed(variables: &[&'static str]) -> Self {
        let (usual, any) = (Self::typical(variables), Self::new(variables));
        let condition = prop_oneof![4 => usual.condition, 1 => any.condition].boxed();
        Self { condition, value: prop_oneof![usual.value, any.value].boxed() }
    }
}

/// Joins leaves to expressions of at most this depth.
fn logic(leaf: BoxedStrategy<String>, depth: u32) -> BoxedStrategy<String> {
    leaf.prop_recursive(depth, 8, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner.clone());
        prop_oneof![
            inner.prop_map(|one| format!("!({one})")),
            pair.clone().prop_map(|(a, b)| format!("({a}) && ({b})")),
            pair.prop_map(|(a, b)| format!("({a}) || ({b})")),
            three.prop_map(|(a, b, c)| format!("(({a}) ? ({b}) : ({c}))")),
        ]
    })
    .boxed()
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
        2 => select(items(PRESENCE)).prop_map(str::to_owned),
        2 => (texts.clone(), select(vec!["startsWith", "endsWith", "contains"]), texts.clone()).prop_map(|(a, f, b)| format!("{a}.{f}({b})")),
        1 => (texts.clone(), texts.clone()).prop_map(|(a, b)| format!("{a}.lowerAscii() + {b} == \"redred\"")),
        2 => lists.clone().prop_map(|list| format!("size({list}) > 1")),
        3 => (lists.clone(), select(vec!["exists", "all", "exists_one"]), each()).prop_map(|(list, f, each)| format!("{list}.{f}(x, {each})")),
        1 => (lists.clone(), each()).prop_map(|(list, each)| format!("{list}.filter(x, {each}).size() == 1")),
        1 => (texts.clone(), lists.clone()).prop_map(|(a, list)| format!("{a} in {list}.map(x, dyn(x) + \"\")")),
        1 => (lists.clone(), each(), texts.clone()).prop_map(|(list, each, a)| format!("{a} in {list}.map(x, {each}, dyn(x))")),
        1 => (select(vec!["hasIntersection", "isSubset"]), lists.clone(), lists.clone()).prop_map(|(f, a, b)| format!("{f}({a}, {b})")),
        1 => (select(vec!["intersect", "except"]), lists.clone(), lists.clone()).prop_map(|(f, a, b)| format!("size({f}({a}, {b})) == 1")),
        1 => (texts.clone(), pattern()).prop_map(|(a, pattern)| format!("{a}.matches({pattern})")),
        1 => (texts.clone(), range()).prop_map(|(a, range)| format!("{a}.inIPAddrRange({range})")),
        1 => select(TEXT_CALLS.to_vec()).prop_map(str::to_owned),
        1 => select(OPTIONAL.to_vec()).prop_map(str::to_owned),
        2 => select(TIMES.to_vec()).prop_map(str::to_owned),
        2 => select(ROLES.to_vec()).prop_map(str::to_owned),
    ]
    .boxed()
}

/// Returns literals and operands. Maps are written in the order of their keys: the engine walks a
/// literal as written, the oracle by key.
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

fn pool(usual: &'static str, variables: &[&'static str]) -> BoxedStrategy<String> {
    let usual = select(items(usual));
    if variables.is_empty() {
        return usual.prop_map(str::to_owned).boxed();
    }
    prop_oneof![6 => usual, 1 => select(variables.to_vec())].prop_map(str::to_owned).boxed()
}

fn operand() -> BoxedStrategy<String> {
    let usual = vec!["1.0", "2.5", "dyn(2)", "0.0", "C.limit", "R.attr.count", "P.attr.level"];
    let unusual =
        vec!["-0.0", "2", "9007199254740993", "9007199254740992.0", "1e308", "5e-324", "0.1"];
    prop_oneof![3 => select(usual), 1 => select(unusual)].prop_map(str::to_owned).boxed()
}

/// Returns the patterns that the oracle knows.
pub(super) fn pattern() -> BoxedStrategy<String> {
    select(vec![r#""^r.d$""#, r#""^[a-z]+$""#, r#""sam|kim""#, r#""^$""#, r#""(?i)red""#])
        .prop_map(str::to_owned)
        .boxed()
}

pub(super) fn range() -> BoxedStrategy<String> {
    let ranges = vec!["10.0.0.0/8", "192.168.0.0/24", "0.0.0.0/0", "2001:db8::/32", "::1/128"];
    select(ranges).prop_map(|range| format!("\"{range}\"")).boxed()
}

/// Returns conditions on each element `x` of a list.
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

const TEXTS: &str = r#"
    P.id; R.attr.owner; "sam"; P.attr.dept; R.kind; R.scope; P.attr["dept"]; C.team; G.env;
    R.attr.meta.a; R.attr.tags[0]; request.principal.id; request.resource.policyVersion;
    request.auxData.jwt.sub; P.scope; R.id; P.attr.ip; R.attr.status; R.attr.meta.b.c;
    R.attr.meta["b"].d.e[1].f; R.attr.meta[P.id]; P.attr.profile.a; R.attr.tags[R.attr.count];
    R.attr.tags[P.attr.level]; R.attr[P.attr.dept]; dyn(R)["attr"].owner; R.attr.constructor;
    R.attr["__proto__"]; P.attr.toString; P.attr["constructor"]; R.attr["a.b"]; R.attr["qu\"ote"];
    R.attr["ключ"]; R.attr[""]; R.attr.length; R.attr["0"]; R.attr.meta.constructor; ""; "ключ";
    "constructor"
"#;
const NUMBERS: &str = r#"
    R.attr.count; P.attr.level; C.limit; G.max; R.attr.meta.a; G.missing; P.attr.teams[1];
    R.attr.meta.b.d.e[0]; P.attr.profile[""]
"#;
const LISTS: &str = r#"
    R.attr.tags; P.attr.teams; P.roles; ["red", P.id, R.attr.owner]; C.names; G.names;
    R.attr.meta; P.attr.profile; runtime.effectiveDerivedRoles; []; R.attr.meta.a;
    R.attr.meta.b.d.e; dyn(R.attr); (R.attr.tags + P.attr.teams); ["", "constructor", "ключ"];
    [dyn(1), 2.0, -0.0, "red", null, true]
"#;
const PRESENCE: &str = r#"
    has(R.attr.owner); has(P.attr.level); has(R.attr.meta.a); has(R.attr.meta.b.c);
    has(R.attr.tags.a); has(R.attr.owner) && R.attr.owner == P.id; "owner" in R.attr;
    R.attr.meta.b.c; P.attr == R.attr; R.attr.tags == P.attr.teams; R.attr.owner == null;
    has(R.attr.meta.b) && !has(R.attr.meta.b.d); has(P.attr.constructor); has(R.attr.__proto__);
    has(R.attr.toString) || has(R.attr.meta.constructor); has(R.attr.owner.a); has(P.attr);
    has(P.id); has(R.scope) || has(P.roles); has(request.resource.id) && has(R.policyVersion);
    has(request.auxData.jwt.sub); R.attr.meta == {"a": "sam"}; R.attr.tags == [1.0, 2.0, 3.0];
    R.attr.meta.b == P.attr.profile.b; R.attr.locked == true || R.attr.count == -0.0
"#;
const TIMES: &[&str] = &[
    "now() > timestamp(R.attr.at)",
    "timestamp(R.attr.at) <= now() || timestamp(R.attr.owner) < timestamp(R.attr.at)",
    "timestamp(R.attr.at) > now() && timestamp(R.attr.at) - now() < duration(\"24h\")",
    "timestamp(R.attr.at) >= timestamp(\"2024-01-01T00:00:00Z\")",
    "timestamp(R.attr.at).timeSince() < duration(\"24h\")",
    "now() - timestamp(R.attr.at) > duration(\"90m\")",
    "timestamp(R.attr.at) + duration(\"1h\") == now()",
    "timestamp(R.attr.at).getHours() < 8",
    "now().getDayOfWeek() == 1",
];
const TEXT_CALLS: &[&str] = &[
    "R.attr.owner.upperAscii() == \"RED\"",
    "R.attr.owner.size() > 3",
    "R.attr.owner.split(\"e\").size() == 2",
    "R.attr.owner.replace(\"r\", \"\") == \"ed\"",
    "P.id + \"\" == R.attr.owner",
    "P.id.size() == size(R.attr.tags)",
];
const OPTIONAL: &[&str] = &[
    "R.attr.?owner.orValue(P.id) == P.id",
    "R.attr.?meta.a.orValue(\"sam\") == \"sam\"",
    "R.attr.meta.?b.c.hasValue()",
    "R.attr.tags[?0].orValue(\"red\") == \"red\"",
    "R.attr[?\"__proto__\"].orValue(\"sam\") == P.id",
];
const ROLES: &[&str] = &[
    "\"owner\" in runtime.effectiveDerivedRoles",
    "size(runtime.effectiveDerivedRoles) > 0",
    "runtime.effectiveDerivedRoles.exists(x, x == \"lead\")",
];
