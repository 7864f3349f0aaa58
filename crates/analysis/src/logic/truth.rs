//! The diagrams of conditions: where each is true, false, or fails.

use std::collections::{BTreeMap, HashMap};

use wardgate_engine::cel::Op;
use wardgate_engine::cel::pool::Root;
use wardgate_engine::glob;

use super::conditions::{Condition, ConditionId, Conditions};
use super::diagram::{Diagram, Diagrams, Exhausted, FAILS, FALSE, OTHER, TRUE};
use super::partition::{self, Class, Domain, Test};
use super::terms::{Head, Literal, Term, TermId, Terms, TextId};
use crate::limits::MAX_VARIABLES;

/// What a variable of a question stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Subject {
    /// The class of the value of a term.
    Term(TermId),
    /// True if the action, which no rule names, matches a pattern.
    Action(TextId),
    /// The same for the role.
    Role(TextId),
    /// The same for the kind.
    Kind(TextId),
}

/// A variable of a question.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) subject: Subject,
    pub(crate) classes: Vec<Class>,
}

/// Collects the variables of a question before its diagrams are built.
pub(crate) struct Survey<'t> {
    terms: &'t Terms,
    order: Vec<Subject>,
    domains: BTreeMap<Subject, Domain>,
    seen: std::collections::BTreeSet<TermId>,
}

/// The diagrams of the conditions of one question.
pub(crate) struct Truths<'t> {
    terms: &'t Terms,
    conditions: &'t Conditions,
    pub(crate) variables: Vec<Variable>,
    numbers: BTreeMap<Subject, usize>,
    pub(crate) diagrams: Diagrams,
    of_terms: HashMap<TermId, Diagram>,
    of_conditions: HashMap<(ConditionId, bool), Diagram>,
}

impl<'t> Survey<'t> {
    pub(crate) const fn new(terms: &'t Terms) -> Self {
        Self {
            terms,
            order: Vec::new(),
            domains: BTreeMap::new(),
            seen: std::collections::BTreeSet::new(),
        }
    }

    /// Notes what a subject is tested for.
    pub(crate) fn note(&mut self, subject: Subject, test: &Test) {
        let order = &mut self.order;
        let domain = self.domains.entry(subject).or_insert_with(|| {
            order.push(subject);
            Domain::default()
        });
        domain.note(test);
    }

    /// Notes the variables of a term whose truth is asked for.
    pub(crate) fn truth(&mut self, id: TermId) {
        if !self.seen.insert(id) {
            return;
        }
        let term = self.terms.get(id);
        match shape(self.terms, id, &term) {
            Shape::Known(_) => {}
            Shape::Logic(parts) => parts.iter().for_each(|part| self.truth(*part)),
            Shape::Test(of, test) => self.note(Subject::Term(of), &test),
            Shape::Unknown => {
                for part in partition::fallible_parts(self.terms, &term) {
                    self.note(Subject::Term(part), &Test::Fails);
                }
                self.note(Subject::Term(id), &Test::Truth);
            }
        }
    }

    /// Returns the variables; an error if they are too many.
    pub(crate) fn variables(self) -> Result<Vec<Variable>, Exhausted> {
        if self.order.len() > MAX_VARIABLES {
            return Err(Exhausted);
        }
        let variable = |subject| {
            let domain: Domain = self.domains.get(&subject).cloned().unwrap_or_default();
            let classes = match subject {
                Subject::Term(term) => domain.classes(self.terms, &self.terms.get(term)),
                _ => vec![Class::True, Class::False],
            };
            Variable { subject, classes }
        };
        Ok(self.order.into_iter().map(variable).collect())
    }
}

/// How the truth of a term is made.
enum Shape {
    Known(Diagram),
    Logic(Box<[TermId]>),
    Test(TermId, Test),
    Unknown,
}

fn shape(terms: &Terms, id: TermId, term: &Term) -> Shape {
    match &term.head {
        Head::Literal(Literal::Bool(truth)) => Shape::Known(if *truth { TRUE } else { FALSE }),
        Head::Literal(_) => Shape::Known(OTHER),
        Head::Operation(code, _) if Op::from_code(*code) == Some(Op::Undefined) => {
            Shape::Known(FAILS)
        }
        Head::Operation(code, _) if is_logic(*code) => Shape::Logic(term.parts.clone()),
        Head::If | Head::OrNull => Shape::Logic(term.parts.clone()),
        Head::Slot(..) => Shape::Test(id, Test::Truth),
        Head::HasSlot(root, path) => has(terms, *root, path).unwrap_or(Shape::Unknown),
        _ => match partition::test(terms, term) {
            Some((of, test)) => Shape::Test(of, test),
            None => Shape::Unknown,
        },
    }
}

/// Returns `has` of an attribute as a test of that attribute, if some condition reads it.
fn has(terms: &Terms, root: u32, path: &[TextId]) -> Option<Shape> {
    let is_attribute = Root::from_code(root).is_some_and(partition::is_attributes);
    let slot = Term { head: Head::Slot(root, path.into()), parts: [].into() };
    let slot = terms.find(&slot).filter(|_| is_attribute && !path.is_empty())?;
    Some(Shape::Test(slot, Test::Exists))
}

fn is_logic(code: u8) -> bool {
    matches!(Op::from_code(code), Some(Op::And | Op::Or | Op::Not | Op::HasVariable))
}

impl<'t> Truths<'t> {
    pub(crate) fn new(
        (terms, conditions): (&'t Terms, &'t Conditions),
        variables: Vec<Variable>,
        edges: usize,
    ) -> Self {
        let sizes = variables.iter().map(|variable| variable.classes.len()).collect();
        let subjects = variables.iter().map(|variable| variable.subject);
        Self {
            terms,
            conditions,
            numbers: subjects.zip(0..).collect(),
            variables,
            diagrams: Diagrams::new(sizes, edges),
            of_terms: HashMap::new(),
            of_conditions: HashMap::new(),
        }
    }

    /// Returns where a test of a subject is true, false or fails.
    pub(crate) fn test(&mut self, subject: Subject, test: &Test) -> Result<Diagram, Exhausted> {
        let number = *self.numbers.get(&subject).ok_or(Exhausted)?;
        let classes = self.variables.get(number).map_or(&[][..], |variable| &variable.classes);
        let to: Vec<Diagram> =
            classes.iter().map(|class| partition::outcome(test, *class)).collect();
        self.diagrams.variable(number, &to)
    }

    /// Returns true if two patterns are not of one name, or may match one name together.
    pub(crate) fn can_meet(&self, first: Subject, second: Subject) -> bool {
        let (first, second) = match (first, second) {
            (Subject::Action(first), Subject::Action(second))
            | (Subject::Role(first), Subject::Role(second))
            | (Subject::Kind(first), Subject::Kind(second)) => (first, second),
            _ => return true,
        };
        let [first, second] = [first, second].map(|id| glob::head(self.terms.name(id)));
        first.starts_with(second) || second.starts_with(first)
    }

    /// Returns where both of two patterns match.
    pub(crate) fn patterns(
        &mut self,
        first: Subject,
        second: Subject,
    ) -> Result<Diagram, Exhausted> {
        let first = self.test(first, &Test::Truth)?;
        let second = self.test(second, &Test::Truth)?;
        self.diagrams.both(first, second)
    }

    /// Returns the truth of a condition. In a lenient table an expression that fails is false.
    pub(crate) fn condition(
        &mut self,
        id: ConditionId,
        is_lenient: bool,
    ) -> Result<Diagram, Exhausted> {
        if let Some(known) = self.of_conditions.get(&(id, is_lenient)) {
            return Ok(*known);
        }
        let conditions = self.conditions;
        let condition = conditions.get(id);
        let truth = match &*condition {
            Condition::Leaf(term) => {
                let truth = self.truth(*term)?;
                let fails = if is_lenient { FALSE } else { FAILS };
                self.diagrams.select(truth, [TRUE, FALSE, fails, FALSE])?
            }
            Condition::All(parts) => self.sequence(parts, is_lenient, FALSE)?,
            Condition::Any(parts) => self.sequence(parts, is_lenient, TRUE)?,
            Condition::None(parts) => {
                let any = self.sequence(parts, is_lenient, TRUE)?;
                self.diagrams.select(any, [FALSE, TRUE, FAILS, FALSE])?
            }
        };
        self.of_conditions.insert((id, is_lenient), truth);
        Ok(truth)
    }

    /// Returns the truth of conditions that are tried in turn until one is `wanted`, or fails.
    fn sequence(
        &mut self,
        parts: &[ConditionId],
        is_lenient: bool,
        wanted: Diagram,
    ) -> Result<Diagram, Exhausted> {
        let mut rest = if wanted == TRUE { FALSE } else { TRUE };
        for part in parts.iter().rev() {
            let truth = self.condition(*part, is_lenient)?;
            let to = if wanted == TRUE { [TRUE, rest] } else { [rest, FALSE] };
            rest = self.diagrams.select(truth, [to[0], to[1], FAILS, FALSE])?;
        }
        Ok(rest)
    }

    /// Returns the truth of a term.
    fn truth(&mut self, id: TermId) -> Result<Diagram, Exhausted> {
        if let Some(known) = self.of_terms.get(&id) {
            return Ok(*known);
        }
        let terms = self.terms;
        let term = terms.get(id);
        let truth = match shape(terms, id, &term) {
            Shape::Known(leaf) => leaf,
            Shape::Logic(parts) => self.logic(&term, &parts)?,
            Shape::Test(of, test) => self.test(Subject::Term(of), &test)?,
            Shape::Unknown => {
                let mut truth = self.test(Subject::Term(id), &Test::Truth)?;
                for part in partition::fallible_parts(terms, &term) {
                    let fails = self.test(Subject::Term(part), &Test::Fails)?;
                    truth = self.diagrams.select(fails, [FAILS, truth, truth, truth])?;
                }
                truth
            }
        };
        self.of_terms.insert(id, truth);
        Ok(truth)
    }

    fn logic(&mut self, term: &Term, parts: &[TermId]) -> Result<Diagram, Exhausted> {
        let mut truths = Vec::with_capacity(parts.len());
        for part in parts {
            truths.push(self.truth(*part)?);
        }
        let code = match &term.head {
            Head::Operation(code, _) => Op::from_code(*code),
            _ => None,
        };
        let diagrams = &mut self.diagrams;
        match (&term.head, code, truths.as_slice()) {
            (_, Some(Op::Not), [part]) => diagrams.select(*part, [FALSE, TRUE, FAILS, FAILS]),
            (_, Some(Op::HasVariable), [part]) => diagrams.select(*part, [TRUE, TRUE, FALSE, TRUE]),
            (Head::OrNull, _, [part]) => diagrams.select(*part, [TRUE, FALSE, OTHER, OTHER]),
            (_, Some(Op::And), [left, right]) => {
                let plain = diagrams.select(*right, [TRUE, FALSE, FAILS, FAILS])?;
                let failing = diagrams.select(*right, [FAILS, FALSE, FAILS, FAILS])?;
                diagrams.select(*left, [plain, FALSE, failing, failing])
            }
            (_, Some(Op::Or), [left, right]) => {
                let plain = diagrams.select(*right, [TRUE, FALSE, FAILS, FAILS])?;
                let failing = diagrams.select(*right, [TRUE, FAILS, FAILS, FAILS])?;
                diagrams.select(*left, [TRUE, plain, failing, failing])
            }
            (Head::If, _, [on, yes, no]) => diagrams.select(*on, [*yes, *no, FAILS, FAILS]),
            _ => Err(Exhausted),
        }
    }
}
