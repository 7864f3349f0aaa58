//! The known word that is nearest to a misspelt one.

use strsim::osa_distance;

/// Returns the nearest of the known words, if its distance is at most a third of the letters of
/// `given`.
pub(super) fn nearest<'w>(given: &str, known: &[&'w str]) -> Option<&'w str> {
    if given.len() > MAX_LETTERS {
        return None;
    }
    let scored = known.iter().map(|word| (osa_distance(given, word), *word));
    let (distance, best) = scored.min_by_key(|(distance, _)| *distance)?;
    let most = (given.chars().count() / 3).max(1);
    (distance <= most).then_some(best)
}

/// Bytes of the longest word that is compared.
const MAX_LETTERS: usize = 64;

#[cfg(test)]
mod tests {
    use super::nearest;

    fn check(given: &str, expected: Option<&str>) {
        let known = ["listen", "max-connections", "body-seconds", "url"];
        assert_eq!(nearest(given, &known), expected, "{given}");
    }

    #[test]
    fn small_slips_are_recognised() {
        check("listen", Some("listen"));
        check("lisen", Some("listen"));
        check("lsiten", Some("listen"));
        check("max_connections", Some("max-connections"));
        check("max-conections", Some("max-connections"));
        check("ur", Some("url"));
    }

    #[test]
    fn other_words_are_not_guessed() {
        check("port", None);
        check("", None);
        check(&"l".repeat(100), None);
    }
}
