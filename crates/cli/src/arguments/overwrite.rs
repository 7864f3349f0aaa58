//! The option of commands that write one file.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Overwrite {
    /// Overwrite a file that is none of this command. Not one with a secret key, ever.
    #[arg(long)]
    pub(crate) force: bool,
}
