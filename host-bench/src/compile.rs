//! From policies in a folder to a bundle, beside the check that Cerbos makes of the same folder.
//!
//! The policies are copies of those of Cerbos's classic load test. Before anything is timed the
//! table decides requests about the first, a middle and the last copy by the rules of the template.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use wardgate_bundle::pack;
use wardgate_compiler::diagnostics::Severity;
use wardgate_compiler::{Options, compile_dir};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::PolicyTable;
use wardgate_tests::check;
use wardgate_tests::loadtest::Templates;
use wardgate_tooling::lint_dir;

use crate::arguments::Arguments;
use crate::files;
use crate::measure::{self, Bounds, Figure, Side, float, median};
use crate::report::{NATIVE, Section};
use crate::workload::lines;

/// The name of the sections in `--only`.
pub(crate) const NAME: &str = "compile";

/// Measures repositories of each size; returns no section where the templates are missing.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let corpora = root.join("../shared/corpora");
    let templates = match Templates::read(&corpora, "classic") {
        Ok(templates) => templates,
        Err(why) => {
            eprintln!("`{NAME}` is left out: {why}");
            return Ok(Vec::new());
        }
    };
    if arguments.cerbos.is_none() {
        eprintln!("cerbos is left out: there is no `cerbos` program to check the same folder");
    }
    let quick = arguments.quick;
    let sizes = COPIES.iter().filter(|copies| !quick || **copies < MANY).copied();
    sizes.map(|copies| Folder::new(&templates, copies)?.section(arguments)).collect()
}

/// Compiles a folder, as the process whose time and memory are measured.
pub(crate) fn child(folder: &Path) -> Result<(), String> {
    compiled(folder).map(drop)
}

/// A folder of policies, which is removed when it is dropped.
struct Folder {
    path: PathBuf,
    copies: usize,
    policies: usize,
}

impl Folder {
    fn new(templates: &Templates, copies: usize) -> Result<Self, String> {
        let name = format!("wardgate-bench-{}-{copies}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let folder = Self { path, copies, policies: copies * templates.policies_per_copy() };
        fs::create_dir_all(folder.path.join("_schemas"))
            .map_err(|error| files::cannot(&folder.path, &error))?;
        for (name, bytes) in templates.repository(copies) {
            files::save(&folder.path.join(name), bytes)?;
        }
        folder.decides_rightly()?;
        Ok(folder)
    }

    fn section(&self, arguments: &Arguments) -> Result<Section, String> {
        let bounds = arguments.bounds();
        let ours = measure::action("Wardgate, read, compile and pack", Side::Ours, bounds, || {
            compiled(&self.path).map(drop)
        })?;
        let each = ours.nanoseconds / float(self.policies);
        let each = Figure::new("the same for each policy".to_owned(), Side::Ours, each);
        let lint = measure::action("Wardgate, lint", Side::Ours, bounds, || {
            let found = lint_dir(&self.path, &Options::default());
            let errors = found.iter().filter(|one| one.severity == Severity::Error).count();
            if errors == 0 { Ok(()) } else { Err(format!("{errors} errors")) }
        })?;
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut process = Command::new(program);
        process.arg(CHILD).arg(&self.path);
        let mut figures = vec![ours, each, lint];
        figures.push(timed("Wardgate, read, compile and pack", Side::Ours, bounds, &mut process)?);
        if let Some(cerbos) = &arguments.cerbos {
            let mut start = Command::new(cerbos);
            let mut compile = Command::new(cerbos);
            compile.args(["compile", "--skip-tests"]).arg(&self.path);
            figures.push(timed("cerbos compile", Side::Rival, bounds, &mut compile)?);
            figures.push(timed("cerbos --version", Side::Rival, bounds, start.arg("--version"))?);
        }
        let policies = self.policies;
        let title =
            format!("{policies} policies of Cerbos's classic load test: from a folder to a bundle");
        Ok(Section::new(format!("{NAME}-{policies}"), title, NOTE).with(NATIVE, figures))
    }

    /// Compares the answers about some copies with the rules of the template.
    fn decides_rightly(&self) -> Result<(), String> {
        let parts = compiled(&self.path)?;
        let table = PolicyTable::from_parts(parts).map_err(|error| format!("{error:?}"))?;
        for copy in [0, self.copies / 2, self.copies - 1] {
            for (kind, version, role, id, action, expected) in ANSWERS {
                let kind = format!("{kind}_{copy:05}");
                let own = json!({ "geography": "GB", "managed_geographies": "GB" });
                let attr = json!({ "owner": "ann", "geography": "GB" });
                let request = check::request(&json!({
                    "principal": { "id": id, "roles": [role], "attr": own },
                    "resource": { "kind": kind, "id": "r1", "policyVersion": version, "attr": attr },
                    "actions": [action],
                }))?;
                if table.is_allowed(&request, action, Timestamp::default()) != *expected {
                    return Err(format!("{kind}: `{action}` by `{role}` is not {expected}"));
                }
            }
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that remains among temporary files does no harm.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn compiled(folder: &Path) -> Result<wardgate_engine::table::Parts, String> {
    let compiled = compile_dir(folder, &Options::default());
    let compiled = compiled.map_err(|errors| lines(errors.iter().take(5)))?;
    let bundle = pack(&compiled.parts);
    if bundle.is_empty() { Err("an empty bundle".to_owned()) } else { Ok(compiled.parts) }
}

/// Times a program from its start to its end, and watches its memory meanwhile.
fn timed(name: &str, side: Side, bounds: Bounds, command: &mut Command) -> Result<Figure, String> {
    let (mut times, mut most) = (Vec::new(), 0);
    let start = Instant::now();
    while times.is_empty() || (times.len() < RUNS && start.elapsed() < bounds.check()) {
        let (time, memory) = run(name, command)?;
        times.push(time.as_secs_f64() * 1e9);
        most = memory.max(most);
    }
    let memory =
        if most == 0 { String::new() } else { format!(", {} MiB", most.div_ceil(1 << 10)) };
    Ok(Figure::new(format!("{name}, a process{memory}"), side, median(times)))
}

/// Runs a program once. Returns its time, and its peak memory in KiB, where the system has a file
/// with it.
fn run(name: &str, command: &mut Command) -> Result<(Duration, usize), String> {
    let start = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot run {name}: {error}"))?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut most = 0;
    loop {
        most = resident(&status).unwrap_or_default().max(most);
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(ended) if ended.success() => return Ok((start.elapsed(), most)),
            Some(ended) => return Err(format!("{name}: {ended}")),
            None => std::thread::sleep(LOOK),
        }
    }
}

/// Returns the peak memory of a process so far, in KiB, which only Linux has in a file.
fn resident(status: &Path) -> Option<usize> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The argument that makes this program the process that is measured.
pub(crate) const CHILD: &str = "--compile";

const NOTE: &str = "Each time everything is read and compiled. A row with a size is a process of its own, its start \
    included, with the most memory that was seen in use. `cerbos compile` checks the same folder and \
    writes nothing; `cerbos --version` is its start alone.";

/// Copies of each template: nine policies, a hundred, ten thousand.
const COPIES: &[usize] = &[1, 11, MANY];
const MANY: usize = 1112;

const RUNS: usize = 5;

/// The interval at which the memory of a process is read: its peak can only be seen while it runs.
const LOOK: Duration = Duration::from_millis(1);

/// Kind, version, role, principal and action, and true if the rules of the template allow it.
const ANSWERS: &[(&str, &str, &str, &str, &str, bool)] = &[
    ("leave_request", "20210210", "admin", "joe", "anything", true),
    ("leave_request", "20210210", "employee", "ann", "create", true),
    ("leave_request", "20210210", "employee", "joe", "create", false),
    ("leave_request", "20210210", "employee", "joe", "view:public", true),
    ("leave_request", "20210210", "employee", "joe", "view:private", false),
    ("employee_record", "default", "admin", "joe", "anything", true),
    ("employee_record", "default", "employee", "ann", "view", false),
];
