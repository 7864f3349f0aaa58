//! The edge worker: its types, its tests inside workerd, its answers over HTTP, and its size.
//!
//! The worker imports the package as its users do: packed, and installed in its folder. The scripts
//! are those of `edge-worker/package.json`.

use std::process::Command;

use crate::shell::{self, Outcome, command, root, target};
use crate::{conformance, npm, setup};

/// Runs every check of the worker, and leaves the files that `npm run dev` needs.
pub(crate) fn check() -> Outcome {
    npm::build()?;
    setup::npm_ci(FOLDER)?;
    npm::install_packed(&root().join(FOLDER))?;
    shell::program("wardgate")?;
    shell::captured(&mut script("prepare-dev"))?;
    shell::shown(&mut script("types"))?;
    check_size(&shell::captured(&mut script("build"))?)?;
    shell::shown(&mut script("test"))?;
    shell::shown(&mut script("test:http"))?;
    shell::shown(&mut script("test:cold"))
}

fn script(name: &str) -> Command {
    let mut npm = command("npm");
    npm.args(["run", "--silent", name])
        .current_dir(root().join(FOLDER))
        .env("WARDGATE", target().join("debug/wardgate"))
        .env("CORPORA", conformance::corpora())
        .env("NO_COLOR", "1")
        .env("WRANGLER_SEND_METRICS", "false");
    npm
}

/// Checks the size in the output of wrangler: `Total Upload: 639.55 KiB / gzip: 229.27 KiB`.
fn check_size(output: &str) -> Outcome {
    let gzipped = output.lines().find_map(|line| line.split_once("gzip: ")?.1.strip_suffix(" KiB"));
    let kib: f64 = gzipped
        .and_then(|text| text.trim().parse().ok())
        .ok_or_else(|| format!("wrangler printed no size:\n{output}"))?;
    println!("    upload: {kib} KiB gzipped, at most {MAX_KIB}");
    if kib > MAX_KIB {
        return Err(format!("the worker has {kib} KiB gzipped, at most {MAX_KIB} were promised"));
    }
    Ok(())
}

const FOLDER: &str = "edge-worker";

/// The largest upload after gzip in KiB: 264,200 bytes.
const MAX_KIB: f64 = 258.0;
