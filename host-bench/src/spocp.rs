//! SPOCP: the cost of a query for any number of rules, and of reading and loading.
//!
//! The rules and queries are those of the benchmark of go-spocp, `cmd/protocolperf`: a resource, an
//! action and a subject, half of the queries made from a rule. They hold no star form, so that a
//! plain set of texts gives each right answer; the rules with star forms are few enough to look at
//! one by one.

mod generate;

use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Instant;

use wardgate_spocp::{Normal, RuleSet};

use crate::arguments::Arguments;
use crate::measure::{self, Bounds, Cases, Figure, Row, Side};
use crate::report::{NATIVE, Section};
use generate::Generator;

/// The name of the sections in `--only`.
pub(crate) const NAME: &str = "spocp";

/// Measures.
pub(crate) fn sections(arguments: &Arguments) -> Result<Vec<Section>, String> {
    if !arguments.native {
        return Ok(Vec::new());
    }
    let start = Instant::now();
    let bounds = arguments.bounds();
    let sets = SIZES.map(Case::new).into_iter().collect::<Result<Vec<_>, _>>()?;
    let sections = vec![queries(&sets, bounds)?, reading(bounds)?, loading(&sets, bounds)?];
    eprintln!("{NAME}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(sections)
}

/// Makes a set of this many rules, of which equal ones count once.
///
/// # Errors
/// If a rule cannot be read.
pub fn rules(count: usize) -> Result<RuleSet, String> {
    loaded(&Generator::new().rules(count))
}

/// A set of rules, and queries with their answers.
struct Case {
    name: String,
    texts: Vec<String>,
    set: RuleSet,
    queries: Vec<Query>,
    expected: Vec<bool>,
}

struct Query {
    text: String,
    read: Normal,
}

impl Case {
    fn new(count: usize) -> Result<Self, String> {
        let mut generator = Generator::new();
        let texts = generator.rules(count);
        let queries = generator.queries(&texts, QUERIES);
        let known: HashSet<&str> = texts.iter().map(String::as_str).collect();
        let expected = queries.iter().map(|text| known.contains(text.as_str())).collect();
        let set = loaded(&texts)?;
        let queries = queries.into_iter().map(Query::new).collect::<Result<_, _>>()?;
        let name = format!("{} rules", set.len());
        Ok(Self { name, texts, set, queries, expected })
    }

    /// Makes rules of all star forms; their answers are those of a look at each rule.
    fn starred() -> Result<Self, String> {
        let mut generator = Generator::new();
        let (texts, queries) = generator.starred(STARRED, QUERIES / 10);
        let set = loaded(&texts)?;
        let queries = queries.into_iter().map(Query::new).collect::<Result<Vec<_>, _>>()?;
        let rules: Vec<Normal> = set.iter().map(|(_, rule)| rule).collect();
        let is_allowed = |query: &Query| rules.iter().any(|rule| query.read.is_at_most(rule));
        let expected = queries.iter().map(is_allowed).collect();
        let name = format!("{} rules with star forms", set.len());
        Ok(Self { name, texts, set, queries, expected })
    }

    fn row(&self) -> Row<'_> {
        self.cases().row(&self.name, Side::Ours, |query| self.set.allows(&query.read))
    }

    /// Returns the row in which each query is read first.
    fn row_of_text(&self) -> Row<'_> {
        let buffer = RefCell::new(Normal::default());
        let name = format!("{}, query in canonical form", self.name);
        self.cases().row(&name, Side::Ours, move |query| {
            let mut buffer = buffer.borrow_mut();
            buffer.read_canonical(query.text.as_bytes()).is_ok() && self.set.allows(&buffer)
        })
    }

    /// Returns the row of a look at one rule after the other.
    fn scan<'a>(&'a self, rules: &'a [Normal]) -> Row<'a> {
        let name = format!("{}, one after the other", self.name);
        self.cases()
            .row(&name, Side::Floor, |query| rules.iter().any(|rule| query.read.is_at_most(rule)))
    }

    fn cases(&self) -> Cases<'_, &[Query]> {
        Cases { inputs: &self.queries, expected: &self.expected }
    }
}

impl Query {
    fn new(text: String) -> Result<Self, String> {
        let read = normal(&text)?;
        Ok(Self { text, read })
    }
}

fn queries(sets: &[Case], bounds: Bounds) -> Result<Section, String> {
    let starred = Case::starred()?;
    let scanned: Vec<Normal> =
        sets.first().into_iter().flat_map(|set| set.set.iter()).map(|(_, rule)| rule).collect();
    let mut rows: Vec<Row<'_>> = sets.iter().map(Case::row).collect();
    rows.extend(sets.iter().map(Case::row_of_text));
    rows.extend([starred.row(), starred.row_of_text()]);
    rows.extend(sets.first().map(|set| set.scan(&scanned)));
    let section = Section::new(format!("{NAME}-query"), "SPOCP: is a query allowed?", QUERY_NOTE);
    Ok(section.with(NATIVE, measure::rows(&rows, bounds)?))
}

fn reading(bounds: Bounds) -> Result<Section, String> {
    let row = |(name, text): (&str, &'static str)| {
        let buffer = RefCell::new(Normal::default());
        let cases = Cases { inputs: vec![text; 1000], expected: &[true; 1000] };
        cases.row(&format!("{name}: `{text}`"), Side::Ours, move |text| {
            buffer.borrow_mut().read_canonical(text.as_bytes()).is_ok()
        })
    };
    let rows: Vec<Row<'_>> = TEXTS.into_iter().map(row).collect();
    let section = Section::new(format!("{NAME}-read"), "SPOCP: reading an expression", READ_NOTE);
    Ok(section.with(NATIVE, measure::rows(&rows, bounds)?))
}

fn loading(sets: &[Case], bounds: Bounds) -> Result<Section, String> {
    let load = |set: &Case| -> Result<Figure, String> {
        measure::action(&set.name, Side::Ours, bounds, || loaded(&set.texts).map(drop))
    };
    let section = Section::new(format!("{NAME}-load"), "SPOCP: from texts to a set of rules", "");
    Ok(section.with(NATIVE, sets.iter().map(load).collect::<Result<_, _>>()?))
}

fn loaded(texts: &[String]) -> Result<RuleSet, String> {
    let mut set = RuleSet::new();
    let mut rule = Normal::default();
    for text in texts {
        rule.read_canonical(text.as_bytes()).map_err(|error| format!("{text}: {error}"))?;
        set.insert(&rule).map_err(|error| error.to_string())?;
    }
    Ok(set)
}

fn normal(text: &str) -> Result<Normal, String> {
    Normal::from_canonical(text.as_bytes()).map_err(|error| format!("{text}: {error}"))
}

const QUERY_NOTE: &str = "Half of the queries are made from a rule. Asked is `allows`, by 10,000 different queries in turn. \
    Where nothing else is said, they are read beforehand.";
const READ_NOTE: &str =
    "The canonical form is read and brought into normal form, in a buffer that is used again.";

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const QUERIES: usize = 10_000;
const STARRED: usize = 1_000;

/// The texts of the benchmark of go-spocp.
const TEXTS: [(&str, &str); 3] = [
    ("atom", "5:hello"),
    ("list", "(4:http3:GET)"),
    ("nested", "(4:http(8:resource10:/api/users)(6:action3:GET)(4:user5:alice))"),
];
