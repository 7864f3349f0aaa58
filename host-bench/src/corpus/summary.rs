//! The figures of all folders together.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use super::ways::Counts;
use super::{HostWays, Measured};
use crate::measure::{Figure, Side, float, median};
use crate::report::{NATIVE, duration};

/// The folders of a run.
#[derive(Default)]
pub(crate) struct Summary {
    pub(crate) folders: Vec<Measured>,
    /// The number of folders whose policies do not compile.
    pub(crate) refused: usize,
}

/// A figure of a folder.
type Read<'r> = &'r dyn Fn(&Measured) -> Option<f64>;

/// The rows of a folder on one host.
type Rows = fn(&Measured) -> &Vec<Figure>;

/// The decisions about one sort of requests.
type Sort = fn(&HostWays) -> &Counts;

impl Summary {
    pub(crate) fn title(&self) -> String {
        let rules: usize = self.folders.iter().map(|folder| folder.rules).sum();
        format!("Real policies: {} folders with {rules} rules", self.folders.len())
    }

    /// Returns the median of each row over the folders that have it.
    pub(crate) fn medians(&self, rows: impl Fn(&Measured) -> &Vec<Figure>) -> Vec<Figure> {
        let names = self.names(&rows);
        let of_name = |name: String| {
            let times = self.values(&|folder| time(rows(folder), &name));
            Figure::new(name, Side::Ours, median(times))
        };
        names.into_iter().map(of_name).collect()
    }

    /// Returns the tables behind the figures.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\nOver the folders; {} more do not compile.", self.refused);
        self.spread(&mut out);
        self.ways(&mut out);
        for (number, set) in ["requests of suites", "generated requests"].iter().enumerate() {
            let all = self.folders.iter().filter_map(|folder| folder.checks.get(number));
            write_table(&mut out, &format!("{set}, `check` in Node"), "requests", &total(all));
        }
        let actions = total(self.folders.iter().map(|folder| &folder.actions));
        write_table(&mut out, "kinds, versions, scopes and actions", "number", &actions);
        out
    }

    /// Writes how each row and size is spread over the folders.
    fn spread(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "\n| | folders | median | three quarters | worst |\n|---|--:|--:|--:|--:|"
        );
        let hosts: [(&str, Rows); 2] =
            [(NATIVE, |folder| &folder.native), ("Node", |folder| &folder.node)];
        for (host, rows) in hosts {
            for name in self.names(rows) {
                let read: Read<'_> = &|folder| time(rows(folder), &name);
                self.row(out, &format!("{host}: {name}"), read, &duration);
            }
        }
        for (number, name) in
            ["bytes for each rule", "bytes for each rule, gzip"].iter().enumerate()
        {
            let read: Read<'_> = &|folder| {
                let bytes = folder.bytes.get(number)?;
                (folder.rules > 0).then(|| float(*bytes) / float(folder.rules))
            };
            self.row(out, name, read, &|bytes| format!("{bytes:.0}"));
        }
        for (number, name) in ["natively", "in Node"].iter().enumerate() {
            let read: Read<'_> = &|folder| share_beside(&folder.ways.get(number)?.suites);
            self.row(out, &format!("suites beside fast paths, {name}"), read, &percent);
            let read: Read<'_> = &|folder| share_beside(&folder.ways.get(number)?.generated);
            self.row(out, &format!("generated beside fast paths, {name}"), read, &percent);
        }
    }

    fn row(&self, out: &mut String, name: &str, read: Read<'_>, show: &dyn Fn(f64) -> String) {
        let mut values = self.values(read);
        values.sort_by(f64::total_cmp);
        let Some(worst) = values.last().copied() else { return };
        let quarter = values.get((values.len() * 3).div_ceil(4) - 1).copied().unwrap_or(worst);
        let (count, middle) = (values.len(), median(values));
        let cells = [middle, quarter, worst].map(show).join(" | ");
        let _ = writeln!(out, "| {name} | {count} | {cells} |");
    }

    /// Writes the decisions by their way.
    fn ways(&self, out: &mut String) {
        let sets: [(&str, Sort); 2] = [
            ("requests of suites", |ways| &ways.suites),
            ("generated requests", |ways| &ways.generated),
        ];
        for (set, counts) in sets {
            for host in self.hosts() {
                let of_host = |folder: &'_ Measured| -> Vec<(&'static str, usize)> {
                    let ways = folder.ways.iter().filter(|ways| ways.host == host);
                    ways.flat_map(|ways| counts(ways).sorted()).collect()
                };
                let all: Counts = self.folders.iter().flat_map(of_host).collect();
                write_table(out, &format!("{set}, {host}"), "decisions", &all);
            }
        }
    }

    /// Returns the hosts in the order in which they decided.
    fn hosts(&self) -> Vec<&'static str> {
        let first = self.folders.first();
        first.into_iter().flat_map(|folder| &folder.ways).map(|ways| ways.host).collect()
    }

    /// Returns the figures for a program, those of each folder by its name.
    pub(crate) fn json(&self) -> Json {
        let counts = |counts: &Counts| -> Json {
            counts
                .sorted()
                .into_iter()
                .map(|(name, count)| (name.to_owned(), json!(count)))
                .collect()
        };
        let times = |rows: &[Figure]| -> Json {
            rows.iter().map(|row| (row.name.clone(), json!(row.nanoseconds))).collect()
        };
        let ways = |ways: &HostWays| {
            let sets = json!({
                "suites": counts(&ways.suites),
                "generated": counts(&ways.generated),
                "examples": ways.examples,
            });
            (ways.host.to_owned(), sets)
        };
        let folder = |folder: &Measured| {
            json!({
                "name": folder.name,
                "rules": folder.rules,
                "bytes": folder.bytes,
                "actions": counts(&folder.actions),
                "checks": folder.checks.iter().map(counts).collect::<Json>(),
                "ways": folder.ways.iter().map(ways).collect::<Json>(),
                "native": times(&folder.native),
                "node": times(&folder.node),
            })
        };
        json!({ "refused": self.refused, "folders": self.folders.iter().map(folder).collect::<Json>() })
    }

    /// Returns the names of the rows, in the order in which folders have them.
    fn names(&self, rows: impl Fn(&Measured) -> &Vec<Figure>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for figure in self.folders.iter().flat_map(rows) {
            if !names.contains(&figure.name) {
                names.push(figure.name.clone());
            }
        }
        names
    }

    fn values(&self, read: Read<'_>) -> Vec<f64> {
        self.folders.iter().filter_map(read).collect()
    }
}

fn time(rows: &[Figure], name: &str) -> Option<f64> {
    rows.iter().find(|figure| figure.name == name).map(|figure| figure.nanoseconds)
}

/// Returns the share of decisions that leave the fast path.
fn share_beside(counts: &Counts) -> Option<f64> {
    let (all, fast) = (counts.sum(), counts.fast());
    (all > 0).then(|| float(all - fast) / float(all))
}

fn total<'c>(all: impl Iterator<Item = &'c Counts>) -> Counts {
    all.flat_map(Counts::sorted).collect()
}

/// Writes a table of counts, unless there are none.
fn write_table(out: &mut String, what: &str, unit: &str, counts: &Counts) {
    if counts.sum() == 0 {
        return;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n| {what} | {unit} | share |\n|---|--:|--:|");
    let all = float(counts.sum());
    for (name, count) in counts.sorted() {
        let _ = writeln!(out, "| {name} | {count} | {} |", percent(float(count) / all));
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}
