//! The figures for a person and for a program.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::machine::Machine;
use crate::measure::{Figure, Side};

/// Everything that one run found.
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) sections: Vec<Section>,
}

/// Figures that belong beside each other.
pub(crate) struct Section {
    /// What files call it.
    pub(crate) name: String,
    pub(crate) title: String,
    /// What a reader must know to read the figures rightly.
    pub(crate) note: &'static str,
    /// The figures of each host.
    pub(crate) hosts: Vec<(String, Vec<Figure>)>,
}

impl Report {
    /// The report as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = format!("# Figures\n\n{}\n{READ}", self.machine.list());
        for section in &self.sections {
            section.write(&mut out);
        }
        out
    }

    pub(crate) fn json(&self) -> Json {
        let sections: Vec<Json> = self.sections.iter().map(Section::json).collect();
        json!({ "machine": self.machine.json(), "sections": sections })
    }
}

impl Section {
    /// Writes the section with its chart.
    pub(crate) fn write(&self, out: &mut String) {
        let Self { name, title, note, .. } = self;
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n## {title}\n\n![{title}](charts/{name}.svg)");
        if !note.is_empty() {
            let _ = writeln!(out, "\n{note}");
        }
        for (host, figures) in &self.hosts {
            write_host(out, host, figures);
        }
    }

    fn json(&self) -> Json {
        let hosts = self.hosts.iter().map(|(host, figures)| {
            let rows: Vec<Json> = figures.iter().map(figure_json).collect();
            json!({ "host": host, "rows": rows })
        });
        json!({ "name": self.name, "title": self.title, "hosts": hosts.collect::<Vec<_>>() })
    }
}

fn write_host(out: &mut String, host: &str, figures: &[Figure]) {
    let asked = figures.iter().any(|figure| figure.requests > 0);
    let _ = write!(out, "\n| {host} | median | times ours |");
    let _ = writeln!(
        out,
        "{}",
        if asked { " requests |\n|---|--:|--:|--:|" } else { "\n|---|--:|--:|" }
    );
    for figure in figures {
        let Figure { name, nanoseconds, requests, .. } = figure;
        let _ = write!(out, "| {name} | {} | {} |", duration(*nanoseconds), ratio(figure, figures));
        let _ = if asked { writeln!(out, " {requests} |") } else { writeln!(out) };
    }
}

/// How many times as long as our first row a row takes.
fn ratio(figure: &Figure, figures: &[Figure]) -> String {
    let Some(ours) = figures.iter().find(|figure| figure.side == Side::Ours) else {
        return String::new();
    };
    grouped(figure.nanoseconds / ours.nanoseconds)
}

fn figure_json(figure: &Figure) -> Json {
    let Figure { name, side, nanoseconds, requests } = figure;
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

const READ: &str = "
`host-bench/README.md` says how the figures come about. Each is the median time of one decision, unless its
heading says otherwise. \"requests\" is how many of the 2000 requests a row had time to answer; every answer
was right, or there would be no figure.
";

#[cfg(test)]
mod tests {
    use super::duration;

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
}
