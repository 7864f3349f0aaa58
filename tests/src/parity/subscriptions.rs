//! Generated policies about topics, decided natively and in Node.
//!
//! Every answer of Node is that of the native build, and whoever may subscribe to a filter may
//! subscribe to each of its topics: the first that differs ends the comparison.

use std::fmt;
use std::iter::once;
use std::ops::Range;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use wardgate_mqtt::{Filter, Name};

use super::Tally;
use crate::check;
use crate::node::{self, tally};
use crate::topics::{SUBSCRIPTIONS, World, names};

/// The results of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Subscriptions {
    /// The sets of policies.
    pub policies: u64,
    /// The subscriptions that are allowed.
    pub allowed: u64,
    /// Those that are denied, and one of their topics too.
    pub denied: u64,
    /// Those that are denied though each of their topics is allowed.
    pub narrower: u64,
    /// The number of questions to each way in Node, and of those that fast paths answered.
    pub tally: Tally,
}

/// Compares the answers to subscriptions under the sets of policies that are generated from these
/// seeds.
///
/// # Errors
/// If an answer differs, a subscription is allowed and one of its topics is not, or Node or the
/// built package is missing.
pub fn subscriptions(root: &Path, seeds: Range<u64>) -> Result<Subscriptions, String> {
    let topics = names();
    let lines = once(json!(topics)).chain(seeds.clone().map_while(|seed| line(seed, &topics)));
    let mut found = Subscriptions::default();
    node::talk(&root.join("tests/node/subscriptions.mjs"), lines, |line| {
        found.read(line).map_err(|fault| {
            format!("{fault}\n{}", World::new(seeds.start.saturating_add(found.policies)).text())
        })
    })?;
    match seeds.start.checked_add(found.policies) == Some(seeds.end) {
        true => Ok(found),
        false => Err(format!("{} sets of policies were compared, of {seeds:?}", found.policies)),
    }
}

/// Returns generated policies, subscriptions, and the answers of the native build.
fn line(seed: u64, topics: &[String]) -> Option<Json> {
    let mut world = World::new(seed);
    let subscriptions: Option<Vec<Json>> =
        (0..SUBSCRIPTIONS).map(|_| subscription(&mut world, topics)).collect();
    let bundle = STANDARD.encode(world.bundle());
    Some(json!({ "seed": seed, "bundle": bundle, "subscriptions": subscriptions? }))
}

fn subscription(world: &mut World, topics: &[String]) -> Option<Json> {
    let request = world.request();
    let filter = world.pattern();
    let is_allowed = world.decide(&request, &json!({ "filter": filter }));
    let asked = Filter::new(&filter).ok()?;
    let mut single = request.clone();
    single.pointer_mut("/resource/attr")?.as_object_mut()?.insert("topic".to_owned(), json!(""));
    let mut single = check::request(&single).ok()?;
    let answer = |name: &String| match Name::new(name).is_ok_and(|name| asked.matches(name)) {
        true if world.is_allowed(&mut single, name) => '1',
        true => '0',
        false => ' ',
    };
    let answers: String = topics.iter().map(answer).collect();
    Some(json!({ "request": request, "filter": filter, "isAllowed": is_allowed, "topics": answers }))
}

impl Subscriptions {
    /// Adds other results.
    pub fn add(&mut self, other: &Self) {
        self.policies += other.policies;
        self.allowed += other.allowed;
        self.denied += other.denied;
        self.narrower += other.narrower;
        self.tally.add(&other.tally);
    }

    /// Adds the answer to one set of policies.
    fn read(&mut self, line: &str) -> Result<(), String> {
        let json: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if let Some(fault) = json.get("fault") {
            return Err(fault.as_str().unwrap_or_default().to_owned());
        }
        let count = |name| json.get(name).and_then(Json::as_u64).unwrap_or_default();
        let [allowed, denied, narrower] = ["allowed", "denied", "narrower"].map(count);
        self.add(&Self { policies: 1, allowed, denied, narrower, tally: tally(&json) });
        Ok(())
    }
}

impl fmt::Display for Subscriptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { policies, allowed, denied, narrower, tally } = self;
        writeln!(
            out,
            "{policies} sets of policies, {allowed} subscriptions allowed, {denied} denied, {narrower} \
             denied though each topic is allowed"
        )?;
        write!(out, "{tally}")
    }
}
