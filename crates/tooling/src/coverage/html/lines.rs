//! The parts on each line of a source, and how far they are exercised.

use std::collections::BTreeMap;

use super::super::summary::one_line;
use super::super::{ExpressionCoverage, PolicyCoverage, RoleCoverage, RuleCoverage};

/// A line with parts that can be exercised.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) state: State,
    /// The counts of each part: rules and derived roles as one number, expressions as true and
    /// false.
    pub(super) times: Vec<String>,
    /// The missing outcomes.
    pub(super) notes: Vec<(State, String)>,
    is_known: bool,
}

/// A degree of coverage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    Full,
    #[default]
    Part,
    None,
}

/// The look of a state.
pub(super) struct Look {
    /// The class of the row.
    pub(super) class: &'static str,
    pub(super) mark: char,
    /// The words for those who do not see the mark.
    pub(super) words: &'static str,
}

impl State {
    pub(super) const fn look(self) -> Look {
        match self {
            Self::Full => Look { class: "full", mark: '✓', words: "exercised" },
            Self::Part => Look { class: "part", mark: '◐', words: "partly exercised" },
            Self::None => Look { class: "none", mark: '✗', words: "not exercised" },
        }
    }

    const fn of(is_full: bool, is_reached: bool) -> Self {
        match (is_full, is_reached) {
            (true, _) => Self::Full,
            (false, true) => Self::Part,
            (false, false) => Self::None,
        }
    }
}

/// Returns the lines of one file that have parts.
pub(super) fn of(policies: &[PolicyCoverage]) -> BTreeMap<u32, Line> {
    let mut lines = Lines::default();
    for policy in policies {
        policy.rules.iter().for_each(|rule| lines.rule(rule));
        policy.derived_roles.iter().for_each(|role| lines.role(role));
    }
    lines.0
}

#[derive(Default)]
struct Lines(BTreeMap<u32, Line>);

impl Lines {
    fn rule(&mut self, rule: &RuleCoverage) {
        let state = State::of(rule.applied > 0, rule.considered() > 0);
        let note = rule.gap().map(|gap| format!("rule `{}`: {gap}", rule.name));
        self.mark(rule.position.line, state, Some(rule.applied.to_string()), note);
        rule.expressions.iter().for_each(|expression| self.expression(expression));
    }

    fn role(&mut self, role: &RoleCoverage) {
        let gap = role.gap();
        let state = State::of(gap.is_none(), role.considered() > 0);
        let note = gap.map(|gap| format!("derived role `{}`: {gap}", role.name));
        self.mark(role.position.line, state, Some(role.granted.to_string()), note);
        role.expressions.iter().for_each(|expression| self.expression(expression));
    }

    fn expression(&mut self, expression: &ExpressionCoverage) {
        let gap = expression.gap();
        let state = State::of(gap.is_none(), expression.evaluated() > 0);
        let times = format!("{}/{}", expression.times_true, expression.times_false);
        let is_alone = expression.start.line == expression.end.line;
        let mut note = gap.map(|gap| {
            if is_alone { format!("`{}`: {gap}", one_line(&expression.text)) } else { gap }
        });
        let mut times = Some(times);
        for line in expression.start.line..=expression.end.line {
            let is_last = line == expression.end.line;
            let note = if is_last { note.take() } else { None };
            self.mark(line, state, times.take(), note);
        }
    }

    /// Marks a line, whose state is the worst of its parts.
    fn mark(&mut self, line: u32, state: State, times: Option<String>, note: Option<String>) {
        let line = self.0.entry(line).or_default();
        line.state = if line.is_known && line.state != state { State::Part } else { state };
        line.is_known = true;
        line.times.extend(times);
        line.notes.extend(note.map(|note| (state, note)));
    }
}
