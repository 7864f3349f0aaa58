//! The facts about this version, each from its one place.
//!
//! Version, licence and repository are those of `[workspace.package]`; times are that of the commit, so
//! that a commit always gives the same files.

use serde_json::Value;

use crate::metadata::{list, string};
use crate::shell::{self, Outcome, command, root};

/// What every part of a release states about itself.
pub(super) struct Facts {
    pub(super) version: String,
    pub(super) license: String,
    /// The address of the repository, or one below `.invalid`.
    pub(super) repository: String,
    /// The hash of the commit.
    pub(super) revision: String,
    /// The time of the commit, in seconds since 1970.
    pub(super) epoch: u64,
    /// True if programs are built without optimisation, which is for work on this command.
    pub(super) is_quick: bool,
    /// The packages of the workspace, as `cargo metadata` describes them.
    pub(super) packages: Vec<Value>,
}

impl Facts {
    /// Reads the facts from `cargo metadata` and git.
    pub(super) fn read() -> Outcome<Self> {
        let arguments = ["metadata", "--format-version", "1", "--no-deps"];
        let text = shell::captured(&mut shell::cargo(arguments))?;
        let answer: Value =
            serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
        let packages = list(&answer, "packages").to_vec();
        let command = packages.iter().find(|package| string(package, "name") == COMMAND);
        let command = command.ok_or_else(|| format!("there is no crate `{COMMAND}`"))?;
        let of = |key: &str| string(command, key).to_owned();
        Ok(Self {
            version: of("version"),
            license: of("license"),
            repository: of("repository"),
            revision: git("%H")?,
            epoch: git("%ct")?.parse().map_err(|_| "git printed no time")?,
            is_quick: false,
            packages,
        })
    }

    /// Returns the facts of a version 1.0.0 with these packages.
    #[cfg(test)]
    pub(super) fn of_test(packages: Vec<Value>) -> Self {
        let repository = "https://code.example.com/w".into();
        let (version, license) = ("1.0.0".into(), "Apache-2.0".into());
        let (revision, epoch, is_quick) = (String::new(), 0, false);
        Self { version, license, repository, revision, epoch, is_quick, packages }
    }

    /// Returns true if the repository has an address.
    pub(super) fn has_repository(&self) -> bool {
        is_address(&self.repository)
    }

    /// Returns the time of the commit as RFC 3339 has it.
    pub(super) fn time(&self) -> Outcome<String> {
        let at = format!("@{}", self.epoch);
        let text = shell::captured(command("date").args(["-u", "-d", &at, "+%Y-%m-%dT%H:%M:%SZ"]))?;
        Ok(text.trim().to_owned())
    }
}

/// Returns true for an `https` address whose host is not reserved for examples.
fn is_address(repository: &str) -> bool {
    let host = repository.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    host.is_some_and(|host| !host.is_empty() && !host.ends_with(".invalid"))
}

/// Returns what git says of the commit; zero in a folder of sources without a history.
fn git(format: &str) -> Outcome<String> {
    if !root().join(".git").exists() {
        return Ok("0".into());
    }
    let format = format!("--format={format}");
    Ok(shell::captured(command("git").args(["log", "-1", &format]))?.trim().to_owned())
}

/// The crate that stands for the workspace: all take these facts from `[workspace.package]`.
const COMMAND: &str = "wardgate-cli";

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn a_reserved_host_is_no_address() {
        assert!(is_address("https://code.example.com/wardgate"));
        assert!(!is_address("https://forge.invalid/wardgate/wardgate"));
        assert!(!is_address("http://code.example.com/wardgate"));
        assert!(!is_address(""));
    }
}
