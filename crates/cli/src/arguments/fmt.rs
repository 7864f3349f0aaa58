//! The arguments of `wardgate fmt`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Fmt {
    /// Files, and directories with files that end in .yaml or .yml. Links in directories are not followed; those
    /// that lead to no file of the directory are errors.
    #[arg(value_name = "PATH", required_unless_present = "stdin")]
    pub(crate) paths: Vec<PathBuf>,
    /// Change nothing: list the files that are not formatted.
    #[arg(long)]
    pub(crate) check: bool,
    /// Change nothing: show what would change.
    #[arg(long)]
    pub(crate) diff: bool,
    /// Read standard input, and write what it should be to standard output.
    #[arg(long, conflicts_with = "paths")]
    pub(crate) stdin: bool,
}

pub(crate) const FMT_HELP: &str = "\
Values, comments and their order stay; JSON is left alone. See docs/formatting.md.

Exit codes:
  0  done; with --check, everything is formatted
  1  a file is no YAML; the others were formatted
  2  the command was called wrongly
  4  reading or writing failed
  8  with --check, a file is not formatted";
