//! The results of a test under other options of the caller.
//!
//! Bundles are strict and use no schemas unless their author chooses otherwise, and tests of Cerbos
//! mean the contrary. Only decisions that another option can change are made again.

use wardgate_engine::table::Evaluation;

use super::decider::{Answer, Decider, Question};
use super::matrix::Test;
use super::results::{CaseResult, OnlyWith, Outcome, Verdict};
use super::run::outcome;
use wardgate_compiler::emit::{Enforcement, Options};

/// A test that was decided.
pub(super) struct Comparison<'c> {
    pub(super) test: &'c Test<'c>,
    pub(super) question: Question<'c>,
    pub(super) answer: &'c Answer,
}

impl Comparison<'_> {
    /// Sets the options that each result needs to pass.
    pub(super) fn note(&self, decider: &mut dyn Decider, cases: &mut [CaseResult]) {
        let fails = cases.iter().any(|case| matches!(case.outcome, Outcome::Failed(_)));
        if !fails && self.answer.decision.evaluation_errors.is_empty() {
            return;
        }
        let base = decider.base().clone();
        for (options, passing) in self.others(&base, fails) {
            let Some(answer) = decider.compare(&self.question, &options) else { continue };
            if answer.depends_on_time && self.question.settings.now.is_none() {
                continue;
            }
            for case in cases.iter_mut().filter(|case| case.only_with.is_none()) {
                let passes = |outcome: &Outcome| outcome.verdict() == Verdict::Passed;
                let now = is_comparable(&case.outcome).then(|| passes(&case.outcome));
                let then = passes(&outcome(self.test, &case.action, &answer));
                case.only_with = match (now, then) {
                    (Some(false), true) => Some(passing),
                    (Some(true), false) => strictness(&base, &options),
                    _ => None,
                };
            }
        }
    }

    /// Returns the options to compare with, and the options that a test needs if it passes only
    /// under them.
    fn others(&self, base: &Options, fails: bool) -> Vec<(Options, OnlyWith)> {
        let says_mode = self.question.settings.evaluation.is_some();
        let has_errors = !self.answer.decision.evaluation_errors.is_empty();
        let other = match base.evaluation {
            Evaluation::Strict => Evaluation::Lenient,
            Evaluation::Lenient => Evaluation::Strict,
        };
        let changed = Options { evaluation: other, ..base.clone() };
        let mut others = Vec::new();
        if has_errors && !says_mode {
            others.push((changed.clone(), only_with(other)));
        }
        if fails && base.schema_enforcement == Enforcement::None {
            let reject = |options| Options { schema_enforcement: Enforcement::Reject, ..options };
            others.push((reject(base.clone()), OnlyWith::Schemas));
            if has_errors && !says_mode && other == Evaluation::Lenient {
                others.push((reject(changed), OnlyWith::LenientAndSchemas));
            }
        }
        others
    }
}

/// Returns the options that a test needs if it passes now and not under `options`; `None` if
/// schemas make the difference.
fn strictness(base: &Options, options: &Options) -> Option<OnlyWith> {
    let is_of_evaluation = base.schema_enforcement == options.schema_enforcement;
    is_of_evaluation.then(|| only_with(base.evaluation))
}

const fn only_with(evaluation: Evaluation) -> OnlyWith {
    match evaluation {
        Evaluation::Strict => OnlyWith::Strict,
        Evaluation::Lenient => OnlyWith::Lenient,
    }
}

const fn is_comparable(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Passed(..) | Outcome::Failed(_))
}
