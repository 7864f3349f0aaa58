//! The package as users of bundlers and compilers have it: packed, installed, bundled, run.
//!
//! Each app in `tests/bundlers` is built by its bundler and runs in the environment of such an app:
//! in Chromium, or in workerd. Its output must equal that of the package in Node.

use crate::shell::{self, Outcome, command, root, target};
use crate::{npm, setup};

/// Builds and runs every app.
pub(crate) fn check() -> Outcome {
    npm::build()?;
    npm::make_fixtures()?;
    setup::npm_ci(FOLDER)?;
    let folder = root().join(FOLDER);
    npm::install_packed(&folder)?;
    for resolution in RESOLUTIONS {
        let project = folder.join("types").join(format!("{resolution}.json"));
        shell::shown(command("tsc").arg("--project").arg(project))?;
    }
    println!("    its types resolve as {}", RESOLUTIONS.join(", "));
    let mut run = command("node");
    run.arg(folder.join("run.mjs")).arg(root().join("npm/fixtures/trust"));
    run.arg(target().join("xtask/bundlers")).env("CHROMIUM", setup::browser("chromium")?);
    shell::shown(&mut run)
}

const FOLDER: &str = "tests/bundlers";

/// The ways in which compilers find the types of a package.
const RESOLUTIONS: [&str; 4] = ["node16", "nodenext", "bundler", "node10"];
