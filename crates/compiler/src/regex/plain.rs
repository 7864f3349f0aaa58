//! Patterns that are plain texts: what they match, a function of texts finds without a machine.

use wardgate_engine::cel::Function;

use super::compile;

/// Returns the function, and the text that it looks for, with the meaning of `matches(pattern)`;
/// `None` for patterns that are more than a text at an end or anywhere.
///
/// A match may begin and end anywhere, so `.*` on a side without an anchor changes nothing. A text
/// with both anchors is left out: no function compares whole texts and fails for other values. A
/// pattern that does not compile is left to the evaluation.
pub(crate) fn plain(pattern: &str) -> Option<(Function, String)> {
    let (is_start, rest) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern.strip_prefix(".*").unwrap_or(pattern)),
    };
    let (mut text, mut is_end) = (String::new(), false);
    let mut rest = rest.chars();
    while let Some(next) = rest.next() {
        match next {
            '\\' => text.push(rest.next().filter(char::is_ascii_punctuation)?),
            '$' if rest.as_str().is_empty() => is_end = true,
            '.' if rest.as_str() == "*" => break,
            _ if META.contains(next) => return None,
            _ => text.push(next),
        }
    }
    let function = match (is_start, is_end) {
        _ if text.is_empty() => return None,
        (true, true) => return None,
        (true, false) => Function::StartsWith,
        (false, true) => Function::EndsWith,
        (false, false) => Function::Contains,
    };
    compile(pattern).ok().map(|_| (function, text))
}

/// Characters with a meaning of their own somewhere in a pattern.
const META: &str = r"\.+*?()|[]{}^$";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wardgate_engine::cel::Function;

    use super::super::compile;
    use super::plain;

    #[test]
    fn texts_at_an_end_or_anywhere_are_plain() {
        use Function::{Contains, EndsWith, StartsWith};
        let check = |pattern, function, text: &str| {
            assert_eq!(plain(pattern), Some((function, text.to_owned())), "{pattern}");
        };
        check("id=4", Contains, "id=4");
        check(".*id=4", Contains, "id=4");
        check(r".*\.ssh/.*", Contains, ".ssh/");
        check("^h", StartsWith, "h");
        check(r"^10\..*", StartsWith, "10.");
        check("é$", EndsWith, "é");
        check(r".*\.env$", EndsWith, ".env");
        check(r"a\$", Contains, "a$");
        check(r"a\.\*", Contains, "a.*");
    }

    #[test]
    fn other_patterns_are_not() {
        let of_ends = ["", "^", "$", "^$", ".*", "^.*", "^a$", "^.*a", "a.*$", ".*^a", "a$.*"];
        let of_repetition = [".*?a", ".*.*a", "a*", "ab?", r"a\.*", "a{2}", "a{", "a.*.*"];
        let of_sets = ["a|b", "(?i)a", "(a)", "[a]", "a.c", r"\da", r"\x41", r"a\", r"\Qa.b\E"];
        for pattern in of_ends.iter().chain(&of_repetition).chain(&of_sets) {
            assert_eq!(plain(pattern), None, "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

        /// The machine is the oracle.
        #[test]
        fn a_plain_pattern_finds_what_the_machine_does(
            pattern in r"(\^|\.\*)?([ab.*$\n]|\\[.$*^n_]){0,4}(\.\*|\$)?",
            text in r"[ab.$*^_\n]{0,8}",
        ) {
            let Ok(regex) = compile(&pattern) else { return Ok(()) };
            let Some((function, part)) = plain(&pattern) else { return Ok(()) };
            let found = match function {
                Function::StartsWith => text.starts_with(&part),
                Function::EndsWith => text.ends_with(&part),
                _ => text.contains(&part),
            };
            let mut steps = u32::MAX;
            let by_machine = regex.program().is_match(&text, &mut steps);
            prop_assert_eq!(by_machine, Ok(found), "{} in {:?}", pattern, text);
        }
    }
}
