//! The rules that are most like a rule, with what is the same and what differs.
//!
//! Likeness is the weight of the features that two rules share, divided by the weight of those that
//! one of them has (weighted Jaccard). It is exact: the weight that each class shares is counted.
//! A scan of sketches (MinHash) would find most of them only.

mod difference;
mod policies;
mod rank;
mod relation;

use std::rc::Rc;

use wardgate_compiler::resolve::model::Resolved;

use crate::index::{Body, Describer, Index, Place, RuleId};
use rank::Ranked;

pub use difference::{Difference, Part};
pub use policies::PolicyMatch;
pub use relation::Relation;

/// A rule to which others are compared: one of the index, or a draft.
#[derive(Debug)]
pub struct Query {
    pub(crate) place: Place,
    pub(crate) body: Body,
    /// The rules that are no matches, sorted: the rule itself, or those that a draft would replace.
    left_out: Rc<[u32]>,
    features: Vec<u32>,
}

/// Rules that are like another, and say the same among each other.
#[derive(Clone, Copy, Debug)]
pub struct Match<'i> {
    /// The nearest of the rules: of the same kind, version and scope rather than of others.
    pub rule: RuleId,
    /// The number of rules, this one included.
    pub rules: usize,
    /// The likeness in millionths; 1,000,000 may still differ in how a condition is joined.
    pub score: u32,
    query: &'i Query,
    body: &'i Body,
    place: &'i Place,
}

/// The parts of two rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<'i> {
    /// The parts that say the same.
    pub same: Vec<Part>,
    /// The parts that differ, and how; empty for the same rule in the same place.
    pub differs: Vec<Difference<'i>>,
}

impl<'i> Match<'i> {
    /// Compares the rule with that of the query, part by part.
    #[must_use]
    pub fn parts(&self) -> Parts<'i> {
        difference::between(self.query, self.body, self.place)
    }

    /// Returns how the rule of the query relates to this one, wherever they stand.
    #[must_use]
    pub fn relation(&self) -> Relation {
        relation::between(&self.query.body, self.body)
    }
}

impl Query {
    /// Returns the place of the rule.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    fn leaves_out(&self, rule: u32) -> bool {
        self.left_out.binary_search(&rule).is_ok()
    }
}

impl Index {
    /// Returns the question about a rule of the index.
    #[must_use]
    pub fn query(&self, rule: RuleId) -> Option<Query> {
        let (place, class) = (self.place(rule)?.clone(), self.class_number(rule)?);
        let (body, features) =
            (self.class(class)?.body.clone(), self.features().of(class).to_vec());
        Some(Query { place, body, left_out: [rule.0].into(), features })
    }

    /// Returns a question about each rule of policies that are not in the index.
    #[must_use]
    pub fn queries(&self, draft: &Resolved) -> Vec<Query> {
        self.queries_without(draft, &[].into())
    }

    /// Returns the same, with no matches in policies that the draft would replace.
    pub(crate) fn queries_of_draft(&self, draft: &Resolved) -> Vec<Query> {
        let mut replaced: Vec<u32> =
            draft.keys().flat_map(|key| self.of_policy(key)).copied().collect();
        replaced.sort_unstable();
        self.queries_without(draft, &replaced.into())
    }

    fn queries_without(&self, draft: &Resolved, left_out: &Rc<[u32]>) -> Vec<Query> {
        let mut queries = Vec::new();
        Describer::default().each(draft, &mut |described| {
            let features = self.features_of(&described.body);
            let (place, body, left_out) = (described.place, described.body, Rc::clone(left_out));
            queries.push(Query { place, body, left_out, features });
        });
        queries
    }

    /// Returns the classes of rules that are most like one, at most `top` of them, the most alike
    /// first. Rules that share nothing with it are left out.
    ///
    /// ```
    /// use wardgate_analysis::index::Index;
    /// use wardgate_compiler::{compile::FilesByPath, resolve::resolve};
    ///
    /// let policy = |kind: &str| {
    ///     let rule = "{ actions: [view], roles: [user], effect: EFFECT_ALLOW }";
    ///     let head = "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n";
    ///     let text = format!("{head}  resource: {kind}\n  rules:\n    - {rule}\n");
    ///     (format!("{kind}.yaml"), text.into_bytes())
    /// };
    /// let files = [policy("album"), policy("photo")];
    /// let index = Index::new(&resolve(&FilesByPath::of(&files).repository()).0);
    /// let rule = index.find("resource.album.vdefault", None)[0];
    /// let query = index.query(rule).unwrap();
    /// let found = index.similar(&query, 10);
    /// assert_eq!(&*index.place(found[0].rule).unwrap().policy, "resource.photo.vdefault");
    /// assert_eq!(found[0].score, 1_000_000);
    /// ```
    #[must_use]
    pub fn similar<'i>(&'i self, query: &'i Query, top: usize) -> Vec<Match<'i>> {
        let is_open = |class: u32| {
            let rules = self.class(class).map_or(&[][..], |class| &class.rules);
            rules.iter().any(|rule| !query.leaves_out(*rule))
        };
        let ranked = rank::best(self.features(), &query.features, top, &is_open);
        ranked.into_iter().filter_map(|ranked| self.matched(query, &ranked)).collect()
    }

    /// Returns the same by comparing every class, as an oracle.
    #[doc(hidden)]
    #[must_use]
    pub fn similar_by_brute_force(&self, query: &Query, top: usize) -> Vec<(RuleId, u32)> {
        let features = self.features();
        let weigh = |numbers: &[u32]| numbers.iter().map(|one| features.weight(*one)).sum::<u32>();
        let ranked = self.live_classes().map(|(class, _)| {
            let theirs = features.of(class);
            let both: Vec<u32> =
                query.features.iter().copied().filter(|one| theirs.contains(one)).collect();
            let shared = weigh(&both);
            let either = weigh(&query.features).saturating_add(weigh(theirs));
            Ranked { class, shared, either: either.saturating_sub(shared) }
        });
        let mut ranked: Vec<Ranked> = ranked.filter(|ranked| ranked.shared > 0).collect();
        ranked.sort_by(Ranked::order);
        let nearest = |ranked: Ranked| Some((self.nearest(query, ranked.class)?.0, ranked.score()));
        ranked.into_iter().filter_map(nearest).take(top).collect()
    }

    /// Returns the rule of a class that is nearest to the place of a query, and the number of its
    /// rules; nothing if it has no other.
    fn nearest(&self, query: &Query, class: u32) -> Option<(RuleId, usize)> {
        let class = self.class(class)?;
        let own = self.site(&query.place);
        let (mut count, mut best) = (0_usize, None);
        for (rule, site) in class.rules.iter().zip(&class.sites) {
            let distance = site.iter().zip(&own).filter(|(theirs, ours)| theirs != ours).count();
            if query.leaves_out(*rule) {
                continue;
            }
            count = count.saturating_add(1);
            if best.is_none_or(|(nearest, _)| distance < nearest) {
                best = Some((distance, *rule));
            }
        }
        best.map(|(_, rule)| (RuleId(rule), count))
    }

    fn matched<'i>(&'i self, query: &'i Query, ranked: &Ranked) -> Option<Match<'i>> {
        let (rule, rules) = self.nearest(query, ranked.class)?;
        let (body, place) = (&self.class(ranked.class)?.body, self.place(rule)?);
        Some(Match { rule, rules, score: ranked.score(), query, body, place })
    }
}
