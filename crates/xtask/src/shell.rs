//! Runs other programs: the folders of the project, and the progress that the reader sees.
//!
//! A long step writes to a log under `target/xtask` and prints a line now and then; the end of the
//! log is printed if the step fails.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The result of a command of this program: the error is one sentence for a person.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// Returns the folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Returns the folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Returns the folder of the tools that this program installed.
pub(crate) fn tools() -> PathBuf {
    root().join(".tools")
}

/// Returns a command that runs in the root of the project and finds the project's own tools first.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let own = [tools().join("bin"), root().join("npm/node_modules/.bin")];
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let all = own.into_iter().chain(std::env::split_paths(&inherited));
    let mut command = Command::new(program);
    command.current_dir(root());
    // A folder whose name contains the separator cannot be joined; the inherited PATH then remains.
    if let Ok(path) = std::env::join_paths(all) {
        command.env("PATH", path);
    }
    command
}

/// Returns a command of the cargo that runs this program.
pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

/// Builds a program of the workspace and returns a command that runs it.
///
/// Cargo chooses the features of libraries for the packages and targets that it is given. These are
/// those of `cargo test --workspace`, so that both share every library; one small test stands for
/// all of them.
pub(crate) fn program(name: &str) -> Outcome<Command> {
    build(["--bin", name])?;
    Ok(command(target().join("debug").join(name)))
}

/// Builds an example of the workspace, with the libraries of [`program`], and returns a command
/// that runs it.
pub(crate) fn example(name: &str) -> Outcome<Command> {
    build(["--example", name])?;
    Ok(command(target().join("debug/examples").join(name)))
}

/// Builds a target once in this process: a look by cargo waits for the builds of other processes.
fn build([kind, name]: [&str; 2]) -> Outcome {
    static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let target = format!("{kind} {name}");
    let mut built = BUILT.lock().map_err(|_| format!("an earlier build of `{name}` panicked"))?;
    if built.contains(&target) {
        return Ok(());
    }
    let mut build = cargo(["build", "--workspace", "--test", "actions", kind, name]);
    logged(&format!("building {name}"), &mut build)?;
    built.insert(target);
    Ok(())
}

/// Runs a command whose output the reader sees.
pub(crate) fn shown(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    succeeded(command, status)
}

/// Runs a command and returns its output.
pub(crate) fn captured(command: &mut Command) -> Outcome<String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| cannot_start(command, &error))?;
    succeeded(command, output.status)?;
    String::from_utf8(output.stdout)
        .map_err(|_| format!("{} printed text that is not UTF-8", spelled(command)))
}

/// Runs a long command with its output in a log, and prints its progress now and then.
pub(crate) fn logged(name: &str, command: &mut Command) -> Outcome {
    logged_within(Duration::MAX, name, command)
}

/// Runs a long command as `logged` does, and ends it if it takes longer than `limit`.
pub(crate) fn logged_within(limit: Duration, name: &str, command: &mut Command) -> Outcome {
    let status = spawn_and_wait(limit, name, command, &log_of(name));
    let outcome = status.and_then(|status| succeeded(command, status));
    if outcome.is_err() {
        print_end_of(&log_of(name));
    }
    outcome
}

/// Runs a long command that may fail: as `logged`, but its log is not printed.
pub(crate) fn attempt(name: &str, command: &mut Command) -> Outcome {
    let status = spawn_and_wait(Duration::MAX, name, command, &log_of(name))?;
    succeeded(command, status)
}

fn log_of(name: &str) -> PathBuf {
    target().join("xtask").join(format!("{}.log", name.replace([' ', '/'], "-")))
}

fn spawn_and_wait(
    limit: Duration,
    name: &str,
    command: &mut Command,
    log: &Path,
) -> Outcome<ExitStatus> {
    let file = create(log)?;
    let copy =
        file.try_clone().map_err(|error| format!("cannot write {}: {error}", log.display()))?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(copy)
        .spawn()
        .map_err(|error| cannot_start(command, &error))?;
    let start = Instant::now();
    let mut last_line_at = start;
    loop {
        let status = child.try_wait().map_err(|error| cannot_start(command, &error))?;
        if let Some(status) = status {
            return Ok(status);
        }
        if start.elapsed() >= limit {
            // The child may have ended just now; no other error is possible here.
            child.kill().and_then(|()| child.wait()).ok();
            return Err(format!("`{}` took longer than {}", spelled(command), seconds(limit)));
        }
        if last_line_at.elapsed() >= BETWEEN_LINES {
            last_line_at = Instant::now();
            println!("    {name}: {} ... {}", seconds(start.elapsed()), last_line(log));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Formats a duration as `12.3 s`.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Writes a file, and creates the folders above it.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Outcome {
    create(path)?;
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Returns the entries of a folder in the order of their names.
pub(crate) fn entries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        found.push(entry.map_err(cannot)?.path());
    }
    found.sort();
    Ok(found)
}

fn create(path: &Path) -> Outcome<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    }
    File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn succeeded(command: &Command, status: ExitStatus) -> Outcome {
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status})", spelled(command))) }
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot run `{}`: {error}", spelled(command))
}

fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn last_line(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or_default().chars().take(80).collect()
}

fn print_end_of(log: &Path) {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(LINES_ON_FAILURE);
    if skipped > 0 {
        println!("    ... {skipped} lines before, in {}", log.display());
    }
    for line in failures(lines.iter().take(skipped).copied()) {
        println!("    {line}");
    }
    for line in lines.iter().skip(skipped) {
        println!("    {line}");
    }
}

/// Returns the lines of a log that tell which test failed and where, at most `LINES_OF_FAILURES`.
///
/// They are those of cargo, of the test harness of Rust and of vitest, and the line after a panic,
/// which is its message.
pub(crate) fn failures<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let mut is_message = false;
    let tells = move |line: &&str| {
        let is_panic = line.contains("panicked at ");
        let is_of_harness = line.contains("FAILED") || line.contains("FAIL ");
        let is_error = line.trim_start().starts_with("error");
        let tells = is_message || is_panic || is_of_harness || is_error;
        is_message = is_panic;
        tells
    };
    lines.filter(tells).take(LINES_OF_FAILURES)
}

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const BETWEEN_LINES: Duration = Duration::from_secs(15);
const LINES_ON_FAILURE: usize = 150;
const LINES_OF_FAILURES: usize = 40;

#[cfg(test)]
mod tests {
    use super::failures;

    #[test]
    fn the_lines_of_failures_are_found() {
        let log = "running 2 tests\ntest a::b ... FAILED\ntest a::c ... ok\n\
                   thread 'a::b' (7) panicked at tests/a.rs:9:5:\nthe store is open\nnote: run with\n\
                   error: 1 target failed:\n    `-p wardgate-a --test a`";
        let found: Vec<&str> = failures(log.lines()).collect();
        let expected = [
            "test a::b ... FAILED",
            "thread 'a::b' (7) panicked at tests/a.rs:9:5:",
            "the store is open",
            "error: 1 target failed:",
        ];
        assert_eq!(found, expected);
    }
}
