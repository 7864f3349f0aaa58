use alloc::string::String;
use alloc::vec::Vec;

use super::*;

/// The same set as a list.
#[derive(Default)]
struct Plain(Vec<(Id, String, u32)>);

impl Plain {
    fn matches(&self, name: Name<'_>) -> Vec<u32> {
        let matching =
            self.0.iter().filter(|(_, text, _)| Filter::new(text).unwrap().matches(name));
        let mut values: Vec<u32> = matching.map(|(_, _, value)| *value).collect();
        values.sort_unstable();
        values
    }
}

fn matches(filters: &Filters<u32>, name: Name<'_>) -> Vec<u32> {
    let mut values = Vec::new();
    filters.matches(name, &mut |value| values.push(*value));
    values.sort_unstable();
    values
}

fn text(random: &mut fastrand::Rng, words: &[&str], most: usize) -> String {
    let levels: Vec<_> =
        (0..random.usize(1..=most)).map(|_| words[random.usize(..words.len())]).collect();
    levels.join("/")
}

/// Changes a set and a list alike, and compares what they find.
fn compare(mut filters: Filters<u32>, seed: u64, steps: u32) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut plain = Plain::default();
    let (mut found, mut removed) = (0, Vec::new());
    for step in 0..steps {
        let few = plain.0.len() < 200;
        if random.u32(0..100) < if few { 70 } else { 45 } {
            let given = text(&mut random, &["a", "b", "", "$s", "+", "+", "#", "longer-word"], 5);
            let Ok(filter) = Filter::new(&given) else { continue };
            let id = filters.insert(filter, step).unwrap();
            assert!(!removed.contains(&id));
            plain.0.push((id, given, step));
        } else if !plain.0.is_empty() {
            let (id, given, value) = plain.0.swap_remove(random.usize(..plain.0.len()));
            assert_eq!(filters.filter(id).map(|filter| filter.text()), Some(&*given));
            assert_eq!(filters.get(id), Some(&value));
            assert_eq!(filters.remove(id), Some(value));
            assert_eq!((filters.remove(id), filters.get(id)), (None, None));
            removed.push(id);
        }
        assert_eq!(filters.len(), plain.0.len());
        let name = text(&mut random, &["a", "b", "", "$s", "longer-word", "other"], 5);
        let Ok(name) = Name::new(&name) else { continue };
        let expected = plain.matches(name);
        assert_eq!(matches(&filters, name), expected, "{name}");
        found += expected.len();
    }
    assert!(found > plain.0.len());
    for (id, _, value) in plain.0 {
        assert_eq!(filters.remove(id), Some(value));
    }
    assert!(filters.is_empty());
    assert_eq!(filters.nodes.iter_mut().count(), 0);
    assert_eq!(filters.leaves.iter_mut().count(), 0);
    assert_eq!((filters.root.uses, filters.root.edges), (0, 0));
}

#[test]
fn a_set_finds_what_a_list_finds() {
    for seed in 0..8 {
        compare(Filters::seeded(seed), seed, 4_000);
    }
}

#[test]
fn equal_hashes_change_no_answer() {
    // Four and thirty-two hashes for all paths and texts: nodes and leaves share their places.
    for (seed, bits) in [(1, 2), (2, 5), (3, 8)] {
        let mut filters = Filters::new();
        filters.hasher = Hasher::weak(bits);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut plain = Plain::default();
        for step in 0..2_000 {
            if random.u32(0..100) < 52 || plain.0.is_empty() {
                let given = text(&mut random, &["a", "b", "", "$s", "+", "+", "#"], 4);
                let Ok(filter) = Filter::new(&given) else { continue };
                plain.0.push((filters.insert(filter, step).unwrap(), given, step));
            } else {
                let (id, _, value) = plain.0.swap_remove(random.usize(..plain.0.len()));
                assert_eq!(filters.remove(id), Some(value));
            }
            let name = text(&mut random, &["a", "b", "", "$s"], 4);
            let Ok(name) = Name::new(&name) else { continue };
            assert_eq!(matches(&filters, name), plain.matches(name), "{name}");
        }
    }
}

#[test]
fn every_subscriber_is_found() {
    let mut filters = Filters::new();
    let inserted = ["sensor/#", "sensor/+", "sensor/a", "sensor/a", "#", "+/a", "sensor/a/#", "b"];
    for (value, text) in (0..).zip(inserted) {
        filters.insert(Filter::new(text).unwrap(), value).unwrap();
    }
    let check = |name: &str, expected: &[u32]| {
        assert_eq!(matches(&filters, Name::new(name).unwrap()), expected, "{name}");
    };
    check("sensor/a", &[0, 1, 2, 3, 4, 5, 6]);
    check("sensor", &[0, 4]);
    check("sensor/a/b", &[0, 4, 6]);
    check("b", &[4, 7]);
    check("$sensor/a", &[]);
}

#[test]
fn texts_are_compacted() {
    let mut filters = Filters::new();
    let mut ids = Vec::new();
    for number in 0..2_000_u32 {
        let given = alloc::format!("some/long/topic/{number}/+");
        ids.push(filters.insert(Filter::new(&given).unwrap(), number).unwrap());
        filters.insert(Filter::new(&given).unwrap(), number + 10_000).unwrap();
    }
    let before = filters.texts.bytes();
    for (number, id) in (0..).zip(ids) {
        if number % 10 != 0 {
            assert_eq!(filters.remove(id), Some(number));
            let name = alloc::format!("some/long/topic/{number}/x");
            assert_eq!(matches(&filters, Name::new(&name).unwrap()), [number + 10_000]);
        }
    }
    assert_eq!(filters.texts.bytes(), before);
    for entry in 0..4_000 {
        filters.remove(Id { entry, generation: 0 });
    }
    assert!(filters.is_empty() && filters.texts.bytes() < 10_000);
}

#[test]
fn hostile_depths_are_bounded_by_the_filters() {
    // All rows of `a` and `+` of ten levels: each name of `a` matches them all, and once.
    let mut filters = Filters::new();
    for row in 0..1024_u32 {
        let levels: Vec<_> = (0..10).map(|at| if row >> at & 1 == 1 { "+" } else { "a" }).collect();
        filters.insert(Filter::new(&levels.join("/")).unwrap(), row).unwrap();
    }
    let found = matches(&filters, Name::new(&["a"; 10].join("/")).unwrap());
    assert_eq!(found, (0..1024).collect::<Vec<_>>());
    assert!(matches(&filters, Name::new(&["a"; 11].join("/")).unwrap()).is_empty());
}

#[test]
fn the_overhead_of_a_filter_is_bounded() {
    let mut filters = Filters::new();
    for number in 0..100_000_u32 {
        let given = match number % 10 {
            0 => alloc::format!("site/{}/+/{number}", number % 100),
            1 => alloc::format!("site/{}/{number}/#", number % 100),
            _ => alloc::format!("site/{}/device/{number}", number % 100),
        };
        filters.insert(Filter::new(&given).unwrap(), number).unwrap();
        if number >= 10_000 && number % 1_000 == 0 {
            assert!(filters.overhead() <= filters.len() * 72, "{} {number}", filters.overhead());
        }
    }
    assert!(filters.overhead() <= filters.len() * 64, "{}", filters.overhead());
}
