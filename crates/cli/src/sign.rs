//! `wardgate sign`: adds signatures to a bundle.
//!
//! The signed bundle is opened by its own signatures before it is written: a key that signs
//! wrongly, or a bundle that cannot be opened, leaves the old file as it was.

use std::path::{Path, PathBuf};

use wardgate_bundle::{
    Conditions, Description, Quorum, Trust, TrustSet, TrustedKey, describe, open_with_limits,
    relabel, sign,
};

use crate::arguments::Sign;
use crate::failure::{Failure, Result, Status};
use crate::keys::{self, PrivateKey, random};
use crate::output::{InOneLine, Output};
use crate::overwriting::{Form, Paths};
use crate::{answer, label, opening, replace};

pub(crate) fn run(sign: &Sign, out: &mut Output) -> Result<Status> {
    paths(sign).check()?;
    let force = sign.overwrite.force;
    sign.output.as_deref().map_or(Ok(()), |path| Form::Bundle.replaces(path, force))?;
    let keys = read_keys(&sign.key)?;
    let path = &sign.bundle;
    let bundle = labelled(path, opening::read(path)?, sign)?;
    let signed = signed(path, bundle, &keys, sign.deterministic)?;
    let output = sign.output.as_ref().unwrap_or(path);
    replace::file(output, &signed)?;
    let about = describe(&signed).map_err(|error| opening::refused(output, &signed, &error))?;
    report(output, &about, sign.json, out)?;
    Ok(Status::Done)
}

/// Returns the outputs and inputs: the bundle may be signed in place.
fn paths(sign: &Sign) -> Paths<'_> {
    Paths {
        outputs: sign.output.iter().map(|path| ("-o", path.as_path())).collect(),
        inputs: sign.key.iter().map(PathBuf::as_path).collect(),
        ..Paths::default()
    }
}

/// Reads keys that sign.
pub(crate) fn read_keys(paths: &[PathBuf]) -> Result<Vec<PrivateKey>> {
    paths.iter().map(|path| keys::signing(path)).collect()
}

/// Returns a bundle with a signature by each of `keys`, each of them verified.
pub(crate) fn signed(
    path: &Path,
    bundle: Vec<u8>,
    keys: &[PrivateKey],
    deterministic: bool,
) -> Result<Vec<u8>> {
    let mut signed = bundle;
    for key in keys {
        let randomness = if deterministic { None } else { Some(random()?) };
        let randomness = randomness.as_deref();
        signed = sign(&signed, &key.public.id, &key.signing, randomness).map_err(|error| {
            Failure::policies(format!("cannot sign `{}`: {error}", path.in_one_line()))
        })?;
    }
    prove(path, &signed, keys)?;
    Ok(signed)
}

/// Opens a bundle with the trust of its verifiers.
fn prove(path: &Path, signed: &[u8], keys: &[PrivateKey]) -> Result<()> {
    let unusable =
        |why: String| Failure::policies(format!("cannot sign `{}`: {why}", path.in_one_line()));
    let trusted = keys.iter().map(|key| {
        let public = &key.public;
        TrustedKey::new(public.id, public.level, &public.bytes)
    });
    let trusted = trusted.collect::<Result<Vec<_>, _>>().map_err(|e| unusable(e.to_string()))?;
    let quorum = Quorum { at_least: keys.len(), required: Vec::new() };
    let set = TrustSet::new(trusted, quorum).map_err(|error| unusable(error.to_string()))?;
    // Any time at which it is valid will do: it may be for next week, or for an archive.
    let header = describe(signed).map_err(|error| unusable(error.to_string()))?.header;
    let now = Some(header.label.not_before.unwrap_or(0));
    let conditions = Conditions { now, ..Conditions::default() };
    open_with_limits(signed, Trust::Signed(&set), &conditions)
        .map(drop)
        .map_err(|error| unusable(error.to_string()))
}

/// Returns the bundle with the header of the options. A signed one keeps its own: another header
/// would invalidate its signatures.
fn labelled(path: &Path, bundle: Vec<u8>, sign: &Sign) -> Result<Vec<u8>> {
    let about = describe(&bundle).map_err(|error| opening::refused(path, &bundle, &error))?;
    if about.base.is_some() {
        return Err(Failure::policies(format!(
            "`{}` is a delta: sign the new bundle, and make the delta of that",
            path.in_one_line()
        )));
    }
    if about.signers.is_empty() {
        let label = label::dated(label::changed(about.header.label, &sign.label)?);
        label::check(&label)?;
        return relabel(&bundle, &label).map_err(|error| Failure::policies(error.to_string()));
    }
    match sign.label.given() {
        None => Ok(bundle),
        Some(option) => Err(Failure::usage(format!(
            "`{option}` would change the header that `{}` is signed with already: \
             sign the bundle as it was compiled",
            path.in_one_line()
        ))),
    }
}

fn report(path: &Path, about: &Description, json: bool, out: &mut Output) -> Result<()> {
    let signers: Vec<String> = about.signers.iter().map(|signer| signer.key.to_string()).collect();
    if json {
        let file = path.display().to_string();
        let json = answer::with(label::json(&about.header), "output", file);
        return out.line(answer::with(json, "signers", signers));
    }
    let revision = about.header.label.revision;
    let signers = signers.join(" and ");
    out.line(format_args!("{}: revision {revision}, signed by {signers}", path.in_one_line()))
}
