//! `wardgate log prove` and `check-proof`.

use wardgate_decision_log::proof::Proof;
use wardgate_server::decision_log::{self, Names, record_json, record_words};

use super::{read, refused, seconds, trusted};
use crate::answer::{line, with};
use crate::arguments::{CheckProof, Prove};
use crate::failure::{Failure, Result};
use crate::limits::MAX_PROOF_BYTES;
use crate::output::{InOneLine, Output, shown};
use crate::replace;

pub(super) fn prove(prove: &Prove, out: &mut Output) -> Result<()> {
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
    let proved = Proof::read(&proof).and_then(|proof| proof.verify(&key)).map_err(refused)?;
    let (names, origin) = (Names::default(), &proved.checkpoint.checkpoint.origin);
    let sealed = seconds(proved.checkpoint.seconds);
    if check.json {
        let record = record_json(proved.number, &proved.record, &names);
        let record = with(record, "origin", origin.as_str());
        return out.line(line(&with(record, "checkpoint", sealed)));
    }
    out.line(format_args!("{}  {}", proved.number, shown(&record_words(&proved.record, &names))))?;
    out.line(format_args!(
        "  is in the log `{}`, as its checkpoint of {sealed} says",
        shown(origin)
    ))
}
