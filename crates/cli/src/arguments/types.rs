//! The arguments of `wardgate types`.

use std::path::PathBuf;

use clap::Args;

use super::{Overwrite, TableOptions};

#[derive(Debug, Args)]
pub(crate) struct Types {
    /// The directory of the policies.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The file to write; `-` writes to standard output. A file that ends in `.ts` and not in `.d.ts` exports
    /// the digest of the policies too, as a constant.
    #[arg(short, long, value_name = "FILE|-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: Overwrite,
    /// Only compare the file with the policies.
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

pub(crate) const HELP: &str = "\
The types are for `open<Policies>` of the npm package. They name the digest of the policies,
so compile the bundle with the same options. docs/types.md of the
project has examples.

Exit codes:
  0  success; with --check, the file has the types of the policies
  1  the policies are refused
  2  the arguments are wrong
  4  reading or writing failed
  8  with --check, the file is missing or has other types";
