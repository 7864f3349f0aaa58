//! Covering and overlap against brute force.
//!
//! The words of the patterns are few, so all names of up to one level more than the filters have
//! can be listed: over those words, the empty one, one of `$` and a fresh one.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use wardgate_mqtt::{Cover, Filter, Limits, Name, cover, intersection, overlap};

#[test]
fn intersections_equal_brute_force() {
    for words in ALPHABETS {
        let names = names(words);
        let filters = Filters::all(words, &names);
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..PAIRS {
            let (a, b) = (filters.any(&mut random), filters.any(&mut random));
            let both: Vec<u64> = a.names.iter().zip(&b.names).map(|(a, b)| a & b).collect();
            let found = intersection(a.filter(), b.filter());
            let names = found.map(|found| Listed::new(found.to_string(), &names).names);
            let expected = both.iter().any(|bits| *bits != 0).then_some(both);
            assert_eq!(names, expected, "{} {}", a.text, b.text);
        }
    }
}

#[test]
fn covering_equals_brute_force() {
    let pairs = if std::env::var_os("SLOW_TESTS").is_some() { MANY_PAIRS } else { PAIRS };
    for (seed, words) in ALPHABETS.into_iter().enumerate() {
        run(words, pairs, u64::try_from(seed).unwrap());
    }
}

/// Compares that many generated pairs of a filter and a union.
fn run(words: [&'static str; 3], pairs: usize, seed: u64) {
    let names = names(words);
    let filters = Filters::all(words, &names);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut seen = [0_usize; 3];
    for _ in 0..pairs {
        let asked = filters.any(&mut random);
        let by: Vec<&Listed> = (0..random.usize(0..=4)).map(|_| filters.any(&mut random)).collect();
        check(asked, &by, &mut seen);
    }
    println!("all, none, part: {seen:?}");
    assert!(seen.iter().all(|count| *count > pairs / 100), "{seen:?}");
}

fn check(asked: &Listed, by: &[&Listed], seen: &mut [usize; 3]) {
    let filters: Vec<Filter<'_>> = by.iter().map(|listed| listed.filter()).collect();
    let asked_filter = asked.filter();
    let texts = || format!("{} by {filters:?}", asked.text);
    let (mut all, mut none) = (true, true);
    for (place, bits) in asked.names.iter().enumerate() {
        let union = by.iter().fold(0, |union, listed| union | listed.names[place]);
        all &= bits & !union == 0;
        none &= bits & union == 0;
    }
    match cover(asked_filter, &filters) {
        Cover::All => {
            assert!(all, "{}", texts());
            seen[0] += 1;
        }
        Cover::None => {
            assert!(none && !all, "{}", texts());
            seen[1] += 1;
        }
        Cover::Part { witness } => {
            assert!(!all && !none, "{}", texts());
            let name = Name::within(&witness, &Limits::WIDEST).unwrap();
            assert!(asked_filter.matches(name), "{} {witness}", texts());
            assert!(!filters.iter().any(|filter| filter.matches(name)), "{} {witness}", texts());
            seen[2] += 1;
        }
    }
    for (filter, listed) in filters.iter().zip(by) {
        let both = asked.names.iter().zip(&listed.names).any(|(a, b)| a & b != 0);
        assert_eq!(overlap(asked_filter, *filter), both, "{} {filter}", asked.text);
        assert_eq!(overlap(*filter, asked_filter), both, "{} {filter}", asked.text);
    }
}

/// A filter and a bit for each name that it matches.
struct Listed {
    text: String,
    names: Vec<u64>,
}

struct Filters(Vec<Listed>);

/// Lists all names of at most one level more than the filters have, so that `#` is seen beyond
/// them.
fn names([a, b, c]: [&'static str; 3]) -> Vec<String> {
    let mut all = Vec::new();
    for levels in 1..=LEVELS + 1 {
        product(&[a, b, c, "fresh"], levels, &mut |words| all.push(words.join("/")));
    }
    all.retain(|name| Name::new(name).is_ok());
    all
}

impl Filters {
    /// Lists all filters of at most that many levels.
    fn all([a, b, c]: [&'static str; 3], names: &[String]) -> Self {
        let mut all = Vec::new();
        for levels in 1..=LEVELS {
            product(&[a, b, c, "+", "#"], levels, &mut |words| all.push(words.join("/")));
        }
        all.retain(|text| Filter::new(text).is_ok());
        Self(all.into_iter().map(|text| Listed::new(text, names)).collect())
    }

    fn any(&self, random: &mut fastrand::Rng) -> &Listed {
        &self.0[random.usize(..self.0.len())]
    }
}

impl Listed {
    fn new(text: String, names: &[String]) -> Self {
        let filter = Filter::new(&text).unwrap();
        let mut bits = vec![0_u64; names.len().div_ceil(64)];
        for (number, name) in names.iter().enumerate() {
            if filter.matches(Name::new(name).unwrap()) {
                bits[number / 64] |= 1 << (number % 64);
            }
        }
        Self { text, names: bits }
    }

    fn filter(&self) -> Filter<'_> {
        Filter::new(&self.text).unwrap()
    }
}

/// Calls `each` with all rows of that many words.
fn product(words: &[&'static str], levels: usize, each: &mut impl FnMut(&[&'static str])) {
    let mut row = vec![0; levels];
    loop {
        each(&row.iter().map(|at| words[*at]).collect::<Vec<_>>());
        let Some(place) = row.iter().rposition(|at| at + 1 < words.len()) else { return };
        row[place] += 1;
        row[place + 1..].fill(0);
    }
}

/// The levels of filters.
const LEVELS: usize = 4;

/// The words of filters and names; names have a fresh one besides.
const ALPHABETS: [[&str; 3]; 2] = [["a", "", "$s"], ["a", "b", "$s"]];

/// The generated pairs of each alphabet.
const PAIRS: usize = 60_000;

/// Those of the slow test.
const MANY_PAIRS: usize = 5_000_000;
