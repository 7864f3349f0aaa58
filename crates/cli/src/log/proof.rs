//! `wardgate log prove` and `check-proof`.

use wardgate_decision_log::proof::Proof;
use wardgate_server::decision_log::{self, Names, record_json, record_words};

use super::{policy, read, refused, sealing_time, trusted, witness_words, witnesses_as_json};
use crate::answer::{line, with};
use crate::arguments::{CheckProof, Prove};
use crate::failure::{Failure, Result};
use crate::limits::MAX_PROOF_BYTES;
use crate::output::{InOneLine, Output, shown};
use crate::overwriting::{Form, Paths};
use crate::replace;

pub(super) fn prove(prove: &Prove, out: &mut Output) -> Result<()> {
    if let Some(path) = &prove.output {
        Paths { outputs: vec![("-o", path)], ..Paths::default() }.check()?;
        Form::Proof.replaces(path, prove.overwrite.force)?;
    }
    let proof = decision_log::prove(&prove.folder, prove.record).map_err(refused)?.to_string();
    let Some(path) = &prove.output else { return out.bytes(proof.as_bytes()) };
    replace::file(path, proof.as_bytes())?;
    let (name, record) = (path.in_one_line(), prove.record);
    out.line(format_args!("{name}: proof of record {record}, {} bytes", proof.len()))
}

pub(super) fn check(check: &CheckProof, out: &mut Output) -> Result<()> {
    let key = trusted(&check.trust)?;
    let proof = read(&check.proof, MAX_PROOF_BYTES)?;
    let refused = |error: wardgate_decision_log::proof::ProofError| {
        Failure::policies(format!("`{}` is refused: {error}", check.proof.in_one_line()))
    };
    let proof = Proof::read(&proof).map_err(refused)?;
    let proved = proof.verify(&key).map_err(refused)?;
    let by = witnesses(check, &proof)?;
    let (names, origin) = (Names::default(), &proved.checkpoint.checkpoint.origin);
    let sealed = sealing_time(proved.checkpoint.seconds);
    if check.json {
        let record = record_json(proved.number, &proved.record, &names);
        let record = with(record, "origin", origin.as_str());
        let record = with(record, "checkpoint", sealed);
        let record = match &by {
            Some(by) => with(record, "witnessed", witnesses_as_json(by)),
            None => record,
        };
        return out.line(line(&record));
    }
    out.line(format_args!("{}  {}", proved.number, shown(&record_words(&proved.record, &names))))?;
    let of_time = match proved.checkpoint.seconds {
        0 => String::new(),
        _ => format!(" of {sealed}"),
    };
    out.line(format_args!("  is in the log `{}`, as its checkpoint{of_time} says", shown(origin)))?;
    match by {
        Some(by) => out.line(format_args!("  which has witnesses: {}", witness_words(&by))),
        None => Ok(()),
    }
}

/// Verifies that the checkpoint of a proof suits the policy of witnesses, if there is one, and returns who has cosigned it.
fn witnesses(check: &CheckProof, proof: &Proof) -> Result<Option<Vec<(String, u64)>>> {
    let Some(path) = &check.witnesses else { return Ok(None) };
    let policy = policy(path, &check.trust)?;
    let by = decision_log::witnesses(proof.checkpoint.as_bytes(), &policy).map_err(refused)?;
    Ok(Some(by))
}
