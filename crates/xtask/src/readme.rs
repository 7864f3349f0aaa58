//! Runs the programs in the README, in the pages about runtimes and in the examples.
//!
//! Every fenced block whose first line is a comment naming a file is written to a scratch folder
//! under that name, and every `sh` block runs there, so a reader copies what the suite has run. An
//! app for a browser or an edge runtime is run too, as for its users. The files of an example are
//! beside its page.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{self, Outcome, command, root, target};
use crate::{npm, npm_command, setup};

/// Runs the pages that a reader begins with, and each page about a runtime with their bundle.
pub(crate) fn check() -> Outcome {
    npm::build()?;
    npm_command::build()?;
    setup::everything()?;
    shell::program("wardgate")?;
    let readme = scratch("readme")?;
    run_page("README.md", &readme)?;
    run_page("docs/signing.md", &readme)?;
    run_page("docs/package-errors.md", &readme)?;
    run_page("npm/README.md", &scratch("package")?)?;
    run_page("docs/tutorial.md", &scratch("tutorial")?)?;
    for runtime in RUNTIMES {
        let folder = scratch(runtime)?;
        for file in ["policies.wardgate", "release.pub.jwk"] {
            copy(&readme.join(file), &folder.join(file))?;
        }
        run_page(&format!("docs/runtimes/{runtime}.md"), &folder)?;
    }
    run_examples()?;
    run_guides()
}

/// Runs each folder of `docs/examples` by the commands of its page.
fn run_examples() -> Outcome {
    // Node and npm find the package in the folder above.
    let installed = scratch("examples")?;
    let folders = shell::entries(&root().join("docs/examples"))?.into_iter();
    for example in folders.filter(|entry| entry.is_dir()) {
        let name = example.file_name().unwrap_or_default().to_string_lossy();
        let folder = installed.join(&*name);
        copy_folder(&example, &folder)?;
        let page = format!("docs/examples/{name}/README.md");
        let mut expected = promised(&shell::read(&folder.join("main.mjs"))?);
        expected.extend(shown(&shell::read(&root().join(&page))?));
        run_expecting(&page, &folder, expected)?;
    }
    Ok(())
}

/// Runs each page of `docs/howto` in a copy of the example that they begin with.
fn run_guides() -> Outcome {
    let installed = scratch("howto")?;
    for page in shell::entries(&root().join("docs/howto"))? {
        let text = shell::read(&page)?;
        let name = page.file_stem().unwrap_or_default().to_string_lossy();
        if !blocks(&text).iter().any(|block| block.language == "sh") {
            continue;
        }
        let folder = installed.join(&*name);
        copy_folder(&root().join("docs/examples/documents"), &folder)?;
        run_expecting(&format!("docs/howto/{name}.md"), &folder, shown(&text))?;
    }
    Ok(())
}

/// Writes the files of a page, runs its commands and its app, and compares what they print.
fn run_page(name: &str, folder: &Path) -> Outcome {
    run_expecting(name, folder, Vec::new())
}

/// Runs a page as `run_page` does, and expects more lines than its programs promise.
fn run_expecting(name: &str, folder: &Path, mut expected: Vec<String>) -> Outcome {
    let text = shell::read(&root().join(name))?;
    let mut printed = String::new();
    for block in blocks(&text) {
        match file_name(&block) {
            Some(file) => {
                shell::write(&folder.join(file), block.body.as_bytes())?;
                expected.extend(promised(&block.body));
            }
            None if block.language == "sh" => printed += &run(&block.body, folder)?,
            None => {}
        }
    }
    if ["index.html", "wrangler.jsonc"].iter().any(|app| folder.join(app).exists()) {
        printed += &run_app(folder, expected.len())?;
    }
    let missing = |line: &&String| !printed.lines().any(|found| found.trim() == line.trim());
    match expected.iter().find(missing) {
        None if expected.is_empty() => Err(format!("{name} shows no program that prints anything")),
        None => Ok(()),
        Some(line) => {
            Err(format!("{name} promises `{line}`, its program printed `{}`", printed.trim()))
        }
    }
}

/// Returns the lines of a page that show output: those that four spaces make code.
fn shown(text: &str) -> Vec<String> {
    let mut fences = 0;
    let lines = text.lines().filter(|line| {
        fences += usize::from(line.starts_with("```"));
        fences % 2 == 0 && line.starts_with("    ")
    });
    lines.map(str::to_owned).collect()
}

/// Returns the lines that the comments of a program promise as its output or answers, as in
/// `console.log(answer); // sam true, eve false`.
fn promised(program: &str) -> Vec<String> {
    let comments = program
        .lines()
        .filter(|line| line.contains("console.log(") || line.contains("new Response("))
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
    let html = || first.strip_prefix("<!-- ")?.strip_suffix(" -->");
    let name = first.strip_prefix("# ").or_else(|| first.strip_prefix("// ")).or_else(html)?;
    let plain =
        name.contains('.') && !name.contains("..") && !name.contains(' ') && !name.starts_with('/');
    plain.then(|| PathBuf::from(name))
}

/// Returns an empty folder in which `wardgate` is the package and the command of this tree.
fn scratch(name: &str) -> Outcome<PathBuf> {
    let folder = target().join("xtask/pages").join(name);
    let cannot = |error: std::io::Error| format!("cannot prepare {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(cannot)?;
    }
    npm::install_packed(&folder)?;
    // The state after `npm install`.
    let bin = folder.join("node_modules/.bin");
    fs::create_dir_all(&bin).map_err(cannot)?;
    let vite = root().join("tests/bundlers/node_modules/.bin/vite");
    for (name, program) in [("wardgate", "../wardgate/bin/wardgate.mjs".into()), ("vite", vite)] {
        std::os::unix::fs::symlink(program, bin.join(name)).map_err(cannot)?;
    }
    shell::write(
        &folder.join("package.json"),
        "{ \"dependencies\": { \"wardgate\": \"0.1.0\" } }\n",
    )?;
    Ok(folder)
}

fn copy(from: &Path, to: &Path) -> Outcome {
    let bytes =
        fs::read(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    shell::write(to, bytes)
}

/// Copies the files of a folder, with those of the folders in it.
fn copy_folder(from: &Path, to: &Path) -> Outcome {
    for entry in shell::entries(from)? {
        let target = to.join(entry.file_name().unwrap_or_default());
        if entry.is_dir() { copy_folder(&entry, &target)? } else { copy(&entry, &target)? }
    }
    Ok(())
}

/// Runs the app in its environment, and returns its output.
fn run_app(folder: &Path, lines: usize) -> Outcome<String> {
    let mut app = command("node");
    app.arg("tests/bundlers/page.mjs").arg(folder).arg(lines.to_string());
    shell::captured(app.env("CHROMIUM", setup::browser("chromium")?))
}

fn run(script: &str, folder: &Path) -> Outcome<String> {
    let runtimes = root().join("tests/runtimes/node_modules");
    let programs = [
        target().join("debug"),
        shell::tools().join("bin"),
        runtimes.join(".bin"),
        // The package of Deno has a program for each platform.
        runtimes.join("@deno/linux-x64-glibc"),
        root().join("tests/bundlers/node_modules/.bin"),
    ];
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&inherited)))
        .map_err(|error| format!("cannot set PATH: {error}"))?;
    shell::captured(command("sh").args(["-e", "-c", script]).current_dir(folder).env("PATH", path))
}

/// The pages about hosts in JavaScript.
const RUNTIMES: [&str; 6] = ["node", "deno", "bun", "browser", "bundlers", "workers"];
