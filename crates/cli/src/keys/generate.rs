//! `wardgate keys generate`: makes a key.

use std::path::Path;

use wardgate_bundle::Level;
use zeroize::Zeroizing;

use super::{Key, PrivateKey, algorithm, files, jwk};
use crate::arguments::{Algorithm, Generate, Purpose};
use crate::failure::{Failure, Result, Status};
use crate::output::{Output, shown};
use crate::overwriting::Paths;

pub(super) fn run(generate: &Generate, out: &mut Output) -> Result<Status> {
    let public = generate.public.as_deref().map(|path| ("--public", path));
    let outputs = std::iter::once(("-o", generate.output.as_path())).chain(public).collect();
    Paths { outputs, ..Paths::default() }.check()?;
    match generate.purpose {
        Purpose::Signing => signing(generate, out)?,
        Purpose::Sealing => sealing(generate, out)?,
    }
    Ok(Status::Done)
}

fn signing(generate: &Generate, out: &mut Output) -> Result<()> {
    let level = match generate.algorithm {
        Some(Algorithm::MlDsa44) => Level::MlDsa44,
        Some(Algorithm::MlDsa65) => Level::MlDsa65,
        None | Some(Algorithm::MlDsa87) => Level::MlDsa87,
    };
    let id = generate.id.as_deref().map(jwk::id).transpose().map_err(Failure::usage)?;
    let key = PrivateKey::from_seed(level, files::random()?, id);
    let public = key.public.clone();
    let (private, public_text) = (write(&Key::Private(key))?, write(&Key::Public(public.clone()))?);
    files::create(&generate.output, private.as_bytes())?;
    if let Some(path) = &generate.public {
        files::publish(path, public_text.as_bytes())
            .inspect_err(|_| files::discard(&generate.output))?;
    }
    if generate.json {
        return out.line(serde_json::json!({
            "output": named(&generate.output),
            "public": generate.public.as_deref().map(named),
            "algorithm": algorithm(level),
            "id": public.id.to_string(),
        }));
    }
    let (file, name) = (named(&generate.output), algorithm(level));
    out.line(format_args!("{}: private key, {name}, id {}", shown(&file), public.id))?;
    match &generate.public {
        Some(path) => out.line(format_args!("{}: its public half", shown(&named(path)))),
        None => Ok(()),
    }
}

fn sealing(generate: &Generate, out: &mut Output) -> Result<()> {
    let given = [
        ("--public", generate.public.is_some()),
        ("--algorithm", generate.algorithm.is_some()),
        ("--id", generate.id.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        let message = format!("`{option}` is for a signing key, not for a sealing key");
        return Err(Failure::usage(message));
    }
    files::create(&generate.output, write(&Key::Sealing(files::random()?))?.as_bytes())?;
    let file = named(&generate.output);
    if generate.json {
        return out.line(serde_json::json!({ "output": file }));
    }
    out.line(format_args!("{}: key for sealing", shown(&file)))
}

fn write(key: &Key) -> Result<Zeroizing<String>> {
    jwk::write(key).map_err(Failure::policies)
}

fn named(path: &Path) -> String {
    path.display().to_string()
}
