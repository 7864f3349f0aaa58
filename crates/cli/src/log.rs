//! `wardgate log`: the decision logs that `wardgate serve` writes.

pub(crate) mod bundles;
mod each;
pub(crate) mod evidence;
mod explain;
mod export;
mod given;
mod operator;
mod proof;
mod replay;
mod show;
mod witness;

use std::path::Path;

use serde_json::json;
use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::note::VerifierKey;
use wardgate_decision_log::signer::LogSigner;
use wardgate_decision_log::witness_policy::WitnessPolicy;
use wardgate_server::decision_log::{
    LogError, SecondKey, Verified, Witnessed, record_time, verify, verify_ed25519,
};

use crate::answer::{line, present};
use crate::arguments::{Log, LogCommand, LogKeys, VerifyLog};
use crate::failure::{Failure, Result, Status};
use crate::limits::{MAX_CHECKPOINT_BYTES, MAX_KEY_FILE_BYTES, MAX_POLICY_FILE_BYTES};
use crate::output::{InOneLine, Output, shown};
use crate::overwriting::Paths;
use crate::{keys, pages};

pub(crate) fn run(log: &Log, out: &mut Output) -> Result<Status> {
    match &log.command {
        LogCommand::Keys(keys) => make_keys(keys, out)?,
        LogCommand::Verify(verify) => verified(verify, out)?,
        LogCommand::Show(show) => show::run(show, out)?,
        LogCommand::Prove(prove) => proof::prove(prove, out)?,
        LogCommand::CheckProof(check) => proof::check(check, out)?,
        LogCommand::Replay(replay) => return replay::run(replay, out),
        LogCommand::Explain(explain) => explain::run(explain, out)?,
        LogCommand::Export(export) => export::run(export, out)?,
        LogCommand::Erase(erase) => operator::erase(erase, out)?,
        LogCommand::AcceptLoss(accept) => operator::accept_loss(accept, out)?,
        LogCommand::Witness(witness) => witness::run(witness, out)?,
    }
    Ok(Status::Done)
}

fn make_keys(keys: &LogKeys, out: &mut Output) -> Result<()> {
    let mut outputs = vec![("-o", keys.output.as_path()), ("--public", keys.public.as_path())];
    outputs.extend(keys.ed25519.as_deref().map(|path| ("--ed25519", path)));
    Paths { outputs, ..Paths::default() }.check()?;
    let seed = keys::random()?;
    let signer = LogSigner::new(&keys.origin, &seed);
    let (Some(text), Some(signer)) = (LogSigner::text(&keys.origin, &seed), signer) else {
        return Err(Failure::usage(
            "`--origin` must have 1 to 80 bytes, without spaces, `+` and control characters",
        ));
    };
    keys::create(&keys.output, text.as_bytes())?;
    let public = format!("{}\n", signer.verifier());
    keys::publish(&keys.public, public.as_bytes()).inspect_err(|_| keys::discard(&keys.output))?;
    if let Some(path) = &keys.ed25519 {
        let second = SecondKey::of(&signer).map_err(refused)?;
        let public = format!("{}\n", second.verifier());
        keys::publish(path, public.as_bytes()).inspect_err(|_| keys::discard(&keys.output))?;
    }
    out.line(format_args!("{}: key of the log `{}`", keys.output.in_one_line(), keys.origin))?;
    out.line(format_args!("{}: its public half", keys.public.in_one_line()))?;
    keys.ed25519.as_ref().map_or(Ok(()), |path| {
        out.line(format_args!("{}: that of Ed25519, for `also-ed25519`", path.in_one_line()))
    })
}

fn verified(arguments: &VerifyLog, out: &mut Output) -> Result<()> {
    let key = trusted(&arguments.trust)?;
    let older = arguments.checkpoint.as_deref();
    let older = older.map(|path| read(path, MAX_CHECKPOINT_BYTES)).transpose()?;
    let policy =
        arguments.witnesses.as_deref().map(|path| policy(path, &arguments.trust)).transpose()?;
    let found =
        verify(&arguments.folder, &key, older.as_deref(), policy.as_ref()).map_err(refused)?;
    if arguments.json { out.line(line(&as_json(&found))) } else { print(&found, out) }
}

fn as_json(found: &Verified) -> serde_json::Value {
    let sealed = found.checkpoint.as_ref();
    present(json!({
        "origin": sealed.map(|one| &one.checkpoint.origin),
        "records": found.records,
        "decisions": found.decisions,
        "lost": found.lost,
        "deleted": found.deleted,
        "missing": found.missing,
        "reason": found.loss.as_ref().map(|loss| loss.reason.as_str()),
        "unsealed": found.unsealed,
        "ahead": found.ahead,
        "frames": found.frames,
        "first": found.times.map(|(first, _)| record_time(first)),
        "last": found.times.map(|(_, last)| record_time(last)),
        "checkpoint": sealed.map(|one| sealing_time(one.seconds)),
        "witnessed": found.witnessed.as_ref().map(|witnessed| json!({
            "frames": witnessed.frames,
            "by": witnesses_as_json(&witnessed.by),
        })),
    }))
}

fn print(found: &Verified, out: &mut Output) -> Result<()> {
    let Verified { records, decisions, deleted, lost, unsealed, .. } = found;
    out.line(format_args!("verified: {records} records, {decisions} of them decisions"))?;
    if let Some((first, last)) = found.times {
        out.line(format_args!("  from {} to {}", record_time(first), record_time(last)))?;
    }
    match &found.checkpoint {
        Some(opened) => out.line(format_args!(
            "  checkpoint of `{}`, {}; {unsealed} records came after it",
            shown(&opened.checkpoint.origin),
            sealing_time(opened.seconds)
        ))?,
        None => out.line("  there is no checkpoint yet: nothing proves its end")?,
    }
    if let Some(Witnessed { frames, by }) = &found.witnessed {
        out.line(format_args!(
            "  its first {frames} frames have witnesses: {}",
            witness_words(by)
        ))?;
    }
    if let Some(ahead) = found.ahead {
        let frames = found.frames;
        out.line(format_args!(
            "  the newest checkpoint is about {ahead} frames, and {frames} have come: a segment is shipped once it has ended"
        ))?;
    }
    if *deleted > 0 {
        out.line(format_args!("  {deleted} records at its beginning are deleted"))?;
    }
    if let Some(loss) = &found.loss {
        let (missing, reason) = (found.missing, shown(loss.reason.as_str()));
        out.line(format_args!(
            "  {missing} records are missing, as an operator accepted: {reason}"
        ))?;
    }
    if *lost > 0 {
        out.line(format_args!("  {lost} decisions had no room and were not recorded"))?;
    }
    Ok(())
}

/// Returns the names of witnesses, and when each has cosigned.
fn witness_words(by: &[(String, u64)]) -> String {
    if by.is_empty() {
        return "none, which the policy allows".to_owned();
    }
    let words = by.iter().map(|(name, time)| format!("`{}` {}", shown(name), seconds(*time)));
    words.collect::<Vec<_>>().join(", ")
}

fn witnesses_as_json(by: &[(String, u64)]) -> serde_json::Value {
    let one = |(name, time): &(String, u64)| json!({ "witness": name, "time": seconds(*time) });
    by.iter().map(one).collect()
}

/// Reads a policy of witnesses, which must be about the log with this key.
fn policy(path: &Path, trust: &Path) -> Result<WitnessPolicy> {
    let shown = path.in_one_line();
    let read_policy = WitnessPolicy::read(&read(path, MAX_POLICY_FILE_BYTES)?);
    let policy = read_policy.map_err(|error| {
        Failure::policies(format!("the policy of witnesses `{shown}`, {error}"))
    })?;
    let text = String::from_utf8(read(trust, MAX_KEY_FILE_BYTES)?).unwrap_or_default();
    let is_about = VerifierKey::read(text.trim_end()).is_some_and(|key| policy.is_about(&key));
    if is_about {
        Ok(policy)
    } else {
        Err(Failure::policies(format!("`{shown}` is about other logs")))
    }
}

/// Reads the key of a log, of ML-DSA-44 or of Ed25519.
fn trusted(path: &Path) -> Result<LogKey> {
    trusted_by(path, |text| LogKey::read_either(text, verify_ed25519))
}

/// Reads the key of a log by `read_key`.
fn trusted_by(path: &Path, read_key: impl Fn(&str) -> Option<LogKey>) -> Result<LogKey> {
    let text = String::from_utf8(read(path, MAX_KEY_FILE_BYTES)?).unwrap_or_default();
    let refused = || {
        let shown = path.in_one_line();
        Failure::policies(format!("`{shown}` is no key of a log: `wardgate log keys` writes one"))
    };
    read_key(text.trim_end()).ok_or_else(refused)
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Failure::reading(path, &error);
    let bytes = std::fs::File::open(path).and_then(|file| {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, most), &mut bytes)?;
        Ok(bytes)
    });
    bytes.map_err(failed)
}

/// Returns the failure of a log.
fn refused(error: LogError) -> Failure {
    match error {
        LogError::Read(..) | LogError::Write(..) => Failure::system(error.to_string()),
        other => Failure::policies(pages::with_help(&other.to_string(), other.code())),
    }
}

/// Returns the time of the signature of a checkpoint, of which one of Ed25519 has none.
fn sealing_time(time: u64) -> String {
    if time == 0 { "at an unknown time".to_owned() } else { seconds(time) }
}

fn seconds(seconds: u64) -> String {
    crate::label::time(seconds)
}
