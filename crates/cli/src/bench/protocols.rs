//! `wardgate bench protocols`: measures the same rules and queries over each protocol.
//!
//! Server and clients are in one process, so that a figure is the capacity of one machine for both.
//! The server is that of `wardgate serve`. Over every protocol all answers are compared with the
//! expected ones before any is timed.

mod clients;
mod homes;
mod serving;
mod workload;

use std::hint::black_box;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wardgate_spocp::{Normal, RuleSet};

use super::chart::{Bar, Chart, Group};
use super::machine::Machine;
use super::units::{approximate, grouped, time};
use crate::arguments::Protocols;
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output, progress};
use crate::replace;
use clients::{Http, Piped, Spocp, Stream, Way};
use homes::Homes;
use serving::Serving;
use workload::Workload;

/// The measurements, and the status line of the server if it does not answer over HTTP.
type Measured = (Vec<Row>, Option<String>);

/// One protocol, and its throughput.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) per_second: f64,
    clients: u32,
}

pub(crate) fn run(options: &Protocols, out: &mut Output) -> Result<Status> {
    progress("making rules and queries ...");
    let workload = Arc::new(Workload::new(options.rules, options.queries));
    let serving = Serving::start(&workload, options)?;
    let measured = measure(options, &workload, &serving);
    progress("");
    serving.stop()?;
    let (rows, refused) =
        measured.map_err(|message| Failure::Message(Status::Disagreement, message))?;
    print(options, &workload, &rows, out)?;
    if let Some(status) = refused {
        out.line(format_args!("HTTP is left out: the server answers `{status}`"))?;
    }
    replace::file(&options.chart, chart(&rows).svg().as_bytes())?;
    out.line(format_args!("the chart is in `{}`", options.chart.in_one_line()))?;
    Ok(Status::Done)
}

fn chart(rows: &[Row]) -> Chart<'_> {
    let bar = |row: &Row| {
        let (name, figure) = (row.name.clone(), grouped(row.per_second));
        Bar { name, value: row.per_second, figure, is_ours: true }
    };
    let title = "Queries a second on a logarithmic scale, longer is better";
    Chart {
        title,
        groups: vec![Group { title: String::new(), bars: rows.iter().map(bar).collect() }],
    }
}

fn measure(
    options: &Protocols,
    workload: &Arc<Workload>,
    serving: &Serving,
) -> Result<Measured, String> {
    let mut rows = vec![direct(workload)?];
    let many = (options.concurrent > 1).then_some(options.concurrent);
    let counts = || [Some(1), many].into_iter().flatten();
    let homes = &serving.homes;
    if let Some(address) = serving.spocp {
        for clients in counts() {
            rows.push(row::<Spocp>("TCP", clients, workload, (homes, address))?);
        }
        for clients in counts() {
            rows.push(row::<Piped>("TCP, pipelined", clients, workload, (homes, address))?);
        }
    }
    if let Some(address) = serving.http {
        let status = status(workload, (homes, address))?;
        if status != "HTTP/1.1 200 OK" {
            return Ok((rows, Some(status)));
        }
        for clients in counts() {
            rows.push(row::<Http>("HTTP", clients, workload, (homes, address))?);
        }
    }
    Ok((rows, None))
}

/// Asks the set of rules itself, with queries that were read before.
fn direct(workload: &Workload) -> Result<Row, String> {
    progress("querying directly ...");
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
                "the direct answer to `{}` is wrong",
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

/// Asks the first query over HTTP and returns the first line of the answer.
fn status(workload: &Arc<Workload>, at: (&Homes, SocketAddr)) -> Result<String, String> {
    let mut stream = connect(0, at)?;
    let workload = Arc::clone(workload);
    let request = async move {
        let Some(first) = workload.queries.first() else { return Ok(String::new()) };
        let status = Http::status(&mut stream, first).await;
        stream.close().await;
        status
    };
    at.0.all([request]).map(|lines| lines.concat())
}

/// Measures `count` clients at the same time, each with its part of the queries.
fn row<W: Way>(
    name: &str,
    count: u32,
    workload: &Arc<Workload>,
    at: (&Homes, SocketAddr),
) -> Result<Row, String> {
    let plural = if count == 1 { "client" } else { "clients" };
    let name = format!("{name}, {count} {plural}");
    progress(&format!("querying over {name} ..."));
    let per_second = throughput::<W>(usize::try_from(count).unwrap_or(1), workload, at);
    let per_second = per_second.map_err(|error| format!("{name}: {error}"))?;
    Ok(Row { name, per_second, clients: count })
}

fn throughput<W: Way>(
    count: usize,
    workload: &Arc<Workload>,
    at: (&Homes, SocketAddr),
) -> Result<f64, String> {
    let total = workload.queries.len();
    let work = |mut client: Stream, from, until| {
        let workload = Arc::clone(workload);
        async move {
            let queries = workload.queries.get(from..until).unwrap_or_default();
            W::ask(&mut client, queries).await.map(|()| client)
        }
    };
    let connected = (0..count).map(|number| connect(number, at));
    let mut clients = connected.collect::<Result<Vec<_>, _>>()?;
    // All of them by each client, before anything is timed.
    clients = at.0.all(clients.into_iter().map(|client| work(client, 0, total)))?;
    let round = || {
        let part =
            |(number, client)| work(client, number * total / count, (number + 1) * total / count);
        clients = at.0.all(std::mem::take(&mut clients).into_iter().enumerate().map(part))?;
        Ok(())
    };
    let per_second = repeat(total, round)?;
    let close = |client: Stream| async {
        client.close().await;
        Ok(())
    };
    at.0.all(clients.into_iter().map(close))?;
    Ok(per_second)
}

fn connect(client: usize, (homes, address): (&Homes, SocketAddr)) -> Result<Stream, String> {
    homes.connect(client, address).map(Stream::new).map_err(|error| error.to_string())
}

/// Repeats rounds of `queries` queries for a while, and returns the queries of a second.
fn repeat(queries: usize, mut round: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
    round()?;
    let (begin, mut rounds) = (Instant::now(), 0_u64);
    while begin.elapsed() < WHILE {
        round()?;
        rounds += 1;
    }
    let queries = rounds.saturating_mul(u64::try_from(queries).unwrap_or(u64::MAX));
    Ok(approximate(queries) / begin.elapsed().as_secs_f64())
}

fn print(options: &Protocols, workload: &Workload, rows: &[Row], out: &mut Output) -> Result<()> {
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
    out.line(if options.apart { APART } else { SHARED })?;
    let machine = Machine::here();
    let processor = machine.processor.as_deref().unwrap_or("unknown processor");
    let debug =
        if cfg!(debug_assertions) { "; NOT OPTIMISED: these figures mean nothing" } else { "" };
    out.line(format_args!("{processor}, {} cores, {}{debug}", machine.cores, machine.system))
}

const SHARED: &str = "server and clients are tasks of the same threads, one for each core";
const APART: &str =
    "clients have threads of their own, beside those of the server, one for each core";

/// The time for which each way is measured.
const WHILE: Duration = Duration::from_secs(1);
