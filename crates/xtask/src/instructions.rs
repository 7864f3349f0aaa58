//! Counts the instructions of a decision, in every native form, and compares them with a table in
//! the project.
//!
//! Time on a shared machine varies; a count hardly changes from run to run. Only valgrind is
//! needed: the difference between a short and a long run is the cost of the passes.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::shell::{self, Outcome, command, root, target};

/// Compares the counts with the table, or replaces the table.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let is_new = match arguments {
        [] => false,
        [word] if word == "--write" => true,
        [word, ..] => return Err(format!("expected `--write` or nothing, found `{word}`")),
    };
    if !has_valgrind() {
        println!("    skipped: valgrind is not installed, and it is what counts instructions");
        return Ok(());
    }
    let program = build()?;
    let names = shell::captured(&mut Command::new(&program))?;
    let count = |name: &str| Ok((name.to_owned(), of_a_decision(&program, name)?));
    let counts: Vec<(String, u64)> = names.lines().map(count).collect::<Outcome<_>>()?;
    if is_new {
        return shell::write(&table(), written(&counts)?);
    }
    compare(&counts, &shell::read(&table())?)
}

fn has_valgrind() -> bool {
    let mut version = command("valgrind");
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

fn build() -> Outcome<PathBuf> {
    let mut build = shell::cargo(["build", "--release", "--package", "wardgate-host-bench"]);
    build.args(["--bin", PROGRAM]);
    shell::logged("building what is counted", &mut build)?;
    Ok(target().join("release").join(PROGRAM))
}

/// Returns the number of instructions of one decision.
fn of_a_decision(program: &Path, name: &str) -> Outcome<u64> {
    let few = instructions(program, name, FEW)?;
    let many = instructions(program, name, MANY)?;
    let passes = u64::from(MANY - FEW);
    Ok(many.saturating_sub(few) / (passes * REQUESTS))
}

fn instructions(program: &Path, name: &str, passes: u32) -> Outcome<u64> {
    let mut valgrind = command("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    let output = valgrind
        .arg(program)
        .args([name, &passes.to_string()])
        .output()
        .map_err(|error| format!("cannot run valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("valgrind failed on `{name}`: {text}"));
    }
    let line = text.lines().find_map(|line| line.split_once("refs:"));
    let digits = line.map(|(_, count)| count.chars().filter(char::is_ascii_digit).collect());
    let count = digits.and_then(|digits: String| digits.parse().ok());
    count.ok_or_else(|| format!("valgrind did not count on `{name}`: {text}"))
}

/// Fails if a form takes more instructions than the table allows.
fn compare(counts: &[(String, u64)], table: &str) -> Outcome {
    let mut faults = Vec::new();
    for (name, count) in counts {
        let Some(known) = known(table, name) else {
            faults.push(format!("`{name}` is not in the table"));
            continue;
        };
        println!("    {name:<44} {count:>6} instructions, {known} in the table");
        // In whole numbers: a twentieth is five per cent.
        if count.saturating_mul(20) > known.saturating_mul(21) {
            faults
                .push(format!("`{name}` takes {count} instructions, more than 5 % above {known}"));
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    let advice = "if that is the price of something, `cargo xtask instructions --write`";
    Err(format!("{}; {advice}", faults.join("; ")))
}

/// Returns the count of a form in the table.
fn known(table: &str, name: &str) -> Option<u64> {
    let row = |line: &str| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        (cells.next()? == name).then(|| cells.next()?.replace(',', "").parse().ok())?
    };
    table.lines().find_map(row)
}

fn written(counts: &[(String, u64)]) -> Outcome<String> {
    let mut text = HEAD.to_owned();
    for (name, count) in counts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {name} | {count} |");
    }
    let version = shell::captured(command("rustc").arg("--version"))?;
    let _ = write!(text, "\nCounted with {}.\n", version.trim());
    Ok(text)
}

fn table() -> PathBuf {
    root().join("host-bench/INSTRUCTIONS.md")
}

const PROGRAM: &str = "wardgate-host-instructions";
const FEW: u32 = 1;
const MANY: u32 = 21;
/// The number of requests in one pass.
const REQUESTS: u64 = 2000;

const HEAD: &str = "# Instructions of a decision

The mean over the 2000 requests of the workload `five-rules-20`, natively, optimised as a release is.
`cargo xtask instructions` counts again and fails above 5 % more; `--write` writes this table. The reading of
a request is part of each row but the first; the comparison with the expected answer is part of all.

| form | instructions |
|---|--:|
";

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn at_most_a_twentieth_more_is_allowed() {
        let table = "| form | instructions |\n|---|--:|\n| JSON text | 1,000 |\n";
        let check = |name: &str, count, expected| {
            assert_eq!(compare(&[(name.to_owned(), count)], table).is_ok(), expected, "{count}");
        };
        check("JSON text", 900, true);
        check("JSON text", 1050, true);
        check("JSON text", 1051, false);
        check("another", 1, false);
    }
}
