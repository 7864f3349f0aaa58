//! Decisions over HTTP: CheckResources and AuthZEN, beside Cerbos and OPA.
//!
//! First in a closed loop, which tells how many calls a server answers; then at half and at four fifths of that
//! rate, which tells how long a caller waits. Before anything is timed, a server has given the answers of the oracle
//! to all calls; while it is timed, each answer must have the length of the one that was checked.

mod answer;
mod calls;
mod targets;

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::arguments::Arguments;
use crate::http::{Load, closed_loop, open_loop, processor_time, resident};
use crate::measure::{Figure, float};
use crate::report::{NATIVE, Section, duration};
use crate::results::digest;
use crate::workload::Workload;
use calls::{CALLS, Calls};
use targets::{Servers, Target};

/// The name of the sections in `--only`.
pub(crate) const NAME: &str = "rest";

/// The extent of a run.
#[derive(Clone, Copy)]
struct Extent {
    connections: &'static [usize],
    runs: usize,
    closed: Duration,
    open: Duration,
}

/// Measures calls of each shape; returns no section without a server.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let workload = Workload::generate(POLICIES)?;
    let Some(servers) = Servers::start(root, arguments, &workload)? else {
        eprintln!("`{NAME}` is left out: there is no `wardgate` program to start");
        return Ok(Vec::new());
    };
    let extent = if arguments.quick { QUICK } else { FULL };
    SHAPES.iter().map(|shape| section(&workload, *shape, &servers, extent)).collect()
}

fn section(
    workload: &Workload,
    (resources, actions): (usize, usize),
    servers: &Servers,
    extent: Extent,
) -> Result<Section, String> {
    let calls = Calls::new(workload, resources, actions)?;
    let mut tables = Tables::default();
    let mut figures = Vec::new();
    for target in servers.targets(&calls)? {
        for connections in extent.connections {
            let name = format!("{}, {connections} connections", target.name);
            let found = measured(&target, *connections, extent, &mut tables, &name);
            figures.extend(found.map_err(|message| format!("{name}: {message}"))?);
        }
        eprintln!("{NAME}-{resources}x{actions}: {}", target.name);
    }
    let title = format!("Over HTTP: {resources} x {actions} resources and actions in a call");
    let mut section = Section::new(format!("{NAME}-{resources}x{actions}"), title, NOTE);
    section.decisions = Some(digest(&calls.expected.concat()));
    section.parameters = parameters(resources, actions);
    section.details = tables.text(servers);
    Ok(section.with(NATIVE, figures))
}

/// Measures one server over so many connections: in a closed loop, then at each share of its rate.
fn measured(
    target: &Target<'_>,
    connections: usize,
    extent: Extent,
    tables: &mut Tables,
    name: &str,
) -> Result<Vec<Figure>, String> {
    let (server, calls) = (target.server, target.calls.as_slice());
    let before = processor_time(server.process());
    let mut loads = Vec::new();
    for _ in 0..extent.runs {
        loads.push(closed_loop(server.address(), calls, connections, extent.closed)?);
    }
    let taken = processor_time(server.process()).zip(before).map(|(after, before)| after - before);
    tables.closed(name, &loads, taken, target.decisions);
    let rate = loads.iter().map(|load| load.rate).fold(0.0, f64::max);
    let runs = loads.into_iter().map(|load| load.samples).collect();
    let mut figures = vec![Figure::of_runs(name.to_owned(), target.side, runs)];
    for percent in SHARES {
        let rate = rate * f64::from(*percent) / 100.0;
        let load = open_loop(server.address(), calls, connections, rate, extent.open)?;
        let name = format!("{name}, open loop at {percent} %");
        let little = load.little;
        let figure = Figure::of_runs(name, target.side, vec![load.samples]);
        tables.open(&figure, rate, little);
        figures.push(figure);
    }
    Ok(figures)
}

/// The tables behind the figures, in Markdown.
#[derive(Default)]
struct Tables {
    closed: String,
    open: String,
}

impl Tables {
    /// Adds the closed loops of a row.
    fn closed(&mut self, name: &str, loads: &[Load], taken: Option<f64>, decisions: usize) {
        let calls: usize = loads.iter().map(|load| load.samples.len()).sum();
        let rate = loads.iter().map(|load| load.rate).fold(0.0, f64::max);
        // Nanoseconds of a call are thousandths of a second for a million of them.
        let seconds = taken.map_or(f64::NAN, |taken| taken / float(calls) / 1e3);
        let carried = |at: usize| {
            let bytes: u64 = loads.iter().filter_map(|load| load.carried.get(at)).sum();
            u32::try_from(bytes / 1000).map_or(f64::NAN, f64::from) * 1e3 / float(calls)
        };
        let little = loads.iter().map(|load| load.little).fold(0.0, f64::max);
        let (sent, received) = (carried(0), carried(1));
        let rates = format!("{rate:.0} | {:.0}", rate * float(decisions));
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.closed,
            "| {name} | {rates} | {seconds:.1} | {sent:.0} | {received:.0} | {little:.2} |"
        );
    }

    /// Adds an open loop.
    fn open(&mut self, figure: &Figure, rate: f64, little: f64) {
        let quantile =
            |of_thousand| figure.quantile(of_thousand).map_or_else(String::new, duration);
        let [p50, p99, p999] = [500, 990, 999].map(quantile);
        let _ = writeln!(
            self.open,
            "| {} | {rate:.0} | {p50} | {p99} | {p999} | {little:.2} |",
            figure.name
        );
    }

    fn text(&self, servers: &Servers) -> String {
        let Self { closed, open } = self;
        let mut out = format!("{CLOSED}{closed}{OPEN}{open}\nResident memory afterwards: ");
        let memory = servers.all().map(|(name, server)| {
            let memory = resident(server.process()).map_or(f64::NAN, float) / 1024.0;
            format!("{name} {memory:.0} MiB")
        });
        out += &memory.collect::<Vec<_>>().join(", ");
        out + ".\n"
    }
}

/// Returns the digests of all decisions: name and parameters of each section.
#[cfg(test)]
pub(crate) fn all_decisions() -> impl Iterator<Item = (String, Json, String)> {
    SHAPES.iter().map(|(resources, actions)| {
        let workload = Workload::generate(POLICIES).expect("the workload is sound");
        let calls = Calls::new(&workload, *resources, *actions).expect("the calls are sound");
        let name = format!("{NAME}-{resources}x{actions}");
        (name, parameters(*resources, *actions), digest(&calls.expected.concat()))
    })
}

fn parameters(resources: usize, actions: usize) -> Json {
    json!({ "resources": resources, "actions": actions, "calls": CALLS })
}

/// The workload whose policies the servers have.
const POLICIES: &str = "five-rules-20";
/// Resources, and actions of each, of a call.
const SHAPES: &[(usize, usize)] = &[(1, 1), (1, 4), (50, 4)];
/// The rates of open loops, in hundredths of that of the closed loop.
const SHARES: &[u32] = &[50, 80];

const FULL: Extent = Extent {
    connections: &[1, 16, 64, 256, 1024],
    runs: 3,
    closed: Duration::from_millis(700),
    open: Duration::from_millis(1500),
};
const QUICK: Extent = Extent {
    connections: &[1, 16],
    runs: 1,
    closed: Duration::from_millis(400),
    open: Duration::from_millis(400),
};

const NOTE: &str = "Connections stay open. In a closed loop a time is that of a call from its first byte to its last; in an open loop it \
    begins when the call is due, so that waiting counts. Client and server share the cores of the machine. Every server has its log of \
    requests off. AuthZEN asks by one evaluation, or by a list of them; OPA by the path of the rule, or of one that goes through \
    resources and actions.";
const CLOSED: &str = "\nClosed loops: the most calls each second of a run; of a million calls the processor time of the server, and the \
    megabytes there and back with their heads. The last column is connections divided by rate times mean time, 1 by Little's law: the more it \
    is above, the more of the time the client takes itself.\n\n\
    | | calls/s | decisions/s | CPU s | MB sent | MB received | Little |\n|---|--:|--:|--:|--:|--:|--:|\n";
const OPEN: &str = "\nOpen loops. The last column is the mean number of calls under way, looked at while they are made, divided by rate \
    times mean time; it is 1 by Little's law.\n\n\
    | | calls/s | p50 | p99 | p99.9 | Little |\n|---|--:|--:|--:|--:|--:|\n";
