//! Words of slots with a test, by the plain meaning of the test.

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::cel::time::parse_timestamp;
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::test;
use wardgate_fastpath::{SlotTest, Term, word};
use wardgate_mqtt::{Filter, Limits, Name};

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tested {
    /// A truth, or an error.
    Truth(Option<bool>),
    /// A size.
    Size(usize),
    /// A moment.
    Time(Timestamp),
}

/// Returns the result of a test of a value; `operand` returns the value of an earlier slot. An
/// absent value is an error. Returns `None` if the general path must decide.
pub(super) fn tested(
    table: &PolicyTable,
    SlotTest { kind, terms }: SlotTest<'_>,
    value: Option<Attr>,
    operand: &dyn Fn(u32) -> Option<Attr>,
) -> Option<Tested> {
    if kind == test::TIME {
        let Some(Attr::String(text)) = value else { return Some(Tested::Truth(None)) };
        return Some(parse_timestamp(&text).map_or(Tested::Truth(None), Tested::Time));
    }
    let constant = |term: &Term| match *term {
        [_, bits, slot] if bits & test::SLOT != 0 => operand(slot),
        [_, _, word::NULL] => Some(Attr::Null),
        [_, _, truth @ (word::FALSE | word::TRUE)] => Some(Attr::Bool(truth == word::TRUE)),
        [_, _, word] => Some(Attr::String(table.string(word - word::FIRST_STRING).into())),
    };
    let operands: Vec<Option<Attr>> = terms.iter().map(constant).collect();
    if kind == test::INTERSECTS {
        return intersects(value.as_ref(), operands.first()?.as_ref());
    }
    if operands.iter().flatten().any(|operand| matches!(operand, Attr::List(_) | Attr::Map(_))) {
        return None;
    }
    let holds = |element: &Attr| -> Option<bool> {
        let terms = terms.iter().zip(&operands);
        all(terms.map(|(term, operand)| term_holds(table, term, element, operand.as_ref())))
    };
    let first = || operands.first().cloned().flatten();
    let text = |test: fn(&str, &str) -> bool| match (&value, first()) {
        (Some(Attr::String(text)), Some(Attr::String(part))) => Some(test(text, &part)),
        _ => None,
    };
    Some(Tested::Truth(match (kind, &value) {
        (test::SIZE, Some(Attr::String(text))) => return Some(Tested::Size(text.chars().count())),
        (test::SIZE, Some(Attr::List(items))) => return Some(Tested::Size(items.len())),
        (test::SIZE, Some(Attr::Map(map))) => return Some(Tested::Size(map.entries().len())),
        (test::SIZE, _) => None,
        (test::STARTS_WITH, _) => text(|text, part| text.starts_with(part)),
        (test::ENDS_WITH, _) => text(|text, part| text.ends_with(part)),
        (test::CONTAINS, _) => text(|text, part| text.contains(part)),
        (test::TOPIC | test::FILLED_TOPIC, Some(Attr::Map(_))) => return None,
        (test::TOPIC | test::FILLED_TOPIC, topic) => matches_topic(kind, topic.as_ref(), &operands),
        (test::MEMBER, _) if first().is_none() => None,
        (test::MEMBER, Some(Attr::Map(map))) => match first() {
            Some(Attr::String(key)) => Some(map.get(&key).is_some()),
            _ => return None,
        },
        (test::ALL, Some(Attr::List(items))) => all(items.iter().map(holds)),
        (_, Some(Attr::List(items))) => any(items.iter().map(holds)),
        (_, Some(Attr::Map(_))) => return None,
        _ => None,
    }))
}

/// Returns the truth of `hasIntersection`; `None` if the general path must decide.
fn intersects(left: Option<&Attr>, right: Option<&Attr>) -> Option<Tested> {
    let (Some(Attr::List(left)), Some(Attr::List(right))) = (left, right) else {
        return Some(Tested::Truth(None));
    };
    let is_nested = |one: &Attr| matches!(one, Attr::List(_) | Attr::Map(_));
    let has_nested = left.iter().chain(right).any(is_nested);
    let pairs = right.len() * (right.len() + left.len());
    let is_usual = !has_nested && left.len().max(right.len()) <= test::MAX_ELEMENTS && pairs <= test::MAX_PAIRS;
    is_usual.then(|| Tested::Truth(Some(left.iter().any(|one| right.contains(one)))))
}

/// Returns the truth of `matchesTopic` for one topic.
fn matches_topic(kind: u32, topic: Option<&Attr>, operands: &[Option<Attr>]) -> Option<bool> {
    let text = |operand: &Option<Attr>| match operand {
        Some(Attr::String(text)) => Some(text.to_string()),
        _ => None,
    };
    let texts: Vec<String> = operands.iter().map(text).collect::<Option<_>>()?;
    let Some(Attr::String(topic)) = topic else { return None };
    let topic = Name::within(topic, &Limits::WIDEST).ok()?;
    let patterns = if kind == test::TOPIC {
        texts
    } else {
        let (pattern, words) = texts.split_first()?;
        let part = |word: &String| word.is_empty() || word.contains(['/', '+', '#', '\0']);
        if words.iter().any(part) || pattern.starts_with("{}") && words.first().is_some_and(|word| word.starts_with('$')) {
            return None;
        }
        let mut words = words.iter();
        let level = |level| if level == "{}" { words.next().map_or("", |word| word) } else { level };
        vec![pattern.split('/').map(level).collect::<Vec<_>>().join("/")]
    };
    let matches = |pattern: &String| {
        Some(Filter::unshared_within(pattern, &Limits::WIDEST).ok()?.matches(topic))
    };
    let all: Option<Vec<bool>> = patterns.iter().map(matches).collect();
    Some(all?.contains(&true))
}

fn term_holds(
    table: &PolicyTable,
    [member, bits, _]: &Term,
    element: &Attr,
    operand: Option<&Attr>,
) -> Option<bool> {
    let value = match (member.checked_sub(1), element) {
        (None, element) => element,
        (Some(name), Attr::Map(map)) => map.get(table.string(name))?,
        (Some(_), _) => return None,
    };
    Some((value == operand?) != (bits & test::NEGATED != 0))
}

/// Joins truths by `&&` of CEL: `false` absorbs errors.
fn all(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut has_error = false;
    for truth in truths {
        match truth {
            Some(false) => return Some(false),
            Some(true) => {}
            None => has_error = true,
        }
    }
    (!has_error).then_some(true)
}

/// Joins truths by `||` of CEL: `true` absorbs errors.
fn any(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(truths.map(|truth| truth.map(|truth| !truth))).map(|all| !all)
}
