//! The policies that are most like one.
//!
//! For each rule of both policies counts the rule of the other that is most like it. The likeness of the policies is the
//! mean over all rules of both, so that a policy with the same rules and many more is less alike.

use std::cmp::Reverse;
use std::rc::Rc;

use super::{Query, rank};
use crate::index::{Index, Place, RuleId, at};

/// A policy that is like another.
#[derive(Clone, Copy, Debug)]
pub struct PolicyMatch<'i> {
    /// The place of its first rule.
    pub place: &'i Place,
    /// The number of its rules.
    pub rules: usize,
    /// The number of its rules that say the same as a rule of the other.
    pub equal: usize,
    /// The likeness in millionths; 1,000,000 for policies with the same features.
    pub score: u32,
}

impl Index {
    /// Returns the policies that are most like one with the rules of some queries, at most `top`, the most alike first,
    /// and equals in the order of their keys. The policies of the queries are left out.
    #[must_use]
    pub fn similar_policies(&self, queries: &[Query], top: usize) -> Vec<PolicyMatch<'_>> {
        let is_other = |key: &Rc<str>| queries.iter().all(|query| query.place.policy != *key);
        let others = self.policies().filter(|(key, rules)| !rules.is_empty() && is_other(key));
        let others: Vec<(&Rc<str>, &[u32])> = others.collect();
        let mut sums = vec![0_u64; others.len()];
        let mut best_of_class = vec![0_u32; self.features().totals().len()];
        for query in queries {
            let scores = rank::scores(self.features(), &query.features);
            for (best, score) in best_of_class.iter_mut().zip(&scores) {
                *best = (*best).max(*score);
            }
            for (sum, (_, rules)) in sums.iter_mut().zip(&others) {
                let of_rules = rules.iter().map(|rule| self.of_class_of(*rule, &scores));
                *sum = sum.saturating_add(of_rules.max().unwrap_or_default().into());
            }
        }
        let count = |rules: &[u32]| u64::try_from(rules.len().saturating_add(queries.len())).ok();
        let score = |sum: &u64, rules: &[u32]| {
            let theirs =
                rules.iter().map(|rule| u64::from(self.of_class_of(*rule, &best_of_class)));
            let all = theirs.fold(*sum, u64::saturating_add);
            u32::try_from(all / count(rules).unwrap_or(u64::MAX).max(1)).unwrap_or(MOST)
        };
        let mut ranked: Vec<_> = sums
            .iter()
            .zip(others)
            .map(|(sum, (key, rules))| (Reverse(score(sum, rules)), key, rules))
            .filter(|(score, ..)| score.0 > 0)
            .collect();
        ranked.sort_unstable();
        let known: Vec<u32> =
            queries.iter().filter_map(|query| self.class_like(&query.body)).collect();
        let is_known = |rule: &&u32| {
            self.class_number(RuleId(**rule)).is_some_and(|class| known.contains(&class))
        };
        let best = ranked.into_iter().take(top).filter_map(|(score, _, rules)| {
            let place = self.place(RuleId(*rules.first()?))?;
            let equal = rules.iter().filter(is_known).count();
            Some(PolicyMatch { place, rules: rules.len(), equal, score: score.0 })
        });
        best.collect()
    }

    /// Returns what is noted for the class of a rule.
    fn of_class_of(&self, rule: u32, noted: &[u32]) -> u32 {
        let class = self.class_number(RuleId(rule));
        class.and_then(|class| noted.get(at(class)).copied()).unwrap_or_default()
    }
}

/// The likeness of equals.
const MOST: u32 = 1_000_000;

#[cfg(test)]
mod tests;
