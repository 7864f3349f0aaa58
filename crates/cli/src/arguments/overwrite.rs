//! The option of commands that write one file.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Overwrite {
    /// Overwrite a file of another kind, too. One with a secret key is never overwritten.
    #[arg(long)]
    pub(crate) force: bool,
}
