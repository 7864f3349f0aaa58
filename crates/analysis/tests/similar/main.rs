//! Planted rules are found: equal ones as the same rule, those with one edit in the part that was
//! edited and near the top; and the order is that of comparing everything.
#![forbid(unsafe_code)]
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod generated;
mod relations;
mod replacing;

use fastrand::Rng;
use generated::{Document, edited, policies, respelled, text};
use wardgate_analysis::groups::Kind;
use wardgate_analysis::index::Index;
use wardgate_analysis::similar::{Part, Query};
use wardgate_compiler::compile::FilesByPath;
use wardgate_compiler::resolve::model::Resolved;
use wardgate_compiler::resolve::resolve;

fn resolved(documents: &[Document]) -> Resolved {
    let files: Vec<(String, Vec<u8>)> = documents.iter().map(text).collect();
    let repository = FilesByPath::of(&files).repository();
    let (resolved, errors) = resolve(&repository);
    let errors = repository.errors.iter().chain(&errors).map(|one| &one.message);
    // A draft in a scope may come without the policies above it.
    let errors: Vec<_> = errors.filter(|error| !error.contains("is missing above")).collect();
    assert!(errors.is_empty(), "{errors:?}");
    resolved
}

fn sizes() -> &'static [usize] {
    if std::env::var_os("SLOW_TESTS").is_some() { &[100, 1_000, 10_000] } else { &[100, 400] }
}

#[test]
fn a_rule_in_other_words_is_the_same_rule() {
    for &size in sizes() {
        let mut rng = Rng::with_seed(31);
        let documents = policies(size, &mut rng);
        let index = Index::new(&resolved(&documents));
        for original in documents.iter().take(200) {
            let planted = respelled(original, &mut rng);
            let queries = index.queries(&resolved(std::slice::from_ref(&planted)));
            assert_eq!(queries.len(), original.rules.len());
            for (query, rule) in queries.iter().zip(&original.rules) {
                let found = index.similar(query, 1);
                let same = [Part::Effect, Part::Actions, Part::Roles, Part::Condition];
                assert_eq!(found[0].score, 1_000_000, "{rule:?}\n{planted:?}");
                assert_eq!(found[0].parts().same[..4], same, "{rule:?}\n{planted:?}");
            }
        }
    }
}

#[test]
fn one_edit_is_found_in_its_part_and_near_the_top() {
    for &size in sizes() {
        let mut rng = Rng::with_seed(32);
        let documents = policies(size, &mut rng);
        let (mut planted, mut near) = (0, 0);
        let index = Index::new(&resolved(&documents));
        for original in documents.iter().take(200) {
            for part in [Part::Roles, Part::Actions, Part::Constants, Part::Kind, Part::Scope] {
                let Some((draft, rule)) = edited(original, part, &mut rng) else { continue };
                planted += 1;
                let query = &index.queries(&resolved(&[draft]))[rule];
                let found = index.similar(query, 3);
                let differs_there = |found: &wardgate_analysis::similar::Match<'_>| {
                    let place = [Part::Kind, Part::Version, Part::Scope];
                    let found = found.parts();
                    let mut parts = found.differs.iter().map(|one| one.part);
                    match part {
                        Part::Kind | Part::Scope => parts.all(|found| place.contains(&found)),
                        _ => parts.filter(|found| !place.contains(found)).eq([part]),
                    }
                };
                near += usize::from(found.iter().any(differs_there));
            }
        }
        assert!(near * 100 >= planted * 99, "{near} of {planted} among {size} policies");
    }
}

#[test]
fn one_edit_is_a_group_that_differs_in_its_part() {
    let mut rng = Rng::with_seed(33);
    let originals = policies(100, &mut rng);
    for part in [Part::Roles, Part::Actions, Part::Constants] {
        let drafts: Vec<(Document, usize, Document)> = originals
            .iter()
            .filter_map(|original| {
                let (mut draft, rule) = edited(original, part, &mut rng)?;
                draft.kind.push_str("_copy");
                Some((original.clone(), rule, draft))
            })
            .collect();
        let mut all = originals.clone();
        all.extend(drafts.iter().map(|(_, _, draft)| draft.clone()));
        let index = Index::new(&resolved(&all));
        let groups = index.groups();
        for (original, rule, draft) in &drafts {
            let find = |document: &Document| index.find(&document.key(), None)[*rule];
            let both = [find(original), find(draft)];
            let has_both = groups.iter().any(|group| {
                group.kind == Kind::DiffersIn(part)
                    && both.iter().all(|rule| group.rules.contains(rule))
            });
            assert!(has_both, "{part:?}\n{:?}\n{:?}", original.rules[*rule], draft.rules[*rule]);
        }
    }
}

#[test]
fn the_order_is_that_of_comparing_everything() {
    let mut rng = Rng::with_seed(34);
    let is_slow = std::env::var_os("SLOW_TESTS").is_some();
    let documents = policies(if is_slow { 3_000 } else { 300 }, &mut rng);
    let index = Index::new(&resolved(&documents));
    let compare = |query: &Query| {
        let found: Vec<_> =
            index.similar(query, 10).iter().map(|found| (found.rule, found.score)).collect();
        assert_eq!(found, index.similar_by_brute_force(query, 10));
    };
    index.all().filter_map(|(rule, _)| index.query(rule)).for_each(|query| compare(&query));
    let drafts = policies(50, &mut Rng::with_seed(35));
    index.queries(&resolved(&drafts)).iter().for_each(compare);
}

#[test]
fn a_replaced_file_is_indexed_as_if_all_were() {
    let mut rng = Rng::with_seed(36);
    let mut documents = policies(60, &mut rng);
    let mut index = Index::new(&resolved(&documents));
    for _ in 0..40 {
        let which = rng.usize(..documents.len());
        let Some((mut draft, _)) = edited(&documents[which], Part::Constants, &mut rng) else {
            continue;
        };
        draft.kind.clone_from(&documents[which].kind);
        documents[which] = draft;
        let now = resolved(&documents);
        let file = documents[which].file();
        let mut only = now.clone();
        only.resource.retain(|policy| policy.head.location.file.path == file);
        index.replace(&file, &only);
        let fresh = Index::new(&now);
        assert_eq!((index.rules(), index.classes()), (fresh.rules(), fresh.classes()));
        for document in documents.iter().take(10) {
            let scores = |index: &Index| -> Vec<u32> {
                let rule = index.find(&document.key(), None)[0];
                let query = index.query(rule).unwrap();
                let found = index.similar(&query, 10);
                let all = index.similar_by_brute_force(&query, 10);
                assert!(found.iter().map(|one| (one.rule, one.score)).eq(all));
                found.iter().map(|one| one.score).collect()
            };
            assert_eq!(scores(&index), scores(&fresh));
        }
    }
}

#[test]
fn many_equal_rules_and_many_rules_in_one_policy_are_indexed() {
    let mut rng = Rng::with_seed(37);
    let one = policies(1, &mut rng).remove(0);
    let copies: Vec<Document> = (0..2_000)
        .map(|at| Document { kind: format!("{}_{at}", one.kind), ..one.clone() })
        .collect();
    let rules: Vec<_> = policies(1_000, &mut rng).into_iter().flat_map(|one| one.rules).collect();
    let large = Document { rules: rules.into_iter().take(5_000).collect(), ..one.clone() };
    assert!(large.rules.len() > 3_000);
    // Squares of these numbers would take minutes.
    for documents in [copies, vec![large]] {
        let resolved = resolved(&documents);
        let index = Index::new(&resolved);
        let rule = index.find(&documents[0].key(), None)[0];
        let query = index.query(rule).unwrap();
        let found = index.similar(&query, 10);
        let groups = index.groups();
        assert!(!found.is_empty() && !groups.is_empty());
    }
}
