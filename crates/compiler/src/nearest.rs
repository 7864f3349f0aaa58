//! Which name was meant by one that nothing has.
//!
//! A guess is only worth telling if it is nearly right: one mistake of the fingers, two in a long
//! name; capitals, `_` and `-` do not count. The work is bounded whatever the author wrote.

use strsim::osa_distance;

/// Returns what may have been meant by `name`: the one of `names` that is most like it, or else all
/// of them if they are few.
pub fn suggestion<'n>(
    name: &str,
    names: impl IntoIterator<Item = &'n str> + Clone,
) -> Option<String> {
    if let Some(nearest) = nearest(name, names.clone()) {
        return Some(format!("`{nearest}`"));
    }
    // A file with errors may define something without a name.
    let names = names.into_iter().filter(|name| !name.is_empty());
    let few: Vec<_> = names.take(FEW.saturating_add(1)).collect();
    (1..=FEW).contains(&few.len()).then(|| one_of(few))
}

/// Returns the one of `names` that is most like `name`, if any is like it at all.
pub fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LONGEST_GUESS {
        return None;
    }
    let name = plain(name);
    let most = match name.chars().count() {
        0..=2 => 0,
        3..=7 => 1,
        _ => 2,
    };
    let near = names.into_iter().take(MOST_NAMES).filter(|known| known.len() <= LONGEST_GUESS);
    let scored = near.map(|known| (osa_distance(&name, &plain(known)), known));
    scored.min_by_key(|(score, _)| *score).filter(|(score, _)| *score <= most).map(|(_, name)| name)
}

/// Lists names that may stand in one place.
pub(crate) fn one_of<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [one] => one.clone(),
        _ => format!("one of {}", names.join(", ")),
    }
}

fn plain(text: &str) -> String {
    text.replace(['_', '-'], "").to_ascii_lowercase()
}

/// Names that are listed when none is near.
const FEW: usize = 8;

/// Bytes of the longest name that is guessed at.
const LONGEST_GUESS: usize = 40;

/// Names that are compared.
const MOST_NAMES: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_meant() {
        let names = ["owner", "viewer", "id", "attr", "policyVersion"];
        let check = |name, expected| assert_eq!(nearest(name, names), expected, "{name}");
        check("ownr", Some("owner"));
        check("onwer", Some("owner"));
        check("OWNER", Some("owner"));
        check("policy_version", Some("policyVersion"));
        check("atr", Some("attr"));
        check("ID", Some("id"));
        check("is", None);
        check("veiwer", Some("viewer"));
        check("reviewers", None);
        check("policVersoin", Some("policyVersion"));
        check("rattle", None);
        check("", None);
        check(&"owner".repeat(20), None);
    }

    #[test]
    fn a_few_names_are_listed() {
        assert_eq!(suggestion("x", ["a", "b"]).as_deref(), Some("one of `a`, `b`"));
        assert_eq!(suggestion("x", ["a"]).as_deref(), Some("`a`"));
        assert_eq!(suggestion("x", []), None);
        assert_eq!(suggestion("x", [""]), None);
        assert_eq!(suggestion("x", ["a"; 9]), None);
        assert_eq!(suggestion("owners", ["owner"; 9]).as_deref(), Some("`owner`"));
    }
}
