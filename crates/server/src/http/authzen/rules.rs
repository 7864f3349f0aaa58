//! AuthZEN by rules of SPOCP: an evaluation becomes an S-expression, and is allowed if a rule
//! allows that.
//!
//! One view of the rules answers a request, so all parts of an answer are of one revision. A search
//! without candidates finds the ids that rules name: a star form allows an endless set.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use wardgate_engine::wire::Json;
use wardgate_native::Timestamp;
use wardgate_native::protocol::authzen::{
    self, Entity, Evaluation, Search, SearchKind, SearchResults, SearchRuns, Semantic, Shape,
    Verdict, Window, scan,
};
use wardgate_spocp::{Element, Elements, Normal};

use super::search::known;
use super::{Item, each, refused};
use crate::decision_log::by_rules::RuleDecision;
use crate::decision_log::{Recorder, noted};
use crate::http::cerbos::bad;
use crate::http::reply::{Problem, Result};
use crate::limits::{MAX_NAMING_RULES, MAX_QUERY_BYTES};
use crate::policies::state::State;
use crate::rules::Live;
use crate::shared::Shared;
use crate::telemetry::metrics::Tally;

/// The rules and the state that answer one request.
pub(super) struct ByRules<'s> {
    live: &'s Live,
    shape: &'s Shape,
    state: &'s State,
    /// Bytes of S-expressions that the questions of this request may still become.
    left: Cell<usize>,
    /// The number of the rules, if decisions are recorded.
    number: Option<u32>,
}

/// Returns true if rules answer instead of policies.
pub(in crate::http) fn answer_from_rules(shared: &Shared) -> bool {
    shared.config().authzen.rules.is_some() && shared.rules().is_some()
}

/// Calls `answer` with the rules and the state that belongs to them. Neither changes meanwhile.
pub(super) fn with<R>(
    shared: &Shared,
    answer: impl FnOnce(&ByRules<'_>) -> Result<R>,
) -> Result<R> {
    let (Some(rules), Some(shape)) = (shared.rules(), &shared.config().authzen.rules) else {
        return Err(Problem::not_found());
    };
    let live = rules.read();
    let left = Cell::new(MAX_QUERY_BYTES);
    // Under the lock: the number is that of these rules.
    let number = shared.recorder().map(Recorder::rules);
    answer(&ByRules { live: &live, shape, state: &shared.state(), left, number })
}

impl ByRules<'_> {
    /// Answers an evaluation.
    pub(super) fn one(&self, evaluation: &Evaluation, shared: &Shared) -> Result<String> {
        let is_allowed = self.decides(evaluation).map_err(refused)?;
        shared.decided(Tally::one(is_allowed));
        let mut json = Json::default();
        write(&mut json, is_allowed);
        Ok(json.finish())
    }

    /// Answers several.
    pub(super) fn many(&self, semantic: Semantic, items: &[Item], shared: &Shared) -> String {
        each(semantic, items, shared, |item, json, tally| {
            let is_allowed = self.decides(item.as_ref().map_err(Clone::clone)?)?;
            tally.count(is_allowed);
            write(json, is_allowed);
            Ok(is_allowed)
        })
    }

    /// Decides, and notes it where decisions are recorded.
    fn decides(&self, evaluation: &Evaluation) -> Result<bool, authzen::AuthzenError> {
        let (text, query) = self.query(evaluation)?;
        let is_allowed = self.live.allows(&query);
        if let Some(rules) = self.number {
            noted::note_by_rules(&RuleDecision {
                rules,
                principal: &evaluation.subject.id,
                action: &evaluation.action.name,
                text: &text,
                query: &query,
                is_allowed,
            });
        }
        Ok(is_allowed)
    }

    fn allows(&self, evaluation: &Evaluation) -> Result<bool, authzen::AuthzenError> {
        self.query(evaluation).map(|(_, query)| self.live.allows(&query))
    }

    /// Returns the S-expression of an evaluation, and its canonical text.
    fn query(&self, evaluation: &Evaluation) -> Result<(Vec<u8>, Normal), authzen::AuthzenError> {
        let mut left = self.left.get();
        let text = evaluation.expression(self.state.directory(), self.shape, &mut left);
        self.left.set(left);
        let text = text?;
        let query = Normal::from_canonical(&text).map_err(|error| {
            authzen::AuthzenError::new(format!(
                "the request cannot be written as an S-expression: {error}"
            ))
        })?;
        Ok((text, query))
    }

    /// Decides about one candidate of several. If it is the only one, its expression must not be
    /// too long.
    fn verdict(&self, evaluation: &Evaluation) -> Result<Verdict, authzen::AuthzenError> {
        let before = self.left.get();
        match self.allows(evaluation) {
            Ok(true) => Ok(Verdict::Allowed),
            Ok(false) => Ok(Verdict::Denied),
            Err(_) if before < MAX_QUERY_BYTES && self.left.get() == 0 => Ok(Verdict::Undecided),
            Err(error) => Err(error),
        }
    }

    /// Finds those that are allowed, and notes the page where decisions are recorded.
    pub(super) fn found_noted(
        &self,
        search: &Search,
        window: Window,
        now: Timestamp,
    ) -> Result<SearchResults> {
        let found = self.found(search, window)?;
        if self.number.is_some() {
            noted::note_search(search, (&found.runs, self.number), now);
        }
        Ok(found)
    }

    fn found(&self, search: &Search, window: Window) -> Result<SearchResults> {
        if !search.is_known(self.state.directory()) {
            return Ok(SearchResults::default());
        }
        if let Some(known) = known(search, self.state) {
            return self.scan(search, window, known.iter().map(|one| (one.id.as_str(), Some(one))));
        }
        let named = self.named(search)?;
        self.scan(search, window, named.iter().map(|name| (name.as_str(), None)))
    }

    /// Decides about candidates: ids or names of actions, with what is known of them.
    fn scan<'c>(
        &self,
        search: &Search,
        window: Window,
        candidates: impl Iterator<Item = (&'c str, Option<&'c Entity>)>,
    ) -> Result<SearchResults> {
        let mut evaluation = Evaluation {
            subject: Arc::new(search.subject.clone()),
            action: Arc::new(search.action.clone()),
            resource: Arc::new(search.resource.clone()),
            context: Arc::new(search.context.clone()),
        };
        let mut runs = SearchRuns::default();
        let found = scan(candidates, window, |(id, known)| {
            let entity = match search.search_kind {
                SearchKind::Subjects => Some(&mut evaluation.subject),
                SearchKind::Resources => Some(&mut evaluation.resource),
                SearchKind::Actions => None,
            };
            match (entity, known) {
                (Some(entity), Some(known)) => *entity = Arc::new(known.clone()),
                (Some(entity), None) => id.clone_into(&mut Arc::make_mut(entity).id),
                (None, _) => id.clone_into(&mut Arc::make_mut(&mut evaluation.action).name),
            }
            let verdict = self.verdict(&evaluation)?;
            let (kind, action) = (&search.resource.kind, &evaluation.action.name);
            runs.add([kind, "", "", action], verdict);
            Ok((verdict, id))
        });
        Ok(runs.finish(found.map_err(refused)?, window))
    }

    /// The ids or actions that rules about resources of this type name.
    fn named(&self, search: &Search) -> Result<BTreeSet<String>> {
        if self.live.len() > MAX_NAMING_RULES {
            return Err(bad(format!(
                "there are more than {MAX_NAMING_RULES} rules to search: name `candidates`"
            )));
        }
        let mut names = BTreeSet::new();
        for (_, rule) in self.live.after(None) {
            names.extend(named(
                &rule,
                search.search_kind,
                [&search.resource.kind, &search.subject.kind],
            ));
        }
        Ok(names)
    }
}

/// Returns the names that a rule holds for the kind of the search: the mapping of `expression` read
/// backwards.
fn named(rule: &Normal, search_kind: SearchKind, [resource, subject]: [&str; 2]) -> Vec<String> {
    let Some(mut parts) = rest_of(rule.expression().root(), resource) else { return Vec::new() };
    let mut part = |tag| rest_of(parts.next(), tag);
    let (id, action, person) = (part("id"), part("action"), part("subject"));
    let first = |part: Option<Elements<'_>>| {
        part.and_then(|mut part| part.next()).map_or_else(Vec::new, texts)
    };
    match (search_kind, person) {
        (SearchKind::Resources, _) => first(id),
        (SearchKind::Actions, _) => first(action),
        (SearchKind::Subjects, None) => Vec::new(),
        (SearchKind::Subjects, Some(mut person)) => {
            let mut pair = |tag| first(rest_of(person.next(), tag));
            let (kinds, ids) = (pair("type"), pair("id"));
            // A rule for all types names none.
            let is_meant = kinds.is_empty() || kinds.iter().any(|kind| kind == subject);
            if is_meant { ids } else { Vec::new() }
        }
    }
}

/// Returns the rest of a list behind its tag, if the tag is this one.
fn rest_of<'e>(element: Option<Element<'e>>, tag: &str) -> Option<Elements<'e>> {
    let Some(Element::List(mut elements)) = element else { return None };
    (elements.next().and_then(text).as_deref() == Some(tag)).then_some(elements)
}

/// The texts that an element names one by one.
fn texts(element: Element<'_>) -> Vec<String> {
    match element {
        Element::Set(elements) => elements.filter_map(text).collect(),
        element => text(element).into_iter().collect(),
    }
}

fn text(element: Element<'_>) -> Option<String> {
    match element {
        Element::Atom(bytes) => std::str::from_utf8(bytes).ok().map(str::to_owned),
        _ => None,
    }
}

fn write(json: &mut Json, is_allowed: bool) {
    json.open('{');
    json.key("decision");
    json.boolean(is_allowed);
    json.close('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: &str, expected: [&[&str]; 3]) {
        let rule = Normal::from_advanced(rule.as_bytes()).unwrap();
        let search_kind = [SearchKind::Resources, SearchKind::Actions, SearchKind::Subjects];
        for (search_kind, expected) in search_kind.into_iter().zip(expected) {
            assert_eq!(named(&rule, search_kind, ["account", "user"]), expected, "{search_kind:?}");
        }
    }

    #[test]
    fn rules_name_their_ids_one_by_one() {
        check(
            "(account (id 123)(action (* set read write))(subject (type user)(id ada)))",
            [&["123"], &["read", "write"], &["ada"]],
        );
        check("(account (id)(action read)(subject (type)(id ada)))", [&[], &["read"], &["ada"]]);
        check("(account (id (* prefix 1))(action (*))(subject))", [&[], &[], &[]]);
        check(
            "(account (id 1)(action read)(subject (type robot)(id r2)))",
            [&["1"], &["read"], &[]],
        );
        check("(photo (id 1)(action read)(subject (type user)(id ada)))", [&[], &[], &[]]);
        check("(account (action read))", [&[], &[], &[]]);
        check("account", [&[], &[], &[]]);
    }
}
