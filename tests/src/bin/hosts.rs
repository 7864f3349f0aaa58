//! Writes the questions for hosts in other languages: `hosts FOLDER`.
//!
//! The first line of `questions.jsonl` has the key to trust and a second key. Each other line is a
//! case of `tests/cases`: its policies as a signed bundle, and for each request the right decision
//! in canonical JSON and the effect of every single action. `album.bundle` and `release.pub.jwk`
//! are for the programs in the documents.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value as Json, json};
use wardgate_bundle::{KeyId, Label, Level, pack_as, sign};
use wardgate_compiler::{Options, compile_files};
use wardgate_crypto::ml_dsa::SigningKey;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire::decision_json;
use wardgate_tests::cases::{self, Case, Check};
use wardgate_tests::compiled::Compiled;
use wardgate_tests::generate::with_action;
use wardgate_tests::program::exit;

fn main() -> ExitCode {
    let folder = std::env::args().nth(1).ok_or_else(|| "expected a folder".to_owned());
    exit("hosts", folder.and_then(write).map(|()| true))
}

fn write(folder: String) -> Result<(), String> {
    let folder = Path::new(&folder);
    let [signer, other] = [1, 2].map(|seed| SigningKey::from_seed(Level::MlDsa65, &[seed; 32]));
    let mut lines = vec![json!({ "key": jwk(&signer), "wrong": jwk(&other) }).to_string()];
    for case in cases::all()? {
        lines.push(line(&case, &signer).map_err(|error| format!("{}: {error}", case.name))?);
    }
    lines.push(String::new());
    let album = [("album.yaml".to_owned(), ALBUM.as_bytes().to_vec())];
    let album = signed("album", &album, &Options::default(), &signer)?;
    save(&folder.join("questions.jsonl"), lines.join("\n").as_bytes())?;
    save(&folder.join("album.bundle"), &album)?;
    save(&folder.join("release.pub.jwk"), jwk(&signer).to_string().as_bytes())
}

fn save(file: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(file, bytes).map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns the public key as `wardgate keys generate` writes it.
fn jwk(signer: &SigningKey) -> Json {
    let key = signer.public_key();
    let id = KeyId::of(signer.level(), &key).to_string();
    json!({ "kty": "AKP", "alg": "ML-DSA-65", "kid": id, "pub": URL_SAFE_NO_PAD.encode(key) })
}

fn signed(
    name: &str,
    files: &[(String, Vec<u8>)],
    options: &Options,
    signer: &SigningKey,
) -> Result<Vec<u8>, String> {
    let compiled = compile_files(files, options)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<String>())?;
    let label = Label { name: name.to_owned(), revision: 1, ..Label::default() };
    let bundle = pack_as(&compiled.parts, &label).map_err(|error| error.to_string())?;
    let id = KeyId::of(signer.level(), &signer.public_key());
    sign(&bundle, &id, signer, None).map_err(|error| error.to_string())
}

fn line(case: &Case, signer: &SigningKey) -> Result<String, String> {
    let bundle = signed(&case.name, &case.files, &case.options, signer)?;
    let Compiled { bundle, table } = Compiled::opened(bundle)?;
    let questions: Vec<Json> =
        case.checks.iter().map(|check| question(&table, check, case.now)).collect();
    Ok(json!({
        "name": case.name,
        "bundle": STANDARD.encode(bundle),
        "seconds": case.now.seconds(),
        "nanos": case.now.nanos(),
        "questions": questions,
    })
    .to_string())
}

fn question(table: &PolicyTable, check: &Check, now: Timestamp) -> Json {
    let action = |action: &String| {
        let one = with_action(&check.json, action).to_string();
        json!([one, table.is_allowed(&check.request, action, now)])
    };
    json!({
        "request": check.json.to_string(),
        "decision": decision_json(&table.check(&check.request, now)),
        "actions": check.request.actions.iter().map(action).collect::<Vec<_>>(),
    })
}

const ALBUM: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - actions: [view]
      effect: EFFECT_ALLOW
      roles: [member]
      condition: { match: { expr: R.attr.owner == P.id } }
"#;
