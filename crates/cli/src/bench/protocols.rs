//! `wardgate bench protocols`: the same rules and queries, asked in every way there is.
//!
//! Server and clients are in one process, so that a figure is what one machine gives to both. Every way answers
//! all queries as expected before any is timed.

mod chart;
mod clients;
mod serving;
mod workload;

use std::hint::black_box;
use std::time::{Duration, Instant};

use wardgate_spocp::{Normal, RuleSet};

use super::machine::Machine;
use super::units::{approximate, grouped, time};
use crate::arguments::Protocols;
use crate::failure::{Failure, Status};
use crate::output::{Output, progress};
use clients::{Http, Piped, Spocp};
use serving::Serving;
use workload::Workload;

/// What was measured, and what the server says instead of answering over HTTP, if it does.
type Measured = (Vec<Row>, Option<String>);

/// One way to ask, and how quickly it was answered.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) per_second: f64,
    clients: u32,
}

/// A client that is connected.
trait Client: Sized + Send {
    /// Asks the queries with these numbers and compares the answers.
    fn ask(&mut self, workload: &Workload, from: usize, until: usize) -> Result<(), String>;
}

pub(crate) fn run(options: &Protocols, out: &mut Output) -> Result<Status, Failure> {
    progress("making rules and queries ...");
    let workload = Workload::new(options.rules, options.queries);
    let serving = Serving::start(&workload, options)?;
    let measured = measure(options, &workload, &serving);
    progress("");
    serving.stop()?;
    let (rows, refused) =
        measured.map_err(|message| Failure::Message(Status::Disagreement, message))?;
    print(&workload, &rows, out)?;
    if let Some(status) = refused {
        out.line(format_args!("HTTP is left out: the server answers `{status}`"))?;
    }
    std::fs::write(&options.chart, chart::svg(&rows))
        .map_err(|error| Failure::writing(&options.chart, &error))?;
    out.line(format_args!("the chart is in `{}`", options.chart.display()))?;
    Ok(Status::Done)
}

fn measure(
    options: &Protocols,
    workload: &Workload,
    serving: &Serving,
) -> Result<Measured, String> {
    let mut rows = vec![direct(workload)?];
    let many = (options.concurrent > 1).then_some(options.concurrent);
    if let Some(address) = serving.spocp {
        for clients in [Some(1), many].into_iter().flatten() {
            rows.push(ask("TCP", clients, workload, || Spocp::connect(address))?);
        }
        for clients in [Some(1), many].into_iter().flatten() {
            rows.push(ask("TCP, pipelined", clients, workload, || Piped::connect(address))?);
        }
    }
    let first = workload.queries.first();
    if let (Some(address), Some(first)) = (serving.http, first) {
        let status = Http::status(address, first)?;
        if status != "HTTP/1.1 200 OK" {
            return Ok((rows, Some(status)));
        }
        for clients in [Some(1), many].into_iter().flatten() {
            rows.push(ask("HTTP", clients, workload, || Http::connect(address))?);
        }
    }
    Ok((rows, None))
}

/// Asks the set of rules itself, with queries that were read before.
fn direct(workload: &Workload) -> Result<Row, String> {
    progress("asking directly ...");
    let mut set = RuleSet::new();
    for rule in &workload.rules {
        let rule = Normal::from_canonical(rule).map_err(|error| error.to_string())?;
        set.insert(&rule).map_err(|refused| refused.to_string())?;
    }
    let read = |query: &workload::Query| {
        Normal::from_canonical(&query.text).map_err(|error| error.to_string())
    };
    let queries = workload.queries.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    for (query, expected) in queries.iter().zip(&workload.queries) {
        if set.allows(query) != expected.is_allowed {
            return Err(format!(
                "asked directly, `{}` is answered wrong",
                expected.text.escape_ascii()
            ));
        }
    }
    let round = || {
        for query in &queries {
            black_box(set.allows(black_box(query)));
        }
        Ok(())
    };
    let per_second = repeat(queries.len(), round)?;
    Ok(Row { name: "direct".into(), per_second, clients: 1 })
}

/// Lets so many clients ask at the same time, each its part of the queries.
fn ask<C: Client>(
    name: &str,
    count: u32,
    workload: &Workload,
    connect: impl Fn() -> std::io::Result<C>,
) -> Result<Row, String> {
    let plural = if count == 1 { "client" } else { "clients" };
    let name = format!("{name}, {count} {plural}");
    progress(&format!("asking over {name} ..."));
    let count = usize::try_from(count).unwrap_or(1);
    let connected = (0..count).map(|_| connect()).collect::<Result<Vec<_>, _>>();
    let mut clients = connected.map_err(|error| format!("{name}: {error}"))?;
    let total = workload.queries.len();
    let part = |client: usize| (client * total / count, (client + 1) * total / count);
    // All of them by each client, before anything is timed.
    for client in &mut clients {
        client.ask(workload, 0, total).map_err(|error| format!("{name}: {error}"))?;
    }
    let round = || {
        std::thread::scope(|scope| {
            let asking: Vec<_> = clients
                .iter_mut()
                .enumerate()
                .map(|(number, client)| {
                    let (from, until) = part(number);
                    scope.spawn(move || client.ask(workload, from, until))
                })
                .collect();
            asking
                .into_iter()
                .try_for_each(|asking| asking.join().unwrap_or(Err("a client ended".into())))
        })
    };
    let per_second = repeat(total, round).map_err(|error| format!("{name}: {error}"))?;
    Ok(Row { name, per_second, clients: u32::try_from(count).unwrap_or(u32::MAX) })
}

/// Repeats rounds of so many queries for a while, and returns how many were answered in a second.
fn repeat(queries: usize, mut round: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
    round()?;
    let (begin, mut rounds) = (Instant::now(), 0_u64);
    while begin.elapsed() < WHILE {
        round()?;
        rounds += 1;
    }
    let asked = rounds.saturating_mul(u64::try_from(queries).unwrap_or(u64::MAX));
    Ok(approximate(asked) / begin.elapsed().as_secs_f64())
}

fn print(workload: &Workload, rows: &[Row], out: &mut Output) -> Result<(), Failure> {
    let allowed = workload.queries.iter().filter(|query| query.is_allowed).count();
    let (rules, queries) = (workload.rules.len(), workload.queries.len());
    out.line(format_args!("{rules} rules, {queries} queries, {allowed} of them allowed; every answer is the expected one"))?;
    out.line("")?;
    for row in rows {
        let each = time(1e9 * f64::from(row.clients) / row.per_second);
        out.line(format_args!(
            "{:<28} {:>12} queries/s {each:>10} each",
            row.name,
            grouped(row.per_second)
        ))?;
    }
    out.line("")?;
    let machine = Machine::here();
    let processor = machine.processor.as_deref().unwrap_or("unknown processor");
    let debug =
        if cfg!(debug_assertions) { "; NOT OPTIMISED: these figures mean nothing" } else { "" };
    out.line(format_args!("{processor}, {} cores, {}{debug}", machine.cores, machine.system))
}

/// How long each way is measured.
const WHILE: Duration = Duration::from_secs(1);
