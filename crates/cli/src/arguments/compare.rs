//! The arguments of `wardgate compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wardgate_engine::cel::Timestamp;

use super::{Opening, TableOptions, time};

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The policies before the change: a directory, or a bundle.
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// The policies after the change: a directory, or a bundle.
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// Exit with 1 if anybody may do more after the change, or if that is unknown; with `less`, if anybody
    /// may do less.
    #[arg(long, value_name = "more|less", hide_possible_values = true)]
    pub(crate) forbid: Vec<Forbidden>,
    /// Print the answer as `table`, `json`, `sarif` for code hosts, or `html`, one page without scripts.
    #[arg(long, value_name = "FORMAT", default_value = "table", hide_possible_values = true)]
    pub(crate) format: Format,
    /// The time at which requests are decided that show a difference [default: the current time].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<Timestamp>,
    #[command(flatten)]
    pub(crate) opening: Opening,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

/// A change that fails the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Forbidden {
    More,
    Less,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
    Sarif,
    Html,
}

pub(super) const HELP: &str = "\
docs/ANALYSIS.md of the project says what is claimed, and what unknown means.
Every difference is shown by a request that was decided with both.

Exit codes:
  0  success; there may be differences
  1  the policies cannot be used, or there is a difference that is forbidden
  2  the arguments are wrong
  4  reading or writing failed";
