//! The command for each platform: stripped, in an archive with its licence and its unit of systemd.
//!
//! This machine builds for itself; the other platforms are built by the workflow on machines of theirs.

use std::fs;
use std::path::{Path, PathBuf};

use super::archive::{Archive, sha256};
use super::facts::Facts;
use super::report::{self, Report, ensure};
use crate::shell::{self, Outcome, cargo, command, root, target};

/// Builds and packs the command for this machine.
pub(super) fn check(facts: &Facts, report: &mut Report) -> Outcome {
    let platform = platform()?;
    let program = program(facts)?;
    let version = shell::captured(command(&program).arg("--version"));
    let is_right = |text: String| {
        ensure(text.trim().ends_with(&facts.version), format!("it printed `{}`", text.trim()))
    };
    report.check("`wardgate --version` prints the version", version.and_then(is_right));
    let name = format!("wardgate-{}-{platform}", facts.version);
    let archive = pack(&name, &program, facts)?;
    let first = sha256(&archive)?;
    let again = sha256(&pack(&name, &program, facts)?)?;
    report.check("packing twice gives the same bytes", ensure(first == again, "they differ"));
    report.check("the archive has the command and its licence", complete(&archive, &name));
    report.add(&archive, "forge")?;
    for other in PLATFORMS.iter().filter(|other| **other != platform) {
        println!("    later   wardgate-{}-{other}.tar.gz, by the workflow", facts.version);
    }
    Ok(())
}

/// Builds the command and returns the path of a stripped copy.
pub(super) fn program(facts: &Facts) -> Outcome<PathBuf> {
    let built = if facts.is_quick {
        shell::program("wardgate")?;
        target().join("debug/wardgate")
    } else {
        let mut build = cargo(["build", "--release", "--locked", "--package", "wardgate-cli"]);
        shell::logged("building the command", &mut build)?;
        target().join("release/wardgate")
    };
    let stripped = report::folder().join("bin/wardgate");
    shell::write(&stripped, "")?;
    shell::captured(command("strip").arg("-o").arg(&stripped).arg(&built))?;
    Ok(stripped)
}

fn pack(name: &str, program: &Path, facts: &Facts) -> Outcome<PathBuf> {
    let mut archive = Archive::default();
    archive.copy(program, &format!("{name}/wardgate"), 0o755)?;
    for file in ["LICENSE", "README.md"] {
        archive.copy(&root().join(file), &format!("{name}/{file}"), 0o644)?;
    }
    archive.tree(&root().join("crates/server/deploy/systemd"), &format!("{name}/systemd"))?;
    let path = report::folder().join(format!("{name}.tar.gz"));
    archive.write_gzipped(facts.epoch, &path)?;
    Ok(path)
}

/// Unpacks the archive as a user would, and runs the command in it.
fn complete(archive: &Path, name: &str) -> Outcome {
    let folder = report::empty_folder("unpacked")?;
    shell::captured(command("tar").arg("-xzf").arg(archive).arg("-C").arg(&folder))?;
    let licence = fs::read(folder.join(name).join("LICENSE")).unwrap_or_default();
    let expected = fs::read(root().join("LICENSE")).unwrap_or_default();
    ensure(!licence.is_empty() && licence == expected, "LICENSE is missing")?;
    shell::captured(command(folder.join(name).join("wardgate")).arg("--help")).map(drop)
}

/// Returns the platform of this machine as rustc names it.
pub(super) fn platform() -> Outcome<String> {
    let text = shell::captured(command("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc printed no host".into())
}

/// The platforms of a release.
const PLATFORMS: &[&str] =
    &["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin"];
