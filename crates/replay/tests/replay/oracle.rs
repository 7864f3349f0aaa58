//! The plain replay.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use fastrand::Rng;
use serde_json::Value;
use wardgate_analysis::compare::Decided;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::cel::time::parse_timestamp;
use wardgate_engine::decide::Owner;
use wardgate_engine::request::{AuxData, Principal, Request, Resource};
use wardgate_engine::table::{Evaluation, PolicyTable};
use wardgate_native::Policies;
use wardgate_replay::replay::{Replay, Sides};
use wardgate_replay::source;
use wardgate_replay::tally::{Bucket, Buckets, Report};

use crate::generate::{Generator, OLD, new, table};

/// What the plain replay counts.
#[derive(Debug, Default, PartialEq)]
struct Plain {
    lines: u64,
    checks: u64,
    others: u64,
    unreadable: u64,
    buckets: Buckets,
    times: Option<(Timestamp, Timestamp)>,
    /// Decisions by kind, action, and both decisions, with the bounds of the number of principals.
    groups: BTreeMap<Key, (u64, usize, usize)>,
}

/// Kind, action, and both decisions.
type Key = (String, String, Decided, Decided);

/// One decision, which is counted at the end of the log.
struct Open {
    bucket: Bucket,
    kind: String,
    /// The attributes that it reads and the request lacks.
    missed: BTreeSet<(Owner, String)>,
    /// With the id of the principal.
    changed: Option<(Key, String)>,
}

#[test]
fn a_replay_counts_as_the_plain_one() {
    let entries = if std::env::var_os("SLOW_TESTS").is_some() { 1_000_000 } else { 6_000 };
    for (seed, evaluation) in [(1, Evaluation::Strict), (2, Evaluation::Lenient)] {
        let [old, new] = [OLD.to_owned(), new()].map(|text| Policies::of(table(&text, evaluation)));
        let mut generator = Generator {
            rng: Rng::with_seed(seed),
            policies: &old,
            odd: 4,
            people: 60,
            things: 4_000,
            seconds: 0,
        };
        let mut log = String::new();
        (0..entries / 2).for_each(|_| generator.line(&mut log));
        for old in [None, Some(&old)] {
            let expected = plain(&log, old.map(Policies::table), new.table());
            for threads in [1, 2] {
                let report = replay(log.as_bytes(), Sides { old, new: &new }, threads);
                assert_same(
                    counted(&report),
                    &expected,
                    &format!("seed {seed}, {threads} threads"),
                );
            }
            assert!(
                expected.buckets.more > 4 && expected.buckets.less > 20,
                "{:?}",
                expected.buckets
            );
            assert!(expected.buckets.not_answerable > 20 && expected.unreadable > 5);
        }
    }
}

pub(crate) fn replay(log: &[u8], sides: Sides<'_>, threads: usize) -> Report {
    let logs = std::iter::once_with(|| source::open(log));
    Replay::new(sides).run(logs, threads).unwrap()
}

fn counted(report: &Report) -> Plain {
    let mut groups: BTreeMap<_, (u64, usize, usize)> = BTreeMap::new();
    for group in &report.groups {
        assert!(!group.samples.is_empty() && group.samples.len() <= 5);
        let key = &group.key;
        let key = (key.kind.clone(), key.action.clone(), key.old.clone(), key.new.clone());
        let found = groups.entry(key).or_default();
        found.0 += group.count;
        // A principal may have other roles in other entries, and be in several groups.
        found.1 = found.1.max(group.principals.count);
        found.2 += group.principals.count;
    }
    Plain {
        lines: report.lines,
        checks: report.checks,
        others: report.others.values().sum(),
        unreadable: report.unreadable,
        buckets: report.buckets,
        times: report.times,
        groups,
    }
}

/// Checks that a replay counts as the plain one, whose number of principals is within the bounds.
#[track_caller]
fn assert_same(mut found: Plain, expected: &Plain, what: &str) {
    for (key, (_, fewest, most)) in &mut found.groups {
        let principals = expected.groups.get(key).map_or(0, |(_, principals, _)| *principals);
        assert!((*fewest..=*most).contains(&principals), "{what}: {principals} in {key:?}");
        (*fewest, *most) = (principals, principals);
    }
    assert_eq!(found, *expected, "{what}");
}

fn plain(log: &str, old: Option<&PolicyTable>, new: &PolicyTable) -> Plain {
    let mut found = Plain::default();
    let mut seen: BTreeSet<(String, Owner, String)> = BTreeSet::new();
    let mut open = Vec::new();
    for line in log.lines().map(str::trim).filter(|line| !line.is_empty()) {
        found.lines += 1;
        match entry(line) {
            None => found.unreadable += 1,
            Some(None) => found.others += 1,
            Some(Some((now, inputs))) => {
                found.checks += 1;
                let (first, last) = found.times.unwrap_or((now, now));
                found.times = Some((first.min(now), last.max(now)));
                for input in inputs {
                    match input {
                        Err(count) => found.buckets.not_answerable += count,
                        Ok((request, effects)) => {
                            for (owner, map) in maps(&request) {
                                seen.extend(map.entries().iter().map(|(name, _)| {
                                    (request.resource.kind.clone(), owner, name.to_string())
                                }));
                            }
                            for (action, effect) in request.actions.iter().zip(effects) {
                                match effect {
                                    None => found.buckets.not_answerable += 1,
                                    Some(logged) => open.push(decision(
                                        (old, new),
                                        (&request, action),
                                        now,
                                        logged,
                                    )),
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    let mut people: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for Open { bucket, kind, missed, changed } in open {
        let is_absent =
            |(owner, name): &(Owner, String)| !seen.contains(&(kind.clone(), *owner, name.clone()));
        if bucket != Bucket::NotReproduced && missed.iter().any(is_absent) {
            found.buckets.add(Bucket::NotAnswerable, 1);
            continue;
        }
        found.buckets.add(bucket, 1);
        if let Some((key, principal)) = changed {
            let principals = people.entry(key.clone()).or_default();
            principals.insert(principal);
            let group = found.groups.entry(key).or_default();
            *group = (group.0 + 1, principals.len(), principals.len());
        }
    }
    found
}

fn decision(
    (old, new): (Option<&PolicyTable>, &PolicyTable),
    (request, action): (&Request, &str),
    now: Timestamp,
    logged: bool,
) -> Open {
    let alone = Request { actions: vec![action.to_owned()], ..request.clone() };
    let decided = |table: &PolicyTable| Decided::of(&table.explain(&alone, now));
    let (was, is) = (old.map(decided), decided(new));
    let known = old.map(PolicyTable::attributes_named).unwrap_or_default();
    let read = new.attributes_read(&alone, action, now);
    let missed = read.iter().filter(|one| !known.contains(one)).filter(|one| {
        maps(&alone).iter().all(|(owner, map)| *owner != one.owner || map.get(one.name).is_none())
    });
    let missed = missed.map(|one| (one.owner, one.name.to_owned())).collect();
    let kind = request.resource.kind.clone();
    if was.as_ref().is_some_and(|was| was.is_allowed != logged) {
        return Open { bucket: Bucket::NotReproduced, kind, missed, changed: None };
    }
    let bucket = Bucket::of(logged, is.is_allowed);
    let as_logged =
        Decided { is_allowed: logged, reason: "as it was logged".to_owned(), rule: None };
    let principal = request.principal.id.clone();
    let key = (kind.clone(), action.to_owned(), was.unwrap_or(as_logged), is);
    let changed = (bucket != Bucket::Same).then_some((key, principal));
    Open { bucket, kind, missed, changed }
}

type Inputs = Vec<Result<(Request, Vec<Option<bool>>), u64>>;

/// Reads an entry: none if the line is none, none within if nothing was decided.
fn entry(line: &str) -> Option<Option<(Timestamp, Inputs)>> {
    let value: Value = serde_json::from_str(line).ok().filter(|_| is_strict(line))?;
    value.as_object()?;
    let value = value.get("message").unwrap_or(&value);
    let checks = value.get("checkResources").unwrap_or(value);
    let list = |name| checks.get(name).and_then(Value::as_array);
    let (inputs, outputs) = match (list("inputs"), list("outputs")) {
        (Some(inputs), Some(outputs)) => (inputs, outputs.clone()),
        (Some(inputs), None) if checks["error"].as_str().unwrap_or("").is_empty() => {
            (inputs, Vec::new())
        }
        _ => return Some(None),
    };
    let now = parse_timestamp(value["timestamp"].as_str()?).ok()?;
    let input = |(at, input): (usize, &Value)| {
        let effects = outputs.get(at).and_then(|output| output["actions"].as_object());
        let effect = |value: &Value| match value["effect"].as_str() {
            Some("EFFECT_ALLOW") => Some(true),
            Some("EFFECT_DENY") => Some(false),
            _ => None,
        };
        let all = effects.map_or(1, |effects| effects.len().max(1));
        let request = request(input).ok_or(u64::try_from(all).unwrap())?;
        let of = |action: &String| effects.and_then(|effects| effects.get(action)).and_then(effect);
        let effects = request.actions.iter().map(of).collect();
        Ok((request, effects))
    };
    Some(Some((now, inputs.iter().enumerate().map(input).collect())))
}

/// Returns false for what serde_json takes and no request may have: the generator writes only one such thing.
fn is_strict(line: &str) -> bool {
    let doubled = [r#""owner":"user-1","owner""#, r#""secret":true,"secret""#];
    !doubled.iter().any(|doubled| line.contains(doubled)) && !(is_twice(line))
}

/// Returns true if an escaped name stands beside the plain one.
fn is_twice(line: &str) -> bool {
    line.split("\"attr\":{").any(|part| {
        let own = part.split("}}").next().unwrap_or("");
        own.contains(r#""own\u0065r":"#) && own.contains(r#""owner":"#)
            || own.matches(r#""owner":"#).count() > 1
            || [r#""size":"#, r#""public":"#, r#""tags":"#, r#""created":"#]
                .iter()
                .any(|name| own.matches(name).count() > 1)
    })
}

fn request(value: &Value) -> Option<Request> {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or("").to_owned();
    let texts = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let (principal, resource) = (value.get("principal")?, value.get("resource")?);
    Some(Request {
        principal: Principal {
            id: principal["id"].as_str()?.to_owned(),
            policy_version: text(principal, "policyVersion"),
            scope: text(principal, "scope"),
            roles: texts(&principal["roles"])?,
            attr: map(&principal["attr"]),
        },
        resource: Resource {
            kind: resource["kind"].as_str()?.to_owned(),
            policy_version: text(resource, "policyVersion"),
            id: resource["id"].as_str()?.to_owned(),
            scope: text(resource, "scope"),
            attr: map(&resource["attr"]),
        },
        actions: texts(&value["actions"])?,
        aux_data: AuxData {
            jwt: map(&value["auxData"]["jwt"]),
            jwts: map(&value["auxData"]["jwts"]),
        },
        ..Request::default()
    })
}

fn map(value: &Value) -> AttrMap {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| (Box::from(name.as_str()), attribute(value))).collect()
}

fn attribute(value: &Value) -> Attr {
    match value {
        Value::Null => Attr::Null,
        Value::Bool(value) => Attr::Bool(*value),
        Value::Number(number) => Attr::Number(number.as_f64().unwrap()),
        Value::String(text) => Attr::String(text.as_str().into()),
        Value::Array(items) => Attr::List(items.iter().map(attribute).collect()),
        Value::Object(_) => Attr::Map(map(value)),
    }
}

fn maps(request: &Request) -> [(Owner, &AttrMap); 4] {
    [
        (Owner::Principal, &request.principal.attr),
        (Owner::Resource, &request.resource.attr),
        (Owner::Claims, &request.aux_data.jwt),
        (Owner::Tokens, &request.aux_data.jwts),
    ]
}

#[test]
fn an_error_of_a_log_ends_the_replay() {
    let new = Policies::of(table(&new(), Evaluation::Strict));
    let sides = Sides { old: None, new: &new };
    let logs = [source::open(&b"{}\n"[..]), Err(io::ErrorKind::NotFound.into())];
    let error = Replay::new(sides).run(logs.into_iter(), 2).unwrap_err();
    assert_eq!((error.log, error.error.kind()), (1, io::ErrorKind::NotFound));
}
