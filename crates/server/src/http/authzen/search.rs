//! Searches, page by page.

use hyper::StatusCode;
use wardgate_engine::attr::Attr;
use wardgate_native::protocol::authzen::{
    self, Basis, Entity, Search, SearchKind, SearchResults, Window,
};
use wardgate_native::protocol::json::{document, list, member, object};

use super::rules::answer_from_rules;
use super::tokens::Verifier;
use super::{refused, rules};
use crate::decision_log::noted;
use crate::http::cerbos::bad;
use crate::http::context::Context;
use crate::http::reply::{Problem, Result};
use crate::http::steps::Steps;
use crate::identity::page_token::{PagePosition, PageTokens};
use crate::limits::{MAX_DECISIONS, MAX_QUERY_BYTES, MAX_RESULTS};
use crate::policies::state::State;
use crate::shared::Shared;

/// Answers a search: with one page, or with all results if the server has no page tokens.
pub(in crate::http) fn search(
    body: &[u8],
    search_kind: SearchKind,
    context: Context<'_>,
) -> Result<String> {
    let Context { shared, caller, .. } = context;
    let search = authzen::search(body, search_kind).map_err(refused)?;
    let Some(page_tokens) = shared.page_tokens() else {
        let window = Window { from: 0, limit: usize::MAX, most: usize::MAX };
        let found = found(&search, window, context)?;
        // A part of the answer would pass for all of it.
        if found.next.is_some() {
            return Err(too_much(shared));
        }
        return Ok(written(&search, &found.results, None));
    };
    let position = position(&search, page_tokens, caller)?;
    let limit = usize::try_from(position.limit).unwrap_or(usize::MAX).min(MAX_RESULTS);
    let window = Window { from: position.from, limit, most: MAX_DECISIONS };
    let SearchResults { results, next, .. } = found(&search, window, context)?;
    let next =
        next.map(|from| page_tokens.write(&search, caller, PagePosition { from, ..position }));
    let is_paged = search.page.is_some() || next.is_some();
    let token = is_paged.then(|| next.unwrap_or_default());
    Ok(written(&search, &results, token.as_deref()))
}

fn found(search: &Search, window: Window, context: Context<'_>) -> Result<SearchResults> {
    let Context { state, shared, .. } = context;
    if answer_from_rules(shared) {
        return rules::with(shared, |by| by.found_noted(search, window, context.now()));
    }
    let verifier = Verifier::new(shared);
    let verify = |tokens: &Attr| verifier.read(tokens);
    let (policies, directory) = (context.policies()?, state.directory());
    let budget = Steps::of(shared);
    let basis = Basis { policies, directory, verify: &verify, budget: &budget };
    let now = context.now();
    let found = match search.search_kind {
        SearchKind::Actions => search.actions(basis, (window, now)),
        SearchKind::Subjects | SearchKind::Resources => {
            let all = known(search, state).ok_or_else(no_directory)?;
            search.among(all.iter(), basis, (window, now))
        }
    };
    let found = found.map_err(refused)?;
    noted::note_search(search, (&found.runs, None), now);
    Ok(found)
}

fn too_much(shared: &Shared) -> Problem {
    let bound = match answer_from_rules(shared) {
        true => format!("S-expressions of more than {MAX_QUERY_BYTES} bytes"),
        false => format!("more than {} steps", shared.config().http.max_steps),
    };
    bad(format!("the search takes {bound}: name fewer `candidates`"))
}

fn no_directory() -> Problem {
    let message = "there is no index of subjects and resources to search: name `candidates`";
    Problem::new(StatusCode::NOT_IMPLEMENTED, "no-index", message)
}

/// The entities to look through: those that come with the search, or those of the index.
pub(super) fn known<'k>(search: &'k Search, state: &'k State) -> Option<&'k [Entity]> {
    match (&search.candidates, state.file_directory(), search.search_kind) {
        (Some(candidates), ..) => Some(candidates),
        (None, Some(directory), SearchKind::Subjects) => Some(directory.subjects(search.kind())),
        (None, Some(directory), SearchKind::Resources) => Some(directory.resources(search.kind())),
        (None, ..) => None,
    }
}

/// Returns the position of the page. An empty token means the first one: the specification ends a
/// listing with it.
fn position(search: &Search, page_tokens: &PageTokens, caller: &str) -> Result<PagePosition> {
    let page = search.page.as_ref();
    let most = u64::try_from(MAX_RESULTS).unwrap_or(u64::MAX);
    match page.and_then(|page| page.token.as_deref()) {
        None | Some("") => {
            Ok(PagePosition { from: 0, limit: page.and_then(|page| page.limit).unwrap_or(most) })
        }
        Some(token) => {
            page_tokens.position(token, search, caller).map_err(|message| bad(message.to_owned()))
        }
    }
}

fn written(search: &Search, results: &[String], token: Option<&str>) -> String {
    document(|json| {
        if let Some(token) = token {
            member(json, "page", |json| {
                json.field("next_token", token);
                json.key("count");
                json.number(u32::try_from(results.len()).map_or(f64::INFINITY, f64::from));
            });
        }
        list(json, "results", results, |json, name| {
            object(json, |json| match search.search_kind {
                SearchKind::Actions => json.field("name", name),
                _ => {
                    json.field("type", search.kind());
                    json.field("id", name);
                }
            });
        });
    })
}
