//! Checks of results that a run wrote, here or elsewhere.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use super::{SAMPLES, Summary, refuse_others, samples};

/// Reads rows, and computes their figures again from the samples beside them.
///
/// # Errors
/// A row lacks a member, its decisions are not the expected ones, or its samples are missing or give
/// other figures. The message names the first such row.
pub(crate) fn checked(file: &Path) -> Result<Vec<Json>, String> {
    let text = fs::read_to_string(file);
    let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let rows: Vec<Json> =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let folder = file.parent().unwrap_or_else(|| Path::new("."));
    for (number, row) in rows.iter().enumerate() {
        check(folder, row).map_err(|message| format!("row {number}: {message}"))?;
    }
    Ok(rows)
}

fn check(folder: &Path, row: &Json) -> Result<(), String> {
    let workload = text(row, "workload")?;
    for name in TEXTS {
        text(row, name)?;
    }
    let parameters = row.get("parameters").ok_or("no `parameters`")?;
    let decisions = row.get("decisions").ok_or("no `decisions`")?;
    refuse_others(workload, parameters, decisions.as_str())?;
    let names = row.get("samples").and_then(Json::as_array).ok_or("no `samples`")?;
    let runs: Vec<Vec<f32>> =
        names.iter().map(|name| read(folder, name)).collect::<Result<_, _>>()?;
    if runs.is_empty() || runs.iter().any(Vec::is_empty) {
        return Err(format!("{workload}: no samples"));
    }
    let found = Summary::of(&runs);
    let is_same = same(row, "median", Some(found.median))
        && same(row, "p99", found.p99)
        && same(row, "cov", found.cov)
        && row.get("runs").and_then(Json::as_u64) == u64::try_from(runs.len()).ok();
    if is_same { Ok(()) } else { Err(format!("{workload}: the samples give {found:?}")) }
}

/// Reads the samples with a name; all lie in one folder.
fn read(folder: &Path, name: &Json) -> Result<Vec<f32>, String> {
    let name = name.as_str().unwrap_or_default();
    let (of, file) = name.split_once('/').unwrap_or_default();
    let is_plain = of == SAMPLES
        && !file.starts_with('.')
        && file.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    if !is_plain {
        return Err(format!("`{name}` is no name of samples"));
    }
    let path = folder.join(SAMPLES).join(file);
    let bytes =
        fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    samples::unpacked(&bytes).map_err(|message| format!("{name}: {message}"))
}

fn text<'r>(row: &'r Json, name: &str) -> Result<&'r str, String> {
    row.get(name).and_then(Json::as_str).ok_or_else(|| format!("no `{name}`"))
}

/// Returns true if a member is the number, or null without one. Texts of numbers may differ in the last digits.
fn same(row: &Json, name: &str, expected: Option<f64>) -> bool {
    match (row.get(name), expected) {
        (Some(Json::Null), None) => true,
        (Some(found), Some(expected)) => found
            .as_f64()
            .is_some_and(|found| (found - expected).abs() <= 1e-6 * expected.abs().max(1e-3)),
        _ => false,
    }
}

/// The members that are texts.
const TEXTS: &[&str] =
    &["host", "engine", "side", "version", "machine", "load", "date", "commit", "command"];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use serde_json::{Value as Json, json};

    use super::checked;
    use crate::results::{digest, samples};

    #[test]
    fn rows_are_checked_against_their_samples() {
        let folder = Folder::new();
        let row = json!({
            "workload": "compile-9", "parameters": null, "host": "native", "engine": "x", "side": "ours",
            "version": "1", "samples": ["samples/x-0.txt.gz", "samples/x-0.txt.gz"], "median": 2.0, "p99": null,
            "runs": 2, "cov": 0.0, "decisions": null, "machine": "m", "load": "0", "date": "d", "commit": "c",
            "command": "cargo xtask bench",
        });
        assert_eq!(folder.check(&row).map(|rows| rows.len()), Ok(1));
        let refused = |member: &str, value: Json| {
            let mut other = row.clone();
            other[member] = value;
            assert!(folder.check(&other).is_err(), "{member}");
        };
        refused("median", json!(2.1));
        refused("p99", json!(2.0));
        refused("cov", json!(null));
        refused("runs", json!(3));
        refused("samples", json!([]));
        refused("samples", json!(["samples/../x"]));
        refused("samples", json!(["/etc/passwd"]));
        refused("samples", json!(["samples/missing"]));
        refused("decisions", json!(digest(&[true])));
        refused("machine", json!(1));
        let mut other = row;
        other.as_object_mut().unwrap().remove("command");
        assert!(folder.check(&other).is_err());
    }

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let name = format!("wardgate-results-{}", std::process::id());
            let folder = Self(std::env::temp_dir().join(name));
            fs::create_dir_all(folder.0.join("samples")).unwrap();
            let packed = samples::packed(&[1.0, 2.0, 3.0]).unwrap();
            fs::write(folder.0.join("samples/x-0.txt.gz"), packed).unwrap();
            folder
        }

        fn check(&self, row: &Json) -> Result<Vec<Json>, String> {
            let file = self.0.join("results.json");
            fs::write(&file, json!([row]).to_string()).unwrap();
            checked(&file)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
