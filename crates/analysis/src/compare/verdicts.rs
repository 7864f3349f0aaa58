//! The diagrams of generated conditions say of each request what the engine says.

use std::collections::BTreeSet;

use fastrand::Rng;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::pool::Root;
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, PolicyTable};

use super::side::{Shared, Side};
use crate::limits::MAX_EDGES;
use crate::logic::conditions::ConditionId;
use crate::logic::diagram::{Diagram, FAILS, FALSE, TRUE};
use crate::logic::partition::Class;
use crate::logic::reader::{View, no_derived_roles};
use crate::logic::terms::{Head, Terms};
use crate::logic::truth::{Subject, Survey, Truths, Variable};

#[path = "../../tests/normal_form/generated.rs"]
mod generated;

use generated::Verdict;

/// Conditions that are compiled together.
const TOGETHER: usize = 25;

/// Requests for each set of conditions.
const REQUESTS: usize = 40;

#[expect(clippy::disallowed_methods, reason = "tests at length are asked for by the environment")]
fn assignments() -> usize {
    if std::env::var_os("SLOW_TESTS").is_some() { 1_000_000 } else { 40_000 }
}

#[test]
fn diagrams_say_what_the_engine_says() {
    let mut rng = Rng::with_seed(40);
    let (mut all, mut decided) = (0, 0);
    while all < assignments() {
        let conditions: Vec<_> = (0..TOGETHER).map(|_| generated::condition(&mut rng, 2)).collect();
        let requests: Vec<Request> = (0..REQUESTS).map(|_| generated::request(&mut rng)).collect();
        for evaluation in [Evaluation::Strict, Evaluation::Lenient] {
            let expected = generated::verdicts(&conditions, &requests, evaluation);
            let table = generated::table(&conditions, evaluation);
            let (shared, ids) = read(&table);
            let mut survey = Survey::new(&shared.terms);
            let mut terms = Vec::new();
            ids.iter().for_each(|id| shared.conditions.terms(*id, &mut terms));
            terms.iter().for_each(|term| survey.truth(*term));
            let variables = survey.variables().unwrap();
            let known = (&shared.terms, &shared.conditions);
            let mut truths = Truths::new(known, variables, MAX_EDGES * 64);
            let is_lenient = evaluation == Evaluation::Lenient;
            let diagrams: Vec<Diagram> =
                ids.iter().map(|id| truths.condition(*id, is_lenient).unwrap()).collect();
            for (request, expected) in requests.iter().zip(&expected) {
                let class =
                    |number: usize| class(&shared.terms, &truths.variables[number], request);
                for ((diagram, expected), condition) in
                    diagrams.iter().zip(expected).zip(&conditions)
                {
                    let mut leaves = BTreeSet::new();
                    truths.diagrams.leaves(*diagram, &class, &mut leaves);
                    let leaf = match expected {
                        Verdict::Yes => TRUE,
                        Verdict::No => FALSE,
                        Verdict::Fails => FAILS,
                    };
                    assert!(
                        leaves.contains(&leaf),
                        "{evaluation:?} {condition} is {expected:?} and not one of {leaves:?}:\n{request:?}"
                    );
                    all += 1;
                    decided += usize::from(leaves.len() == 1);
                }
            }
        }
    }
    // Where a comparison of two paths or a loop counts, a diagram leaves the verdict open.
    assert!(decided * 2 > all, "{decided} of {all}");
}

/// Returns the conditions of the rules in the order of their actions.
fn read(table: &PolicyTable) -> (Shared, Vec<ConditionId>) {
    let (mut shared, mut side) = (Shared::default(), Side::new(table, 0));
    let names = ["doc", "default", ""].map(|name| Some(shared.terms.text(name)));
    let stops = side.route(&mut shared, names);
    let (rows, ..) = stops[0].rules.as_ref().unwrap();
    let no_roles = no_derived_roles(&mut shared.terms);
    let mut found: Vec<(usize, ConditionId)> = Vec::new();
    for row in &rows.rules {
        let offset = row.conditions[1].unwrap();
        let condition = side.condition(&mut shared, offset, View::Rule(no_roles));
        for action in &row.actions.texts {
            found.push((shared.terms.name(*action)[1..].parse().unwrap(), condition));
        }
    }
    found.sort_unstable();
    assert_eq!(found.len(), TOGETHER);
    (shared, found.into_iter().map(|(_, condition)| condition).collect())
}

/// Returns the class of the value that a request has for a variable; `None` for what is no path.
fn class(terms: &Terms, variable: &Variable, request: &Request) -> Option<usize> {
    let Subject::Term(term) = variable.subject else { return None };
    let Head::Slot(root, path) = &terms.get(term).head else { return None };
    let path: Vec<&str> = path.iter().map(|name| terms.name(*name)).collect();
    let text = |text: &str| of_value(terms, &Attr::String(text.into()), &variable.classes);
    let attributes = match Root::from_code(*root)? {
        Root::PrincipalId => return Some(text(&request.principal.id)),
        Root::ResourceKind => return Some(text(&request.resource.kind)),
        Root::ResourceId => return Some(text(&request.resource.id)),
        Root::PrincipalAttr => &request.principal.attr,
        Root::ResourceAttr => &request.resource.attr,
        _ => return None,
    };
    let of = |class: Class| variable.classes.iter().position(|one| *one == class);
    match value(attributes, &path)? {
        Ok(value) => Some(of_value(terms, value, &variable.classes)),
        Err(is_last) => of(if is_last { Class::Missing } else { Class::Broken }),
    }
}

/// Returns the value at a path; or whether only its last step leads to nothing.
fn value<'v>(map: &'v AttrMap, path: &[&str]) -> Option<Result<&'v Attr, bool>> {
    let (first, rest) = path.split_first()?;
    match (map.get(first), rest) {
        (None, rest) => Some(Err(rest.is_empty())),
        (Some(value), []) => Some(Ok(value)),
        (Some(Attr::Map(map)), rest) => value(map, rest),
        // `has` of a list fails, and of a text or a number it is false.
        (Some(Attr::List(_)), _) => Some(Err(false)),
        (Some(_), rest) => Some(Err(rest.len() == 1)),
    }
}

fn of_value(terms: &Terms, value: &Attr, classes: &[Class]) -> usize {
    let fits = |class: &Class| match (class, value) {
        (Class::Null, Attr::Null) => true,
        (Class::True, Attr::Bool(value)) => *value,
        (Class::False, Attr::Bool(value)) => !value,
        (Class::Text(text), Attr::String(value)) => terms.name(*text) == &**value,
        (Class::Number(number), Attr::Number(value)) => number == value,
        (Class::Between(start, end), Attr::Number(value)) => start < value && value < end,
        (Class::Other, Attr::List(_) | Attr::Map(_)) => true,
        _ => false,
    };
    let rest = |class: &Class| matches!((class, value), (Class::OtherText, Attr::String(_)));
    let found = classes.iter().position(fits);
    found.or_else(|| classes.iter().position(rest)).expect("a class has each value")
}
