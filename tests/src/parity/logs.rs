//! Decisions that Node records, with their evidence, and that are made again there and here.

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;
use wardgate_native::Policies;
use wardgate_native::decision_log::{Evidence, replay};

use crate::check;
use crate::compiled::Compiled;
use crate::generate::{World, worlds};
use crate::node::{Job, Right, talk};
use crate::runtimes::each_recorded;

/// The recorded decisions that were made again with the same answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Logs {
    /// From what a fast path of JavaScript has read.
    pub read: usize,
    /// From the request.
    pub whole: usize,
    /// Those without evidence, which was too large.
    pub without: usize,
}

/// A log that Node is to write.
struct Expected {
    name: String,
    policies: Policies,
    answers: Vec<bool>,
}

/// Lets Node record decisions on generated requests, and decides each of so many again.
///
/// # Errors
/// If Node or the built package is missing, or an answer that is given again is another one.
pub fn logs(root: &Path, seed: u8, decisions: usize) -> Result<Logs, String> {
    let expected = Mutex::new(VecDeque::new());
    let mut left = decisions;
    let mut worlds = worlds(seed, PER_WORLD).enumerate();
    let jobs = std::iter::from_fn(|| {
        while left > 0 {
            let (number, world) = worlds.next()?;
            // Plain worlds have more fast paths.
            let world = if number.is_multiple_of(2) { world } else { world.plain() };
            let Ok(compiled) = world.compiled() else { continue };
            let (job, known) = twin(format!("world {number}"), compiled, &world).ok()?;
            left = left.saturating_sub(known.answers.len());
            expected.lock().ok()?.push_back(known);
            return Some(job.json());
        }
        None
    });
    let mut logs = Logs::default();
    talk(&root.join("tests/node/record.mjs"), jobs, |line| {
        let next = expected.lock().map_err(|_| "a job panicked")?.pop_front();
        let known = next.ok_or("an answer without a job")?;
        logs.add(&known, line).map_err(|error| format!("{}: {error}", known.name))
    })?;
    Ok(logs)
}

fn twin(name: String, compiled: Compiled, world: &World) -> Result<(Job, Expected), String> {
    let Compiled { bundle, table } = compiled;
    let now = World::now()?;
    let allowed = |json: &Json| {
        let request = check::request(json)?;
        let one = |action| table.is_allowed(&request, action, now);
        Ok(request.actions.iter().map(|action| one(action)).collect::<Vec<bool>>())
    };
    let allowed = world.requests.iter().map(allowed).collect::<Result<Vec<_>, String>>()?;
    let answers = allowed.concat();
    let right = Right { allowed, ..Right::default() };
    let job = Job { right: Some(right), ..Job::new(bundle, now, world.requests.clone()) };
    Ok((job, Expected { name, policies: Policies::of(table), answers }))
}

impl Logs {
    /// Decides again what Node recorded.
    fn add(&mut self, known: &Expected, line: &str) -> Result<(), String> {
        let json: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let segment = json.get("segment").and_then(Json::as_str).ok_or_else(|| line.to_owned())?;
        let segment = STANDARD.decode(segment).map_err(|error| error.to_string())?;
        let mut answers = known.answers.iter();
        each_recorded(&segment, |recorded| {
            let right = answers.next().copied();
            match recorded.evidence {
                Evidence::None | Evidence::Digest(_) | Evidence::TooLarge => {
                    self.without += 1;
                    return Ok(());
                }
                Evidence::Read(_) => self.read += 1,
                Evidence::Request(_) => self.whole += 1,
            }
            let (targets, evidence) = (recorded.targets, recorded.evidence);
            let again = replay(&known.policies, targets, evidence, recorded.micros);
            if again.first().copied().flatten() == right {
                return Ok(());
            }
            Err(format!("{again:?}, and not {right:?}, of {targets:?}: {evidence:?}"))
        })?;
        match answers.next() {
            None => Ok(()),
            Some(_) => Err("a decision is not recorded".to_owned()),
        }
    }
}

impl fmt::Display for Logs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { read, whole, without } = self;
        write!(
            out,
            "{} decisions of Node made again: {read} from what was read, {whole} from the request; {without} without evidence",
            read + whole
        )
    }
}

/// The largest number of requests to one generated policy set.
const PER_WORLD: usize = 60;
