//! The arguments of `wardgate replay`.

use std::path::PathBuf;

use clap::Args;

use super::{Forbidden, Format, Opening, TableOptions};

#[derive(Debug, Args)]
pub(crate) struct ReplayLogs {
    /// The logs: lines of JSON as Cerbos writes them (`DecisionLogEntry`), plain or packed by gzip or zstd; `-` reads
    /// standard input. A folder is a decision log of `wardgate serve`.
    #[arg(value_name = "LOG|-", required = true)]
    pub(crate) logs: Vec<PathBuf>,
    /// The policies that decide again: a directory, or a bundle.
    #[arg(long = "with", value_name = "FILE|DIR")]
    pub(crate) new: PathBuf,
    /// The policies of then: a directory, or a bundle. What they do not decide as it was logged is counted as not
    /// reproduced, and rules of old decisions are named [default: the logged effects are the old decisions]. Records of
    /// `wardgate serve` without the whole request are read by the bundle that made them.
    #[arg(long = "policies", alias = "bundle", value_name = "FILE|DIR")]
    pub(crate) old: Option<PathBuf>,
    /// Exit with 1 if anything that was denied is allowed; with `less`, if anything that was allowed is denied.
    #[arg(long, value_name = "more|less", hide_possible_values = true)]
    pub(crate) forbid: Vec<Forbidden>,
    /// Print the answer as `table`, `json`, `sarif` for code hosts, or `html`, one page without scripts.
    #[arg(long, value_name = "FORMAT", default_value = "table", hide_possible_values = true)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) opening: Opening,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

pub(super) const HELP: &str = "\
Each decision is made again at the time of its entry, and counted once:
  same            as before
  deny to allow   it was denied, and would be allowed
  allow to deny   it was allowed, and would be denied
  not reproduced  the policies of `--policies` do not decide as it was logged
  not answerable  the log lacks something that the new policies read
  unreadable      a line that is no entry
No entry is guessed. docs/ANALYSIS.md of the project says more.

Exit codes:
  0  success; there may be differences
  1  the policies cannot be used, or there is a difference that is forbidden
  2  the arguments are wrong
  4  reading or writing failed";
