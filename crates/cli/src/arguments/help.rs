//! The arguments of `wardgate help`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Help {
    /// A command, such as `compile` or `keys generate`, or the code of a message, such as `syntax`.
    #[arg(value_name = "COMMAND|CODE")]
    pub(crate) topic: Vec<String>,
}

pub(super) const HELP: &str = "\
Messages name their code: an error of policies as `error[syntax]`, others behind `wardgate help`.

Exit codes:
  0  success
  2  there is no such command or code
  4  writing failed";
