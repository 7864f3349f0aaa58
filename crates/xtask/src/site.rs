//! The documents as a static site, with every link checked: `target/site`.

use crate::setup;
use crate::shell::{self, Outcome, command, root};

/// Builds the site.
pub(crate) fn build() -> Outcome {
    setup::npm_ci("docs/site")?;
    let mut build = command("npm");
    build.args(["run", "--silent", "build"]).current_dir(root().join("docs/site"));
    shell::logged("building the site", &mut build)
}
