//! `wardgate delta`: makes the difference of two bundles, and applies it to the first.

use std::path::Path;

use wardgate_bundle::delta::{apply, delta};
use wardgate_bundle::{Conditions, Description, Trust, describe};

use crate::arguments::{ApplyDelta, Delta, DeltaCommand, MakeDelta};
use crate::failure::{Failure, Result, Status};
use crate::opening::{self, refused};
use crate::output::{InOneLine, Output};
use crate::overwriting::{Form, Paths};
use crate::replace;

pub(crate) fn run(delta: &Delta, out: &mut Output) -> Result<Status> {
    match &delta.command {
        DeltaCommand::Make(command) => make(command, out)?,
        DeltaCommand::Apply(command) => apply_to(command, out)?,
    }
    Ok(Status::Done)
}

fn make(command: &MakeDelta, out: &mut Output) -> Result<()> {
    let (outputs, inputs) =
        (vec![("-o", command.output.as_path())], vec![&*command.old, &*command.new]);
    Paths { outputs, inputs, ..Paths::default() }.check()?;
    Form::Bundle.replaces(&command.output, command.overwrite.force)?;
    let (old, from) = bundle(&command.old)?;
    let (new, to) = bundle(&command.new)?;
    let delta = delta(&old, &new).map_err(|error| refused(&command.new, &new, &error))?;
    replace::file(&command.output, &delta)?;
    let (from, to) = (from.header.label.revision, to.header.label.revision);
    let (file, short, long) = (command.output.in_one_line(), delta.len(), new.len());
    out.line(format_args!("{file}: from revision {from} to {to}, {short} bytes instead of {long}"))
}

fn apply_to(command: &ApplyDelta, out: &mut Output) -> Result<()> {
    // The new bundle may take the place of its base, as where a host keeps one bundle.
    let (outputs, inputs) = (vec![("-o", command.output.as_path())], vec![&*command.delta]);
    Paths { outputs, inputs, ..Paths::default() }.check()?;
    Form::Bundle.replaces(&command.output, command.overwrite.force)?;
    let base = opening::read(&command.base)?;
    let about = describe(&base).map_err(|error| refused(&command.base, &base, &error))?;
    if about.base.is_some() {
        let shown = command.base.in_one_line();
        let message = format!("`{shown}` is a delta: its base comes first, and then the delta");
        return Err(Failure::usage(message));
    }
    let delta = opening::read(&command.delta)?;
    let new = apply(&base, &delta, Trust::Unsigned, &Conditions::default()).map_err(|error| {
        let (delta, base) = (command.delta.in_one_line(), command.base.in_one_line());
        Failure::policies(format!("cannot apply `{delta}` to `{base}`: {error}"))
    })?;
    replace::file(&command.output, &new)?;
    let file = command.output.in_one_line();
    out.line(format_args!("{file}: {} bytes, not verified", new.len()))
}

/// Reads a whole bundle, which is not to be a delta.
fn bundle(path: &Path) -> Result<(Vec<u8>, Description)> {
    let bytes = opening::read(path)?;
    let about = describe(&bytes).map_err(|error| refused(path, &bytes, &error))?;
    if about.base.is_some() {
        return Err(refused(path, &bytes, &wardgate_bundle::OpenError::Delta));
    }
    Ok((bytes, about))
}
