//! `wardgate keys inspect`: shows the keys of a file, without their secrets.

use serde_json::Value as Json;
use wardgate_bundle::KeyId;

use super::{Key, PublicKey, algorithm, files};
use crate::answer;
use crate::arguments::InspectKeys;
use crate::failure::{Result, Status};
use crate::output::{InOneLine, Output, complain};

pub(super) fn run(inspect: &InspectKeys, out: &mut Output) -> Result<Status> {
    let (keys, exposed) = files::look(&inspect.file)?;
    if inspect.json {
        let keys: Json = keys.iter().map(json).collect();
        out.line(answer::line(&serde_json::json!({ "keys": keys })))?;
    } else {
        keys.iter().try_for_each(|key| print(key, out))?;
    }
    out.flush()?;
    match exposed {
        Some(mode) if files::hold_secrets(&keys) => {
            complain(format_args!(
                "wardgate: `{}` holds a secret and others can read it (mode {mode:o})",
                inspect.file.in_one_line()
            ));
        }
        _ => {}
    }
    Ok(Status::Done)
}

fn print(key: &Key, out: &mut Output) -> Result<()> {
    let (kind, public) = kind(key);
    match public {
        Some(public) => {
            let name = algorithm(public.level);
            let made = fingerprint(public);
            out.line(format_args!("{kind}, {name}, id {}, fingerprint {made}", public.id))
        }
        None => out.line(kind),
    }
}

fn json(key: &Key) -> Json {
    let (kind, public) = kind(key);
    match public {
        Some(public) => serde_json::json!({
            "kind": kind,
            "algorithm": algorithm(public.level),
            "id": public.id.to_string(),
            "fingerprint": fingerprint(public).to_string(),
        }),
        None => serde_json::json!({ "kind": kind }),
    }
}

fn kind(key: &Key) -> (&'static str, Option<&PublicKey>) {
    match key {
        Key::Private(key) => ("private", Some(&key.public)),
        Key::Public(key) => ("public", Some(key)),
        Key::Sealing(_) => ("sealing", None),
    }
}

/// Returns the id that is derived from the key.
fn fingerprint(key: &PublicKey) -> KeyId {
    KeyId::of(key.level, &key.bytes)
}
