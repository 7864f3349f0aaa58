//! `wardgate verify`: checks the signatures of a bundle with trusted keys, and shows the signed
//! header.

use wardgate_bundle::{OpenError, Opened};

use crate::arguments::Verify;
use crate::clock;
use crate::failure::{Failure, Result, Status};
use crate::opening::{self, Terms};
use crate::output::Output;
use crate::{answer, inspect, label, pages};

pub(crate) fn run(verify: &Verify, out: &mut Output) -> Result<Status> {
    if verify.opening.trust.is_empty() {
        return Err(Failure::usage("give the key that must have signed: `--trust KEYFILE`"));
    }
    let terms = Terms::read(&verify.opening, verify.now.unwrap_or_else(clock::now))?;
    let bytes = opening::bytes(&verify.bundle, &verify.opening)?;
    match terms.open_with_limits(&bytes) {
        Ok(opened) => print(&opened, verify.json, out).map(|()| Status::Done),
        Err(error) if verify.json => {
            out.line(refusal(&error))?;
            Ok(Status::BadPolicies)
        }
        Err(error) => Err(opening::refused(&verify.bundle, &bytes, &error)),
    }
}

fn print(opened: &Opened, json: bool, out: &mut Output) -> Result<()> {
    let signers: Vec<String> = opened.signers.iter().map(ToString::to_string).collect();
    if json {
        let json = answer::with(label::json(&opened.header), "accepted", true);
        return out.line(answer::with(json, "signers", signers));
    }
    inspect::field(out, "signed by", &signers.join(", "))?;
    label::fields(&opened.header)
        .iter()
        .try_for_each(|(name, value)| inspect::field(out, name, value))
}

fn refusal(error: &OpenError) -> serde_json::Value {
    serde_json::json!({
        "accepted": false, "code": error.code(), "message": error.to_string(),
        "page": pages::of_refusal(error),
    })
}
