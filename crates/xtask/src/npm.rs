//! Builds and checks the npm package.
//!
//! The package has no build tool of its own: the TypeScript compiler writes `npm/dist`.

use crate::shell::{self, Outcome, command, root};
use crate::wasm;

/// Builds the runtime module and the package around it.
pub(crate) fn build() -> Outcome {
    wasm::build()?;
    run(&["tsc", "--project", "tsconfig.build.json"])
}

/// Checks the types of the package, of its tests and of the example project.
pub(crate) fn check_types() -> Outcome {
    build()?;
    run(&["tsc", "--project", "tsconfig.json"])?;
    run(&["tsc", "--project", "example/tsconfig.json"])
}

/// Runs the tests of the package.
pub(crate) fn test() -> Outcome {
    build()?;
    for fixture in FIXTURES {
        compile_fixture(fixture)?;
    }
    run(&["vitest", "run"])?;
    bench_album()
}

/// Lets `wardgate bench` ask the package for once: it fails unless all answers are the native ones.
fn bench_album() -> Outcome {
    let program = ["run", "--quiet", "--package", "wardgate-cli", "--", "bench"];
    let what = ["npm/fixtures/album.bundle", "--requests", "npm/fixtures/album.jsonl"];
    let how = ["--host", "all", "--package", "npm", "--seconds", "0.1", "--json"];
    shell::captured(shell::cargo(program).args(what).args(how)).map(drop)
}

/// Compiles `npm/fixtures/NAME` to the bundle and the accessor module that the tests read. They are
/// not kept in the project: they would be of an older format one day.
fn compile_fixture(name: &str) -> Outcome {
    let policies = format!("npm/fixtures/{name}");
    let bundle = format!("{policies}.bundle");
    let accessors = format!("{policies}.accessors.js");
    let program = ["run", "--quiet", "--package", "wardgate-cli", "--"];
    let compile = ["compile", &policies, "-o", &bundle, "--emit", &accessors];
    shell::captured(shell::cargo(program).args(compile)).map(drop)
}

fn run(words: &[&str]) -> Outcome {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    shell::shown(command(program).args(arguments).current_dir(root().join("npm")))
}

const FIXTURES: &[&str] = &["album", "closed", "odd"];
