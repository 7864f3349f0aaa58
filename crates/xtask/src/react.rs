//! Pages of Vite, Next and React Router in Chromium, with the package as users have it.
//!
//! What a server painted must be what the page paints first, loading must never look like denied,
//! and a saved policy must reach the open page. It prints figures; the default suite has no part of
//! it, because it takes minutes.

use crate::shell::{self, Outcome, command, root};
use crate::{npm, setup};

/// Runs these steps of `tests/react/run.mjs`, or all.
pub(crate) fn run(steps: &[String]) -> Outcome {
    npm::build()?;
    setup::npm_ci(FOLDER)?;
    let folder = root().join(FOLDER);
    npm::install_packed(&folder)?;
    let mut run = command("node");
    run.arg(folder.join("run.mjs")).args(steps).env("CHROMIUM", setup::browser("chromium")?);
    shell::shown(&mut run)
}

const FOLDER: &str = "tests/react";
