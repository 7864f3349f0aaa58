//! Figures that others can check: the samples behind each, and the digest of the decisions.
//!
//! A run writes `results.json` and its samples beside it. Whoever reads such a folder computes every figure again
//! from the samples, and refuses rows whose decisions are not the expected ones.

mod check;
mod page;
mod samples;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_crypto::blake3;

use crate::files;
use crate::measure::{Figure, float, median};
use crate::report::{Report, Section};

pub(crate) use check::checked;
pub(crate) use page::site;

/// Returns the digest of decisions in their order, a byte 0 or 1 for each, as hexadecimal digits.
pub(crate) fn digest(decisions: &[bool]) -> String {
    let bytes: Vec<u8> = decisions.iter().map(|allowed| u8::from(*allowed)).collect();
    blake3::hash(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the rows of a run, and their samples, into `folder`.
///
/// # Errors
/// The decisions of a section are not the expected ones, or a file cannot be written.
pub(crate) fn write(folder: &Path, report: &Report) -> Result<usize, String> {
    let samples = folder.join(SAMPLES);
    std::fs::create_dir_all(&samples).map_err(|error| files::cannot(&samples, &error))?;
    let mut rows = Vec::new();
    for section in &report.sections {
        refuse_others(&section.name, &section.parameters, section.decisions.as_deref())?;
        for (host, figure) in figures(section) {
            rows.push(row(folder, report, section, host, figure)?);
        }
    }
    let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
    files::save(&folder.join(RESULTS), text)?;
    Ok(rows.len())
}

/// Returns the figures of a section that have samples.
fn figures(section: &Section) -> impl Iterator<Item = (&str, &Figure)> {
    let hosts = section.hosts.iter();
    let figures = hosts.flat_map(|(host, rows)| rows.iter().map(move |row| (host.as_str(), row)));
    figures.filter(|(_, figure)| figure.runs.iter().any(|run| !run.is_empty()))
}

fn row(
    folder: &Path,
    report: &Report,
    section: &Section,
    host: &str,
    figure: &Figure,
) -> Result<Json, String> {
    let name = file_name(&format!("{}-{host}-{}", section.name, figure.name));
    let mut names = Vec::new();
    for (number, run) in figure.runs.iter().enumerate() {
        let name = format!("{SAMPLES}/{name}-{number}.txt.gz");
        files::save(&folder.join(&name), samples::packed(run)?)?;
        names.push(name);
    }
    let Summary { median, p99, cov } = Summary::of(&figure.runs);
    let fact = |name: &str| report.machine.fact(name);
    Ok(json!({
        "workload": section.name,
        "parameters": section.parameters,
        "host": host,
        "engine": figure.name,
        "side": figure.side.word(),
        "version": env!("CARGO_PKG_VERSION"),
        "rivals": fact("rivals"),
        "samples": names,
        "median": median,
        "p99": p99,
        "runs": figure.runs.len(),
        "cov": cov,
        "decisions": section.decisions,
        "machine": fact("machine"),
        "load": fact("load"),
        "date": fact("date"),
        "commit": fact("commit"),
        "command": fact("command"),
    }))
}

/// What is computed of samples, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Summary {
    median: f64,
    /// `None` with fewer than 100 samples.
    p99: Option<f64>,
    /// The coefficient of variation of the medians of the runs; `None` with one run.
    cov: Option<f64>,
}

impl Summary {
    fn of(runs: &[Vec<f32>]) -> Self {
        let figure = Figure::of_runs(String::new(), crate::measure::Side::Ours, runs.to_vec());
        let medians: Vec<f64> = runs
            .iter()
            .map(|run| median(run.iter().map(|one| f64::from(*one)).collect()))
            .collect();
        Self { median: figure.nanoseconds, p99: figure.p99(), cov: variation(&medians) }
    }
}

/// Returns the standard deviation divided by the mean.
fn variation(values: &[f64]) -> Option<f64> {
    let count = float(values.len());
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt() / mean)
}

/// Refuses decisions that are not the expected ones.
fn refuse_others(workload: &str, parameters: &Json, decisions: Option<&str>) -> Result<(), String> {
    let expected = expected()?;
    let known = expected.get(&key(workload, parameters)).map(String::as_str);
    let prefix = format!("{workload} ");
    let has_any = expected.keys().any(|key| key.starts_with(&prefix));
    match (known, decisions) {
        (Some(known), Some(found)) if known == found => Ok(()),
        (None, None) if !has_any => Ok(()),
        (Some(known), found) => Err(format!(
            "{workload}: the digest of the decisions is {}, expected {known}",
            found.unwrap_or("missing")
        )),
        (None, _) => Err(format!("{workload}: no decisions are known for {parameters}")),
    }
}

/// Returns the expected digests of decisions, by workload and parameters.
fn expected() -> Result<BTreeMap<String, String>, String> {
    serde_json::from_str(DECISIONS).map_err(|error| format!("decisions.json: {error}"))
}

fn key(workload: &str, parameters: &Json) -> String {
    // Members in one order, whatever the features of the build make of objects.
    let members: BTreeMap<&String, &Json> = parameters.as_object().into_iter().flatten().collect();
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{workload} {}", members.join(" "))
}

/// Returns a name without spaces and signs.
fn file_name(name: &str) -> String {
    let plain =
        |sign: char| if sign.is_ascii_alphanumeric() { sign.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

const DECISIONS: &str = include_str!("../decisions.json");
/// The file of rows, and the folder of samples beside it.
const RESULTS: &str = "results.json";
const SAMPLES: &str = "samples";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{Summary, expected, file_name, key, refuse_others};
    use crate::arguments::END_TO_END;

    #[test]
    fn decisions_of_the_workloads_are_the_expected_ones() {
        let mut found = BTreeMap::new();
        let all = crate::oopsla::all_decisions()
            .chain(crate::hospital::all_decisions())
            .chain(crate::tenants::all_decisions())
            .chain(crate::rest::all_decisions());
        #[cfg(feature = "shop")]
        let all = all.chain(crate::end_to_end::all_decisions());
        for (workload, parameters, digest) in all {
            found.insert(key(&workload, &parameters), digest);
        }
        let has_shop = cfg!(feature = "shop");
        if std::env::var_os("UPDATE_DECISIONS").is_some() {
            assert!(has_shop, "without the feature `shop` its decisions would be lost");
            let text = serde_json::to_string_pretty(&found).unwrap() + "\n";
            std::fs::write("decisions.json", text).unwrap();
        } else {
            let mut known = expected().unwrap();
            known.retain(|name, _| has_shop || !name.starts_with(END_TO_END));
            assert_eq!(found, known, "UPDATE_DECISIONS=1 writes the file anew");
        }
    }

    #[test]
    fn other_decisions_are_refused() {
        let (workload, parameters) = ("hospital-38", json!({ "policies": 38, "departments": 1 }));
        let known = expected().unwrap();
        let known = &known[&key(workload, &parameters)];
        assert_eq!(refuse_others(workload, &parameters, Some(known)), Ok(()));
        assert!(refuse_others(workload, &parameters, Some("00")).is_err());
        assert!(refuse_others(workload, &parameters, None).is_err());
        assert!(refuse_others(workload, &json!({ "departments": 2 }), Some(known)).is_err());
        assert!(refuse_others("another", &json!({}), Some(known)).is_err());
        assert_eq!(refuse_others("compile-9", &json!(null), None), Ok(()));
    }

    #[test]
    fn the_spread_of_runs_is_their_coefficient_of_variation() {
        let runs = vec![vec![1.0, 2.0, 9.0], vec![4.0], vec![6.0]];
        let Summary { median, p99, cov } = Summary::of(&runs);
        assert_eq!((median, p99), (4.0, None));
        // The medians are 2, 4 and 6: their mean is 4, their standard deviation 2.
        assert_eq!(cov, Some(0.5));
        assert_eq!(Summary::of(&[(0_u8..100).map(f32::from).collect()]).p99, Some(98.0));
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(file_name("../a b/é: C (1)"), "a-b-c-1");
    }
}
