//! Builds and checks the npm package.
//!
//! The TypeScript compiler writes the declarations, and `npm/bundle.mjs` one file for each entry and
//! runtime into `npm/dist`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{self, Outcome, command, root, target};
use crate::{npm_command, wasm};

/// Builds the modules and the package around them, unless they are up to date.
pub(crate) fn build() -> Outcome {
    wasm::build()?;
    write_dist("package", || {
        run(&["tsc", "--project", "tsconfig.build.json"])?;
        run(&["node", "bundle.mjs"])
    })
}

/// Builds the runtime and the entry of the package, which suffice for a program in Node that opens
/// bundles and decides.
pub(crate) fn build_entry() -> Outcome {
    wasm::build_runtime()?;
    let bundle = || run(&["node", "bundle.mjs", "entry"]);
    // The whole package holds its entry.
    if is_built(&inputs_of("package")?) { Ok(()) } else { write_dist("entry", bundle) }
}

/// Empties `npm/dist` and writes it with `write`, unless it is up to date.
fn write_dist(what: &str, write: impl FnOnce() -> Outcome) -> Outcome {
    let inputs = inputs_of(what)?;
    if is_built(&inputs) {
        return Ok(());
    }
    let dist = root().join("npm/dist");
    if dist.exists() {
        // A file whose source was deleted must not reach the package.
        fs::remove_dir_all(&dist).map_err(|error| format!("cannot empty npm/dist: {error}"))?;
    }
    write()?;
    shell::write(&stamp(), inputs)
}

/// Returns true if `npm/dist` was made of these inputs.
fn is_built(inputs: &str) -> bool {
    let is_there = root().join("npm/dist/node/index.js").exists();
    is_there && fs::read_to_string(stamp()).is_ok_and(|built| built == inputs)
}

/// Returns the name of a build of `npm/dist`, and a digest of everything that it reads.
fn inputs_of(what: &str) -> Outcome<String> {
    let npm = root().join("npm");
    let mut files = Vec::new();
    wasm::collect(&npm.join("src"), &mut files)?;
    wasm::collect(&npm.join("wasm"), &mut files)?;
    let files_beside = [
        "package.json",
        "package-lock.json",
        "tsconfig.json",
        "tsconfig.build.json",
        "bundle.mjs",
        "side-effects.mjs",
        "imports.d.ts",
    ];
    files.extend(files_beside.map(|file| npm.join(file)));
    Ok(format!("{what} {}", wasm::digest_of(&files)?))
}

/// Returns the path of the file with the digest of the sources of `npm/dist`; it is outside of the
/// package.
fn stamp() -> PathBuf {
    target().join("xtask/npm-dist")
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
    // The plug-ins of bundlers sign by it.
    npm_command::build()?;
    make_fixtures()?;
    run(&["vitest", "run"])?;
    bench_album()
}

/// Runs the tests of rate limits, which start a redis-server where there is one.
pub(crate) fn test_limits() -> Outcome {
    run(&["vitest", "run", "src/ratelimit"])
}

/// Makes the bundles, keys and accessor modules that the tests read.
pub(crate) fn make_fixtures() -> Outcome {
    for fixture in FIXTURES {
        compile_fixture(fixture)?;
    }
    make_trust()
}

/// Packs the package and unpacks it into the packages of a folder: a file that is missing there is
/// missing for users.
pub(crate) fn install_packed(folder: &Path) -> Outcome {
    let packed = target().join("xtask/packed").join(folder.file_name().unwrap_or_default());
    let installed = folder.join("node_modules/wardgate");
    let cannot = |error: std::io::Error| format!("cannot install the package: {error}");
    for old in [&packed, &installed] {
        if old.exists() {
            fs::remove_dir_all(old).map_err(cannot)?;
        }
        fs::create_dir_all(old).map_err(cannot)?;
    }
    let mut pack = command("npm");
    pack.args(["pack", "--silent", "--pack-destination"]).arg(&packed);
    shell::captured(pack.current_dir(root().join("npm")))?;
    let [archive] = shell::entries(&packed)?
        .try_into()
        .map_err(|found| format!("expected one packed package, found {found:?}"))?;
    let mut unpack = command("tar");
    unpack.arg("-xzf").arg(archive).arg("--strip-components=1").arg("-C").arg(installed);
    shell::shown(&mut unpack)
}

/// Runs `wardgate bench` with the package once: it fails unless all answers equal the native ones.
fn bench_album() -> Outcome {
    let what = ["bench", "npm/fixtures/album.bundle", "--requests", "npm/fixtures/album.jsonl"];
    let how = ["--host", "all", "--package", "npm", "--seconds", "0.1", "--json"];
    shell::captured(shell::program("wardgate")?.args(what).args(how)).map(drop)
}

/// Compiles `npm/fixtures/NAME` to the bundle and the accessor module that the tests read. They are
/// not stored in the project: their format would become outdated.
fn compile_fixture(name: &str) -> Outcome {
    let policies = format!("npm/fixtures/{name}");
    let bundle = format!("{policies}.bundle");
    let accessors = format!("{policies}.accessors.js");
    let compile = ["compile", &policies, "-o", &bundle, "--emit", &accessors];
    // An enforced schema needs every attribute, so that no other fixture has one.
    let enforcement = if name == "schemas" { "reject" } else { "none" };
    let mut program = shell::program("wardgate")?;
    program.args(compile).args(["--schema-enforcement", enforcement]);
    shell::captured(&mut program).map(drop)
}

/// Makes keys, and bundles that they signed and sealed. Keys are new each time, because a key
/// stored in a project is no secret.
fn make_trust() -> Outcome {
    let folder = root().join("npm/fixtures/trust");
    let cannot = |error: std::io::Error| format!("cannot prepare {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(cannot)?;
    }
    fs::create_dir_all(&folder).map_err(cannot)?;
    let wardgate = target().join("debug/wardgate");
    for line in TRUST {
        let mut making = command(&wardgate);
        shell::captured(making.args(line.split_whitespace()).current_dir(&folder))?;
    }
    Ok(())
}

fn run(words: &[&str]) -> Outcome {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    shell::shown(command(program).args(arguments).current_dir(root().join("npm")))
}

const FIXTURES: &[&str] =
    &["album", "authzen", "closed", "covered", "mqtt", "schemas", "spocp", "topics", "unusual"];

/// The commands that make `npm/fixtures/trust`. The tests take place in May 2024.
const TRUST: &[&str] = &[
    "keys generate -o release.jwk --public release.pub.jwk --id release",
    "keys generate -o audit.jwk --public audit.pub.jwk --id audit --algorithm ML-DSA-65",
    "keys generate -o other.jwk --public other.pub.jwk --algorithm ML-DSA-44",
    "keys generate --for sealing -o host.jwk",
    "keys generate --for sealing -o other-host.jwk",
    "compile ../album -o signed.bundle --sign release.jwk --name album --revision 7 \
     --not-before 2024-01-01T00:00:00Z --expires 2025-01-01T00:00:00Z",
    "compile ../closed -o next.bundle --sign release.jwk --name album --revision 8",
    "compile ../closed -o old.bundle --sign release.jwk --name album --revision 6",
    "sign signed.bundle --key audit.jwk -o both.bundle",
    "delta make signed.bundle next.bundle -o next.delta",
    "delta make old.bundle next.bundle -o other.delta",
    "seal signed.bundle --key host.jwk -o sealed.bundle",
    "seal next.delta --key host.jwk -o sealed.delta",
    "log keys --origin log.example/edge -o log.key --public log.vkey",
];
