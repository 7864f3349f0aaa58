//! Short rounds in which all ways take turns, and the ratios within each round.

use std::fmt::Write;
use std::time::Duration;

use serde_json::Value as Json;

use super::shop::Shop;
use crate::http::{Call, Server, closed_loop, processor_time};
use crate::measure::{Figure, Side, float};
use crate::report::Section;

/// What is measured in all shops.
pub(super) struct Rounds<'s> {
    pub(super) shop: &'s Shop,
    pub(super) has_cerbos: bool,
    pub(super) quick: bool,
}

/// One way to show an order, and its figures in each round.
struct Way {
    label: &'static str,
    side: Side,
    calls: Vec<Call>,
    rates: Vec<f64>,
    p99s: Vec<f64>,
    /// Nanoseconds of the shop's processor time of a call.
    costs: Vec<f64>,
    samples: Vec<Vec<f32>>,
}

impl Rounds<'_> {
    /// Checks all answers of a shop, then measures its ways.
    pub(super) fn measure(&self, server: &Server, section: Section) -> Result<Section, String> {
        let mut section = section;
        let mut figures = Vec::new();
        section.details = TABLE.to_owned();
        for connections in CONNECTIONS {
            let mut ways = self.ways(server)?;
            self.take_turns(server, *connections, &mut ways)?;
            let (rates, p99s) =
                ways.first().map(|way| (way.rates.clone(), way.p99s.clone())).unwrap_or_default();
            for way in ways {
                let name = format!("{}, {connections} connections", way.label);
                way.write(&mut section.details, &name, &rates, &p99s);
                figures.push(Figure::of_runs(name, way.side, way.samples));
            }
            eprintln!("{}: {connections} connections", section.name);
        }
        section.hosts.iter_mut().for_each(|(_, of_host)| of_host.append(&mut figures));
        Ok(section)
    }

    fn ways(&self, server: &Server) -> Result<Vec<Way>, String> {
        let wanted = WAYS.iter().filter(|(path, ..)| self.has_cerbos || *path != "cerbos");
        let way = |(path, label, side): &(&str, &'static str, Side)| {
            let calls = self.calls(server, path).map_err(|message| format!("{path}: {message}"))?;
            let (rates, p99s, costs) = (Vec::new(), Vec::new(), Vec::new());
            let samples = vec![Vec::new(); RUNS];
            Ok(Way { label, side: *side, calls, rates, p99s, costs, samples })
        };
        wanted.map(way).collect()
    }

    /// Returns the calls that a way answers, after it has answered them rightly and refused the others.
    fn calls(&self, server: &Server, path: &str) -> Result<Vec<Call>, String> {
        let call = |user: &str, order: usize| {
            Call::get(&format!("/{path}/orders/{order}"), &format!("x-user: {user}"))
        };
        let mut calls = Vec::new();
        for (user, order, shown) in self.shop.requests(true) {
            let mut call = call(user, order);
            let answer = call.learn(server.address())?;
            let answer: Json =
                serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
            if answer != shown {
                return Err(format!("{answer} instead of {shown}"));
            }
            calls.push(call);
        }
        for (user, order, _) in self.shop.requests(false).filter(|_| path != UNGUARDED) {
            match call(user, order).learn(server.address()) {
                Err(message) if message.starts_with("HTTP/1.1 403") => {}
                _ => return Err(format!("{user} is not refused order {order}")),
            }
        }
        Ok(calls)
    }

    fn take_turns(
        &self,
        server: &Server,
        connections: usize,
        ways: &mut [Way],
    ) -> Result<(), String> {
        let (rounds, time) = if self.quick { (4, SHORT) } else { (ROUNDS, SHORT) };
        let mut turns: Vec<&mut Way> = ways.iter_mut().collect();
        for way in &mut turns {
            closed_loop(server.address(), &way.calls, connections, WARM_UP)?;
        }
        for round in 0..rounds {
            for way in &mut turns {
                let before = processor_time(server.process());
                let load = closed_loop(server.address(), &way.calls, connections, time)?;
                let after = processor_time(server.process());
                let taken = after.zip(before).map_or(f64::NAN, |(after, before)| after - before);
                way.costs.push(taken / float(load.samples.len()));
                way.rates.push(load.rate);
                let figure = Figure::of_runs(String::new(), way.side, vec![load.samples]);
                way.p99s.push(figure.p99().unwrap_or(f64::NAN));
                let samples = figure.runs.into_iter().flatten();
                way.samples.get_mut(round % RUNS).ok_or("no such run")?.extend(samples);
            }
            turns.reverse();
        }
        Ok(())
    }
}

impl Way {
    /// Writes its row, beside the first way in the same rounds.
    fn write(&self, out: &mut String, name: &str, rates: &[f64], p99s: &[f64]) {
        let ratio = self.rates.iter().zip(rates).map(|(own, first)| own / first).collect();
        // A way that answers too few calls in a round has no 99th percentile there.
        let later = self.p99s.iter().zip(p99s).map(|(own, first)| (own - first) / 1e3);
        let later: Vec<f64> = later.filter(|later| later.is_finite()).collect();
        let [low, ratio, high] = quartiles(ratio).map(|ratio| 100.0 * ratio);
        let [_, rate, _] = quartiles(self.rates.clone());
        let [_, cost, _] = quartiles(self.costs.clone()).map(|cost| cost / 1e3);
        let later = if later.is_empty() {
            String::new()
        } else {
            let [least, later, most] = quartiles(later);
            format!("{later:.1} us ({least:.1} to {most:.1})")
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| {name} | {rate:.0} | {ratio:.1} % ({low:.1} to {high:.1}) | {later} | {cost:.2} us |"
        );
    }
}

/// Returns the lower quartile, the median and the upper quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let at = |quarter: usize| values.get(values.len() * quarter / 4).copied();
    [1, 2, 3].map(|quarter| at(quarter).unwrap_or(f64::NAN))
}

/// The path of each way, its name and its side; the first is what the others are compared with.
const WAYS: &[(&str, &str, Side)] = &[
    (UNGUARDED, "without authorization", Side::Floor),
    ("in-process", "Wardgate in the process", Side::Ours),
    (UNGUARDED, "without authorization, again", Side::Floor),
    ("wardgate", "Wardgate over HTTP", Side::Ours),
    ("cerbos", "Cerbos over HTTP", Side::Rival),
];
const UNGUARDED: &str = "without";

const CONNECTIONS: &[usize] = &[1, 16];
const ROUNDS: usize = 100;
const SHORT: Duration = Duration::from_millis(100);
const WARM_UP: Duration = Duration::from_secs(1);
/// The files in which the samples of the rounds lie.
const RUNS: usize = 4;

const TABLE: &str = "\nThe medians of all rounds, with quartiles: calls of a second; their ratio to those without authorization in the same round; the \
    difference of the 99th percentiles of the round; and the shop's own processor time of a call.\n\n\
    | | calls/s | of those without | p99 later by | CPU a call |\n|---|--:|--:|--:|--:|\n";

#[cfg(test)]
mod tests {
    use super::quartiles;

    #[test]
    fn quartiles_are_those_of_the_sorted_values() {
        assert_eq!(quartiles(vec![5.0, 1.0, 4.0, 2.0, 3.0]), [2.0, 3.0, 4.0]);
    }
}
