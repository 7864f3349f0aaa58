//! The arguments of `wardgate serve`.

use std::path::PathBuf;

use clap::Args;

use super::{Opening, TableOptions};

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// A directory of policies, or a bundle: served on this machine alone and to everybody there,
    /// without a configuration, for a first try. Changes are in use within a second.
    #[arg(value_name = "FILE|DIR", conflicts_with_all = ["config", "check_config"])]
    pub(crate) policies: Option<PathBuf>,
    /// The configuration, in TOML: docs/server.md describes it, and the variables of the environment
    /// that override its keys.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Check that configuration and policies can be used, and exit.
    #[arg(long)]
    pub(crate) check_config: bool,
    /// Without a configuration, the address to listen at, of this machine
    /// [default: 127.0.0.1:3592].
    #[arg(long, value_name = "ADDRESS", requires = "policies")]
    pub(crate) listen: Option<String>,
    #[command(flatten)]
    pub(crate) opening: Opening,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}
