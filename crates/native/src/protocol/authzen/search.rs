//! Searches: which of these subjects, resources or actions are allowed?
//!
//! A search decides one candidate after the other, each as an evaluation does. So a page never
//! holds more than its caller may see, at whichever position it begins.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::budget::Budget;
use wardgate_engine::request::Request;

use super::convert::{Verify, add_tokens, aux_data, principal, resource};
use super::limits::{MAX_CANDIDATES, MAX_WHOLE};
use super::read::{Object, bad, kind_of};
use super::{Action, AuthzenError, Directory, Entity, Result};
use crate::clock::Clock;
use crate::policies::Policies;

/// The kind of a search's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchKind {
    /// The subjects of this type that may perform the action on the resource.
    Subjects,
    /// The resources of this type on which the subject may perform the action.
    Resources,
    /// The actions that the subject may perform on the resource.
    Actions,
}

/// A search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The kind of its results.
    pub search_kind: SearchKind,
    /// The subject; in a search for subjects it has no id.
    pub subject: Entity,
    /// The action; in a search for actions it has no name.
    pub action: Action,
    /// The resource; in a search for resources it has no id.
    pub resource: Entity,
    /// The context of the request.
    pub context: AttrMap,
    /// The candidates that the caller names. The id of an action is its name.
    pub candidates: Option<Vec<Entity>>,
    /// The page of the results, if the caller wants one.
    pub page: Option<Page>,
}

/// A page of the results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The token of the last page, from which this one goes on.
    pub token: Option<String>,
    /// The largest number of results.
    pub limit: Option<u64>,
    /// Other properties of the page. They select no results.
    pub properties: AttrMap,
}

/// The data that a search decides by.
#[derive(Clone, Copy)]
pub struct Basis<'b> {
    /// The policies.
    pub policies: &'b Policies,
    /// The known entities.
    pub directory: &'b dyn Directory,
    /// The function that verifies the tokens of the context.
    pub verify: Verify<'b>,
    /// The steps that all decisions of the search may take together.
    pub budget: &'b Budget,
}

/// The result for one candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The candidate is a result.
    Allowed,
    /// The candidate is not a result.
    Denied,
    /// The steps of the whole search were spent before.
    Undecided,
}

/// The range of a search.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The position of the first candidate.
    pub from: usize,
    /// The largest number of results.
    pub limit: usize,
    /// The largest number of candidates to decide.
    pub most: usize,
}

/// The results, and the position for the next page; `None` at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResults {
    /// Ids, or names of actions.
    pub results: Vec<String>,
    /// The position of the next candidate.
    pub next: Option<usize>,
    /// The decisions on the candidates of this page, in their order.
    pub runs: Vec<SearchRun>,
}

/// Decisions of a search on candidates that follow one another: about one kind, version, scope and action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchRun {
    /// The kind of the resource.
    pub kind: String,
    /// The version of the policies.
    pub version: String,
    /// The scope.
    pub scope: String,
    /// The action.
    pub action: String,
    /// The number of candidates.
    pub asked: u64,
    /// The number of those that are allowed.
    pub allowed: u64,
}

impl Search {
    pub(super) fn read(root: &Object<'_>, search_kind: SearchKind) -> Result<Self> {
        let entity = |name: &'static str, is_target: bool| {
            let position = root.required(name)?;
            if !is_target {
                return Entity::read(&position);
            }
            Ok(Entity { kind: position.text("type")?, id: String::new(), properties: None })
        };
        let subject = entity("subject", search_kind == SearchKind::Subjects)?;
        let resource = entity("resource", search_kind == SearchKind::Resources)?;
        let action = match search_kind {
            SearchKind::Actions => Action::default(),
            _ => Action::read(&root.required("action")?)?,
        };
        let candidates = match search_kind {
            SearchKind::Subjects => candidates(root, &subject.kind)?,
            SearchKind::Resources => candidates(root, &resource.kind)?,
            SearchKind::Actions => candidate_actions(root)?,
        };
        let (context, page) = (root.object("context")?.clone(), page(root)?);
        Ok(Self { search_kind, subject, action, resource, context, candidates, page })
    }

    /// Returns the type of the results; empty for actions.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self.search_kind {
            SearchKind::Subjects => &self.subject.kind,
            SearchKind::Resources => &self.resource.kind,
            SearchKind::Actions => "",
        }
    }

    /// Returns those among `candidates` that are allowed.
    ///
    /// # Errors
    /// A property that selects roles or policies has a wrong value, or a token is refused.
    pub fn among<'c>(
        &self,
        candidates: impl Iterator<Item = &'c Entity>,
        basis: Basis<'_>,
        (window, clock): (Window, impl Clock),
    ) -> Result<SearchResults, AuthzenError> {
        let Some(mut request) = self.request(basis)? else { return Ok(SearchResults::default()) };
        let directory = basis.directory;
        let action = self.action.name.as_str();
        let mut runs = SearchRuns::default();
        let found = scan(candidates, window, |candidate| {
            match self.search_kind {
                SearchKind::Subjects => request.principal = principal(candidate, directory)?,
                _ => request.resource = resource(candidate, directory)?,
            }
            let verdict = basis.verdict(&request, action, &clock);
            runs.add(target(&request, action), verdict);
            Ok((verdict, candidate.id.as_str()))
        })?;
        Ok(runs.finish(found, window))
    }

    /// Returns the actions that are allowed: among the candidates if there are any, or else among
    /// those that the policies name. A pattern in a policy is not a name and never a result, but it
    /// may allow a named action.
    ///
    /// # Errors
    /// A property that selects roles or policies has a wrong value, or a token is refused.
    pub fn actions(
        &self,
        basis: Basis<'_>,
        (window, clock): (Window, impl Clock),
    ) -> Result<SearchResults, AuthzenError> {
        let Some(request) = self.request(basis)? else { return Ok(SearchResults::default()) };
        let actions = match &self.candidates {
            Some(candidates) => candidates.iter().map(|action| action.id.as_str()).collect(),
            None => basis.policies.table().actions(&self.resource.kind),
        };
        let mut runs = SearchRuns::default();
        let found = scan(actions.into_iter(), window, |action| {
            let verdict = basis.verdict(&request, action, &clock);
            runs.add(target(&request, action), verdict);
            Ok((verdict, action))
        })?;
        Ok(runs.finish(found, window))
    }

    /// Returns the request without the part that is searched for; `None` if a named entity is not
    /// known.
    fn request(&self, basis: Basis<'_>) -> Result<Option<Request>> {
        let mut aux_data = aux_data(&self.context, &self.action.properties);
        add_tokens(&mut aux_data, &self.context, basis.verify)?;
        if !self.is_known(basis.directory) {
            return Ok(None);
        }
        Ok(Some(Request {
            principal: principal(&self.subject, basis.directory)?,
            resource: resource(&self.resource, basis.directory)?,
            aux_data,
            ..Request::default()
        }))
    }

    /// Returns true if the entities that the search names are known: the directory has them, or the
    /// request describes them. An unknown entity may do no action, and no action may be done to it.
    #[must_use]
    pub fn is_known(&self, directory: &dyn Directory) -> bool {
        let (subject, resource) = (&self.subject, &self.resource);
        let knows_subject = || directory.subject(&subject.kind, &subject.id).is_some();
        let knows_resource = || directory.resource(&resource.kind, &resource.id).is_some();
        let subject = self.search_kind == SearchKind::Subjects
            || subject.properties.is_some()
            || knows_subject();
        let resource = self.search_kind == SearchKind::Resources
            || resource.properties.is_some()
            || knows_resource();
        directory.is_empty() || (subject && resource)
    }
}

impl Basis<'_> {
    fn verdict(&self, request: &Request, action: &str, clock: &impl Clock) -> Verdict {
        let is_allowed = self.policies.is_allowed_within(request, action, clock, self.budget);
        match (is_allowed, self.budget.left()) {
            (true, _) => Verdict::Allowed,
            (false, 0) => Verdict::Undecided,
            (false, _) => Verdict::Denied,
        }
    }
}

/// Returns the kind, version, scope and action that a request is about.
fn target<'r>(request: &'r Request, action: &'r str) -> [&'r str; 4] {
    let resource = &request.resource;
    [&resource.kind, &resource.policy_version, &resource.scope, action]
}

/// The decisions on the candidates of a page, as they are made.
#[derive(Debug, Default)]
pub struct SearchRuns {
    runs: Vec<SearchRun>,
    last: Option<Verdict>,
}

impl SearchRuns {
    /// Adds the decision on a candidate about a kind, version, scope and action.
    pub fn add(&mut self, target: [&str; 4], verdict: Verdict) {
        let [kind, version, scope, action] = target;
        let is_same = |run: &SearchRun| {
            run.action == action && run.scope == scope && run.version == version && run.kind == kind
        };
        if !self.runs.last().is_some_and(is_same) {
            self.runs.push(SearchRun {
                kind: kind.to_owned(),
                version: version.to_owned(),
                scope: scope.to_owned(),
                action: action.to_owned(),
                ..SearchRun::default()
            });
        }
        if let Some(run) = self.runs.last_mut() {
            run.asked = run.asked.saturating_add(1);
            run.allowed = run.allowed.saturating_add(u64::from(verdict == Verdict::Allowed));
        }
        self.last = Some(verdict);
    }

    /// Returns the results with these decisions. A last one that only tells where the next page begins belongs to that.
    #[must_use]
    pub fn finish(mut self, found: SearchResults, window: Window) -> SearchResults {
        let end = window.from.saturating_add(window.most);
        if found.next.is_some_and(|next| next < end)
            && let Some(run) = self.runs.last_mut()
        {
            run.asked = run.asked.saturating_sub(1);
            let is_allowed = self.last == Some(Verdict::Allowed);
            run.allowed = run.allowed.saturating_sub(u64::from(is_allowed));
        }
        self.runs.retain(|run| run.asked > 0);
        SearchResults { runs: self.runs, ..found }
    }
}

/// Decides candidates until the window is full and one more is allowed, or until the steps of the
/// search are spent: the rest is then for the next page. A candidate for which all steps of a page
/// do not suffice is denied, as in an evaluation.
///
/// # Errors
/// The errors of `decide`.
pub fn scan<'n, T>(
    mut candidates: impl Iterator<Item = T>,
    window: Window,
    mut decide: impl FnMut(T) -> Result<(Verdict, &'n str), AuthzenError>,
) -> Result<SearchResults, AuthzenError> {
    let mut results = Vec::new();
    for _ in 0..window.from {
        if candidates.next().is_none() {
            return Ok(SearchResults { results, ..SearchResults::default() });
        }
    }
    let end = window.from.saturating_add(window.most);
    for at in window.from..end {
        let Some(candidate) = candidates.next() else {
            return Ok(SearchResults { results, ..SearchResults::default() });
        };
        let (verdict, name) = decide(candidate)?;
        match verdict {
            Verdict::Undecided if at > window.from => {
                return Ok(SearchResults { results, next: Some(at), runs: Vec::new() });
            }
            Verdict::Undecided | Verdict::Denied => continue,
            Verdict::Allowed => {}
        }
        if results.len() == window.limit {
            return Ok(SearchResults { results, next: Some(at), runs: Vec::new() });
        }
        results.push(name.to_owned());
    }
    let next = candidates.next().map(|_| end);
    Ok(SearchResults { results, next, runs: Vec::new() })
}

fn candidates(root: &Object<'_>, kind: &str) -> Result<Option<Vec<Entity>>> {
    let Some(items) = candidate_list(root)? else { return Ok(None) };
    items.iter().map(|item| candidate(item, kind)).collect::<Result<_, _>>().map(Some)
}

fn candidate_actions(root: &Object<'_>) -> Result<Option<Vec<Entity>>> {
    let Some(items) = candidate_list(root)? else { return Ok(None) };
    let action = |item| {
        let id = Object { path: "candidates[]", map: members(item)? }.text("name")?;
        Ok(Entity { kind: String::new(), id, properties: None })
    };
    items.iter().map(action).collect::<Result<_, _>>().map(Some)
}

fn candidate_list<'a>(root: &Object<'a>) -> Result<Option<&'a [Attr]>> {
    let items = root.list("candidates")?;
    let found = items.map_or(0, <[Attr]>::len);
    if found > MAX_CANDIDATES {
        return Err(bad(format!(
            "`candidates` must have at most {MAX_CANDIDATES} items, found {found}"
        )));
    }
    Ok(items)
}

fn members(item: &Attr) -> Result<&AttrMap> {
    match item {
        Attr::Map(map) => Ok(map),
        _ => Err(bad(format!("a candidate must be an object, found {}", kind_of(item)))),
    }
}

fn candidate(item: &Attr, kind: &str) -> Result<Entity> {
    let position = Object { path: "candidates[]", map: members(item)? };
    let is_other = |given: &Attr| *given != Attr::String(kind.into());
    if position.member("type").is_some_and(is_other) {
        return Err(bad("a candidate must be of the type that is searched for".to_owned()));
    }
    let properties = position.given("properties")?.cloned();
    Ok(Entity { kind: kind.to_owned(), id: position.text("id")?, properties })
}

fn page(root: &Object<'_>) -> Result<Option<Page>> {
    let Some(map) = root.given("page")? else { return Ok(None) };
    let position = Object { path: "page", map };
    let token = match position.member("token") {
        None => None,
        Some(Attr::String(token)) => Some(token.to_string()),
        found => return Err(position.wrong("token", "a string", found)),
    };
    let limit = match position.member("limit") {
        None => None,
        found => {
            let expected = "a whole number of at least 1";
            Some(found.and_then(whole).ok_or_else(|| position.wrong("limit", expected, found))?)
        }
    };
    let properties = position.object("properties")?.clone();
    Ok(Some(Page { token, limit, properties }))
}

#[expect(clippy::as_conversions, reason = "whole, positive, and small enough to be exact")]
fn whole(value: &Attr) -> Option<u64> {
    match value {
        Attr::Number(number) if (1.0..=MAX_WHOLE).contains(number) && number.fract() == 0.0 => {
            Some(*number as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches among letters: capitals are allowed, small letters denied, and for digits no steps
    /// are left.
    fn check(candidates: &str, from: usize, (expected, next): (&str, Option<usize>)) {
        let letters: Vec<String> = candidates.chars().map(String::from).collect();
        let window = Window { from, limit: 3, most: 5 };
        let found = scan(letters.iter(), window, |letter| {
            let verdict = match letter.chars().next() {
                Some(c) if c.is_ascii_digit() => Verdict::Undecided,
                Some(c) if c.is_ascii_uppercase() => Verdict::Allowed,
                _ => Verdict::Denied,
            };
            Ok((verdict, letter.as_str()))
        });
        let found = found.unwrap();
        assert_eq!((found.results.concat().as_str(), found.next), (expected, next), "{candidates}");
    }

    #[test]
    fn a_page_ends_when_it_is_full_or_all_steps_are_spent() {
        check("AbC", 0, ("AC", None));
        check("AbC", 1, ("C", None));
        check("ABCd", 0, ("ABC", None));
        check("ABCDE", 0, ("ABC", Some(3)));
        check("abcdefg", 0, ("", Some(5)));
        check("A1B", 0, ("A", Some(1)));
        // A page begins with all steps, so the search goes on after a first candidate that spends
        // them.
        check("A1B", 1, ("B", None));
        check("A11B", 1, ("", Some(2)));
        check("A11B", 2, ("B", None));
        check("AB", 7, ("", None));
    }
}
