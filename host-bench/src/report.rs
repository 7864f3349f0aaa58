//! The figures as Markdown for a person and as JSON for a program.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::arguments::Arguments;
use crate::machine::Machine;
use crate::measure::{Figure, Side, float};
use crate::node;

/// All figures of one run.
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) sections: Vec<Section>,
    pub(crate) ratios: Vec<Ratio>,
}

/// Figures that belong beside each other.
#[derive(Default)]
pub(crate) struct Section {
    /// Its name in files.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The notes that a reader needs to understand the figures.
    pub(crate) note: &'static str,
    /// The number of bytes that each row processes, where its throughput matters.
    pub(crate) bytes: usize,
    /// Tables behind the figures, in Markdown.
    pub(crate) details: String,
    /// The same for a program.
    pub(crate) json: Json,
    /// The digest of the decisions that every row of the section made; `None` if it makes none.
    pub(crate) decisions: Option<String>,
    /// The numbers that the workload was made with.
    pub(crate) parameters: Json,
    /// The figures of each host.
    pub(crate) hosts: Vec<(String, Vec<Figure>)>,
}

/// The figures of one host.
type Figures = Result<Vec<Figure>, String>;

/// A ratio of a rival's time to ours, and the promised one.
pub(crate) struct Ratio {
    pub(crate) what: String,
    pub(crate) found: f64,
    pub(crate) promised: f64,
}

impl Report {
    /// Returns the report as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = format!("# Figures\n\n{}\n{READ}", self.machine.list());
        for section in &self.sections {
            section.write(&mut out);
        }
        write_ratios(&mut out, &self.ratios);
        out
    }

    pub(crate) fn json(&self) -> Json {
        let sections: Vec<Json> = self.sections.iter().map(Section::json).collect();
        let ratios = self.ratios.iter().map(|Ratio { what, found, promised }| {
            json!({ "what": what, "found": found, "promised": promised })
        });
        let ratios: Vec<Json> = ratios.collect();
        json!({ "machine": self.machine.json(), "sections": sections, "ratios": ratios })
    }
}

impl Section {
    /// Makes a section without figures.
    pub(crate) fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        note: &'static str,
    ) -> Self {
        Self { name: name.into(), title: title.into(), note, ..Self::default() }
    }

    /// Adds the figures of a host.
    pub(crate) fn with(mut self, host: &str, figures: Vec<Figure>) -> Self {
        self.hosts.push((host.to_owned(), figures));
        self
    }

    /// Adds the native figures, if they are selected.
    pub(crate) fn native(
        self,
        arguments: &Arguments,
        measure: impl FnOnce() -> Figures,
    ) -> Result<Self, String> {
        if arguments.native { Ok(self.with(NATIVE, measure()?)) } else { Ok(self) }
    }

    /// Adds the figures of Node, if they are selected.
    pub(crate) fn node(
        self,
        arguments: &Arguments,
        measure: impl FnOnce() -> Figures,
    ) -> Result<Self, String> {
        if arguments.node { Ok(self.with(&node::name()?, measure()?)) } else { Ok(self) }
    }

    /// Writes the section with its chart.
    pub(crate) fn write(&self, out: &mut String) {
        let Self { name, title, note, .. } = self;
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n## {title}\n\n![{title}](charts/{name}.svg)");
        if !note.is_empty() {
            let _ = writeln!(out, "\n{note}");
        }
        for (host, figures) in &self.hosts {
            write_host(out, host, figures, self.bytes);
        }
        out.push_str(&self.details);
    }

    fn json(&self) -> Json {
        let hosts = self.hosts.iter().map(|(host, figures)| {
            let rows: Vec<Json> = figures.iter().map(figure_json).collect();
            json!({ "host": host, "rows": rows })
        });
        let hosts = hosts.collect::<Vec<_>>();
        json!({ "name": self.name, "title": self.title, "hosts": hosts, "details": self.json })
    }
}

fn write_host(out: &mut String, host: &str, figures: &[Figure], bytes: usize) {
    let has_requests = figures.iter().any(|figure| figure.requests > 0);
    let has_p99 = figures.iter().any(|figure| figure.p99().is_some());
    let mut columns = vec![host, "median", "times ours"];
    columns.extend(has_p99.then_some("p99"));
    columns.extend(has_requests.then_some("requests"));
    columns.extend((bytes > 0).then_some("GiB/s"));
    let _ = writeln!(out, "\n| {} |", columns.join(" | "));
    let _ = writeln!(out, "|---{}|", "|--:".repeat(columns.len() - 1));
    for figure in figures {
        let Figure { name, nanoseconds, requests, .. } = figure;
        let mut cells = vec![name.clone(), duration(*nanoseconds), ratio(figure, figures)];
        cells.extend(has_p99.then(|| figure.p99().map_or_else(String::new, duration)));
        cells.extend(has_requests.then(|| requests.to_string()));
        cells
            .extend((bytes > 0).then(|| grouped(float(bytes) / nanoseconds / NANOSECONDS_PER_GIB)));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

/// Writes the promised ratios, if there are any.
fn write_ratios(out: &mut String, ratios: &[Ratio]) {
    if ratios.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## Ratios that are promised\n\n{RATIOS}");
    for Ratio { what, found, promised } in ratios {
        let word = if found >= promised { "" } else { "missed" };
        let _ = writeln!(out, "| {what} | {} | {} | {word} |", grouped(*found), grouped(*promised));
    }
}

/// Returns the ratio of a row's time to that of our first row.
fn ratio(figure: &Figure, figures: &[Figure]) -> String {
    let ours = figures.iter().find(|figure| figure.side == Side::Ours);
    ours.map_or_else(String::new, |ours| grouped(figure.nanoseconds / ours.nanoseconds))
}

fn figure_json(figure: &Figure) -> Json {
    let Figure { name, side, nanoseconds, requests, .. } = figure;
    json!({ "name": name, "side": side.word(), "nanoseconds": nanoseconds, "requests": requests })
}

/// Spells a duration with three digits that count: `35.2 ns`, `2.41 us`, `1.30 ms`.
pub(crate) fn duration(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "us"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    format!("{} {unit}", grouped(value))
}

/// Spells a number with about three digits that count.
fn grouped(value: f64) -> String {
    let decimals = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 0.1 => 2,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if decimals > 0 { text } else { thousands(&text) }
}

/// Sets commas between groups of three digits.
fn thousands(digits: &str) -> String {
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The name of the host without Node.
pub(crate) const NATIVE: &str = "native";

const READ: &str = "
`host-bench/README.md` says how the figures come about. Each is the median time of one decision, unless its
heading says otherwise. \"requests\" is how many of the 2000 requests a row had time to answer; every answer
was right, or there would be no figure.
";

const RATIOS: &str = "\
How many times as long as ours the fastest row of a rival takes, in this run.

| what | found | promised | |
|---|--:|--:|---|";

/// The nanoseconds for a byte at one GiB each second: 2^30 bytes in 10^9 ns.
const NANOSECONDS_PER_GIB: f64 = 1.073_741_824;

#[cfg(test)]
mod tests {
    use super::{Ratio, duration, write_host, write_ratios};
    use crate::measure::{Figure, Side};

    #[test]
    fn durations_have_three_digits_that_count() {
        let check = |nanoseconds, expected| assert_eq!(duration(nanoseconds), expected);
        check(0.12345, "0.12 ns");
        check(35.24, "35.2 ns");
        check(2412.0, "2.41 us");
        check(254_000.0, "254 us");
        check(1.3e6, "1.30 ms");
        check(4.2e9, "4.20 s");
    }

    #[test]
    fn columns_without_content_are_left_out() {
        let check = |requests, bytes, expected: &str| {
            let figure = Figure { requests, ..Figure::new("x".into(), Side::Ours, 2.0) };
            let mut out = String::new();
            write_host(&mut out, "native", &[figure], bytes);
            assert_eq!(out.lines().last(), Some(expected));
        };
        check(0, 0, "| x | 2.00 ns | 1.00 |");
        check(7, 0, "| x | 2.00 ns | 1.00 | 7 |");
        check(0, 1 << 31, "| x | 2.00 ns | 1.00 | 1,000,000,000 |");
    }

    #[test]
    fn a_missed_ratio_is_marked() {
        let check = |found, expected: &str| {
            let mut out = String::new();
            write_ratios(&mut out, &[Ratio { what: "x".into(), found, promised: 5.0 }]);
            assert_eq!(out.lines().last(), Some(expected));
        };
        check(5.0, "| x | 5.00 | 5.00 |  |");
        check(4.994, "| x | 4.99 | 5.00 | missed |");
    }
}
