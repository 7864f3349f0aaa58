//! The measurements, as text and as JSON.

use serde_json::{Value as Json, json};

use super::figures::{Figures, Growth, Host, Memory};
use super::histogram::{Bucket, buckets, draw};
use super::machine::Machine;
use super::units::{approximate, grouped, size, three_digits, time, whole};
use super::workload::Workload;
use crate::failure::Result;
use crate::output::{Output, Tone, shown};

/// Everything that was measured.
pub(crate) struct Report {
    requests: usize,
    decisions: usize,
    allowed: usize,
    hosts: Vec<Figures>,
    machine: Machine,
}

impl Report {
    pub(crate) fn new(workload: &Workload, answers: &[bool], hosts: Vec<Figures>) -> Self {
        Self {
            requests: workload.requests().len(),
            decisions: answers.len(),
            allowed: answers.iter().filter(|allowed| **allowed).count(),
            hosts,
            machine: Machine::here(),
        }
    }

    pub(crate) fn json(&self) -> Json {
        json!({
            "requests": self.requests,
            "decisions": self.decisions,
            "allowed": self.allowed,
            "hosts": self.hosts.iter().map(host_json).collect::<Vec<_>>(),
            "version": VERSION,
            "optimised": OPTIMISED,
            "machine": {
                "processor": self.machine.processor,
                "cores": self.machine.cores,
                "system": self.machine.system,
            },
        })
    }

    pub(crate) fn print(&self, out: &mut Output) -> Result<()> {
        let requests = counted(self.requests, "request", "requests");
        let decisions = counted(self.decisions, "decision", "decisions");
        let (allowed, denied) = (count(self.allowed), count(self.decisions - self.allowed));
        out.line(format_args!("{decisions} on {requests}: {allowed} allowed, {denied} denied"))?;
        if self.hosts.iter().any(|it| it.host != Host::Native) {
            out.line("every answer in Node is the native one")?;
        }
        for figures in &self.hosts {
            out.line("")?;
            self.print_host(figures, out)?;
        }
        out.line("")?;
        self.print_comparison(out)?;
        self.print_machine(out)
    }

    fn print_host(&self, figures: &Figures, out: &mut Output) -> Result<()> {
        out.line(out.paint(Tone::Title, &title(&figures.host)))?;
        let Figures { pace, samples, .. } = figures;
        let (rate, one) = (grouped(pace.per_second()), time(pace.nanoseconds()));
        field(out, "throughput", &format!("{rate} decisions per second, {one} each"))?;
        let quantiles = marks(figures).map(|(name, it)| format!("{name} {}", time(it)));
        let longest = time(samples.longest());
        field(out, "one decision", &format!("{}, longest {longest}", quantiles.join(", ")))?;
        print_memory(&figures.memory, out)?;
        print_timing(figures, out)?;
        if approximate(pace.decisions) < approximate(wide(self.decisions)) {
            let decisions = grouped(approximate(pace.decisions));
            let note = format!("time for {decisions} of the decisions only: give more `--seconds`");
            field(out, "note", &note)?;
        }
        if figures.host == Host::Native && !OPTIMISED {
            field(out, "note", "built without optimisation: these figures mean nothing")?;
        }
        out.line("")?;
        print_histogram(figures, out)
    }

    /// Says how much longer WebAssembly takes.
    fn print_comparison(&self, out: &mut Output) -> Result<()> {
        let [native, node] = self.hosts.as_slice() else { return Ok(()) };
        // Other work of the machine changes the average, and hardly the median.
        let median = |it: &Figures| it.samples.quantile(500_000);
        let average = |it: &Figures| it.pace.nanoseconds();
        let times = |of: fn(&Figures) -> f64| three_digits(of(node) / of(native).max(1e-3));
        let (median, average) = (times(median), times(average));
        out.line(format_args!(
            "in Node the median decision takes {median} times as long, the average one {average} times"
        ))
    }

    fn print_machine(&self, out: &mut Output) -> Result<()> {
        let Machine { processor, cores, system } = &self.machine;
        let cores = counted(*cores, "core", "cores");
        let first = format!("wardgate {VERSION} on {system}, {cores}");
        for line in [Some(&first), processor.as_ref()].into_iter().flatten() {
            out.line(out.paint(Tone::Aside, &shown(line)))?;
        }
        Ok(())
    }
}

fn title(host: &Host) -> String {
    match host {
        Host::Native => "native".to_owned(),
        Host::Node(version) => format!("WebAssembly in Node {version}"),
    }
}

fn print_memory(memory: &Memory, out: &mut Output) -> Result<()> {
    match *memory {
        Memory::Allocated { times: 0.0, .. } => field(out, "allocations", "none"),
        Memory::Allocated { times, bytes } => {
            let (times, bytes) = (three_digits(times), size(bytes));
            field(out, "allocations", &format!("{times} per decision, {bytes}"))
        }
        Memory::Grown(Growth { heap_per_decision, heap, linear_size, linear }) => {
            let (each, total) = (size(heap_per_decision), size(heap));
            field(out, "heap", &format!("{each} per decision; grew by {total} in all"))?;
            let (grown, size) = (size(approximate(linear)), size(approximate(linear_size)));
            field(out, "linear memory", &format!("grew by {grown} to {size}"))
        }
    }
}

/// Says how single decisions were timed.
fn print_timing(figures: &Figures, out: &mut Output) -> Result<()> {
    let samples = grouped(approximate(figures.samples.total()));
    let timed = match figures.clock.group {
        1 => format!("{samples} decisions, one by one"),
        group => {
            format!("{samples} times {group} in a row, as one is too short")
        }
    };
    field(out, "timed", &timed)?;
    let cost = time(figures.clock.cost);
    field(out, "clock", &format!("{cost} to read, taken off each time"))
}

fn print_histogram(figures: &Figures, out: &mut Output) -> Result<()> {
    for row in draw(&histogram(figures), &marks(figures)) {
        // The colour must not count as width.
        let gap = " ".repeat(BAR.saturating_sub(row.bar.chars().count()));
        let bar = out.paint(Tone::Bar, &row.bar);
        let (label, share) = (row.label, row.share);
        let line = format!("  {label:>11}  {bar}{gap}  {share:>8}  {}", row.marks);
        out.line(line.trim_end())?;
    }
    Ok(())
}

fn histogram(figures: &Figures) -> Vec<Bucket> {
    buckets(&figures.samples, SPACING / f64::from(figures.clock.group.max(1)))
}

/// Returns the quantiles of the report.
fn marks(figures: &Figures) -> [(&'static str, f64); 3] {
    let samples = &figures.samples;
    [
        ("p50", samples.quantile(500_000)),
        ("p99", samples.quantile(990_000)),
        ("p99.9", samples.quantile(999_000)),
    ]
}

fn host_json(figures: &Figures) -> Json {
    let Figures { host, pace, clock, samples, memory } = figures;
    let [(_, p50), (_, p99), (_, p999)] = marks(figures).map(|(name, it)| (name, rounded(it)));
    let bucket =
        |bucket: &Bucket| json!({ "upTo": bucket.up_to.map(rounded), "count": bucket.count });
    let mut json = json!({
        "host": host.name(),
        "decisions": pace.decisions,
        "seconds": pace.seconds,
        "decisionsPerSecond": whole(pace.per_second()),
        "nanoseconds": {
            "mean": rounded(pace.nanoseconds()),
            "p50": p50, "p99": p99, "p99.9": p999,
            "longest": rounded(samples.longest()),
        },
        "samples": samples.total(),
        "decisionsInSample": clock.group,
        "clock": { "nanoseconds": rounded(clock.cost), "step": rounded(clock.step) },
        "memory": memory_json(memory),
        "histogram": histogram(figures).iter().map(bucket).collect::<Vec<_>>(),
    });
    if let (Host::Node(version), Some(fields)) = (host, json.as_object_mut()) {
        fields.insert("node".to_owned(), version.as_str().into());
    }
    json
}

fn memory_json(memory: &Memory) -> Json {
    match *memory {
        Memory::Allocated { times, bytes } => json!({
            "allocationsPerDecision": rounded(times), "bytesPerDecision": rounded(bytes),
        }),
        Memory::Grown(Growth { heap_per_decision, heap, linear_size, linear }) => json!({
            "heapBytesPerDecision": rounded(heap_per_decision), "heapGrowth": heap,
            "linearBytes": linear_size, "linearGrowth": linear,
        }),
    }
}

fn field(out: &mut Output, name: &str, value: &str) -> Result<()> {
    out.line(format_args!("  {name:15}{value}"))
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

fn count(number: usize) -> String {
    grouped(approximate(wide(number)))
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Rounds to a thousandth: more digits would only look exact.
fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

/// Columns for bars.
const BAR: usize = 40;

/// The nanoseconds of the smallest step of a clock.
const SPACING: f64 = 2.0;

const VERSION: &str = env!("CARGO_PKG_VERSION");

const OPTIMISED: bool = !cfg!(debug_assertions);
