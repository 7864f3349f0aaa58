//! The figures for a person and for a program.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::machine::Machine;
use crate::measure::{Figure, Side};
use crate::node;

/// Everything that one run found.
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) measured: Vec<Measured>,
}

/// The figures of one workload.
pub(crate) struct Measured {
    pub(crate) kinds: usize,
    pub(crate) requests: usize,
    pub(crate) native: Vec<Figure>,
    pub(crate) node: Option<node::Measured>,
}

impl Report {
    pub(crate) fn table(&self) -> String {
        let Machine { date, processor, cores, commit, command } = &self.machine;
        let mut out = format!("{date}, {processor}, {cores} cores\ncommit {commit}\n{command}\n");
        for measured in &self.measured {
            measured.write(&mut out);
        }
        out
    }

    pub(crate) fn json(&self) -> Json {
        let Machine { date, processor, cores, commit, command } = &self.machine;
        json!({
            "date": date,
            "processor": processor,
            "cores": cores,
            "commit": commit,
            "command": command,
            "workloads": self.measured.iter().map(Measured::json).collect::<Vec<_>>(),
        })
    }
}

impl Measured {
    fn write(&self, out: &mut String) {
        let Self { kinds, requests, .. } = self;
        let rules = kinds * RULES_OF_A_KIND;
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n{kinds} kinds, {rules} rules, {requests} requests");
        write_host(out, "native", &self.native);
        if let Some(node) = &self.node {
            write_host(out, &format!("Node {}", node.version), &node.figures);
        }
    }

    fn json(&self) -> Json {
        let mut hosts = vec![host_json("native", None, &self.native)];
        if let Some(node) = &self.node {
            hosts.push(host_json("node", Some(&node.version), &node.figures));
        }
        let rules = self.kinds * RULES_OF_A_KIND;
        json!({"kinds": self.kinds, "rules": rules, "requests": self.requests, "hosts": hosts})
    }
}

fn write_host(out: &mut String, host: &str, figures: &[Figure]) {
    let _ = writeln!(out, "\n  {host:<36} {:>13}  {:>12}", "ns a decision", "times ours");
    for figure in figures {
        let Figure { name, nanoseconds, .. } = figure;
        let ratio = nanoseconds / ours(figures);
        let decimals = if ratio < 1.0 { 4 } else { 1 };
        let _ = writeln!(out, "  {name:<36} {nanoseconds:>13.1}  {ratio:>12.decimals$}");
    }
}

fn host_json(host: &str, version: Option<&str>, figures: &[Figure]) -> Json {
    let row = |figure: &Figure| {
        json!({
            "name": figure.name,
            "side": figure.side.word(),
            "nanoseconds": figure.nanoseconds,
            "timesOurs": figure.nanoseconds / ours(figures),
        })
    };
    json!({"host": host, "version": version, "rows": figures.iter().map(row).collect::<Vec<_>>()})
}

/// The time that the others are compared with: that of our first row.
fn ours(figures: &[Figure]) -> f64 {
    let ours = figures.iter().find(|figure| figure.side == Side::Ours);
    ours.map_or(f64::NAN, |figure| figure.nanoseconds)
}

const RULES_OF_A_KIND: usize = 5;
