//! One run: every selected section, one after the other.

use std::path::{Path, PathBuf};
use std::time::Instant;

use wardgate_engine::request::Request;

use crate::arguments::Arguments;
use crate::arguments::CRYPTO;
#[cfg(feature = "decision-log")]
use crate::arguments::DECISION_LOG;
#[cfg(feature = "shop")]
use crate::arguments::END_TO_END;
#[cfg(feature = "mqtt")]
use crate::arguments::MQTT;
#[cfg(feature = "ratelimit")]
use crate::arguments::RATELIMIT;
#[cfg(feature = "rivals")]
use crate::measure::Row;
use crate::measure::{self, Figure, Side, median};
use crate::node::{self, Job};
use crate::report::Section;
use crate::rows::evaluation::Frames;
use crate::rows::native::Forms;
use crate::rows::wardgate::Compiled;
use crate::workload::{Rivals, Workload};
use crate::{
    accessors, compare, compile, corpus, hospital, oopsla, opa, rest, rows, signed, similar, spocp,
    tenants,
};

/// Measures.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let mut sections = of_workloads(root, arguments)?;
    for Part { name, needs_native, measure } in PARTS {
        if arguments.wants(name) && (arguments.native || !needs_native) {
            sections.extend(measure(root, arguments)?);
        }
    }
    // The sections of the reference workload stand behind those of all workloads, and cryptography is last.
    sections.sort_by_key(|section| {
        let is_last = section.name.starts_with(CRYPTO);
        (is_last, OF_REFERENCE.iter().any(|of| section.name.starts_with(of)))
    });
    Ok(sections)
}

/// Measures the workloads, and what is measured of the reference workload alone.
fn of_workloads(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let mut sections = Vec::new();
    if arguments.node && arguments.opa.is_none() && arguments.decides() {
        eprintln!("opa-wasm is left out: there is no `opa` program to compile its policies");
    }
    for name in Workload::names() {
        let is_reference = name == REFERENCE;
        let others = is_reference && OF_REFERENCE.iter().any(|other| arguments.wants(other));
        if !arguments.wants(&name) && !others {
            continue;
        }
        let start = Instant::now();
        let prepared = Prepared::new(root, arguments, &name)?;
        if arguments.wants(&name) {
            sections.push(prepared.decisions()?);
        }
        if is_reference && arguments.wants("evaluation") {
            sections.push(prepared.evaluation()?);
        }
        if is_reference && arguments.wants("filter") && arguments.node {
            sections.extend(prepared.filter()?);
        }
        if is_reference && arguments.wants("reload") {
            sections.push(prepared.reload()?);
        }
        if is_reference && arguments.wants("cold") && arguments.node {
            sections.extend(prepared.cold()?);
        }
        eprintln!("{name}: {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(sections)
}

/// Sections with a name of their own in `--only`.
struct Part {
    name: &'static str,
    /// True if nothing of it runs in Node.
    needs_native: bool,
    measure: Measure,
}

impl Part {
    const fn native(name: &'static str, measure: Measure) -> Self {
        Self { name, needs_native: true, measure }
    }

    const fn any(name: &'static str, measure: Measure) -> Self {
        Self { name, needs_native: false, measure }
    }
}

type Measure = fn(&Path, &Arguments) -> Result<Vec<Section>, String>;

/// In the order in which they are measured.
const PARTS: &[Part] = &[
    Part::any(signed::NAME, |root, arguments| Ok(vec![signed::section(root, arguments)?])),
    Part::native(compile::NAME, compile::sections),
    Part::native(compare::NAME, compare::sections),
    Part::any(similar::NAME, similar::sections),
    Part::native(hospital::NAME, |_, arguments| hospital::sections(arguments)),
    Part::native(tenants::NAME, tenants::sections),
    Part::native(rest::NAME, rest::sections),
    #[cfg(feature = "shop")]
    Part::any(END_TO_END, crate::end_to_end::sections),
    Part::any(oopsla::NAME, oopsla::sections),
    Part::any(corpus::NAME, corpus::sections),
    #[cfg(feature = "hosts")]
    Part::any(crate::hosts::NAME, |_, arguments| {
        let hosts = arguments.hosts.iter();
        hosts.map(|folder| crate::hosts::section(folder, arguments.bounds())).collect()
    }),
    Part::any(spocp::NAME, |_, arguments| spocp::sections(arguments)),
    #[cfg(feature = "decision-log")]
    Part::native(DECISION_LOG, |_, arguments| Ok(vec![crate::decision_log::section(arguments)?])),
    #[cfg(feature = "mqtt")]
    Part::any(MQTT, crate::mqtt::sections),
    #[cfg(feature = "ratelimit")]
    Part::native(RATELIMIT, |_, arguments| crate::ratelimit::sections(arguments)),
    #[cfg(feature = "rivals")]
    Part::any(CRYPTO, crate::crypto::sections),
];

/// Counts the memory that ten million checks in Node leave behind.
pub(crate) fn memory(root: &Path, arguments: &Arguments) -> Result<String, String> {
    Prepared::new(root, arguments, REFERENCE)?.job(false).memory()
}

/// A workload, ready to be measured.
struct Prepared<'a> {
    root: &'a Path,
    arguments: &'a Arguments,
    workload: Workload,
    compiled: Compiled,
    requests: Vec<Request>,
    opa: Vec<(String, PathBuf)>,
    accessors: Option<PathBuf>,
}

impl<'a> Prepared<'a> {
    fn new(root: &'a Path, arguments: &'a Arguments, name: &str) -> Result<Self, String> {
        let workload = Workload::generate(name)?;
        workload.confirm()?;
        let compiled = Compiled::new(&workload)?;
        let requests = workload.engine_requests()?;
        let wanted = arguments.opa.as_ref().filter(|_| workload.rivals != Rivals::None);
        let opa = wanted.map(|program| opa::compile(program, &workload)).transpose()?;
        let opa = opa.unwrap_or_default();
        // Without rivals, one row more would show nothing new.
        let cli = arguments.cli.as_ref().filter(|_| workload.rivals != Rivals::None);
        let accessors = cli.map(|program| accessors::emit(root, program, &workload)).transpose()?;
        Ok(Self { root, arguments, workload, compiled, requests, opa, accessors })
    }

    /// Measures a decision.
    fn decisions(&self) -> Result<Section, String> {
        let Workload { name, title, .. } = &self.workload;
        let mut section = Section::new(name, title, "");
        if self.is_native() {
            section = section.native(self.arguments, || self.native())?;
        }
        section.node(self.arguments, || Ok(self.job(false).measure()?.figures))
    }

    /// Returns true if the workload runs natively, where no objects are made anew.
    fn is_native(&self) -> bool {
        self.workload.objects == crate::workload::Objects::Reused
    }

    fn native(&self) -> Result<Vec<Figure>, String> {
        let Self { workload, compiled, requests, .. } = self;
        let forms = Forms::new(workload, &compiled.bundle, requests)?;
        let mut rows = forms.rows(workload);
        rows.extend(rows::wardgate::rows(workload, compiled, requests));
        rows.push(rows::floor::row(workload, requests)?);
        #[cfg(feature = "rivals")]
        rows.extend(rival_rows(workload, requests)?);
        measure::rows(&rows, self.arguments.bounds())
    }

    /// Measures the rest of a decision after the request has been read.
    fn evaluation(&self) -> Result<Section, String> {
        let Self { workload, compiled, requests, .. } = self;
        let title = "Evaluation alone: frames that are filled already, 200 kinds";
        let native = || {
            let frames = Frames::new(&compiled.table, requests)?;
            let rows = [frames.row(workload, &compiled.table), frames.floor()];
            measure::rows(&rows, self.arguments.bounds())
        };
        Section::new("evaluation", title, EVALUATION_NOTE)
            .native(self.arguments, native)?
            .node(self.arguments, || self.job(false).evaluation())
    }

    /// Measures a decision within a list.
    fn filter(&self) -> Result<Vec<Section>, String> {
        let host = node::name()?;
        let section = |(action, figures): (String, Vec<Figure>)| {
            let title =
                format!("A list of 1000 resources, action `{action}`: time for each resource");
            Section::new(format!("filter-{action}"), title, "").with(&host, figures)
        };
        Ok(self.job(false).filters()?.into_iter().map(section).collect())
    }

    /// Measures the time until new policies are in use.
    fn reload(&self) -> Result<Section, String> {
        let title = "New policies: from bytes to the first possible decision, 200 kinds";
        Section::new("reload", title, RELOAD_NOTE)
            .native(self.arguments, || self.native_reload())?
            .node(self.arguments, || Ok(self.job(true).measure()?.reloads))
    }

    fn native_reload(&self) -> Result<Vec<Figure>, String> {
        let bounds = self.arguments.bounds();
        let ours = || rows::wardgate::reload(&self.compiled);
        let figures = vec![measure::action("Wardgate, open", Side::Ours, bounds, ours)?];
        #[cfg(feature = "rivals")]
        let figures = [figures, rival_reloads(&self.workload, bounds)?].concat();
        Ok(figures)
    }

    /// Measures the first calls, each row in fresh processes.
    fn cold(&self) -> Result<Vec<Section>, String> {
        let host = node::name()?;
        let job = self.job(false);
        let processes = if self.arguments.quick { 1 } else { COLD_PROCESSES };
        let mut found: Vec<Vec<Figure>> = vec![Vec::new(); COLD.len()];
        for row in COLD_ROWS {
            let mut runs = Vec::new();
            for _ in 0..processes {
                runs.push(job.cold(row)?);
            }
            for (at, figures) in found.iter_mut().enumerate() {
                figures.extend(middle(&runs, at));
            }
        }
        let section = |((name, title, note), figures): (&(&str, &str, &'static str), _)| {
            Section::new(*name, *title, note).with(&host, figures)
        };
        Ok(COLD.iter().zip(found).map(section).collect())
    }

    fn job(&self, reload: bool) -> Job<'_> {
        let Self { root, arguments: Arguments { quick, .. }, workload, compiled, opa, .. } = self;
        let accessors = self.accessors.as_deref();
        Job { root, workload, bundle: &compiled.bundle, opa, accessors, quick: *quick, reload }
    }
}

/// Returns the median of the figures at one index of several runs.
fn middle(runs: &[Vec<Figure>], at: usize) -> Option<Figure> {
    let figures: Vec<&Figure> = runs.iter().filter_map(|run| run.get(at)).collect();
    let first = (*figures.first()?).clone();
    let nanoseconds = median(figures.iter().map(|figure| figure.nanoseconds).collect());
    Some(Figure { nanoseconds, ..first })
}

#[cfg(feature = "rivals")]
fn rival_rows<'a>(workload: &'a Workload, requests: &[Request]) -> Result<Vec<Row<'a>>, String> {
    let mut found = Vec::new();
    if workload.rivals != Rivals::None {
        found.extend(rows::regorus::rows(workload)?);
    }
    if let Some(text) = crate::rivals::cedar(workload) {
        found.push(rows::cedar::row(workload, requests, &text)?);
    }
    if let Some(policy) = crate::rivals::casbin(workload) {
        found.push(rows::casbin::row(workload, requests, &policy)?);
    }
    Ok(found)
}

#[cfg(feature = "rivals")]
fn rival_reloads(workload: &Workload, bounds: measure::Bounds) -> Result<Vec<Figure>, String> {
    let mut found = Vec::new();
    for (form, modules) in crate::rivals::rego(workload) {
        let load = || rows::regorus::compile(&modules).map(drop);
        let name = format!("regorus, {form}");
        found.push(measure::action(&name, Side::Rival, bounds, load)?);
    }
    if let Some(text) = crate::rivals::cedar(workload) {
        let load = || rows::cedar::reload(&text);
        found.push(measure::action("Cedar, parse", Side::Rival, bounds, load)?);
    }
    if let Some(policy) = crate::rivals::casbin(workload) {
        let load = || rows::casbin::load(&policy).map(drop);
        found.push(measure::action("casbin, new enforcer", Side::Rival, bounds, load)?);
    }
    Ok(found)
}

/// The workload of the sections that need only one.
pub(crate) const REFERENCE: &str = "five-rules-200";
const OF_REFERENCE: &[&str] = &["evaluation", "filter", "reload", "cold"];

const EVALUATION_NOTE: &str = "Each decision stores three words and asks; in Node it also crosses the border to \
    WebAssembly. The rows alone store and cross, and decide nothing: the difference is the evaluation.";
const RELOAD_NOTE: &str = "Each form starts from what its users keep: Wardgate from a bundle, OPA from \
    WebAssembly, the others from text; CASL builds the ability of one principal.";

const COLD_PROCESSES: usize = 5;
const COLD_ROWS: &[&str] = &["wardgate", "floor", "casl", "opa", "cedar", "casbin"];

/// Name, title and note of the figures of a cold process.
const COLD: &[(&str, &str, &str)] = &[
    (
        "cold-load",
        "Cold start: import, load and parse, 200 kinds",
        "In a process of its own: from the start of the import to the first possible call.",
    ),
    ("cold-first", "Cold start: the first call, 200 kinds", ""),
    ("cold-next", "Cold start: each of the next 99 calls, 200 kinds", ""),
];
