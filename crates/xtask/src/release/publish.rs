//! Publishing: the commands for each registry, after all checks.
//!
//! A dry run prints what a release runs, from the same list.

use std::process::Command;

use super::facts::Facts;
use super::report::{Report, ensure};
use super::{changelog, crates, npm_package};
use crate::metadata::string;
use crate::shell::{self, Outcome, command, root};

/// Fails if this commit is no release: its repository has no address, its tree has changes, or its
/// changelog is not cut.
pub(super) fn refuse_unready(facts: &Facts) -> Outcome {
    ensure(facts.has_repository(), {
        format!(
            "Cargo.toml: `repository` of `[workspace.package]` is {}, which is no address: set it before a release",
            facts.repository
        )
    })?;
    let changes = shell::captured(command("git").args(["status", "--porcelain"]))?;
    ensure(changes.is_empty(), format!("the tree has changes:\n{changes}"))?;
    changelog::must_be_cut(&facts.version)
}

/// Fails if the tag of the commit is not that of this version.
pub(super) fn refuse_other_tag(tag: Option<&str>, facts: &Facts) -> Outcome {
    let expected = format!("v{}", facts.version);
    let is_right = tag.is_none_or(|tag| tag == expected);
    ensure(is_right, format!("expected the tag `{expected}`, found `{}`", tag.unwrap_or_default()))
}

/// Publishes to the registries. What belongs to the forge is left in the folder of the release, for its
/// workflow.
pub(super) fn all(facts: &Facts, _: &Report) -> Outcome {
    for command in &mut commands(facts)? {
        shell::shown(command)?;
    }
    println!("published; the files for the forge are in target/release-files");
    Ok(())
}

/// Prints what a release would run, and whether it could.
pub(super) fn describe(facts: &Facts, report: &Report) -> Outcome {
    println!("\na release of {} from commit {} would run:", facts.version, facts.revision);
    for command in commands(facts)? {
        let words = command.get_args().map(|word| word.to_string_lossy());
        let words: Vec<_> = words.collect();
        println!("    {} {}", command.get_program().to_string_lossy(), words.join(" "));
    }
    let count = report.files_for("forge").count();
    println!("and leave {count} files and SHA256SUMS for the forge in target/release-files");
    if let Err(reason) = refuse_unready(facts) {
        println!("today it would refuse: {reason}");
    }
    println!("nothing was published");
    Ok(())
}

fn commands(facts: &Facts) -> Outcome<Vec<Command>> {
    let mut npm = command("npm");
    npm.args(["publish", "--access", "public", "--provenance"]).arg(npm_package::tarball(facts));
    let mut cargo = command("cargo");
    cargo.args(["publish", "--no-verify", "--locked"]).current_dir(root());
    for package in crates::publish_order(facts)? {
        cargo.args(["--package", string(package, "name")]);
    }
    Ok(vec![npm, cargo])
}
