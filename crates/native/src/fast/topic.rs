//! `matchesTopic` of one topic of MQTT, where its text is.
//!
//! Filters, which stand for many topics, are for the general path.

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

fn filter(text: &str) -> Option<Filter<'_>> {
    Filter::unshared_within(text, &Limits::WIDEST).ok()
}

#[cfg(test)]
mod tests {
    use super::{filled, is_matched};

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
}
