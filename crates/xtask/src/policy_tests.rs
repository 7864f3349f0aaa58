//! Runs the test suites of the project on every host with a runner, and compares the results; and the answers about what their
//! policies mean together.

use std::path::PathBuf;

use crate::npm;
use crate::shell::{self, Outcome, command, root};

/// Runs every folder of `tests/suites` and the demonstration, and the corpora that are installed.
pub(crate) fn compare() -> Outcome {
    npm::build()?;
    let wardgate = shell::program("wardgate")?;
    let mut node = command("node");
    node.arg(root().join("tests/node/policy-tests.mjs")).arg(wardgate.get_program());
    shell::shown(node.args(folders()?))
}

/// Compares the answers of `similar`, `analyze` and `compare` about the same folders, as the command and the package give them.
pub(crate) fn compare_analysis() -> Outcome {
    npm::build()?;
    let wardgate = shell::program("wardgate")?;
    let mut node = command("node");
    node.arg(root().join("tests/node/analysis.mjs")).arg(wardgate.get_program());
    shell::shown(node.args(folders()?))
}

fn folders() -> Outcome<Vec<PathBuf>> {
    let mut folders = vec![root().join("tests/demo/policies")];
    let suites = shell::entries(&root().join("tests/suites"))?.into_iter();
    folders.extend(suites.map(|suite| suite.join("policies")).filter(|folder| folder.is_dir()));
    let corpora = root().join("../shared/corpora/cerbos/testdata/store");
    folders.extend(Some(corpora).filter(|folder| folder.is_dir()));
    folders.sort();
    Ok(folders)
}
