use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;

#[test]
fn names_have_no_wildcard_and_no_nul() {
    let check = |text: &str, expected: Result<(), TopicError>| {
        assert_eq!(Name::new(text).map(|_| ()), expected, "{text:?}");
    };
    for text in ["a", "/", "//", "a/b", "a//b", " ", "$SYS/x", "$share/g/x", "é/ü", "a/b/"] {
        check(text, Ok(()));
    }
    check("", Err(TopicError::Empty));
    check("+", Err(TopicError::WildcardInName { at: 0 }));
    check("a/b+", Err(TopicError::WildcardInName { at: 3 }));
    check("é#", Err(TopicError::WildcardInName { at: 2 }));
    check("a/\0", Err(TopicError::Nul { at: 2 }));
}

#[test]
fn wildcards_of_filters_fill_their_levels() {
    let check = |text: &str, expected: Result<(), TopicError>| {
        assert_eq!(Filter::new(text).map(|_| ()), expected, "{text:?}");
    };
    for text in ["+", "#", "/", "+/+", "/#", "+/#", "a/+/#", "$SYS/#", "a//+", "é/+", "a"] {
        check(text, Ok(()));
    }
    check("", Err(TopicError::Empty));
    check("a+", Err(TopicError::PlusInWord { at: 1 }));
    check("+a", Err(TopicError::PlusInWord { at: 0 }));
    check("++", Err(TopicError::PlusInWord { at: 0 }));
    check("a/+b/c", Err(TopicError::PlusInWord { at: 2 }));
    check("+#", Err(TopicError::PlusInWord { at: 0 }));
    check("#+", Err(TopicError::HashNotLast { at: 0 }));
    check("a#", Err(TopicError::HashNotLast { at: 1 }));
    check("#/a", Err(TopicError::HashNotLast { at: 0 }));
    check("a/#/", Err(TopicError::HashNotLast { at: 2 }));
    check("##", Err(TopicError::HashNotLast { at: 0 }));
    check("a/\0/+", Err(TopicError::Nul { at: 2 }));
}

#[test]
fn share_is_taken_apart_once_at_the_front() {
    let check = |text: &str, group: Option<&str>, filter: &str| {
        let found = Filter::new(text).unwrap();
        assert_eq!((found.group(), found.text()), (group, filter), "{text}");
        assert_eq!(found.to_string(), text);
    };
    check("$share/g/a/+", Some("g"), "a/+");
    check("$share/g//", Some("g"), "/");
    check("$share/g/$share/h/x", Some("g"), "$share/h/x");
    check("$share/g/$queue/x", Some("g"), "$queue/x");
    check("$queue/x", None, "$queue/x");
    check("$queue/+", None, "$queue/+");
    check("$share", None, "$share");
    check("$shared/g/x", None, "$shared/g/x");
    check("a/$share/g/x", None, "a/$share/g/x");
    let refuse = |text: &str, expected| assert_eq!(Filter::new(text), Err(expected), "{text}");
    refuse("$share/", TopicError::EmptyGroup);
    refuse("$share//a", TopicError::EmptyGroup);
    refuse("$share/g", TopicError::GroupWithoutFilter);
    refuse("$share/g/", TopicError::GroupWithoutFilter);
    refuse("$share/+/a", TopicError::WildcardInGroup { at: 7 });
    refuse("$share/g#/a", TopicError::WildcardInGroup { at: 8 });
    refuse("$share/g\0/a", TopicError::Nul { at: 8 });
    refuse("$share/g/a+", TopicError::PlusInWord { at: 10 });
}

#[test]
fn a_shared_filter_of_queue_or_share_matches_only_such_topics() {
    let filter = Filter::new("$share/g/$queue/#").unwrap();
    assert!(filter.matches(Name::new("$queue/x").unwrap()));
    assert!(!filter.matches(Name::new("x").unwrap()));
    let nested = Filter::new("$share/g/$share/h/#").unwrap();
    assert!(!nested.matches(Name::new("secret").unwrap()));
    assert!(nested.matches(Name::new("$share/h/secret").unwrap()));
}

#[test]
fn lengths_and_levels_are_bounded() {
    let longest = "a".repeat(1024);
    assert!(Name::new(&longest).is_ok() && Filter::new(&longest).is_ok());
    let longer = "a".repeat(1025);
    let too_long = TopicError::TooLong { bytes: 1025, most: 1024 };
    assert_eq!(Name::new(&longer), Err(too_long));
    assert_eq!(Filter::new(&longer), Err(too_long));
    let deepest = "/".repeat(31);
    assert!(Name::new(&deepest).is_ok());
    let share = format!("$share/g/{deepest}");
    assert!(Filter::new(&share).is_ok());
    let deeper = "/".repeat(32);
    let too_deep = TopicError::TooManyLevels { levels: 33, most: 32 };
    assert_eq!(Name::new(&deeper), Err(too_deep));
    assert_eq!(Filter::new(&deeper), Err(too_deep));
    let widest: String = "a".repeat(65_535);
    assert!(Name::within(&widest, &Limits::WIDEST).is_ok());
    assert!(Name::within(&"/".repeat(127), &Limits::WIDEST).is_ok());
    assert!(Name::within(&"/".repeat(128), &Limits::WIDEST).is_err());
}

#[test]
fn errors_tell_what_is_wrong() {
    let check = |text: &str, expected: &str| {
        assert_eq!(Filter::new(text).unwrap_err().to_string(), expected);
    };
    check("", "a topic has at least one character");
    check("a/b+", "`+` does not fill its level, at byte 3");
    check("#/b", "`#` is not the whole of the last level, at byte 0");
    check("$share//b", "the group after `$share/` is empty");
}

/// Matches level by level, as section 4.7 reads.
fn matches_plainly(filter: Filter<'_>, name: Name<'_>) -> bool {
    if name.is_internal() && filter.begins_with_wildcard() {
        return false;
    }
    let mut words = name.words();
    for level in filter.levels() {
        match (level, words.next()) {
            (Level::Rest, _) => return true,
            (Level::Any, Some(_)) => {}
            (Level::Word(level), Some(word)) if level == word => {}
            _ => return false,
        }
    }
    words.next().is_none()
}

#[test]
fn matching_by_bytes_equals_matching_by_levels() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut text = |words: &[&str]| {
        let levels: Vec<_> =
            (0..random.usize(1..5)).map(|_| words[random.usize(..words.len())]).collect();
        levels.join("/")
    };
    let mut seen = [0; 2];
    for _ in 0..100_000 {
        let (filter, name) =
            (text(&["a", "ab", "", "$a", "+", "#", "+"]), text(&["a", "ab", "", "$a"]));
        let (Ok(filter), Ok(name)) = (Filter::new(&filter), Name::new(&name)) else { continue };
        let expected = matches_plainly(filter, name);
        assert_eq!(filter.matches(name), expected, "{filter} {name}");
        seen[usize::from(expected)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 5_000), "{seen:?}");
}

#[test]
fn special_bytes_are_found_wherever_they_are() {
    for length in 0..40 {
        // Bytes that differ from special ones in one bit, and those of other alphabets.
        for usual in [b'a', b'/', b'*', b'"', b'\'', b'k', b'c', 1, 8, 0x80, 0xAB, 0xA3, 0xFF] {
            let text = alloc::vec![usual; length];
            assert!(is_plain(&text), "{length} {usual}");
            for at in 0..length {
                for special in [0, b'+', b'#'] {
                    let mut text = text.clone();
                    text[at] = special;
                    assert!(!is_plain(&text), "{length} {usual} {at} {special}");
                }
            }
        }
    }
}

#[test]
fn words_from_outside_fill_one_level() {
    let check = |word, level, expected| {
        assert_eq!(Level::may_fill(word, level), expected, "{word:?} {level}");
    };
    ["a", "a b", "{}", "a$", "é", "\u{1}"].into_iter().for_each(|word| check(word, 0, true));
    check("$a", 0, false);
    check("$a", 1, true);
    for word in ["", "/", "a/b", "+", "a+", "#", "#a", "\0", "a\0"] {
        check(word, 0, false);
        check(word, 1, false);
    }
}
