//! Sets of filters: the search for all that match a name, and changes.
//!
//! Of 100 filters of a large set 80 have no wildcard, 10 have `+` and 10 have `#`, and 100,000 names are
//! searched for in turn, so that neither they nor what they lead to are in the caches near the
//! processor. Each name matches a filter at least.

use std::cell::RefCell;
use std::hint::black_box;
use std::path::Path;

use wardgate_mqtt::{Filter, Filters, Id, Name};

use super::node;
use super::trie::Trie;
use crate::arguments::Arguments;
use crate::entry::{Entry, figures};
use crate::measure::{self, Cases, Figure, Row, Side};
use crate::report::Section;

pub(super) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let few = Section::new("mqtt-match", "MQTT: 66 filters, those that match a name", FEW_NOTE);
    let mut sections = vec![few.native(arguments, || few_filters(arguments))?];
    for count in SIZES {
        let title = format!("MQTT: a set of {count} filters");
        let section = Section::new(format!("mqtt-match-{count}"), title, MANY_NOTE);
        let mut section = section.native(arguments, || many_filters(count, arguments))?;
        if count == IN_NODE {
            section = section.node(arguments, || node::filters(root, arguments))?;
        }
        sections.push(section);
    }
    Ok(sections)
}

/// Measures the three searches of a small set that others publish.
fn few_filters(arguments: &Arguments) -> Result<Vec<Figure>, String> {
    let mut texts = vec!["device/+/state".to_owned(), "fleet/#".to_owned()];
    texts.extend((0..64).map(|number| format!("device/gear-{number:03}/stats")));
    let set = Set::new(&texts)?;
    let names = [
        ("name of one filter without wildcard", "device/gear-001/stats"),
        ("name of one filter with `+`", "device/gear-001/state"),
        ("name of none", "unknown/topic/here"),
    ];
    let searches = names.map(|(_, name)| Search::new(&set, &texts, name));
    let mut entries = Vec::new();
    for ((what, _), search) in names.iter().zip(searches) {
        let search = search?;
        let (ours, plain) = (search, search);
        let set = &set;
        entries.push(Entry::new(&format!("Wardgate, {what}"), Side::Ours, move |_| {
            set.sum(black_box(&ours)) == ours.expected
        }));
        entries.push(Entry::new(&format!("trie, {what}"), Side::Floor, move |_| {
            set.sum_of_trie(black_box(&plain)) == plain.expected
        }));
    }
    figures(entries, arguments.bounds())
}

/// Measures a large set.
fn many_filters(count: usize, arguments: &Arguments) -> Result<Vec<Figure>, String> {
    let mut random = fastrand::Rng::with_seed(1);
    let texts: Vec<String> = (0..count).map(|number| filter(number, &mut random)).collect();
    let set = Set::new(&texts)?;
    let names: Vec<String> =
        (0..NAMES).filter_map(|_| Some(name(random.choice(&texts)?))).collect();
    let searches =
        names.iter().map(|name| Search::of_trie(&set, name)).collect::<Result<Vec<_>, _>>()?;
    let right = vec![true; searches.len()];
    let cases = Cases { inputs: searches.as_slice(), expected: &right };
    let rows: [Row<'_>; 2] = [
        cases.row("Wardgate, search", Side::Ours, |search| set.sum(search) == search.expected),
        cases.row("trie of hash maps, search", Side::Floor, |search| {
            set.sum_of_trie(search) == search.expected
        }),
    ];
    let mut found = measure::rows(&rows, arguments.bounds())?;
    drop(rows);
    // All were right; their number means nothing here.
    found.iter_mut().for_each(|figure| figure.requests = 0);
    drop(set);
    let changes = RefCell::new(Changes::new(texts, &mut random)?);
    let change = move |_| changes.borrow_mut().one();
    let change = Entry::new("Wardgate, insert or remove", Side::Ours, change).each_of(2);
    found.extend(figures(vec![change], arguments.bounds())?);
    Ok(found)
}

/// A set as both.
struct Set {
    filters: Filters<u32>,
    trie: Trie,
}

impl Set {
    fn new(texts: &[String]) -> Result<Self, String> {
        let (mut filters, mut trie) = (Filters::seeded(9), Trie::default());
        for (value, text) in (1..).zip(texts) {
            filters.insert(checked(text)?, value).map_err(|full| full.to_string())?;
            trie.insert(text, value);
        }
        Ok(Self { filters, trie })
    }

    fn sum(&self, search: &Search<'_>) -> u32 {
        let mut sum = 0_u32;
        self.filters.matches(search.name, &mut |value| sum = sum.wrapping_add(*value));
        sum
    }

    fn sum_of_trie(&self, search: &Search<'_>) -> u32 {
        let mut sum = 0_u32;
        self.trie.matches(search.name.text(), &mut |value| sum = sum.wrapping_add(*value));
        sum
    }

    /// Returns the values that both find.
    fn found(&self, name: Name<'_>) -> Result<Vec<u32>, String> {
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        self.filters.matches(name, &mut |value| ours.push(*value));
        self.trie.matches(name.text(), &mut |value| plain.push(*value));
        ours.sort_unstable();
        plain.sort_unstable();
        if ours == plain { Ok(ours) } else { Err(format!("{name}: {ours:?} but {plain:?}")) }
    }
}

/// A name, and the sum of the values of its filters.
#[derive(Clone, Copy)]
struct Search<'t> {
    name: Name<'t>,
    expected: u32,
}

impl<'t> Search<'t> {
    /// Makes a search whose answer is that of a look at each filter.
    fn new(set: &Set, texts: &[String], name: &'t str) -> Result<Self, String> {
        let search = Self::of_trie(set, name)?;
        let mut expected = 0_u32;
        for (value, text) in (1_u32..).zip(texts) {
            if checked(text)?.matches(search.name) {
                expected = expected.wrapping_add(value);
            }
        }
        if expected == search.expected { Ok(search) } else { Err(format!("{name}: the trie errs")) }
    }

    /// Makes a search whose answer is that of the trie.
    fn of_trie(set: &Set, name: &'t str) -> Result<Self, String> {
        let name = Name::new(name).map_err(|error| error.to_string())?;
        let expected = set.found(name)?.into_iter().fold(0, u32::wrapping_add);
        Ok(Self { name, expected })
    }
}

/// Removes a filter and inserts it again, one after the other in an order that is not that of the
/// set: what belongs to the caller lies in this order, so that its memory is not measured.
struct Changes {
    filters: Filters<u32>,
    order: Vec<(Id, String)>,
    next: usize,
}

impl Changes {
    fn new(texts: Vec<String>, random: &mut fastrand::Rng) -> Result<Self, String> {
        let (mut filters, mut order) = (Filters::seeded(9), Vec::new());
        for (value, text) in (1..).zip(texts) {
            let id = filters.insert(checked(&text)?, value).map_err(|full| full.to_string())?;
            order.push((id, text));
        }
        random.shuffle(&mut order);
        // The texts lie in the order of the changes too.
        let order = order.into_iter().map(|(id, text)| (id, text.as_str().to_owned())).collect();
        Ok(Self { filters, order, next: 0 })
    }

    fn one(&mut self) -> bool {
        let at = self.next;
        self.next = (at + 1) % self.order.len();
        let Some((id, text)) = self.order.get_mut(at) else { return false };
        let Some(value) = self.filters.remove(*id) else { return false };
        let inserted = Filter::new(text).ok().and_then(|it| self.filters.insert(it, value).ok());
        let Some(inserted) = inserted else { return false };
        *id = inserted;
        true
    }
}

fn checked(text: &str) -> Result<Filter<'_>, String> {
    Filter::new(text).map_err(|error| format!("{text}: {error}"))
}

fn filter(number: usize, random: &mut fastrand::Rng) -> String {
    let site = random.usize(..1_000);
    match number % 10 {
        0 => format!("site/{site}/+/{number}"),
        1 => format!("site/{site}/{number}/#"),
        _ => format!("site/{site}/device/{number}"),
    }
}

/// Returns a name that the filter matches.
fn name(filter: &str) -> String {
    filter.replace('+', "device").replace('#', "state")
}

const SIZES: [usize; 3] = [IN_NODE, 100_000, 1_000_000];
/// The size that Node searches too.
const IN_NODE: usize = 10_000;
const NAMES: usize = 100_000;

const FEW_NOTE: &str = "64 filters without wildcard, one with `+` and one with `#`; every match is found. \
    The trie has a hash map at each node.";
const MANY_NOTE: &str = "100,000 names in turn, each of which matches at least one filter; every match is \
    found. Inserting and removing change a set of that size, in random order. In Node, 64 names in turn.";
