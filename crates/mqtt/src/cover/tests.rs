use alloc::vec::Vec;

use super::*;

fn filter(text: &str) -> Filter<'_> {
    Filter::within(text, &Limits::WIDEST).unwrap()
}

fn answer(asked: &str, by: &[&str]) -> Cover {
    cover(filter(asked), &by.iter().map(|text| filter(text)).collect::<Vec<_>>())
}

fn part(witness: &str) -> Cover {
    Cover::Part { witness: witness.into() }
}

/// The same as `covered_by`, level by level.
fn covered_by_levels(row: Shape, asked: Filter<'_>, pattern: Filter<'_>) -> Lengths {
    if asked.text().starts_with('$') && pattern.begins_with_wildcard() {
        return Lengths::None;
    }
    let (mut asked, mut pattern) = (asked.levels(), pattern.levels());
    let mut rest = None;
    for levels in 0_u32.. {
        // Once the filter is at `#`, it stays there.
        let level = rest.or_else(|| asked.next());
        rest = level.filter(|level| *level == Level::Rest);
        match (pattern.next(), level) {
            (Some(Level::Rest), _) => return Lengths::From(levels.max(row.least)),
            (Some(Level::Any), Some(_)) => {}
            (Some(Level::Word(word)), Some(Level::Word(other))) if word == other => {}
            (None, None | Some(Level::Rest)) if levels >= row.least => {
                return Lengths::One(levels);
            }
            _ => return Lengths::None,
        }
    }
    Lengths::None
}

/// The same as `overlap`, level by level.
fn overlap_by_levels(a: Filter<'_>, b: Filter<'_>) -> bool {
    let internal = |filter: Filter<'_>| filter.text().starts_with('$');
    if internal(a) && b.begins_with_wildcard() || internal(b) && a.begins_with_wildcard() {
        return false;
    }
    let (mut lefts, mut rights) = (a.levels(), b.levels());
    for number in 0_usize.. {
        match (lefts.next(), rights.next()) {
            (None, None) => return true,
            (Some(Level::Rest), Some(_)) | (Some(_), Some(Level::Rest)) => return true,
            (Some(Level::Rest), None) => return number != 1 || !a.text().starts_with('/'),
            (None, Some(Level::Rest)) => return number != 1 || !b.text().starts_with('/'),
            (Some(Level::Word(a)), Some(Level::Word(b))) if a != b => return false,
            (Some(_), Some(_)) => {}
            _ => return false,
        }
    }
    false
}

#[test]
fn bytes_and_levels_say_the_same() {
    // All filters of up to four levels of these words.
    let words = ["", "a", "ab", "$s", "+"];
    let mut texts: Vec<String> = words.map(String::from).into();
    for _ in 0..3 {
        let longer =
            texts.iter().flat_map(|text| words.map(|word| alloc::format!("{text}/{word}")));
        let longer: Vec<_> = longer.collect();
        texts.extend(longer);
    }
    texts.sort_unstable();
    texts.dedup();
    let rests = texts.iter().map(|text| alloc::format!("{text}/#")).collect::<Vec<_>>();
    texts.extend(rests);
    texts.push("#".into());
    texts.retain(|text| !text.is_empty());
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..400_000 {
        let (a, b) = (filter(random.choice(&texts).unwrap()), random.choice(&texts).unwrap());
        let (b, row) = (filter(b), Shape::of(a));
        let (found, expected) = (row.covered_by(a, b), covered_by_levels(row, a, b));
        assert_eq!(found, expected, "{a} {b}");
        assert_eq!(overlap(a, b), overlap_by_levels(a, b), "{a} {b}");
    }
}

#[test]
fn single_filters_cover() {
    let check = |asked: &str, by: &str, expected: Cover| {
        assert_eq!(answer(asked, &[by]), expected, "{asked} {by}");
    };
    for same in ["a", "+", "#", "a/+/#", "$SYS/+", "/", "/#", "//"] {
        check(same, same, Cover::All);
    }
    check("a/b", "a/+", Cover::All);
    check("a", "a/#", Cover::All);
    check("a/+", "a/#", Cover::All);
    check("a/+/c", "+/+/#", Cover::All);
    check("#", "+/#", Cover::All);
    check("+/#", "#", Cover::All);
    check("/#", "/+/#", Cover::All);
    check("/#", "+/+/#", Cover::All);
    check("a/#", "a/+/#", part("a"));
    check("a/+", "a/b", part("a/x"));
    check("a/+", "a/x", part("a/xx"));
    check("a/#", "a", part("a/x"));
    check("#", "a/#", part("x"));
    check("#", "+", part("x/x"));
    check("+", "/+", Cover::None);
    check("a/#", "b/#", Cover::None);
    check("a", "A", Cover::None);
    check("+", "/#", Cover::None);
    check("/#", "+", Cover::None);
}

#[test]
fn internal_topics_are_apart() {
    let check = |asked: &str, by: &str, expected: Cover| {
        assert_eq!(answer(asked, &[by]), expected, "{asked} {by}");
    };
    check("$SYS/#", "#", Cover::None);
    check("$SYS", "+", Cover::None);
    check("$SYS/a", "+/a", Cover::None);
    check("#", "$SYS/#", Cover::None);
    check("+/a", "$SYS/a", Cover::None);
    check("$SYS/+", "$SYS/#", Cover::All);
    check("a/$SYS", "a/+", Cover::All);
    check("$queue/x", "#", Cover::None);
    check("$share/g/$share/h/x", "#", Cover::None);
    check("$share/g/x", "x", Cover::All);
    check("$share/g/#", "$share/h/a/#", part("x"));
}

#[test]
fn unions_cover_by_length() {
    let check = |asked: &str, by: &[&str], expected: Cover| {
        assert_eq!(answer(asked, by), expected, "{asked} {by:?}");
    };
    check("a/#", &["a", "a/+/#"], Cover::All);
    check("a/#", &["a/+/+/#", "a/+", "a"], Cover::All);
    check("a/#", &["a", "a/+/+/#"], part("a/x"));
    check("a/#", &["a", "a/+", "a/+/+"], part("a/x/x/x"));
    check("#", &["+", "+/+", "+/+/#"], Cover::All);
    check("a/+", &["a/b", "a/c", "a/x", "a/xx"], part("a/xxx"));
    check("a/+/b", &["a/c/b", "+/d/b", "a/#"], Cover::All);
    check("a/#", &[], Cover::None);
    check("a", &[], Cover::None);
}

#[test]
fn the_deepest_filters_are_covered() {
    let deep = ["+"; 127].join("/");
    let rest = [&deep, "#"].join("/");
    let longest = [&deep, "+"].join("/");
    assert_eq!(answer(&rest, &[&rest]), Cover::All);
    assert_eq!(answer(&rest, &["#"]), Cover::All);
    let beyond = answer(&rest, &[&deep, &longest]);
    assert_eq!(beyond, part(&["x"; 129].join("/")));
    assert_eq!(answer("#", &[&rest]), part("x"));
}

#[test]
fn a_fresh_word_is_found_among_many() {
    let texts: Vec<_> = (1..100).map(|length| alloc::format!("a/{}", "x".repeat(length))).collect();
    let by: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(answer("a/+", &by), part(&alloc::format!("a/{}", "x".repeat(100))));
    let by: Vec<&str> = by.into_iter().filter(|text| text.len() != 9).collect();
    assert_eq!(answer("a/+", &by), part("a/xxxxxxx"));
}
