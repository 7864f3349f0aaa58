//! `wardgate completions`: what a shell completes, from the table of verbs and options.

use clap_complete::{Shell as Of, generate};

use crate::arguments::{Completions, Shell, command};
use crate::failure::{Result, Status};
use crate::output::Output;

pub(crate) fn run(completions: &Completions, out: &mut Output) -> Result<Status> {
    let shell = match completions.shell {
        Shell::Bash => Of::Bash,
        Shell::Zsh => Of::Zsh,
        Shell::Fish => Of::Fish,
        Shell::Pwsh => Of::PowerShell,
    };
    let mut script = Vec::new();
    generate(shell, &mut command(), "wardgate", &mut script);
    out.bytes(&script)?;
    Ok(Status::Done)
}
