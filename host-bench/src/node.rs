//! The same workload in Node: see `node/bench.mjs`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::measure::{Figure, Side};
use crate::workload::{Asked, Workload};

/// What Node measured, and its version.
pub(crate) struct Measured {
    pub(crate) version: String,
    pub(crate) figures: Vec<Figure>,
}

/// Measures in a fresh Node process, so that no workload runs on what another has taught the JIT.
pub(crate) fn measure(root: &Path, workload: &Workload, bundle: &[u8]) -> Result<Measured, String> {
    let requests: Vec<Json> = workload.requests.iter().map(Asked::json).collect();
    let job = json!({
        "bundle": STANDARD.encode(bundle),
        "kinds": workload.kinds,
        "requests": requests,
        "expected": workload.expected,
    });
    let answer = ask(&root.join("host-bench/node/bench.mjs"), &job)?;
    let rows = answer.get("rows").and_then(Json::as_array).into_iter().flatten();
    Ok(Measured {
        version: text(&answer, "node")?.to_owned(),
        figures: rows.map(figure).collect::<Result<_, _>>()?,
    })
}

fn ask(script: &Path, job: &Json) -> Result<Json, String> {
    let mut node = Command::new("node")
        .arg(script)
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

fn figure(row: &Json) -> Result<Figure, String> {
    let side = text(row, "side")?;
    Ok(Figure {
        name: text(row, "name")?.to_owned(),
        side: Side::of(side).ok_or_else(|| format!("node: unknown side `{side}`"))?,
        nanoseconds: row.get("nanoseconds").and_then(Json::as_f64).ok_or("node: no time")?,
    })
}

fn text<'a>(json: &'a Json, key: &str) -> Result<&'a str, String> {
    json.get(key).and_then(Json::as_str).ok_or_else(|| format!("node: no `{key}`"))
}
