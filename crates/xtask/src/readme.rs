//! Runs the program that the README shows.
//!
//! Every fenced block whose first line is a comment naming a file is written to a scratch folder under
//! that name, and every `sh` block runs there, so what a reader copies is what the suite has run.

use std::fs;
use std::path::PathBuf;

use crate::npm;
use crate::shell::{self, Outcome, command, root, target};

/// Writes the files of the README and runs its commands.
pub(crate) fn check() -> Outcome {
    npm::build()?;
    shell::shown(&mut shell::cargo(["build", "--quiet", "--package", "wardgate-cli"]))?;
    let text = shell::read(&root().join("README.md"))?;
    let folder = scratch()?;
    let mut ran = 0;
    for block in blocks(&text) {
        match file_name(&block) {
            Some(name) => shell::write(&folder.join(name), block.body.as_bytes())?,
            None if block.language == "sh" && block.body.contains("wardgate compile") => {
                run(&block.body, &folder)?;
                ran += 1;
            }
            None => {}
        }
    }
    if ran == 0 { Err("README.md shows no program".into()) } else { Ok(()) }
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
    for part in ["dist", "wasm"] {
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

fn run(script: &str, folder: &std::path::Path) -> Outcome {
    let programs = [target().join("debug"), shell::tools().join("bin")];
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&inherited)))
        .map_err(|error| format!("cannot set PATH: {error}"))?;
    shell::shown(command("sh").args(["-e", "-c", script]).current_dir(folder).env("PATH", path))
}
