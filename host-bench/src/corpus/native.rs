//! The requests of a folder, decided natively.

use wardgate_bundle::Trust;
use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::request::Request;
use wardgate_native::Pdp;

use super::folder::{Folder, Inquiry, now};
use super::node::about;
use super::ways::Way;
use crate::measure::{self, Bounds, Cases, Figure, Row, Side};

/// One action of a request, in every form that is timed.
struct Question<'a> {
    request: &'a Request,
    action: &'a str,
    /// The request about this action alone.
    alone: Request,
    /// The same as JSON.
    text: Vec<u8>,
    expected: bool,
    way: Way,
}

/// Some of the questions, and their answers.
struct Part<'a> {
    questions: Vec<&'a Question<'a>>,
    expected: Vec<bool>,
}

/// Compares every form with the general path, and times it.
pub(crate) fn figures(
    folder: &Folder,
    [of_suites, of_generated]: &[Vec<Way>; 2],
    bounds: Bounds,
) -> Result<Vec<Figure>, String> {
    let pdp = Pdp::open(&folder.bundle, Trust::Unsigned).map_err(|error| error.to_string())?;
    for (inquiries, ways) in [(&folder.suites, of_suites), (&folder.generated, of_generated)] {
        let questions = questions(inquiries, ways);
        let all = Part::new(&questions, |_| true);
        rows(&pdp, folder, inquiries, &all).iter().try_for_each(Row::pass)?;
    }
    let now = now();
    let ways = if folder.suites.is_empty() { of_generated } else { of_suites };
    let questions = questions(folder.timed(), ways);
    let all = Part::new(&questions, |_| true);
    let words = Part::new(&questions, |one| one.way == Way::Words);
    let programs = Part::new(&questions, |one| one.way == Way::Programs);
    let beside = Part::new(&questions, |one| !one.way.is_fast());
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows = rows(&pdp, folder, folder.timed(), &all);
    for (name, part) in [(WORDS, &words), (PROGRAMS, &programs), (BESIDE, &beside)] {
        if !part.questions.is_empty() {
            rows.push(part.row(name, |one| pdp.is_allowed(one.request, one.action, now)));
        }
    }
    measure::rows(&rows, bounds)
}

fn rows<'a>(
    pdp: &'a Pdp,
    folder: &'a Folder,
    inquiries: &'a [Inquiry],
    all: &'a Part<'a>,
) -> Vec<Row<'a>> {
    let now = now();
    let as_requested = move |range: std::ops::Range<usize>| {
        let asked = inquiries.get(range).unwrap_or_default().iter();
        asked
            .filter(|one| !effects(&pdp.check(&one.request, now)).eq(one.expected.iter().copied()))
            .count()
    };
    vec![
        all.row("is_allowed", move |one| pdp.is_allowed(one.request, one.action, now)),
        all.row("is_allowed_json", move |one| pdp.is_allowed_json(&one.text, now) == Ok(true)),
        all.row("the general path", move |one| {
            folder.table.is_allowed(one.request, one.action, now)
        }),
        all.row("check, 1 action", move |one| effects(&pdp.check(&one.alone, now)).eq([true])),
        Row::of_pass("check, as requested", Side::Ours, inquiries.len(), as_requested),
    ]
}

fn effects(decision: &Decision) -> impl Iterator<Item = bool> {
    decision.actions.iter().map(|action| action.effect == Effect::Allow)
}

fn questions<'a>(inquiries: &'a [Inquiry], ways: &[Way]) -> Vec<Question<'a>> {
    let question = |((request, action, expected), way): ((&'a Request, &'a str, bool), &Way)| {
        let alone = Request { actions: vec![action.to_owned()], ..request.clone() };
        let text = about(request, action).to_string().into_bytes();
        Question { request, action, alone, text, expected, way: *way }
    };
    inquiries.iter().flat_map(Inquiry::decisions).zip(ways).map(question).collect()
}

impl<'a> Part<'a> {
    fn new(all: &'a [Question<'a>], is_in: impl Fn(&Question<'_>) -> bool) -> Self {
        let questions: Vec<_> = all.iter().filter(|one| is_in(one)).collect();
        let expected = questions.iter().map(|one| one.expected).collect();
        Self { questions, expected }
    }

    fn row(&'a self, name: &str, decide: impl Fn(&Question<'_>) -> bool + 'a) -> Row<'a> {
        let cases = Cases { inputs: self.questions.as_slice(), expected: &self.expected };
        cases.row(name, Side::Ours, move |one| decide(one))
    }
}

/// The rows of the decisions by their way.
const WORDS: &str = "is_allowed, words only";
const PROGRAMS: &str = "is_allowed, with programs";
const BESIDE: &str = "is_allowed, beside fast paths";
