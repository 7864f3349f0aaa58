//! Conditions as rules write them: `all`, `any`, `none` and `expr`, in the order of evaluation.

use std::rc::Rc;

use wardgate_engine::table::Evaluation;

use super::{Facts, Fails, Logic, Outcomes};
use wardgate_compiler::cel::Expr;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::Condition;

impl Logic<'_> {
    /// Returns the possible outcomes of a condition. A condition has a verdict and no value:
    /// another value counts as false, and in a lenient table so does an error.
    pub(in crate::lint) fn condition(&self, condition: &Condition) -> Outcomes {
        self.refuel();
        self.verdict(condition, &Facts::default())
    }

    /// Returns the same where the `facts` hold.
    pub(in crate::lint) fn verdict(&self, condition: &Condition, facts: &Facts) -> Outcomes {
        let mut found = match condition {
            Condition::Expr(expr) => self.leaf(expr, facts),
            Condition::All(parts) => self.parts(parts, true, facts),
            Condition::Any(parts) => inverted(self.parts(parts, false, facts)),
            Condition::None(parts) => self.parts(parts, false, facts),
        };
        if found.yes && !matches!(condition, Condition::Expr(_)) {
            found.yes = !self.contradicts_itself(condition);
        }
        found
    }

    fn leaf(&self, expr: &ExprSource, facts: &Facts) -> Outcomes {
        let Some(tree) = self.tree(&expr.text) else { return Outcomes::UNKNOWN };
        let found = self.outcomes(&tree, facts);
        let (lenient, failing) = (self.is_lenient(), found.fails.any());
        Outcomes {
            no: found.no || found.other || (lenient && failing),
            other: false,
            fails: if lenient { Fails::NONE } else { found.fails },
            ..found
        }
    }

    /// Returns the outcomes of parts that must all have the outcome `truth`, evaluated in order
    /// until one has not.
    fn parts(&self, parts: &[Condition], truth: bool, facts: &Facts) -> Outcomes {
        let mut known = facts.clone();
        let mut all = Outcomes::known(true);
        for part in parts {
            let found = self.verdict(part, &known);
            let found = if truth { found } else { inverted(found) };
            if all.yes {
                all.fails = all.fails.or(found.fails);
            }
            all.no |= all.yes && found.no;
            all.yes &= found.yes;
            self.learn_condition(&mut known, part, truth);
        }
        all
    }

    /// Adds the facts that hold after `condition` had the outcome `truth`.
    pub(in crate::lint) fn learn_condition(
        &self,
        facts: &mut Facts,
        condition: &Condition,
        truth: bool,
    ) {
        if !self.burn() {
            return;
        }
        let (parts, truth) = match (condition, truth) {
            (Condition::Expr(expr), _) => {
                if let Some(tree) = self.tree(&expr.text)
                    && (truth || self.says_more_than_no(&tree, facts))
                {
                    self.learn(facts, &tree, truth);
                }
                return;
            }
            (Condition::All(parts), true) => (parts, true),
            (Condition::None(parts), true) | (Condition::Any(parts), false) => (parts, false),
            _ => return,
        };
        parts.iter().for_each(|part| self.learn_condition(facts, part, truth));
    }

    /// Calls `visit` with each leaf whose outcome follows if `condition` has the outcome `truth`,
    /// and with that outcome.
    pub(in crate::lint) fn each_implied(
        &self,
        condition: &Condition,
        truth: bool,
        visit: &mut dyn FnMut(&Expr, bool),
    ) {
        let (parts, truth) = match (condition, truth) {
            (Condition::Expr(expr), _) => {
                return self.tree(&expr.text).iter().for_each(|tree| visit(tree, truth));
            }
            (Condition::All(parts), true) => (parts, true),
            (Condition::None(parts), true) | (Condition::Any(parts), false) => (parts, false),
            _ => return,
        };
        parts.iter().for_each(|part| self.each_implied(part, truth, visit));
    }

    /// Returns true if facts follow from a false leaf. In a lenient table a leaf that failed counts
    /// as false, which proves nothing.
    fn says_more_than_no(&self, tree: &Rc<Expr>, facts: &Facts) -> bool {
        !self.is_lenient() || !self.outcomes(tree, facts).fails.any()
    }

    pub(in crate::lint) fn is_lenient(&self) -> bool {
        self.evaluation == Evaluation::Lenient
    }
}

const fn inverted(found: Outcomes) -> Outcomes {
    Outcomes { yes: found.no, no: found.yes, ..found }
}
