//! `wardgate seal` and `wardgate unseal`: encrypts a bundle or a delta.

use wardgate_bundle::{Conditions, sealed};

use crate::arguments::Seal;
use crate::failure::{Failure, Result, Status};
use crate::keys::{self, random};
use crate::output::{InOneLine, Output};
use crate::overwriting::{Form, Paths};
use crate::{opening, replace};

pub(crate) fn seal(seal: &Seal, out: &mut Output) -> Result<Status> {
    check(seal)?;
    let key = keys::sealing(&seal.key)?;
    let bytes = opening::read(&seal.input)?;
    let sealed = sealed::seal(&bytes, &key, &*random()?).map_err(|error| match error {
        wardgate_bundle::OpenError::Sealed => {
            Failure::policies(format!("`{}` is sealed already", seal.input.in_one_line()))
        }
        error => opening::refused(&seal.input, &bytes, &error),
    })?;
    written(seal, &sealed, "sealed", out)
}

pub(crate) fn unseal(unseal: &Seal, out: &mut Output) -> Result<Status> {
    check(unseal)?;
    let key = keys::sealing(&unseal.key)?;
    let bytes = opening::read(&unseal.input)?;
    let inside = sealed::unseal(&bytes, &key, &Conditions::default())
        .map_err(|error| opening::refused(&unseal.input, &bytes, &error))?;
    written(unseal, &inside, "unsealed, not verified", out)
}

/// Checks the outputs and inputs: a bundle may be sealed in place.
fn check(seal: &Seal) -> Result<()> {
    let (outputs, inputs) = (vec![("-o", seal.output.as_path())], vec![&*seal.key]);
    Paths { outputs, inputs, ..Paths::default() }.check()?;
    Form::Bundle.replaces(&seal.output, seal.overwrite.force)
}

fn written(seal: &Seal, bytes: &[u8], how: &str, out: &mut Output) -> Result<Status> {
    replace::file(&seal.output, bytes)?;
    out.line(format_args!("{}: {how}, {} bytes", seal.output.in_one_line(), bytes.len()))?;
    Ok(Status::Done)
}
