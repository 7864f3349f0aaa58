//! Predicates: the conditions of a rule in the instructions of fast paths.
//!
//! Slots are named by their offsets in the table; `write` numbers them. Equal predicates have one
//! number, so that equal rules are recognised.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;

use wardgate_fastpath::layout::{EMITS, EMITS_UNMET};
use wardgate_fastpath::word;

use super::classes::Step;
use super::derived::Test;
use super::fuse::{Fuser, Op};
use wardgate_engine::cel::pool::Pool;
use wardgate_engine::fastpath::footprint::{Footprint, Footprints};
use wardgate_engine::limits::MAX_FAST_PATH_ROLES;
use wardgate_engine::table::layout::Junction;
use wardgate_engine::table::{Evaluation, PolicyTable, Rule, Section, at, list, word as word_at};

/// The conditions of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Predicate {
    /// Always holds.
    Always,
    /// Never holds, and never fails.
    Never,
    /// One equality; negated if the second field is true.
    Equality(Op, bool),
    /// Code whose truth is the predicate.
    Code(Vec<Op>),
}

/// The number of a predicate.
pub(super) type PredicateId = u32;

/// The predicate that always holds.
pub(super) const ALWAYS: PredicateId = 0;

/// The predicates of a table.
pub(super) struct Predicates<'a> {
    table: &'a PolicyTable,
    fuser: Fuser<'a>,
    footprints: Footprints<'a>,
    all: Vec<Rc<Predicate>>,
    costs: Vec<usize>,
    ids: BTreeMap<Rc<Predicate>, PredicateId>,
    /// The numbers by what was asked, and whether expressions become tests.
    known: BTreeMap<(Asked, bool), Option<PredicateId>>,
    /// The predicates of the variables, by their set, and whether expressions become tests.
    sets: BTreeMap<(u32, bool), Option<Rc<[PredicateId]>>>,
    labels: u32,
    /// The steps that the general path charges for the conditions being written.
    cost: usize,
    has_outputs: bool,
}

/// Role condition and condition of a rule; and the outcome with an output that the predicate is about,
/// and whether it fails there.
type Asked = ([Option<u32>; 2], Option<(Outcome, bool)>);

/// The outcomes with an output: [`MET`] and [`UNMET`].
type Outcome = u32;

/// An output of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emission {
    outcome: Outcome,
    /// The predicate that holds where the rule emits it.
    holds: PredicateId,
    /// The predicate that fails there, and does not hold elsewhere.
    fails: PredicateId,
    /// Its program, if it reads only what fast paths carry.
    program: Option<u32>,
}

impl<'a> Predicates<'a> {
    pub(super) fn new(table: &'a PolicyTable, pool: &'a Pool<'a>) -> Self {
        let mut predicates = Self {
            table,
            fuser: Fuser::new(pool),
            footprints: Footprints::new(*pool),
            all: Vec::new(),
            costs: Vec::new(),
            ids: BTreeMap::new(),
            known: BTreeMap::new(),
            sets: BTreeMap::new(),
            labels: 0,
            cost: 0,
            has_outputs: true,
        };
        predicates.intern(Predicate::Always);
        predicates
    }

    /// Says if expressions become tests, which need a slot each, or programs.
    pub(super) const fn allow_tests(&mut self, has_tests: bool) {
        self.fuser.allow_tests(has_tests);
    }

    /// Returns true if an expression has become a test.
    pub(super) const fn knows_tests(&self) -> bool {
        self.fuser.knows_tests()
    }

    pub(super) fn get(&self, id: PredicateId) -> Option<&Predicate> {
        self.all.get(at(id)).map(|predicate| &**predicate)
    }

    /// Returns an upper bound of the steps that the general path charges for one evaluation.
    pub(super) fn cost(&self, id: PredicateId) -> usize {
        self.costs.get(at(id)).copied().unwrap_or(0)
    }

    /// Returns the test of a derived slot; `None` if the slot is one of the table.
    pub(super) fn derived(&self, slot: u32) -> Option<&Test> {
        self.fuser.derived(slot)
    }

    /// Returns the slot of a test.
    pub(super) fn slot_of(&mut self, test: Test) -> u32 {
        self.fuser.slot_of(test)
    }

    /// Returns the word of a constant that is equal only to values with the same word.
    pub(super) fn word(&self, id: u32) -> Option<u32> {
        self.fuser.word(id)
    }

    pub(super) fn footprint(&self, program: u32) -> Option<Rc<Footprint>> {
        self.footprints.of(program)
    }

    /// Returns true if an evaluation can end in an error, or not end at all.
    pub(super) fn can_fail(&self, id: PredicateId) -> bool {
        match self.get(id) {
            Some(Predicate::Always | Predicate::Never) => false,
            Some(Predicate::Code(code)) if !self.is_strict() => {
                code.iter().any(|op| matches!(op, Op::Program(_)))
            }
            _ => true,
        }
    }

    /// Returns the predicate of a rule; `None` if no fast path can hold it.
    pub(super) fn of(&mut self, rule: &Rule<'_>) -> Option<PredicateId> {
        self.of_conditions([rule.role_condition(), rule.condition()])
    }

    /// Returns the predicate of a conjunction of conditions; `None` if no fast path can hold it.
    pub(super) fn of_conditions(&mut self, conditions: [Option<u32>; 2]) -> Option<PredicateId> {
        self.numbered(conditions, None)
    }

    fn numbered(
        &mut self,
        conditions: [Option<u32>; 2],
        emits: Option<(Outcome, bool)>,
    ) -> Option<PredicateId> {
        let key = ((conditions, emits), self.fuser.has_tests());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let written = match emits {
            None => self.write(conditions),
            Some(emits) => self.write_emitting(conditions, emits),
        };
        let found = written.map(|predicate| self.intern(predicate));
        self.known.insert(key, found);
        found
    }

    /// Returns the outputs of a rule: when it is activated, and when only its own condition is not
    /// met. `None` if no fast path can hold the conditions.
    pub(super) fn emissions(&mut self, rule: &Rule<'_>) -> Option<[Option<Emission>; 2]> {
        let conditions = [rule.role_condition(), rule.condition()];
        let when_unmet = rule.output(false).filter(|_| rule.condition().is_some());
        let mut emissions = [None; 2];
        let outcomes = [(rule.output(true), MET), (when_unmet, UNMET)];
        for (emission, (output, outcome)) in emissions.iter_mut().zip(outcomes) {
            let Some(output) = output else { continue };
            let fails = self.numbered(conditions, Some((outcome, true)))?;
            let holds = self.numbered(conditions, Some((outcome, false)))?;
            let program = Some(output).filter(|output| self.footprints.of(*output).is_some());
            *emission = Some(Emission { outcome, holds, fails, program });
        }
        Some(emissions)
    }

    /// Returns the step of an output: it notes the output, or fails where it is emitted and only the general path can
    /// make it.
    pub(super) fn emission(&self, emission: Emission) -> Step {
        let Emission { outcome, holds, fails, program } = emission;
        match program.filter(|_| self.has_outputs) {
            Some(program) => {
                let effect = if outcome == MET { EMITS } else { EMITS_UNMET };
                Step { effect, predicate: holds, is_reported: true, output: Some(program) }
            }
            None => Step::reported(fails),
        }
    }

    /// Says if fast paths make outputs, which read slots of their own.
    pub(super) const fn allow_outputs(&mut self, has_outputs: bool) {
        self.has_outputs = has_outputs;
    }

    /// Returns true if every evaluation fails.
    pub(super) fn always_fails(&self, id: PredicateId) -> bool {
        matches!(self.get(id), Some(Predicate::Code(code)) if *code == [Op::Push(ERROR)])
    }

    /// Returns the variables whose errors a check reports when it considers a rule; `None` if no
    /// fast path can hold one of them.
    pub(super) fn reported(&mut self, rule: &Rule<'_>) -> Option<Rc<[PredicateId]>> {
        let own = self.variables(rule.variables())?;
        let of_role = rule.role_variables().filter(|_| rule.role_condition().is_some());
        let of_role = self.variables(of_role)?;
        Some(own.iter().chain(&*of_role).copied().collect())
    }

    /// Returns the predicates that fail if a variable of a set does; `None` if no fast path can
    /// hold one of them.
    pub(super) fn variables(&mut self, set: Option<u32>) -> Option<Rc<[PredicateId]>> {
        let Some(set) = set else { return Some(Rc::default()) };
        let key = (set, self.fuser.has_tests());
        if let Some(known) = self.sets.get(&key) {
            return known.clone();
        }
        let variables = list(self.table.section(Section::VariableSets), set);
        let mut found = Some(Vec::new());
        for variable in variables {
            found = match (found, self.variable(*variable)) {
                (Some(mut found), Some(id)) => {
                    found.extend(id);
                    Some(found)
                }
                _ => None,
            };
        }
        let found: Option<Rc<[PredicateId]>> = found.map(Rc::from);
        self.sets.insert(key, found.clone());
        found
    }

    /// Returns the predicate that fails if a variable does; the inner `None` is a variable that
    /// never does.
    fn variable(&mut self, variable: u32) -> Option<Option<PredicateId>> {
        (self.labels, self.cost) = (0, 0);
        let (program, _) = self.fuser.variable(variable)?;
        let code = self.parts(program)?;
        if matches!(code.as_slice(), [Op::Push(_)]) {
            return Some(None);
        }
        Some(Some(self.intern(Predicate::Code(code))))
    }

    /// Writes the conjunction of the conditions, the one of the derived role first.
    fn write(&mut self, conditions: [Option<u32>; 2]) -> Option<Predicate> {
        (self.labels, self.cost) = (0, 0);
        let conditions: Vec<u32> = conditions.into_iter().flatten().collect();
        let mut code = Vec::new();
        match conditions.as_slice() {
            [] => return Some(Predicate::Always),
            [only] => self.condition(*only, &mut code)?,
            all => self.sequence(all, Op::JumpFalse, &mut code)?,
        }
        Some(simplified(code, self.is_strict()))
    }

    /// Writes code that holds, or fails, where a rule emits an output: when it is activated, or when
    /// only its own condition is not met.
    fn write_emitting(
        &mut self,
        [of_role, own]: [Option<u32>; 2],
        (outcome, fails): (Outcome, bool),
    ) -> Option<Predicate> {
        if outcome == MET && !fails {
            return self.write([of_role, own]);
        }
        (self.labels, self.cost) = (1, 0);
        let (mut code, end) = (Vec::new(), 1);
        if let Some(condition) = of_role {
            self.condition(condition, &mut code)?;
        }
        if let Some(condition) = own {
            code.extend(of_role.map(|_| Op::JumpFalse(end)));
            self.condition(condition, &mut code)?;
            code.extend((outcome == UNMET).then_some(Op::Invert));
        }
        if of_role.is_none() && !fails {
            return Some(simplified(code, self.is_strict()));
        }
        let can_pass = !code.is_empty();
        if fails {
            code.extend(can_pass.then_some(Op::JumpFalse(end)));
            code.push(Op::Push(ERROR));
        }
        code.extend(can_pass.then_some(Op::Label(end)));
        Some(Predicate::Code(code))
    }

    fn intern(&mut self, predicate: Predicate) -> PredicateId {
        let predicate = Rc::new(predicate);
        if let Some(known) = self.ids.get(&predicate) {
            let id = *known;
            if let Some(cost) = self.costs.get_mut(at(id)) {
                *cost = self.cost.max(*cost);
            }
            return id;
        }
        let id = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(Rc::clone(&predicate));
        self.costs.push(self.cost);
        self.ids.insert(predicate, id);
        id
    }

    /// Returns the operand of [`Op::Leaf`] that decides if an error is false.
    pub(super) fn leniency(&self) -> u32 {
        u32::from(!self.is_strict())
    }

    fn is_strict(&self) -> bool {
        self.table.evaluation() == Evaluation::Strict
    }

    /// Writes a condition. The validator of the table bounds its depth.
    fn condition(&mut self, offset: u32, code: &mut Vec<Op>) -> Option<()> {
        let words = self.table.section(Section::Conditions).get(at(offset)..)?;
        let (junction, count) = Junction::split(word_at(words, 0));
        let operands = words.get(1..1_usize.checked_add(at(count))?)?;
        self.cost = self.cost.saturating_add(MAX_FAST_PATH_ROLES);
        match junction {
            Junction::Expr => self.leaf(word_at(operands, 0), code),
            Junction::All => self.sequence(operands, Op::JumpFalse, code),
            Junction::Any => self.sequence(operands, Op::JumpTrue, code),
            Junction::None => {
                self.sequence(operands, Op::JumpTrue, code)?;
                code.push(Op::Invert);
                Some(())
            }
        }
    }

    /// Writes conditions that are tried one after the other, until `jump` leaves.
    fn sequence(
        &mut self,
        conditions: &[u32],
        jump: fn(u32) -> Op,
        code: &mut Vec<Op>,
    ) -> Option<()> {
        let Some((last, first)) = conditions.split_last() else {
            code.push(Op::Push(u32::from(jump(0) == Op::JumpFalse(0))));
            return Some(());
        };
        self.labels += 1;
        let end = self.labels;
        for condition in first {
            self.condition(*condition, code)?;
            code.push(jump(end));
        }
        self.condition(*last, code)?;
        if !first.is_empty() {
            code.push(Op::Label(end));
        }
        Some(())
    }

    /// Writes one expression.
    fn leaf(&mut self, program: u32, code: &mut Vec<Op>) -> Option<()> {
        code.append(&mut self.parts(program)?);
        code.push(Op::Leaf);
        Some(())
    }

    /// Returns the instructions of an expression, and counts their cost.
    fn parts(&mut self, program: u32) -> Option<Vec<Op>> {
        let mut fused = self.fuser.expression(program);
        let first = self.labels;
        for op in &mut fused {
            if let Op::JumpFalse(label) | Op::JumpTrue(label) | Op::Label(label) = op {
                *label += first;
                self.labels = self.labels.max(*label);
            }
        }
        for op in &fused {
            if let Op::Program(program) = op {
                self.footprints.of(*program)?;
            }
            self.cost = self.cost.saturating_add(self.fuser.price(op));
        }
        Some(fused)
    }
}

/// Returns the simplest form of code. In a lenient table an error is false, which an equality alone
/// cannot express.
fn simplified(mut code: Vec<Op>, strict: bool) -> Predicate {
    let inverted = code.iter().rev().take_while(|op| **op == Op::Invert).count();
    let body = code.get(..code.len() - inverted).unwrap_or(&[]);
    let turned = inverted % 2 == 1;
    match body {
        [Op::Push(truth)] | [Op::Push(truth), Op::Leaf] => {
            return if (*truth == TRUE) == turned { Predicate::Never } else { Predicate::Always };
        }
        [equality @ (Op::EqualConst(..) | Op::EqualSlot(..)), rest @ .., Op::Leaf]
            if strict && rest.iter().all(|op| *op == Op::Not) =>
        {
            let turned = turned != (rest.len() % 2 == 1);
            return Predicate::Equality(equality.clone(), turned);
        }
        [Op::Bool(slot), Op::Leaf] if strict => {
            return Predicate::Equality(Op::EqualConst(*slot, word::TRUE), turned);
        }
        _ => {}
    }
    // The end of the code takes an error or another value as a strict leaf does.
    if strict && code.last() == Some(&Op::Leaf) {
        code.pop();
    }
    Predicate::Code(code)
}

/// Truth of code: `true`.
const TRUE: u32 = 1;
/// The rule is activated, or only its condition is not met.
const MET: Outcome = 1;
const UNMET: Outcome = 2;
/// Truth of code: an error.
const ERROR: u32 = 2;

#[cfg(test)]
mod tests;
