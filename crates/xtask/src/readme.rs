//! Runs the program that the README shows.
//!
//! Every fenced block whose first line is a comment naming a file is written to a scratch folder under
//! that name, and every `sh` block runs there, so what a reader copies is what the suite has run.

use std::fs;
use std::path::PathBuf;

use crate::npm;
use crate::shell::{self, Outcome, command, root, target};

/// Writes the files of the README, runs its commands, and compares what they print.
pub(crate) fn check() -> Outcome {
    npm::build()?;
    shell::shown(&mut shell::cargo(["build", "--quiet", "--package", "wardgate-cli"]))?;
    let text = shell::read(&root().join("README.md"))?;
    let folder = scratch()?;
    let (mut expected, mut printed) = (Vec::new(), String::new());
    for block in blocks(&text) {
        match file_name(&block) {
            Some(name) => {
                shell::write(&folder.join(name), block.body.as_bytes())?;
                expected.extend(promised(&block.body));
            }
            None if block.language == "sh" => printed += &run(&block.body, &folder)?,
            None => {}
        }
    }
    let missing = |line: &&String| !printed.lines().any(|found| found == *line);
    match expected.iter().find(missing) {
        None if expected.is_empty() => {
            Err("README.md shows no program that prints anything".into())
        }
        None => Ok(()),
        Some(line) => {
            Err(format!("README.md promises `{line}`, its program printed `{}`", printed.trim()))
        }
    }
}

/// Returns the lines that a program promises to print, in comments after `console.log`, as in
/// `// sam true, eve false`.
fn promised(program: &str) -> Vec<String> {
    let comments = program
        .lines()
        .filter(|line| line.contains("console.log("))
        .filter_map(|line| line.split_once(" // "));
    comments.flat_map(|(_, lines)| lines.split(", ")).map(str::to_owned).collect()
}

struct Block {
    language: String,
    body: String,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body: Vec<&str> =
                lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            blocks.push(Block { language: language.trim().into(), body: body.join("\n") + "\n" });
        }
    }
    blocks
}

/// Returns the relative path that the first line of a block names, as in `# policies/album.yaml`.
fn file_name(block: &Block) -> Option<PathBuf> {
    let first = block.body.lines().next()?;
    let name = first.strip_prefix("# ").or_else(|| first.strip_prefix("// "))?;
    let plain =
        name.contains('.') && !name.contains("..") && !name.contains(' ') && !name.starts_with('/');
    plain.then(|| PathBuf::from(name))
}

/// Returns an empty folder in which `wardgate` is the package and the command of this tree.
fn scratch() -> Outcome<PathBuf> {
    let folder = target().join("xtask/readme");
    let cannot = |error: std::io::Error| format!("cannot prepare {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(cannot)?;
    }
    let package = folder.join("node_modules/wardgate");
    for part in ["cjs", "dist", "wasm"] {
        copy(&root().join("npm").join(part), &package.join(part))?;
    }
    copy(&root().join("npm/package.json"), &package.join("package.json"))?;
    Ok(folder)
}

fn copy(from: &std::path::Path, to: &std::path::Path) -> Outcome {
    if from.is_dir() {
        for entry in shell::entries(from)? {
            copy(&entry, &to.join(entry.file_name().unwrap_or_default()))?;
        }
        return Ok(());
    }
    let bytes =
        fs::read(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    shell::write(to, bytes)
}

fn run(script: &str, folder: &std::path::Path) -> Outcome<String> {
    let programs = [target().join("debug"), shell::tools().join("bin")];
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&inherited)))
        .map_err(|error| format!("cannot set PATH: {error}"))?;
    shell::captured(command("sh").args(["-e", "-c", script]).current_dir(folder).env("PATH", path))
}
