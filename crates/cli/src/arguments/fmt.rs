//! The arguments of `wardgate fmt`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Fmt {
    /// Files, and directories with files that end in .yaml or .yml. Links in directories are not followed; a
    /// link that leads to no file of the directory is an error.
    #[arg(value_name = "PATH", required_unless_present = "stdin")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only list the files that are not formatted.
    #[arg(long)]
    pub(crate) check: bool,
    /// Only show the changes.
    #[arg(long)]
    pub(crate) diff: bool,
    /// Format standard input to standard output.
    #[arg(long, conflicts_with = "paths")]
    pub(crate) stdin: bool,
}

pub(crate) const FMT_HELP: &str = "\
Values, comments and their order stay; JSON is not changed; docs/formatting.md of the project has
the rules.

Exit codes:
  0  success; with --check, everything is formatted
  1  a file is not YAML; the others were formatted
  2  the arguments are wrong
  4  reading or writing failed
  8  with --check, a file is not formatted";
