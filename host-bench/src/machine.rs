//! The origin of a figure: without it, a figure means nothing.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use wardgate_engine::cel::Timestamp;

use crate::program::version_of;

/// The facts beside the figures.
pub(crate) struct Machine {
    /// The name of each fact, and its value in this run.
    facts: Vec<(&'static str, String)>,
}

impl Machine {
    /// Describes the machine and the project in `root`; `versions` are those of the rivals.
    pub(crate) fn describe(root: &Path, versions: String) -> Result<Self, String> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let facts = vec![
            ("date", date()?),
            ("machine", format!("{}, {cores} cores", processor())),
            ("load", load()),
            ("commit", commit(root)),
            ("command", command()),
            ("compiler", version_of("rustc", &["--version"])),
            ("Node", version_of("node", &["--version"])),
            ("rivals", versions),
        ];
        Ok(Self { facts })
    }

    /// Returns one fact; an empty text if there is none with this name.
    pub(crate) fn fact(&self, wanted: &str) -> &str {
        self.facts.iter().find(|(name, _)| *name == wanted).map_or("", |(_, fact)| fact)
    }

    /// Returns the facts as a list in Markdown.
    pub(crate) fn list(&self) -> String {
        let mut out = String::new();
        for (name, fact) in &self.facts {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "- {name}: {fact}");
        }
        out
    }

    pub(crate) fn json(&self) -> Json {
        self.facts.iter().map(|(name, fact)| ((*name).to_owned(), json!(fact))).collect()
    }
}

fn date() -> Result<String, String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    let now = i64::try_from(since.as_secs()).ok().and_then(|seconds| Timestamp::new(seconds, 0));
    now.map(|now| now.to_string()).ok_or_else(|| "the clock is beyond the year 9999".to_owned())
}

/// Returns the name of the processor, which only Linux has in a file.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name"));
    let name = line.and_then(|rest| rest.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or("unknown processor").to_owned()
}

/// Returns the number of programs that were ready to run: more than one, this one, makes every
/// figure doubtful.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<&str> = text.split_whitespace().take(3).collect();
    match averages.as_slice() {
        [one, five, fifteen] => {
            format!("{one}, {five}, {fifteen} over 1, 5, 15 minutes at the end")
        }
        _ => "unknown".to_owned(),
    }
}

fn commit(root: &Path) -> String {
    let Some(commit) = git(root, &["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match git(root, &["status", "--porcelain", "--untracked-files=no"]).as_deref() {
        Some("") => commit,
        _ => format!("{commit} with changes"),
    }
}

fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Returns the command, without the folders of other programs.
fn command() -> String {
    let mut words = std::env::args().skip(1);
    let mut command = "cargo xtask bench".to_owned();
    while let Some(word) = words.next() {
        if [
            "--opa",
            "--cerbos",
            "--cli",
            "--modules",
            "--hosts",
            "--counter",
            "--results",
            "--server",
        ]
        .contains(&word.as_str())
        {
            words.next();
        } else {
            let _ = write!(command, " {word}");
        }
    }
    command
}
