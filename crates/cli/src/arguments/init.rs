//! The arguments of `wardgate init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder; it is made if it does not exist.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,
    /// The program to write: for `node`, `express`, `hono`, `next` or `vite` [default: what `package.json` depends
    /// on, else `node`].
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    pub(crate) framework: Option<Framework>,
}

/// A framework that there is an example for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Framework {
    Node,
    Express,
    Hono,
    Next,
    Vite,
}

pub(super) const HELP: &str = "\
Nothing is replaced: if a file exists already, none is written.

Exit codes:
  0  success
  2  the arguments are wrong
  4  reading or writing failed";
