//! Where and from what a figure comes: without it, a figure means nothing.

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use wardgate_engine::cel::Timestamp;

/// What stands beside the figures.
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) commit: String,
    pub(crate) command: String,
}

/// Describes the machine and the project in `root`.
pub(crate) fn describe(root: &Path) -> Result<Machine, String> {
    Ok(Machine {
        date: date()?,
        processor: processor(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        commit: commit(root),
        command: command(),
    })
}

fn date() -> Result<String, String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    let now = i64::try_from(since.as_secs()).ok().and_then(|seconds| Timestamp::new(seconds, 0));
    now.map(|now| now.to_string()).ok_or_else(|| "the clock is beyond the year 9999".to_owned())
}

/// Returns the name of the processor, which Linux alone tells in a file.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name"));
    let name = line.and_then(|rest| rest.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or("unknown processor").to_owned()
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

fn command() -> String {
    let mut command = "cargo run --release -p wardgate-host-bench".to_owned();
    if cfg!(feature = "rivals") {
        command.push_str(" --features rivals");
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() { command } else { format!("{command} -- {}", words.join(" ")) }
}
