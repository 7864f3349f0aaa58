//! `wardgate delta`: what changed between two bundles, and what that makes of the first.

use std::path::Path;

use wardgate_bundle::delta::{apply, delta};
use wardgate_bundle::{Conditions, Description, Trust, describe};

use crate::arguments::{ApplyDelta, Delta, DeltaCommand, MakeDelta};
use crate::failure::{Failure, Status};
use crate::opening::{self, refused};
use crate::output::{InOneLine, Output, shown};
use crate::overwriting::Paths;
use crate::replace;

pub(crate) fn run(delta: &Delta, out: &mut Output) -> Result<Status, Failure> {
    match &delta.command {
        DeltaCommand::Make(asked) => make(asked, out)?,
        DeltaCommand::Apply(asked) => apply_to(asked, out)?,
    }
    Ok(Status::Done)
}

fn make(asked: &MakeDelta, out: &mut Output) -> Result<(), Failure> {
    let (outputs, inputs) = (vec![("-o", asked.output.as_path())], vec![&*asked.old, &*asked.new]);
    Paths { outputs, inputs, ..Paths::default() }.check()?;
    let (old, from) = bundle(&asked.old)?;
    let (new, to) = bundle(&asked.new)?;
    let delta = delta(&old, &new).map_err(|error| refused(&asked.new, &error))?;
    replace::file(&asked.output, &delta)?;
    let (from, to) = (from.header.label.revision, to.header.label.revision);
    let (file, short, long) = (asked.output.display().to_string(), delta.len(), new.len());
    out.line(format_args!(
        "{}: from revision {from} to {to}, {short} bytes instead of {long}",
        shown(&file)
    ))
}

fn apply_to(asked: &ApplyDelta, out: &mut Output) -> Result<(), Failure> {
    // The new bundle may take the place of its base, as where a host keeps one bundle.
    let (outputs, inputs) = (vec![("-o", asked.output.as_path())], vec![&*asked.delta]);
    Paths { outputs, inputs, ..Paths::default() }.check()?;
    let base = opening::read(&asked.base)?;
    let about = describe(&base).map_err(|error| refused(&asked.base, &error))?;
    if about.base.is_some() {
        let shown = asked.base.in_one_line();
        let message = format!("`{shown}` is a delta: its base comes first, and then the delta");
        return Err(Failure::usage(message));
    }
    let delta = opening::read(&asked.delta)?;
    let new = apply(&base, &delta, Trust::Unsigned, &Conditions::default()).map_err(|error| {
        let (delta, base) = (asked.delta.in_one_line(), asked.base.in_one_line());
        Failure::policies(format!("cannot apply `{delta}` to `{base}`: {error}"))
    })?;
    replace::file(&asked.output, &new)?;
    let file = asked.output.display().to_string();
    out.line(format_args!("{}: {} bytes, not verified", shown(&file), new.len()))
}

/// Reads a whole bundle, which is not to be a delta.
fn bundle(path: &Path) -> Result<(Vec<u8>, Description), Failure> {
    let bytes = opening::read(path)?;
    let about = describe(&bytes).map_err(|error| refused(path, &error))?;
    if about.base.is_some() {
        return Err(refused(path, &wardgate_bundle::OpenError::Delta));
    }
    Ok((bytes, about))
}
