//! Searches in sets of filters, beside a plain trie of hash maps in the same run.
//!
//! `cargo bench -p wardgate-mqtt --bench set`. Every answer is compared with the trie before
//! anything is timed. Times are the least of several rounds.

#![expect(
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "a measurement that cannot go on fails"
)]

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use wardgate_mqtt::{Cover, Filter, Filters, Name, cover};

fn main() {
    println!("{:<34} {:>9} {:>9} {:>6}", "ns for each", "filters", "trie", "ratio");
    few();
    for count in [10_000, 100_000, 1_000_000] {
        many(count);
    }
    covers();
}

/// The three searches of a small set that others publish.
fn few() {
    let mut texts = vec!["device/+/state".to_owned(), "fleet/#".to_owned()];
    texts.extend((0..64).map(|number| format!("device/gear-{number:03}/stats")));
    let sets = Sets::of(&texts);
    for (row, name) in [
        ("exact", "device/gear-001/stats"),
        ("wildcard", "device/gear-001/state"),
        ("none", "unknown/topic/here"),
    ] {
        let names = [name.to_owned()];
        sets.check(&names);
        row_of(row, sets.time(&names, 200_000));
    }
}

fn many(count: usize) {
    let mut random = fastrand::Rng::with_seed(1);
    let texts: Vec<String> = (0..count).map(|number| filter(number, &mut random)).collect();
    let sets = Sets::of(&texts);
    let names: Vec<String> = (0..100_000).map(|_| name(&texts, &mut random)).collect();
    sets.check(&names);
    row_of(&format!("{count} filters, names in turn"), sets.time(&names, 1));

    let start = Instant::now();
    let mut filters = Filters::seeded(9);
    let ids: Vec<_> = (0..)
        .zip(&texts)
        .map(|(value, text): (u32, _)| insert(&mut filters, text, value))
        .collect();
    let inserted = start.elapsed().as_nanos() as f64 / count as f64;
    println!("{:<34} {inserted:>9.1}", "  insert into an empty set");
    let start = Instant::now();
    let mut random = fastrand::Rng::with_seed(2);
    let mut changed = 0_usize;
    let mut ids = ids;
    for number in 0..100_000 {
        let at = random.usize(..ids.len());
        changed += usize::from(filters.remove(ids[at]).is_some());
        ids[at] = insert(&mut filters, &texts[at], number);
    }
    let both = start.elapsed().as_nanos() as f64 / 200_000.0;
    assert_eq!((changed, filters.len()), (100_000, count));
    println!("{:<34} {both:>9.1}", "  insert or remove, in turn");
    let bytes = filters.overhead() as f64 / count as f64;
    println!("{:<34} {bytes:>9.1}", "  bytes a filter beside its text");
}

fn covers() {
    let asked = Filter::new("a/+/c/#").unwrap();
    let texts: Vec<String> = (0..100).map(|number| format!("a/{number}/c/#")).collect();
    let mut by: Vec<_> = texts.iter().map(|text| Filter::new(text).unwrap()).collect();
    by.push(Filter::new("a/+/#").unwrap());
    for (row, by) in [("cover by 1", &by[100..]), ("cover by 100", &by[1..])] {
        assert_eq!(cover(asked, by), Cover::All);
        let best = best(|| {
            for _ in 0..20_000 {
                black_box(cover(black_box(asked), black_box(by)));
            }
        });
        println!("{row:<34} {:>9.1}", best / 20_000.0);
    }
}

fn filter(number: usize, random: &mut fastrand::Rng) -> String {
    let site = random.usize(..1_000);
    match number % 10 {
        0 => format!("site/{site}/+/{number}"),
        1 => format!("site/{site}/{number}/#"),
        _ => format!("site/{site}/device/{number}"),
    }
}

/// Returns a name that a filter of the list matches.
fn name(texts: &[String], random: &mut fastrand::Rng) -> String {
    texts[random.usize(..texts.len())].replace('+', "device").replace('#', "state")
}

fn insert(filters: &mut Filters<u32>, text: &str, value: u32) -> wardgate_mqtt::Id {
    filters.insert(Filter::new(text).unwrap(), value).unwrap()
}

fn row_of(row: &str, [ours, trie]: [f64; 2]) {
    println!("{row:<34} {ours:>9.1} {trie:>9.1} {:>6.2}", trie / ours);
}

struct Sets {
    filters: Filters<u32>,
    trie: Trie,
}

impl Sets {
    fn of(texts: &[String]) -> Self {
        let mut sets = Self { filters: Filters::seeded(9), trie: Trie::default() };
        for (value, text) in (0..).zip(texts) {
            insert(&mut sets.filters, text, value);
            sets.trie.insert(text, value);
        }
        sets
    }

    fn check(&self, names: &[String]) {
        for name in names {
            let (mut ours, mut plain) = (Vec::new(), Vec::new());
            self.filters.matches(Name::new(name).unwrap(), &mut |value| ours.push(*value));
            self.trie.matches(name, &mut |value| plain.push(*value));
            ours.sort_unstable();
            plain.sort_unstable();
            assert_eq!(ours, plain, "{name}");
        }
    }

    /// Returns the times of a search in both.
    fn time(&self, names: &[String], rounds: usize) -> [f64; 2] {
        let names: Vec<Name<'_>> = names.iter().map(|name| Name::new(name).unwrap()).collect();
        let searches = (names.len() * rounds) as f64;
        let ours = best(|| {
            let mut sum = 0_u32;
            for _ in 0..rounds {
                for name in &names {
                    self.filters
                        .matches(black_box(*name), &mut |value| sum = sum.wrapping_add(*value));
                }
            }
            black_box(sum);
        });
        let trie = best(|| {
            let mut sum = 0_u32;
            for _ in 0..rounds {
                for name in &names {
                    self.trie.matches(black_box(name.text()), &mut |value| {
                        sum = sum.wrapping_add(*value)
                    });
                }
            }
            black_box(sum);
        });
        [ours / searches, trie / searches]
    }
}

fn best(mut run: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_nanos() as f64);
    }
    best
}

/// A trie with a hash map at each node.
#[derive(Default)]
struct Trie {
    words: HashMap<String, Trie>,
    any: Option<Box<Trie>>,
    rest: Vec<u32>,
    here: Vec<u32>,
}

impl Trie {
    fn insert(&mut self, text: &str, value: u32) {
        let mut at = self;
        for word in text.split('/') {
            at = match word {
                "#" => return at.rest.push(value),
                "+" => at.any.get_or_insert_default(),
                word => at.words.entry(word.to_owned()).or_default(),
            };
        }
        at.here.push(value);
    }

    fn matches(&self, name: &str, found: &mut impl FnMut(&u32)) {
        self.below(Some(name), name.starts_with('$'), found);
    }

    fn below(&self, name: Option<&str>, internal: bool, found: &mut impl FnMut(&u32)) {
        if !internal {
            self.rest.iter().for_each(&mut *found);
        }
        let Some(name) = name else { return self.here.iter().for_each(found) };
        let (word, after) = match name.split_once('/') {
            Some((word, after)) => (word, Some(after)),
            None => (name, None),
        };
        if let Some(node) = self.words.get(word) {
            node.below(after, false, found);
        }
        if let (Some(node), false) = (&self.any, internal) {
            node.below(after, false, found);
        }
    }
}
