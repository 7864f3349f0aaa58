//! Programs over two long lists, which a request may carry: every program ends soon.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use wardgate_compiler::cel::{Env, Standalone, Type};
use wardgate_engine::attr::Attr;
use wardgate_engine::cel::value::COMPARISONS;
use wardgate_engine::cel::{Timestamp, Value};
use wardgate_engine::limits::MAX_STEPS;

/// Evaluates an expression over the lists `a`, `b` and `n` of 20,000 texts, texts and numbers, and
/// `o` of objects.
///
/// # Panics
/// If more pairs of values are compared than a program has steps for. All comparisons of the
/// process in the meantime count.
pub fn lists(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let names = ["a", "b", "n", "o"];
    let env = Env::custom("", names.map(|name| (name.to_owned(), Type::Dyn)));
    let Ok(compiled) = Standalone::compile(&text, &env) else { return };
    let variables: Vec<_> = names
        .iter()
        .zip(long())
        .map(|(name, list)| ((*name).to_owned(), Value::from(list)))
        .collect();
    let before = COMPARISONS.load(Ordering::Relaxed);
    compiled.eval(&variables, Timestamp::default(), |value| drop(value));
    let compared = COMPARISONS.load(Ordering::Relaxed) - before;
    // A comparison costs a step or more, but for the first of each pair of lists or maps.
    assert!(compared <= 2 * u64::from(MAX_STEPS), "{compared} comparisons");
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    EXPRESSIONS.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn long() -> &'static [Attr; 4] {
    static LISTS: OnceLock<[Attr; 4]> = OnceLock::new();
    LISTS.get_or_init(|| {
        let list = |make: fn(u32) -> Attr| Attr::List((0..LENGTH).map(make).collect());
        let text = |of: &str, n: u32| Attr::String(format!("{of}{n:05}").into());
        let texts = [
            list(|n| Attr::String(format!("a{n:05}").into())),
            list(|n| Attr::String(format!("b{n:05}").into())),
        ];
        let objects =
            (0..LENGTH).map(|n| Attr::Map([("k".into(), text("o", n))].into_iter().collect()));
        let [a, b] = texts;
        [a, b, list(|n| Attr::Number(n.into())), Attr::List(objects.collect())]
    })
}

const LENGTH: u32 = 20_000;

const EXPRESSIONS: &[&str] = &[
    "hasIntersection(a, b)",
    "intersect(a, b).size() + a.except(b).size()",
    "a.isSubset(b) || sets.contains(a, b) || sets.intersects(b, a) || sets.equivalent(a, n)",
    "o.distinct().size() == a.distinct().size()",
    "a.exists(x, x in b)",
    "a.all(x, b.exists(y, x == y))",
    "a == b || o == o || [a] == [a]",
    "a.map(x, {x: 1}) == o.filter(x, x in o)",
    "a.transformMapEntry(i, v, {v: i}) == b.transformMapEntry(i, v, {v: i})",
    "n.sort() == n && a.sortBy(x, x) == a.reverse()",
    "hasIntersection(o, a + b) || o.isSubset(n)",
];
