//! The known word that somebody may have meant.

/// Returns the word that is at most a third of `given` away, if there is one.
pub(super) fn nearest<'w>(given: &str, known: &[&'w str]) -> Option<&'w str> {
    if given.len() > MAX_LETTERS {
        return None;
    }
    let apart = |word: &&&str| distance(given, word);
    let best = known.iter().min_by_key(apart)?;
    let most = (given.chars().count() / 3).max(1);
    (distance(given, best) <= most).then_some(*best)
}

/// How many letters must be changed, added or left out, or swapped with their neighbour (each counts as one).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (row, letter) in from.chars().enumerate() {
        let mut next = vec![row + 1];
        for (at, other) in to.iter().enumerate() {
            let of = |line: &[usize], at: usize| line.get(at).copied().unwrap_or(usize::MAX - 1);
            let kept = of(&last, at) + usize::from(letter != *other);
            let mut least = kept.min(of(&last, at + 1) + 1).min(of(&next, at) + 1);
            let swapped = at > 0 && previous == Some(*other) && to.get(at - 1) == Some(&letter);
            if swapped {
                least = least.min(of(&before_last, at - 1) + 1);
            }
            next.push(least);
        }
        previous = Some(letter);
        before_last = std::mem::replace(&mut last, next);
    }
    last.last().copied().unwrap_or(usize::MAX)
}

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
