//! The edge worker and the one for MQTT: their types, their tests inside workerd, their answers over
//! HTTP and WebSocket, and their sizes.
//!
//! The worker imports the package as its users do: packed, and installed in its folder. The scripts
//! are those of `edge-worker/package.json`.

use std::fs;
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
    UPLOADS.iter().try_for_each(Upload::check)?;
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

/// The upload of a worker, and the largest size of it.
struct Upload {
    what: &'static str,
    /// The script that bundles it.
    script: &'static str,
    /// The folder below `.dev` with the bundle.
    folder: &'static str,
    /// The most KiB after gzip.
    most: f64,
}

impl Upload {
    /// Bundles the worker, and checks how large its program and its modules are, each compressed alone. The size that
    /// wrangler prints is of all in a row, and changes by a KiB with the order in which it reads the modules.
    fn check(&self) -> Outcome {
        let Self { what, most, .. } = *self;
        let folder = root().join(FOLDER).join(".dev").join(self.folder);
        // Modules of earlier builds have other names.
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("cannot empty `.dev`: {error}"))?;
        }
        shell::captured(&mut script(self.script))?;
        let printed = shell::captured(command("node").args(["--eval", PRINT_KIB]).arg(&folder))?;
        let kib: f64 = printed.trim().parse().map_err(|_| format!("no size: {printed}"))?;
        println!("    upload of the {what}: {kib:.2} KiB gzipped, at most {most}");
        if kib > most {
            return Err(format!(
                "the {what} has {kib:.2} KiB gzipped, at most {most} were promised"
            ));
        }
        Ok(())
    }
}

const FOLDER: &str = "edge-worker";

/// Prints the KiB of the files in a folder that are sent, without maps.
const PRINT_KIB: &str = r#"
const { readdirSync, readFileSync } = require("node:fs");
const folder = process.argv[1];
const sizes = readdirSync(folder)
  .filter((name) => /\.(js|wasm)$/.test(name))
  .map((name) => require("node:zlib").gzipSync(readFileSync(`${folder}/${name}`)).length);
console.log(sizes.reduce((sum, size) => sum + size, 0) / 1024);
"#;

const UPLOADS: &[Upload] = &[
    // A KiB is for lists that are hashed once, for what to write where something else than a bundle is given, and for
    // warnings of getters in explanations.
    Upload { what: "worker", script: "build", folder: "worker", most: 255.8 },
    // It has the module of the decision log too: 5 KiB are for evidence in JavaScript, frames that can be read alone, and
    // forms of ids.
    Upload { what: "worker with frames", script: "build:frames", folder: "frames", most: 308.3 },
    // The sequencer is 88 KiB of it, and the runtime comes along with the errors of the package.
    Upload { what: "worker of the log", script: "build:log", folder: "log", most: 285.9 },
    // It has the module of MQTT too.
    Upload { what: "worker for MQTT", script: "build:mqtt", folder: "mqtt", most: 288.0 },
];
