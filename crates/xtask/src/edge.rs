//! The edge worker and the one for MQTT: their types, their tests inside workerd, their answers over
//! HTTP and WebSocket, and their sizes.
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
    check_size("worker", &shell::captured(&mut script("build"))?, MAX_KIB)?;
    check_size(
        "worker with frames",
        &shell::captured(&mut script("build:frames"))?,
        MAX_FRAMES_KIB,
    )?;
    check_size("worker of the log", &shell::captured(&mut script("build:log"))?, MAX_LOG_KIB)?;
    check_size("worker for MQTT", &shell::captured(&mut script("build:mqtt"))?, MAX_MQTT_KIB)?;
    shell::shown(&mut script("test"))?;
    shell::shown(&mut script("test:mqtt"))?;
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
fn check_size(what: &str, output: &str, most: f64) -> Outcome {
    let gzipped = output.lines().find_map(|line| line.split_once("gzip: ")?.1.strip_suffix(" KiB"));
    let kib: f64 = gzipped
        .and_then(|text| text.trim().parse().ok())
        .ok_or_else(|| format!("wrangler printed no size:\n{output}"))?;
    println!("    upload of the {what}: {kib} KiB gzipped, at most {most}");
    if kib > most {
        return Err(format!("the {what} has {kib} KiB gzipped, at most {most} were promised"));
    }
    Ok(())
}

const FOLDER: &str = "edge-worker";

/// The largest upload after gzip in KiB. One of them (1,037 bytes) is for lists that are hashed once, for what to write where something else than a
/// bundle is given, and for warnings of getters in explanations.
const MAX_KIB: f64 = 256.0;

/// The largest upload of the worker with frames, which has the module of the decision log too (307.9 KiB): 5 of them are for evidence
/// in JavaScript, frames that can be read alone, and forms of ids.
const MAX_FRAMES_KIB: f64 = 308.5;

/// The largest upload of the worker that makes one log (283.5 KiB): the sequencer is 88 of them, and the runtime comes along with the
/// errors of the package.
const MAX_LOG_KIB: f64 = 286.0;

/// The largest upload of the worker for MQTT, which has the module of MQTT too.
const MAX_MQTT_KIB: f64 = 288.0;
