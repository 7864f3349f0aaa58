//! The arguments of `wardgate completions`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell: `bash`, `zsh`, `fish` or `powershell`.
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub(crate) shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell")]
    Pwsh,
}

pub(super) const HELP: &str = "\
Put the output where the shell looks for it, and start a new shell.

Exit codes:
  0  success
  2  the arguments are wrong
  4  writing failed";
