//! Static pages of results: tables, with the samples and the command behind each figure.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use super::{RESULTS, SAMPLES, checked};
use crate::files;
use crate::report::duration;

/// Writes the page of the results in `from` into `folder`, with the samples that it links to.
///
/// # Errors
/// The results are not sound, or a file cannot be written.
pub(crate) fn site(from: &Path, folder: &Path) -> Result<usize, String> {
    let rows = checked(&from.join(RESULTS))?;
    let samples = folder.join(SAMPLES);
    fs::create_dir_all(&samples).map_err(|error| files::cannot(&samples, &error))?;
    let names = rows.iter().filter_map(|row| row.get("samples")?.as_array()).flatten();
    for name in names.filter_map(Json::as_str) {
        let copied = fs::copy(from.join(name), folder.join(name));
        copied.map_err(|error| files::cannot(&folder.join(name), &error))?;
    }
    fs::copy(from.join(RESULTS), folder.join(RESULTS))
        .map_err(|error| files::cannot(&folder.join(RESULTS), &error))?;
    files::save(&folder.join("index.html"), page(&rows))?;
    Ok(rows.len())
}

fn page(rows: &[Json]) -> String {
    let mut out = HEAD.to_owned();
    let mut before = "";
    for row in rows {
        let workload = text(row, "workload");
        if workload != before {
            out.push_str(if before.is_empty() { "" } else { "</tbody></table>\n" });
            before = workload;
            write_heading(&mut out, row);
        }
        write_row(&mut out, row);
    }
    out.push_str(if before.is_empty() { "" } else { "</tbody></table>\n" });
    out.push_str("</body></html>\n");
    out
}

fn write_heading(out: &mut String, row: &Json) {
    let (workload, parameters) = (escaped(text(row, "workload")), row.get("parameters"));
    let parameters = parameters.filter(|one| !one.is_null()).map(Json::to_string);
    let decisions = row.get("decisions").and_then(Json::as_str);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<h2 id=\"{workload}\">{workload}</h2>\n<p>");
    if let Some(parameters) = parameters {
        let _ = writeln!(out, "Parameters: <code>{}</code><br>", escaped(&parameters));
    }
    if let Some(decisions) = decisions {
        let _ = writeln!(out, "BLAKE3 of the decisions: <code>{}</code>", escaped(decisions));
    }
    let _ = writeln!(out, "</p>\n{COLUMNS}");
}

fn write_row(out: &mut String, row: &Json) {
    let names: Vec<&str> = row
        .get("samples")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let linked = |shown: String| {
        let first = names.first().copied().unwrap_or_default();
        format!("<a href=\"{}\">{shown}</a>", escaped(first))
    };
    let time = |name: &str| row.get(name).and_then(Json::as_f64).map(duration);
    let time = |name: &str| time(name).map_or_else(String::new, linked);
    let runs = names.iter().enumerate();
    let runs = runs.map(|(at, name)| format!("<a href=\"{}\">{}</a>", escaped(name), at + 1));
    let runs = runs.collect::<Vec<_>>().join(" ");
    let cov = row.get("cov").and_then(Json::as_f64);
    let cov = cov.map_or_else(String::new, |cov| linked(format!("{:.1} %", 100.0 * cov)));
    let cell = |name: &str| escaped(text(row, name));
    let _ = writeln!(
        out,
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{runs}</td><td>{cov}</td>\
         <td><details><summary>{}</summary><code>{}</code><br>{}, load {}, commit {}, version {}</details></td></tr>",
        cell("engine"),
        cell("host"),
        time("median"),
        time("p99"),
        cell("date"),
        cell("command"),
        cell("machine"),
        cell("load"),
        cell("commit"),
        cell("version"),
    );
}

fn text<'r>(row: &'r Json, name: &str) -> &'r str {
    row.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// Returns text without the signs that HTML reads.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            sign => out.push(sign),
        }
    }
    out
}

const HEAD: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Wardgate: figures</title>
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ccc;padding:.2rem .6rem;text-align:left}
code{overflow-wrap:anywhere}</style></head><body>
<h1>Figures</h1>
<p>Each figure is computed from the samples that it links to: times in nanoseconds, one on each line. The decisions of every row were
checked before it was timed, and their digest is the expected one. <code>host-bench/README.md</code> describes each workload in words.
<a href=\"results.json\">results.json</a> has all rows.</p>
";
const COLUMNS: &str = "<table><thead><tr><th>engine</th><th>host</th><th>median</th><th>p99</th><th>runs</th><th>spread</th><th>command</th></tr></thead><tbody>";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::page;

    #[test]
    fn figures_link_to_their_samples_and_text_is_escaped() {
        let row = json!({
            "workload": "w", "parameters": { "n": 5 }, "host": "native", "engine": "<script>&", "samples": ["samples/a.gz", "samples/b.gz"],
            "median": 12.3, "p99": 40.0, "cov": 0.05, "decisions": "aa", "command": "cargo xtask bench --only w",
        });
        let page = page(&[row]);
        assert!(page.contains("<a href=\"samples/a.gz\">12.3 ns</a>"), "{page}");
        assert!(page.contains("<a href=\"samples/b.gz\">2</a>"), "{page}");
        assert!(page.contains("<a href=\"samples/a.gz\">5.0 %</a>"), "{page}");
        assert!(page.contains("cargo xtask bench --only w"), "{page}");
        assert!(page.contains("&lt;script&gt;&amp;") && !page.contains("<script"), "{page}");
    }
}
