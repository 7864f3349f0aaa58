//! Measures decisions beside the rivals.
//!
//! No other command does this: what a shared machine measures must not make a check fail.

use crate::npm;
use crate::shell::{self, Outcome, command, root};

/// Builds the package, installs the rivals for Node, and measures.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    npm::build()?;
    let rivals = root().join("host-bench/node");
    let install = ["ci", "--no-audit", "--no-fund"];
    shell::logged("npm rivals", command("npm").args(install).current_dir(rivals))?;
    let package = ["--package", "wardgate-host-bench", "--features", "rivals"];
    shell::shown(shell::cargo(["run", "--release"]).args(package).arg("--").args(arguments))
}
