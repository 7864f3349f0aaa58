//! The work of the Cedar paper (OOPSLA 2024) as policies of Cerbos, beside Cedar in the same process.
//!
//! Three applications; graphs with 5 to 50 entities of each type; requests at random. Before anything is
//! timed, every engine has given the decisions of the rules by hand to all requests. Generator, policies and
//! requests are written anew from the description of that work.

#[cfg(feature = "rivals")]
mod cedar;
mod forms;
mod gdrive;
mod github;
mod graph;
mod node;
mod tinytodo;

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value as Json, json};

use crate::arguments::Arguments;
use crate::measure::{Figure, Side, single};
use crate::report::Section;
use forms::{Engines, Forms};
use gdrive::Gdrive;
use github::Github;
use graph::{App, Dice};
use tinytodo::Tinytodo;

/// The name of the sections in `--only`.
pub(crate) const NAME: &str = "oopsla";

/// The extent of a run.
#[derive(Clone, Copy)]
struct Extent {
    graphs: u64,
    requests: usize,
    /// The number of times that each engine answers the requests of a graph, with a clock beside it.
    runs: usize,
}

/// Measures each application at each size.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let extent = if arguments.quick { QUICK } else { FULL };
    let mut sections = Vec::new();
    for count in COUNTS {
        sections.push(section::<Gdrive>(root, arguments, *count, extent)?);
        sections.push(section::<Github>(root, arguments, *count, extent)?);
        sections.push(section::<Tinytodo>(root, arguments, *count, extent)?);
    }
    sections.sort_by_key(|section| order(&section.name));
    Ok(sections)
}

/// Returns the digests of all decisions: name and parameters of each section, for both extents.
#[cfg(test)]
pub(crate) fn all_decisions() -> impl Iterator<Item = (String, Json, String)> {
    let of_one = |(count, extent): (usize, Extent)| {
        [
            decided::<Gdrive>(count, extent),
            decided::<Github>(count, extent),
            decided::<Tinytodo>(count, extent),
        ]
    };
    let extents = |count: &usize| [(*count, FULL), (*count, QUICK)];
    COUNTS.iter().flat_map(extents).flat_map(of_one)
}

#[cfg(test)]
fn decided<A: App>(count: usize, extent: Extent) -> (String, Json, String) {
    let digest = crate::results::digest(&decisions::<A>(count, extent));
    (name::<A>(count), parameters::<A>(count, extent), digest)
}

/// Returns all decisions by hand.
#[cfg(test)]
fn decisions<A: App>(count: usize, extent: Extent) -> Vec<bool> {
    let mut decisions = Vec::new();
    for number in 0..extent.graphs {
        let mut dice = Dice::of_graph(number);
        let graph = A::graph(count, &mut dice);
        for asked in graph.requests::<A>(extent.requests, &mut dice) {
            let (user, resource) = (graph.user(&asked.user), graph.resource(&asked.resource));
            let (action, _) = A::ACTIONS[asked.action];
            decisions.extend(user.zip(resource).map(|(user, one)| A::allows(action, user, one)));
        }
    }
    decisions
}

fn name<A: App>(count: usize) -> String {
    format!("{NAME}-{}-{count}", A::NAME)
}

fn parameters<A: App>(count: usize, extent: Extent) -> Json {
    let Extent { graphs, requests, .. } = extent;
    json!({ "app": A::NAME, "entities": count, "graphs": graphs, "requests": requests })
}

/// Returns the place of a section: one application after the other.
fn order(name: &str) -> usize {
    let apps = [Gdrive::NAME, Github::NAME, Tinytodo::NAME];
    apps.iter().position(|app| name.contains(app)).unwrap_or(apps.len())
}

fn section<A: App>(
    root: &Path,
    arguments: &Arguments,
    count: usize,
    extent: Extent,
) -> Result<Section, String> {
    let start = Instant::now();
    let engines = Engines::new::<A>()?;
    let mut rows: Vec<Timed> = Vec::new();
    let mut decisions = Vec::new();
    let mut of_node = node::Job::new(&engines);
    for number in 0..extent.graphs {
        let mut dice = Dice::of_graph(number);
        let graph = A::graph(count, &mut dice);
        let asked = graph.requests::<A>(extent.requests, &mut dice);
        if arguments.node {
            of_node.add::<A>(&graph, &asked);
        }
        let forms = Forms::<A>::new(&engines, graph, asked)?;
        decisions.extend(&forms.expected);
        if arguments.native {
            forms.measure(&engines, extent.runs, number, &mut rows)?;
        }
    }
    let allowed = 100.0 * share(&decisions);
    let title = format!("{}, {count} entities of each type: {allowed:.1} % allowed", A::NAME);
    let mut section = Section::new(name::<A>(count), title, NOTE);
    section.decisions = Some(crate::results::digest(&decisions));
    section.parameters = parameters::<A>(count, extent);
    let section =
        section.native(arguments, || Ok(rows.into_iter().map(Timed::figure).collect()))?;
    let section = section.node(arguments, || of_node.measure(root, arguments.quick))?;
    eprintln!("{}: {:.1} s", section.name, start.elapsed().as_secs_f64());
    Ok(section)
}

/// Returns the share of the decisions that allow.
fn share(decisions: &[bool]) -> f64 {
    let allowed = decisions.iter().filter(|allowed| **allowed).count();
    crate::measure::float(allowed) / crate::measure::float(decisions.len())
}

/// The times of one engine, by run.
#[derive(Default)]
struct Timed {
    name: &'static str,
    side: Option<Side>,
    runs: Vec<Vec<f32>>,
}

impl Timed {
    fn figure(self) -> Figure {
        let Self { name, side, runs } = self;
        Figure::of_runs(name.to_owned(), side.unwrap_or(Side::Floor), runs)
    }
}

/// Answers requests one by one, with a clock beside each.
///
/// # Errors
/// If an answer is wrong.
fn time(
    timed: &mut Timed,
    run: usize,
    expected: &[bool],
    decide: &dyn Fn(usize) -> bool,
) -> Result<(), String> {
    if timed.runs.len() <= run {
        timed.runs.resize_with(run + 1, Vec::new);
    }
    let mut wrong = 0;
    for (at, expected) in expected.iter().enumerate() {
        let start = Instant::now();
        let allowed = black_box(decide(black_box(at)));
        let taken = start.elapsed();
        wrong += usize::from(allowed != *expected);
        if let Some(run) = timed.runs.get_mut(run) {
            run.push(single(taken.as_secs_f64() * 1e9));
        }
    }
    if wrong == 0 { Ok(()) } else { Err(format!("{}: {wrong} wrong answers", timed.name)) }
}

/// The number of entities of each type.
const COUNTS: &[usize] = &[5, 10, 15, 20, 30, 40, 50];

const FULL: Extent = Extent { graphs: 200, requests: 500, runs: 3 };
const QUICK: Extent = Extent { graphs: 10, requests: 500, runs: 2 };

const NOTE: &str = "One clock pair a call, as in the paper; all times are kept. Ours finds both entities by their ids within \
    that time, since Cedar does; the text of a request is made beforehand. Node is timed by passes over the 500 requests of a graph.";

#[cfg(test)]
mod tests {
    use super::gdrive::Gdrive;
    use super::github::Github;
    use super::graph::{App, Dice};
    use super::tinytodo::Tinytodo;
    use super::{FULL, decisions, share};
    use wardgate_native::AsResource;

    /// The published shares are those of other dice: ours are within a point of them.
    #[test]
    fn as_many_requests_are_allowed_as_in_the_paper() {
        check::<Gdrive>(5, 14.6);
        check::<Gdrive>(50, 29.3);
        check::<Github>(5, 8.3);
        check::<Github>(50, 29.2);
        check::<Tinytodo>(5, 40.1);
        check::<Tinytodo>(50, 33.5);
    }

    #[test]
    fn no_document_lies_in_the_view_of_a_user() {
        let graph = Gdrive::graph(20, &mut Dice::of_graph(1));
        let views: Vec<&String> = graph.users.iter().map(|user| &user.view).collect();
        for (_, file) in &graph.resources {
            assert!(!views.iter().any(|view| file.ancestors.contains(view)), "{}", file.id());
        }
    }

    fn check<A: App>(count: usize, published: f64) {
        let decisions = decisions::<A>(count, FULL);
        let found = 100.0 * share(&decisions);
        assert!((found - published).abs() < 1.0, "{} {count}: {found} %", A::NAME);
    }
}
