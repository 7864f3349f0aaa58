//! Coverage of policy tests, with the expected reports as data: `tests/coverage`.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use wardgate_compiler::Options;
use wardgate_engine::table::Evaluation;
use wardgate_tooling::coverage::{Coverage, Watching, html, json, lcov, text};
use wardgate_tooling::suite::{Filter, Native, Sources, files, run};

#[test]
fn every_case_is_covered_as_it_says() {
    for case in cases() {
        let coverage = coverage(&case.join("policies"));
        compare(&case, "expected.txt", &text::report(&coverage));
        compare(&case, "expected.json", &(json::report(&coverage).replace("},{", "},\n{") + "\n"));
        compare(&case, "expected.info", &lcov::report(&coverage, &str::to_owned));
        compare(&case, "expected.lines", &lines(&coverage));
        if case.join("expected.html").exists() {
            compare(&case, "expected.html", &html::report(&coverage));
        }
        // To be looked at; nothing reads it.
        let name = format!("{}.html", case.file_name().unwrap().display());
        fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), html::report(&coverage))
            .unwrap();
    }
}

#[test]
fn what_lcov_is_given_is_sound() {
    for case in cases() {
        let report = lcov::report(&coverage(&case.join("policies")), &str::to_owned);
        let mut records = report.split_inclusive("end_of_record\n");
        assert!(records.all(|record| Record::read(record).is_sound(&case)), "{report}");
    }
}

#[test]
fn tests_that_run_twice_count_twice() {
    let root = root().join("all_exercised/policies");
    let sources = Sources::read(&root, &options()).unwrap();
    let suites = files::load(&files::read(&root).unwrap());
    let mut watching = Watching::new(&sources, options());
    for _ in 0..2 {
        let mut native = Native::new(&sources, options()).watched(&mut watching);
        run(&suites, &Filter::default(), &mut native).unwrap();
    }
    let coverage = watching.finish();
    let rule = &coverage.policies[0].rules[0];
    assert_eq!((rule.applied, rule.not_applied, rule.failed), (2, 2, 0));
    let expression = &rule.expressions[0];
    assert_eq!((expression.times_true, expression.times_false, expression.failed), (2, 2, 0));
}

fn coverage(root: &Path) -> Coverage {
    let sources = Sources::read(root, &options()).unwrap();
    let suites = files::load(&files::read(root).unwrap());
    let mut watching = Watching::new(&sources, options());
    let mut native = Native::new(&sources, options()).watched(&mut watching);
    let results = run(&suites, &Filter::default(), &mut native).unwrap();
    let junit = results.junit();
    assert!(!junit.contains("<failure") && !junit.contains("<error"), "{junit}");
    watching.finish()
}

/// Returns lenient options, so that a condition that fails ends no search.
fn options() -> Options {
    Options { evaluation: Evaluation::Lenient, ..Options::default() }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/coverage")
}

fn cases() -> Vec<PathBuf> {
    let all = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = all.filter(|path| path.is_dir()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

/// Compares with a file of the case; `WRITE_EXPECTED=1` writes it, to be read before it is
/// committed.
fn compare(case: &Path, name: &str, found: &str) {
    let path = case.join(name);
    if std::env::var_os("WRITE_EXPECTED").is_some() {
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{}", path.display());
}

/// Returns the lines that the page marks.
fn lines(coverage: &Coverage) -> String {
    let page = html::report(coverage);
    assert!(!page.contains("<script") && !page.contains(" style=") && !page.contains("http:"));
    let mut file = "";
    let mut lines = String::new();
    for row in page.lines() {
        if let Some(title) = row.strip_prefix("<h2 id=\"") {
            file = between(title, ">", "<");
        }
        if let Some(row) = row.strip_prefix("<tr id=\"")
            && let Some((id, rest)) = row.split_once('"')
            && rest.starts_with(" class=")
        {
            let line = id.rsplit_once('-').unwrap().1;
            let state = between(rest, "class=\"", "\"");
            let times = between(rest, "<td class=\"times\">", "<");
            lines.push_str(&format!("{file}:{line} {state} {times}\n"));
        }
    }
    lines
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text.split_once(start).map_or("", |(_, rest)| rest);
    rest.split_once(end).map_or(rest, |(inside, _)| inside)
}

/// One file of a report for LCOV, read strictly.
#[derive(Default)]
struct Record {
    path: String,
    functions: Vec<(u32, String)>,
    hits: Vec<(u64, String)>,
    branches: Vec<(u32, usize, usize, Option<u64>)>,
    lines: Vec<(u32, u64)>,
    /// FNF, FNH, BRF, BRH, LF, LH.
    sums: Vec<(String, usize)>,
}

impl Record {
    fn read(text: &str) -> Self {
        let mut record = Self::default();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("TN:"));
        for line in lines {
            let Some((key, value)) = line.split_once(':') else {
                assert_eq!(line, "end_of_record");
                break;
            };
            let parts: Vec<&str> = value.split(',').collect();
            match (key, parts.as_slice()) {
                ("SF", [path]) => record.path = (*path).to_owned(),
                ("FN", [line, name]) => {
                    record.functions.push((line.parse().unwrap(), (*name).to_owned()));
                }
                ("FNDA", [hits, name]) => {
                    record.hits.push((hits.parse().unwrap(), (*name).to_owned()));
                }
                ("BRDA", [line, block, branch, taken]) => record.branches.push((
                    line.parse().unwrap(),
                    block.parse().unwrap(),
                    branch.parse().unwrap(),
                    (*taken != "-").then(|| taken.parse().unwrap()),
                )),
                ("DA", [line, hits]) => {
                    record.lines.push((line.parse().unwrap(), hits.parse().unwrap()));
                }
                ("FNF" | "FNH" | "BRF" | "BRH" | "LF" | "LH", [sum]) => {
                    record.sums.push((key.to_owned(), sum.parse().unwrap()));
                }
                _ => panic!("no line of LCOV: {line}"),
            }
        }
        record
    }

    fn is_sound(&self, case: &Path) -> bool {
        let source = fs::read_to_string(case.join("policies").join(&self.path)).unwrap();
        let last = u32::try_from(source.lines().count()).unwrap();
        let known: BTreeSet<u32> = self.lines.iter().map(|line| line.0).collect();
        let names: BTreeSet<&String> = self.functions.iter().map(|function| &function.1).collect();
        let hit = |hits: &mut dyn Iterator<Item = u64>| hits.filter(|hits| *hits > 0).count();
        let sums = [
            ("FNF", self.functions.len()),
            ("FNH", hit(&mut self.hits.iter().map(|hits| hits.0))),
            ("BRF", self.branches.len()),
            ("BRH", hit(&mut self.branches.iter().filter_map(|branch| branch.3))),
            ("LF", self.lines.len()),
            ("LH", hit(&mut self.lines.iter().map(|line| line.1))),
        ];
        let sums = sums.map(|(key, sum)| (key.to_owned(), sum));
        assert_eq!(self.sums, sums);
        assert_eq!(names.len(), self.functions.len(), "names are unique");
        assert!(self.hits.iter().map(|hits| &hits.1).eq(self.functions.iter().map(|f| &f.1)));
        assert!(self.lines.is_sorted_by_key(|line| line.0) && known.len() == self.lines.len());
        assert!(known.iter().all(|line| (1..=last).contains(line)));
        assert!(self.functions.iter().all(|function| known.contains(&function.0)));
        assert!(self.branches.iter().all(|branch| known.contains(&branch.0)));
        let order = self.branches.iter().map(|branch| (branch.1, branch.2));
        order.eq((0..self.branches.len()).map(|at| (at / 2, at % 2)))
    }
}
