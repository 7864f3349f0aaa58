//! The arguments of `wardgate grants`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wardgate_native::mqtt::Target;

use super::{Input, Opening, TableOptions};

#[derive(Debug, Args)]
pub(crate) struct Grants {
    /// A bundle, or a directory of policies.
    #[arg(value_name = "FILE|DIR")]
    pub(crate) policies: PathBuf,
    #[command(flatten)]
    pub(crate) input: Input,
    /// Write the lists for `publish` and `subscribe` as a broker takes them: `emqx`, `hivemq`, `nats`, or `jwt`,
    /// a claim with the lists as they are.
    #[arg(long = "form", value_name = "FORM", hide_possible_values = true)]
    pub(crate) form: Option<Form>,
    #[command(flatten)]
    pub(crate) opening: Opening,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

/// A form of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    Emqx,
    #[value(name = "hivemq")]
    HiveMq,
    Jwt,
    Nats,
}

impl Form {
    pub(crate) const fn target(self) -> Target {
        match self {
            Self::Emqx => Target::Emqx,
            Self::HiveMq => Target::HiveMq,
            Self::Jwt => Target::Jwt,
            Self::Nats => Target::Nats,
        }
    }
}
