//! Coverage in the format of LCOV, for the tools that read it.
//!
//! Rules and derived roles are functions, each with its policy in its name, hit when they applied
//! or were granted. Expressions are branches: branch 0 is true, branch 1 false; of a derived role,
//! 0 is granted, 1 refused. A line has the hits of its part that was evaluated most.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Coverage, ExpressionCoverage, PolicyCoverage};

/// Returns the report. `path` names a file, so that tools find it.
#[must_use]
pub fn report(coverage: &Coverage, path: &dyn Fn(&str) -> String) -> String {
    let mut text = String::new();
    for (source, policies) in coverage.files() {
        let mut record = Record::default();
        policies.iter().for_each(|policy| record.add(policy));
        record.write(&path(&source.path), &mut text);
    }
    text
}

/// One file.
#[derive(Default)]
struct Record {
    /// Line, name and hits of each function.
    functions: Vec<(u32, String, u64)>,
    names: BTreeSet<String>,
    /// Line and hits of each pair of branches; nothing if neither was reached.
    branches: Vec<(u32, Option<[u64; 2]>)>,
    lines: BTreeMap<u32, u64>,
}

impl Record {
    fn add(&mut self, policy: &PolicyCoverage) {
        for rule in &policy.rules {
            self.function(
                rule.position.line,
                format!("{}#{}", policy.key, rule.name),
                rule.applied,
            );
            self.line(rule.position.line, rule.considered());
            rule.expressions.iter().for_each(|expression| self.expression(expression));
        }
        for role in &policy.derived_roles {
            let line = role.position.line;
            self.function(line, format!("{}#{}", policy.key, role.name), role.granted);
            self.line(line, role.considered());
            if !role.is_for_all {
                let taken = [role.granted, role.not_granted];
                self.branches.push((line, (role.considered() > 0).then_some(taken)));
            }
            role.expressions.iter().for_each(|expression| self.expression(expression));
        }
    }

    /// Writes a function. Tools know functions by their names, so two rules of one name are
    /// distinguished by their lines.
    fn function(&mut self, line: u32, name: String, hits: u64) {
        let name = one_line(&name);
        let is_new = self.names.insert(name.clone());
        let name = if is_new { name } else { format!("{name} (line {line})") };
        self.functions.push((line, name, hits));
    }

    fn expression(&mut self, expression: &ExpressionCoverage) {
        let taken = [expression.times_true, expression.times_false];
        let is_reached = expression.evaluated() > 0;
        self.branches.push((expression.start.line, is_reached.then_some(taken)));
        for line in expression.start.line..=expression.end.line {
            self.line(line, expression.evaluated());
        }
    }

    /// Counts a line, which has the hits of its part that was evaluated most.
    fn line(&mut self, line: u32, hits: u64) {
        let known = self.lines.entry(line).or_default();
        *known = hits.max(*known);
    }

    fn write(mut self, path: &str, out: &mut String) {
        self.functions.sort();
        self.branches.sort_by_key(|branch| branch.0);
        let _ = writeln!(out, "TN:\nSF:{}", one_line(path));
        for (line, name, _) in &self.functions {
            let _ = writeln!(out, "FN:{line},{name}");
        }
        for (_, name, hits) in &self.functions {
            let _ = writeln!(out, "FNDA:{hits},{name}");
        }
        let hit = self.functions.iter().filter(|function| function.2 > 0).count();
        let _ = writeln!(out, "FNF:{}\nFNH:{hit}", self.functions.len());
        let mut hit = 0;
        for (block, (line, taken)) in self.branches.iter().enumerate() {
            for branch in 0..2_usize {
                let times = taken.and_then(|taken| taken.get(branch).copied());
                hit += usize::from(times.is_some_and(|times| times > 0));
                let times = times.map_or_else(|| "-".to_owned(), |times| times.to_string());
                let _ = writeln!(out, "BRDA:{line},{block},{branch},{times}");
            }
        }
        let _ = writeln!(out, "BRF:{}\nBRH:{hit}", 2 * self.branches.len());
        for (line, hits) in &self.lines {
            let _ = writeln!(out, "DA:{line},{hits}");
        }
        let hit = self.lines.values().filter(|hits| **hits > 0).count();
        let _ = writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", self.lines.len());
    }
}

/// Returns a text as one line, because a record is one line.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wardgate_compiler::repository::Repository;

    #[test]
    fn names_stay_on_one_line() {
        let policy = "apiVersion: api.cerbos.dev/v1\nprincipalPolicy:\n  principal: p\n  version: v\n  rules:\n    - resource: \"a\\nb\"\n      actions: [{action: x, effect: EFFECT_ALLOW}]\n";
        let repository = Repository::from_files([("p.yaml", policy.as_bytes())]);
        assert_eq!(repository.errors, []);
        let text = report(&Coverage::new(&repository), &str::to_owned);
        assert!(text.contains("FNDA:0,principal.p.vv#a b_rule-001\n"), "{text}");
    }
}
