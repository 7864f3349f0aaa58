//! One action of one target, for every class of roles.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use wardgate_engine::cel::Function;

use super::rows::NameOrOther;
use super::side::Stop;
use super::steps::{Candidates, Narrow, Stage, lineage};
use super::target::{Comparer, Target};
use super::walk::{self, Mode};
use super::witness::Search;
use super::{Change, Difference, Why};
use crate::limits::{MAX_EDGES, MAX_ROLES, MAX_SECOND_ROLES};
use crate::logic::diagram::{ALLOW, Diagram, END, Exhausted, FALSE, NOTHING, TRUE};
use crate::logic::terms::{Head, TermId};
use crate::logic::truth::{Subject, Survey, Truths, Variable};

/// The walks of a role, or of the principal itself, in both tables.
pub(super) type Walks = [Vec<Stage>; 2];

/// Roles that meet the same rules in both tables.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) roles: Vec<NameOrOther>,
    pub(super) walks: Walks,
}

/// A set of requests that the tables decide differently, by their diagrams.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) change: Change,
    pub(super) diagram: Diagram,
    /// The class, and a second one where only both roles together show it.
    pub(super) classes: (usize, Option<usize>),
}

impl Comparer<'_> {
    /// Compares the decisions about one action; `own` are the policies of the principal itself. Returns true
    /// if they differ or may differ.
    pub(super) fn question(
        &mut self,
        target: Target,
        action: NameOrOther,
        (routes, own): (&[Vec<Stop>; 2], Option<&[Vec<Stop>; 2]>),
    ) -> bool {
        let narrow = Narrow { kind: target.kind, action, is_own: false };
        let own_narrow = Narrow { is_own: true, ..narrow };
        let own = own.map(|own| self.candidates(own, own_narrow).map(|own| own.own_stages()));
        let own = own.unwrap_or_default();
        if target.principal.is_some() && own[0] == own[1] && !self.leniency_differs() {
            return false;
        }
        let candidates = self.candidates(routes, narrow);
        let Some(classes) = self.classes(target, &candidates) else {
            self.add_unknown(self.place(target, Some(action), &[]), Why::Bound, None);
            return true;
        };
        self.counts.questions += classes.len();
        let is_same = |class: &Class| {
            own[0] == own[1] && class.walks[0] == class.walks[1] && !self.leniency_differs()
        };
        let (same, changed): (Vec<Class>, Vec<Class>) = classes.into_iter().partition(is_same);
        self.counts.same_rules += same.len();
        if changed.is_empty() {
            return false;
        }
        self.answer((target, action), (changed, same), &own)
    }

    fn leniency_differs(&self) -> bool {
        self.sides[0].is_lenient() != self.sides[1].is_lenient()
    }

    fn candidates(&mut self, routes: &[Vec<Stop>; 2], narrow: Narrow) -> [Candidates; 2] {
        let Self { sides, shared, .. } = self;
        let [old, new] = sides;
        [
            Candidates::new((old, shared), &routes[0], narrow),
            Candidates::new((new, shared), &routes[1], narrow),
        ]
    }

    /// Sorts the roles into classes; `None` beyond the bounds.
    fn classes(&mut self, target: Target, candidates: &[Candidates; 2]) -> Option<Vec<Class>> {
        let Self { sides, shared, left, .. } = self;
        let families = sides.each_mut().map(|side| side.family(shared, target.scope));
        let mut roles = BTreeSet::from([NameOrOther::Other]);
        candidates.iter().for_each(|candidates| candidates.roles(&mut roles));
        for family in &families {
            roles.extend(family.parents.keys().map(|role| NameOrOther::Name(*role)));
        }
        let work =
            candidates.iter().map(Candidates::len).sum::<usize>().checked_mul(roles.len())?;
        left.steps = left.steps.checked_sub(work)?;
        if roles.len() > MAX_ROLES {
            return None;
        }
        let mut classes: Vec<Class> = Vec::new();
        let mut known: HashMap<Walks, usize> = HashMap::new();
        for role in roles {
            let walk = |number: usize| {
                let lineage = families.get(number).map(|family| lineage(family, role));
                let of = candidates.get(number)?;
                Some(of.stages(&shared.terms, &lineage?))
            };
            let walks = [walk(0)?, walk(1)?];
            let number = *known.entry(walks.clone()).or_insert_with(|| {
                classes.push(Class { roles: Vec::new(), walks });
                classes.len() - 1
            });
            classes.get_mut(number)?.roles.push(role);
        }
        Some(classes)
    }

    /// Compares the diagrams of classes whose rules differ, and searches requests that show it.
    fn answer(
        &mut self,
        (target, action): (Target, NameOrOther),
        (changed, same): (Vec<Class>, Vec<Class>),
        own: &Walks,
    ) -> bool {
        let (count, is_for_all) = (changed.len(), changed.len() == 1 && same.is_empty());
        let mut classes = changed;
        let mut compared = self.compared(&classes, count, own);
        if compared.as_ref().is_ok_and(|compared| compared.ends_differ) {
            // A role may end the search of another one, which then is part of the difference.
            classes.extend(same);
            compared = self.compared(&classes, count, own);
        }
        match compared {
            Ok(compared) => self.show((target, action), &classes, (count, is_for_all, compared)),
            Err(Exhausted) => {
                classes.truncate(count);
                self.too_large((target, action), &classes);
                true
            }
        }
    }

    fn too_large(&mut self, (target, action): (Target, NameOrOther), classes: &[Class]) {
        let roles: Vec<NameOrOther> =
            classes.iter().flat_map(|class| class.roles.clone()).collect();
        let why = if self.left.edges == 0 { Why::Bound } else { Why::TooLarge };
        self.add_unknown(self.place(target, Some(action), &roles), why, None);
    }

    /// Builds the diagrams of classes, of which the first `count` have other rules than before.
    fn compared(
        &mut self,
        classes: &[Class],
        count: usize,
        own: &Walks,
    ) -> Result<Compared, Exhausted> {
        let shared = &self.shared;
        let mut survey = Survey::new(&shared.terms);
        let walks = classes.iter().flat_map(|class| &class.walks).chain(own);
        for walk in walks.clone() {
            walk::survey(&mut survey, &shared.conditions, walk);
        }
        let variables = survey.variables()?;
        let edges = MAX_EDGES.min(self.left.edges);
        let mut truths = Truths::new((&shared.terms, &shared.conditions), variables, edges);
        let lenient = self.sides.each_ref().map(|side| side.is_lenient());
        let built = build(&mut truths, (classes, count), own, lenient);
        self.left.edges = self.left.edges.saturating_sub(edges - truths.diagrams.left());
        let (candidates, ends_differ) = built?;
        let mut conditions = Vec::new();
        let steps = walks.flatten().flat_map(Stage::steps);
        for condition in steps.flat_map(|step| step.conditions.into_iter().flatten()) {
            shared.conditions.terms(condition, &mut conditions);
        }
        let Truths { variables, diagrams, .. } = truths;
        Ok(Compared { variables, diagrams, candidates, ends_differ, conditions })
    }

    /// Searches a request for each candidate. Returns true if something differs or may differ.
    fn show(
        &mut self,
        (target, action): (Target, NameOrOther),
        classes: &[Class],
        (count, is_for_all, compared): (usize, bool, Compared),
    ) -> bool {
        let mut differs = vec![false; count];
        let mut candidates: BTreeMap<(usize, Change), Vec<&Candidate>> = BTreeMap::new();
        for candidate in &compared.candidates {
            let (first, _) = candidate.classes;
            candidates.entry((first, candidate.change)).or_default().push(candidate);
        }
        let found_one = !candidates.is_empty();
        for ((first, change), candidates) in candidates {
            let roles = classes.get(first).map_or(&[][..], |class| &class.roles);
            let place = self.place(target, Some(action), if is_for_all { &[] } else { roles });
            let witness = candidates.into_iter().find_map(|candidate| {
                let (_, second) = candidate.classes;
                let with = second.and_then(|second| classes.get(second)?.roles.first().copied());
                let asked: Vec<NameOrOther> = roles.iter().take(1).copied().chain(with).collect();
                Search::new(self, &compared, (target, action)).find(candidate, &asked)
            });
            differs.get_mut(first).into_iter().for_each(|differs| *differs = true);
            match witness {
                Some(witness) => self.add_difference(Difference { change, place, witness }),
                None => self.add_unknown(place, Why::NoWitness, Some(change)),
            }
        }
        let equal = differs.iter().filter(|differs| !**differs).count();
        if equal > 0 && self.asks_about_topics(&compared.conditions) {
            let classes =
                classes.iter().take(count).zip(&differs).filter(|(_, differs)| !**differs);
            let roles: Vec<NameOrOther> =
                classes.flat_map(|(class, _)| class.roles.clone()).collect();
            self.add_unknown(self.place(target, Some(action), &roles), Why::Topics, None);
            return true;
        }
        self.counts.proved += equal;
        found_one
    }

    /// Returns true if a condition may be true for a part of the topics of a request.
    fn asks_about_topics(&self, conditions: &[TermId]) -> bool {
        let topic = Head::Call(Function::MatchesTopic.id());
        !self.shared.terms.below(conditions, |term| term.head == topic).is_empty()
    }
}

/// The diagrams of a question, and the sets of requests for which they differ.
pub(super) struct Compared {
    pub(super) variables: Vec<Variable>,
    pub(super) diagrams: crate::logic::diagram::Diagrams,
    pub(super) candidates: Vec<Candidate>,
    /// True if a role ends the search in one table only.
    ends_differ: bool,
    /// The expressions of all conditions.
    pub(super) conditions: Vec<TermId>,
}

/// Returns the sets of requests that are decided differently, and whether there are such for which a role
/// ends the search in one table only.
fn build(
    truths: &mut Truths<'_>,
    (classes, count): (&[Class], usize),
    own: &Walks,
    lenient: [bool; 2],
) -> Result<(Vec<Candidate>, bool), Exhausted> {
    let possible = possible(truths)?;
    let mut outcomes = Vec::with_capacity(classes.len());
    for class in classes {
        let mut of = [FALSE; 2];
        for (side, outcome) in of.iter_mut().enumerate() {
            let is_lenient = lenient.get(side).copied().unwrap_or(false);
            let (walk, own) = (class.walks.get(side), own.get(side));
            let mode = Mode { is_lenient, denials_end: false };
            let after = walk::outcome(truths, walk.map_or(&[], |walk| walk), mode, NOTHING)?;
            let mode = Mode { is_lenient, denials_end: true };
            *outcome = walk::outcome(truths, own.map_or(&[], |own| own), mode, after)?;
        }
        outcomes.push(of);
    }
    let mut candidates = Vec::new();
    let mut ends_differ = false;
    for (number, outcome) in outcomes.iter().enumerate().take(count) {
        for (change, from, to) in
            [(Change::More, outcome[0], outcome[1]), (Change::Less, outcome[1], outcome[0])]
        {
            let gained = gained(truths, from, to)?;
            let gained = truths.diagrams.both(gained, possible)?;
            if gained != FALSE {
                candidates.push(Candidate { change, diagram: gained, classes: (number, None) });
            }
            // The role ended the search before, and finds nothing now: another one may allow.
            let is_end = truths.diagrams.is(from, END)?;
            let is_open = truths.diagrams.is(to, NOTHING)?;
            let opened = truths.diagrams.both(is_end, is_open)?;
            let opened = truths.diagrams.both(opened, possible)?;
            if opened == FALSE {
                continue;
            }
            ends_differ = true;
            let mut seconds = 0;
            for (second, others) in outcomes.iter().enumerate() {
                let other = if change == Change::More { others[1] } else { others[0] };
                let allows = truths.diagrams.is(other, ALLOW)?;
                let diagram = truths.diagrams.both(opened, allows)?;
                if diagram != FALSE {
                    candidates.push(Candidate { change, diagram, classes: (number, Some(second)) });
                    seconds += 1;
                }
                if seconds == MAX_SECOND_ROLES {
                    break;
                }
            }
        }
    }
    Ok((candidates, ends_differ))
}

/// Returns where `to` allows and `from` does not.
fn gained(truths: &mut Truths<'_>, from: Diagram, to: Diagram) -> Result<Diagram, Exhausted> {
    let allows = truths.diagrams.is(to, ALLOW)?;
    let allowed = truths.diagrams.is(from, ALLOW)?;
    truths.diagrams.select(allowed, [FALSE, allows, allows, allows])
}

/// Returns where the patterns of one name can all be met: two that begin with different letters never
/// match together.
fn possible(truths: &mut Truths<'_>) -> Result<Diagram, Exhausted> {
    let patterns: Vec<Subject> = truths
        .variables
        .iter()
        .map(|variable| variable.subject)
        .filter(|subject| !matches!(subject, Subject::Term(_)))
        .collect();
    let mut possible = TRUE;
    for (number, first) in patterns.iter().enumerate() {
        for second in patterns.iter().skip(number + 1) {
            if truths.can_meet(*first, *second) {
                continue;
            }
            let both = truths.patterns(*first, *second)?;
            possible = truths.diagrams.select(both, [FALSE, possible, possible, possible])?;
        }
    }
    Ok(possible)
}
