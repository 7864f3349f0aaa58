//! The arguments of `wardgate lint`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::TableOptions;

#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// The directory of the policies.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print JSON: an array with one object for each finding.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the findings as SARIF 2.1.0 too, which code hosts and editors show.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Exit with 1 if there is a finding with this code; `warnings` means every code. May be given several times.
    #[arg(long, value_name = "CODE|warnings")]
    pub(crate) deny: Vec<Denied>,
    /// Omit findings with this code. May be given several times.
    #[arg(long, value_name = "CODE")]
    pub(crate) allow: Vec<Known>,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

/// A kind of finding, by the name of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known(pub(crate) wardgate_tooling::lint::Lint);

/// A finding that fails the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    Warnings,
    Only(Known),
}

impl FromStr for Known {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || "expected the code of a finding, such as `unused-variable`".to_owned();
        wardgate_tooling::lint::Lint::from_name(text).map(Self).ok_or_else(unknown)
    }
}

impl FromStr for Denied {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "warnings" => Ok(Self::Warnings),
            code => code.parse().map(Self::Only),
        }
    }
}

pub(super) const HELP: &str = "\
`wardgate help CODE` explains each. A comment in a policy silences a finding: on the line before, at
the end of the line, or at the head of the file for all of it.
  # wardgate: allow unused-variable -- kept for the next release

Exit codes:
  0  success; there may be findings
  1  the policies cannot be used, or there is a finding that is denied
  2  the arguments are wrong
  4  reading or writing failed";
