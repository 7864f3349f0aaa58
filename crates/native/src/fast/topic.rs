//! `matchesTopic` of one topic of MQTT, where its text is.
//!
//! Filters, which stand for many topics, are for the general path.

mod index;
mod programs;

pub(crate) use programs::Topics;

use wardgate_mqtt::{Filter, Level, Limits, Name};

/// Returns true if a pattern matches the topic; `None` is an evaluation error.
pub(crate) fn is_matched<P: AsRef<str>>(topic: &str, patterns: &[P]) -> Option<bool> {
    let name = Name::within(topic, &Limits::WIDEST).ok()?;
    let mut is_matched = false;
    for pattern in patterns {
        is_matched |= filter(pattern.as_ref())?.matches(name);
    }
    Some(is_matched)
}

/// Returns the pattern with a word in the place of each level `{}`; `None` is an evaluation error.
pub(crate) fn filled(pattern: &str, words: &[&str]) -> Option<String> {
    let mut words = words.iter();
    let mut text = String::with_capacity(pattern.len());
    for (number, level) in filter(pattern)?.levels().enumerate() {
        let level = match level {
            Level::Word("{}") => words.next().filter(|word| Level::may_fill(word, number))?,
            Level::Word(word) => word,
            Level::Any => "+",
            Level::Rest => "#",
        };
        if number > 0 {
            text.push('/');
        }
        text.push_str(level);
    }
    words.next().is_none().then_some(text)
}

/// Returns true if the pattern with a word in the place of each level `{}` matches the topic; `None` if
/// `word` has no more words, or one that may not fill its level. There are as many words as levels.
fn filled_matches<'w>(
    pattern: Filter<'_>,
    mut word: impl FnMut() -> Option<&'w str>,
    name: Name<'_>,
) -> Option<bool> {
    let mut words = name.words();
    let (mut is_matched, mut goes_on) = (true, true);
    for (number, level) in pattern.levels().enumerate() {
        let level = match level {
            Level::Word("{}") => Level::Word(word().filter(|it| Level::may_fill(it, number))?),
            level => level,
        };
        is_matched &= match level {
            Level::Word(expected) => words.next() == Some(expected),
            Level::Any => words.next().is_some(),
            Level::Rest => {
                goes_on = false;
                true
            }
        };
        is_matched &= number > 0 || !name.is_internal() || matches!(level, Level::Word(_));
    }
    Some(is_matched && !(goes_on && words.next().is_some()))
}

fn filter(text: &str) -> Option<Filter<'_>> {
    Filter::unshared_within(text, &Limits::WIDEST).ok()
}

#[cfg(test)]
mod tests {
    mod generated;

    use wardgate_mqtt::{Filter, Limits, Name};

    use super::{filled, filled_matches, is_matched};

    #[test]
    fn patterns_match_topics() {
        let check = |topic, patterns: &[&str], expected| {
            assert_eq!(is_matched(topic, patterns), expected, "{topic} {patterns:?}");
        };
        check("a/b", &["b", "a/+"], Some(true));
        check("a", &["a/#"], Some(true));
        check("$a/b", &["+/b", "#"], Some(false));
        check("a/b", &["a/+", "a#"], None);
        check("a/+", &["#"], None);
        check("", &["#"], None);
    }

    #[test]
    fn words_fill_levels() {
        let check = |pattern, words: &[&str], expected: Option<&str>| {
            assert_eq!(filled(pattern, words).as_deref(), expected, "{pattern} {words:?}");
        };
        check("a/{}/+/{}/#", &["b", "$c"], Some("a/b/+/$c/#"));
        check("{}/a{}", &["b"], Some("b/a{}"));
        check("{}", &["$b"], None);
        check("{}/{}", &["a"], None);
        check("{}", &["a", "b"], None);
        for word in ["", "+", "#", "a/b", "a\0"] {
            check("a/{}", &[word], None);
        }
    }

    #[test]
    fn filling_a_pattern_and_matching_it_is_one_step() {
        let patterns =
            ["{}", "a/{}", "{}/{}/#", "+/{}", "{}/+", "a/{}/b", "{}/#", "/{}", "a/{}/+/#"];
        let names = ["a", "b", "a/b", "a/b/b", "$c/b", "$c", "a/$c", "/b", "a//", "a/b/c/d", "b/"];
        let words = ["a", "b", "$c", "", "+"];
        for pattern in patterns {
            for name in names {
                for pair in words.iter().flat_map(|a| words.map(|b| [*a, b])) {
                    let count = pattern.matches("{}").count();
                    let words = pair.get(..count).unwrap();
                    let expected = filled(pattern, words).map(|it| is_matched(name, &[it]));
                    let mut words = words.iter().copied();
                    let filter = Filter::unshared_within(pattern, &Limits::WIDEST).unwrap();
                    let found = filled_matches(filter, || words.next(), Name::new(name).unwrap());
                    assert_eq!(found, expected.flatten(), "{pattern} {name} {pair:?}");
                }
            }
        }
    }
}
