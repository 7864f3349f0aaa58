//! A short fuzz of every reader of untrusted input.
//!
//! With a nightly toolchain and cargo-fuzz the real targets run, guided by coverage. Without them
//! the same targets get random input in one ordinary process: it finds less, but needs no
//! installation.

use std::process::{Command, Stdio};

use crate::shell::{self, Outcome, command, root};

/// Fuzzes all the targets for less than a minute altogether.
pub(crate) fn smoke(is_long: bool) -> Outcome {
    if !has_cargo_fuzz() {
        println!("    no nightly toolchain with cargo-fuzz: random input in process instead");
        let mut smoke = shell::program("fuzz-smoke")?;
        return shell::shown(smoke.args(["--seconds", if is_long { "30" } else { "10" }]));
    }
    for target in targets()? {
        let limit = format!("-max_total_time={SECONDS_EACH}");
        println!("    {target}: {SECONDS_EACH} s");
        let arguments = ["fuzz", "run", "--fuzz-dir", "tests/fuzz", &target, "--", &limit];
        shell::logged(&format!("fuzz {target}"), nightly_cargo().args(arguments))?;
    }
    Ok(())
}

fn has_cargo_fuzz() -> bool {
    let mut version = nightly_cargo();
    version.args(["fuzz", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    root().join("tests/fuzz").is_dir() && version.status().is_ok_and(|status| status.success())
}

fn nightly_cargo() -> Command {
    let mut nightly = command("rustup");
    // The variables that the stable cargo above this process has set would otherwise override
    // `nightly`.
    nightly.args(["run", "nightly", "cargo"]).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    nightly
}

fn targets() -> Outcome<Vec<String>> {
    let files = shell::entries(&root().join("tests/fuzz/fuzz_targets"))?;
    let name = |file: &std::path::PathBuf| Some(file.file_stem()?.to_str()?.to_owned());
    Ok(files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "rs"))
        .filter_map(name)
        .collect())
}

const SECONDS_EACH: u32 = 6;
