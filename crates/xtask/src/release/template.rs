//! The edge worker as a template: a copy that depends on the published package, and on nothing of the project.
//!
//! The copy is used as its README says, with the packed package instead of the published one.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::archive::Archive;
use super::facts::Facts;
use super::npm_package;
use super::report::{self, Report, ensure};
use crate::shell::{self, Outcome, command, root};

/// Makes the archive of the template, and tries a copy of it.
pub(super) fn check(facts: &Facts, report: &mut Report) -> Outcome {
    let template = stage(facts)?;
    let name = format!("wardgate-edge-worker-{}", facts.version);
    let mut archive = Archive::default();
    archive.tree(&template, &name)?;
    let path = report::folder().join(format!("{name}.tar.gz"));
    archive.write_gzipped(facts.epoch, &path)?;
    let copy = report::empty_folder("template-used")?;
    shell::captured(command("tar").arg("-xzf").arg(&path).arg("-C").arg(&copy))?;
    try_copy(&copy.join(&name), facts, report)?;
    report.add(&path, "forge")
}

/// Copies what git knows of the edge worker, and adds the package to its dependencies. Its lock file
/// is left out: it locks the tests of the project, and does not have the package.
fn stage(facts: &Facts) -> Outcome<PathBuf> {
    let stage = report::empty_folder("template")?;
    let files = shell::captured(command("git").args(["ls-files", "edge-worker"]))?;
    for file in files.lines().filter(|file| !file.ends_with("package-lock.json")) {
        let content = shell::read(&root().join(file))?;
        let path = file.strip_prefix("edge-worker/").unwrap_or(file);
        shell::write(&stage.join(path), content)?;
    }
    let mut set = command("npm");
    set.args(["pkg", "set"]).arg(format!("dependencies.wardgate=^{}", facts.version));
    shell::captured(set.current_dir(&stage))?;
    Ok(stage)
}

/// Installs, types, tests and builds a copy.
fn try_copy(copy: &Path, facts: &Facts, report: &mut Report) -> Outcome {
    let tarball = npm_package::tarball(facts);
    let fault = "npm/package.json: it is not packed, which the step `npm package` does";
    ensure(tarball.exists(), fault)?;
    let mut install = npm(copy, &["install", "--no-audit", "--no-fund"]);
    shell::logged("packages of the template", install.arg(tarball))?;
    for (what, script) in STEPS {
        let outcome = shell::logged(what, &mut npm(copy, &["run", "--silent", script]));
        let outcome = outcome.map_err(|fault| format!("edge-worker/package.json: {fault}"));
        report.check(format!("a copy of the edge worker: {what}"), outcome);
    }
    Ok(())
}

fn npm(folder: &Path, words: &[&str]) -> Command {
    let mut npm = command("npm");
    npm.args(words).current_dir(folder).env("WRANGLER_SEND_METRICS", "false").env("NO_COLOR", "1");
    npm
}

const STEPS: &[(&str, &str)] = &[
    ("keys and bundles by the command of the package", "prepare-dev"),
    ("types", "types"),
    ("tests inside workerd", "test"),
    ("wrangler deploy --dry-run", "build"),
];
