//! The same workloads in Node: see `node/bench.mjs` and `node/cold.mjs`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::measure::{Figure, Side, single};
use crate::rivals;
use crate::workload::{Rivals, Workload};

/// The input of Node.
pub(crate) struct Job<'a> {
    /// The folder of the project.
    pub(crate) root: &'a Path,
    pub(crate) workload: &'a Workload,
    pub(crate) bundle: &'a [u8],
    /// The policies of OPA: the name of each form, and its file.
    pub(crate) opa: &'a [(String, PathBuf)],
    /// A module of accessors for the bundle.
    pub(crate) accessors: Option<&'a Path>,
    pub(crate) quick: bool,
    /// True if the time until new policies are in use is measured.
    pub(crate) reload: bool,
}

/// The figures of Node.
pub(crate) struct Measured {
    pub(crate) figures: Vec<Figure>,
    pub(crate) reloads: Vec<Figure>,
}

impl Job<'_> {
    fn json(&self) -> Json {
        let Self { workload, .. } = self;
        let opa = self.opa.iter().map(|(form, path)| json!({ "form": form, "bundle": path }));
        json!({
            "bundle": STANDARD.encode(self.bundle),
            "rules": workload.rules.word(),
            "kinds": workload.kinds,
            "actions": workload.actions,
            "requests": workload.requests,
            "expected": workload.expected,
            "objects": workload.objects.word(),
            "rivals": match workload.rivals {
                Rivals::All => json!(["casl", "casbin", "opa", "cedar"]),
                Rivals::Rego => json!(["opa"]),
                Rivals::None => json!([]),
            },
            "cedar": rivals::cedar(workload),
            "casbin": rivals::casbin(workload).map(|policy| json!({
                "model": rivals::casbin_model(CASBIN_REQUEST, CASBIN_MATCHER),
                "policy": policy,
            })),
            "opa": opa.collect::<Vec<_>>(),
            "accessors": self.accessors,
            "quick": self.quick,
            "reload": self.reload,
        })
    }

    /// Measures in a fresh Node process, so that no workload runs on what another has trained in
    /// the JIT.
    pub(crate) fn measure(&self) -> Result<Measured, String> {
        let answer = self.ask("bench.mjs", &[])?;
        Ok(Measured { figures: figures(&answer, "rows")?, reloads: figures(&answer, "reloads")? })
    }

    /// Measures the evaluation alone.
    pub(crate) fn evaluation(&self) -> Result<Vec<Figure>, String> {
        figures(&self.ask("evaluate.mjs", &[])?, "rows")
    }

    /// Measures lists, for each action.
    pub(crate) fn filters(&self) -> Result<Vec<(String, Vec<Figure>)>, String> {
        let answer = self.ask("filter.mjs", &[])?;
        let filters = answer.get("filters").ok_or("node: no `filters`")?;
        let names = filters.as_object().into_iter().flat_map(|object| object.keys());
        names.map(|name| Ok((name.clone(), figures(filters, name)?))).collect()
    }

    /// Returns a sentence about the memory that ten million checks leave behind.
    pub(crate) fn memory(&self) -> Result<String, String> {
        let answer = self.ask("memory.mjs", &[])?;
        let number =
            |path: &str| answer.pointer(path).and_then(Json::as_i64).ok_or("node: no number");
        let change = |name: &str| -> Result<String, String> {
            let before = number(&format!("/{name}/0"))?;
            let after = number(&format!("/{name}/1"))?;
            Ok(format!("{before} -> {after} bytes ({:+})", after - before))
        };
        let (checks, heap, linear) = (number("/checks")?, change("heap")?, change("linear")?);
        Ok(format!("Node, {checks} checks: heap {heap}, memory of the module {linear}"))
    }

    /// Measures the first calls of one row in a fresh process: the load, the first call, the next
    /// 99.
    pub(crate) fn cold(&self, row: &str) -> Result<Vec<Figure>, String> {
        figures(&self.ask("cold.mjs", &[row])?, "figures")
    }

    fn ask(&self, script: &str, words: &[&str]) -> Result<Json, String> {
        ask(self.root, script, words, &self.json())
    }
}

/// Returns the name of Node in a report, with its version.
pub(crate) fn name() -> Result<String, String> {
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|error| format!("node cannot be started: {error}"))?;
    let version = String::from_utf8_lossy(&output.stdout);
    Ok(format!("Node {}", version.trim().trim_start_matches('v')))
}

/// Runs a script of `node` with a job and returns its answer.
pub(crate) fn ask(root: &Path, script: &str, words: &[&str], job: &Json) -> Result<Json, String> {
    let mut node = Command::new("node")
        .arg("--expose-gc")
        .arg(root.join("host-bench/node").join(script))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("node cannot be started: {error}"))?;
    // Node reads all of its input before it writes; dropping the pipe ends that input.
    if let Some(mut input) = node.stdin.take() {
        input.write_all(job.to_string().as_bytes()).map_err(|error| format!("node: {error}"))?;
    }
    let output = node.wait_with_output().map_err(|error| format!("node: {error}"))?;
    if !output.status.success() {
        return Err(format!("node ended with {}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("node: {error}"))
}

/// Reads the figures of an answer.
pub(crate) fn figures(answer: &Json, key: &str) -> Result<Vec<Figure>, String> {
    answer.get(key).and_then(Json::as_array).into_iter().flatten().map(figure).collect()
}

fn figure(row: &Json) -> Result<Figure, String> {
    let text =
        |key: &str| row.get(key).and_then(Json::as_str).ok_or_else(|| format!("node: no `{key}`"));
    let side = text("side")?;
    let requests = row.get("requests").and_then(Json::as_u64).unwrap_or(0);
    Ok(Figure {
        name: text("name")?.to_owned(),
        side: Side::of(side).ok_or_else(|| format!("node: unknown side `{side}`"))?,
        nanoseconds: row.get("nanoseconds").and_then(Json::as_f64).ok_or("node: no time")?,
        requests: usize::try_from(requests).unwrap_or(0),
        runs: runs(row),
    })
}

/// Reads the samples of a figure, where it has some.
fn runs(row: &Json) -> Vec<Vec<f32>> {
    let runs = row.get("runs").and_then(Json::as_array).into_iter().flatten();
    let samples = |run: &Json| {
        let samples = run.as_array().into_iter().flatten().filter_map(Json::as_f64);
        samples.map(single).collect()
    };
    runs.map(samples).collect()
}

const CASBIN_REQUEST: &str = "principal, resource, act";
const CASBIN_MATCHER: &str = "r.resource.kind == p.kind && \
    (r.act == p.act || r.act == p.other) && holds(p.cond, r.principal, r.resource)";
