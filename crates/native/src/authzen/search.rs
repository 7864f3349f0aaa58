//! Searches: which of these subjects, resources or actions would be allowed?
//!
//! A search decides about one candidate after the other, each as an evaluation would. So a page never holds
//! more than its caller may see, wherever it is told to begin.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request;

use super::read::{Place, bad, kind_of};
use super::{Action, AuthzenError, Directory, Entity, aux_data, principal, resource};
use crate::clock::Clock;
use crate::policies::Policies;

/// What a search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// Who of this type may perform the action on the resource?
    Subjects,
    /// On which resources of this type may the subject perform the action?
    Resources,
    /// Which actions may the subject perform on the resource?
    Actions,
}

/// A search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// What it looks for.
    pub sought: Sought,
    /// The subject; one without an id where subjects are sought.
    pub subject: Entity,
    /// The action; one without a name where actions are sought.
    pub action: Action,
    /// The resource; one without an id where resources are sought.
    pub resource: Entity,
    /// The circumstances.
    pub context: AttrMap,
    /// Those among whom the caller wants to know.
    pub candidates: Option<Vec<Entity>>,
    /// The part of the results that is asked for, if it is a part.
    pub page: Option<Page>,
}

/// Which part of the results is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Where the last page said that this one begins.
    pub token: Option<String>,
    /// How many results there may be.
    pub limit: Option<u64>,
}

/// Where a search begins and ends.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// A position among the candidates.
    pub from: usize,
    /// How many results there may be.
    pub limit: usize,
    /// How many candidates are decided about at most.
    pub most: usize,
}

/// What was found, and where to go on; nothing if there is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Ids, or names of actions.
    pub results: Vec<String>,
    /// The position of the next candidate.
    pub next: Option<usize>,
}

impl Search {
    pub(super) fn read(root: &Place<'_>, sought: Sought) -> Result<Self, AuthzenError> {
        let entity = |name: &'static str, is_sought: bool| {
            let place = root.required(name)?;
            if !is_sought {
                return Entity::read(&place);
            }
            Ok(Entity { kind: place.text("type")?, id: String::new(), properties: None })
        };
        let subject = entity("subject", sought == Sought::Subjects)?;
        let resource = entity("resource", sought == Sought::Resources)?;
        let action = match sought {
            Sought::Actions => Action::default(),
            _ => Action::read(&root.required("action")?)?,
        };
        let candidates = match sought {
            Sought::Subjects => candidates(root, &subject.kind)?,
            Sought::Resources => candidates(root, &resource.kind)?,
            // The policies know the actions.
            Sought::Actions => None,
        };
        let (context, page) = (root.object("context")?.clone(), page(root)?);
        Ok(Self { sought, subject, action, resource, context, candidates, page })
    }

    /// The type of those that are sought; empty for actions.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self.sought {
            Sought::Subjects => &self.subject.kind,
            Sought::Resources => &self.resource.kind,
            Sought::Actions => "",
        }
    }

    /// Finds those among `candidates` that are allowed.
    ///
    /// # Errors
    /// A property that selects roles or policies is none.
    pub fn among<'c>(
        &self,
        candidates: impl Iterator<Item = &'c Entity>,
        (policies, directory): (&Policies, &dyn Directory),
        (window, clock): (Window, impl Clock),
    ) -> Result<Found, AuthzenError> {
        if !self.is_known(directory) {
            return Ok(Found { results: Vec::new(), next: None });
        }
        let mut request = self.request(directory)?;
        let action = self.action.name.as_str();
        scan(candidates, window, |candidate| {
            match self.sought {
                Sought::Subjects => request.principal = principal(candidate, directory)?,
                _ => request.resource = resource(candidate, directory)?,
            }
            Ok((policies.is_allowed(&request, action, &clock), candidate.id.as_str()))
        })
    }

    /// Finds the actions that are allowed, among those that the policies name.
    ///
    /// # Errors
    /// A property that selects roles or policies is none.
    pub fn actions(
        &self,
        (policies, directory): (&Policies, &dyn Directory),
        (window, clock): (Window, impl Clock),
    ) -> Result<Found, AuthzenError> {
        if !self.is_known(directory) {
            return Ok(Found { results: Vec::new(), next: None });
        }
        let request = self.request(directory)?;
        let named = policies.table().actions(&self.resource.kind);
        scan(named.into_iter(), window, |action| {
            Ok((policies.is_allowed(&request, action, &clock), action))
        })
    }

    fn request(&self, directory: &dyn Directory) -> Result<Request, AuthzenError> {
        Ok(Request {
            principal: principal(&self.subject, directory)?,
            resource: resource(&self.resource, directory)?,
            aux_data: aux_data(&self.context, &self.action.properties),
            ..Request::default()
        })
    }

    /// Whether anything is known of whom the search is about: the directory has them, or the request describes
    /// them. Nobody may do anything, and nothing may be done to what there is not.
    #[must_use]
    pub fn is_known(&self, directory: &dyn Directory) -> bool {
        let (subject, resource) = (&self.subject, &self.resource);
        let knows_subject = || directory.subject(&subject.kind, &subject.id).is_some();
        let knows_resource = || directory.resource(&resource.kind, &resource.id).is_some();
        let subject =
            self.sought == Sought::Subjects || subject.properties.is_some() || knows_subject();
        let resource =
            self.sought == Sought::Resources || resource.properties.is_some() || knows_resource();
        directory.is_empty() || (subject && resource)
    }
}

/// Decides about candidates until the window is full and one more is found.
///
/// # Errors
/// Those of `decide`.
pub fn scan<'n, T>(
    mut candidates: impl Iterator<Item = T>,
    window: Window,
    mut decide: impl FnMut(T) -> Result<(bool, &'n str), AuthzenError>,
) -> Result<Found, AuthzenError> {
    let mut results = Vec::new();
    for _ in 0..window.from {
        if candidates.next().is_none() {
            return Ok(Found { results, next: None });
        }
    }
    let end = window.from.saturating_add(window.most);
    for at in window.from..end {
        let Some(candidate) = candidates.next() else { return Ok(Found { results, next: None }) };
        let (is_allowed, name) = decide(candidate)?;
        if !is_allowed {
            continue;
        }
        if results.len() == window.limit {
            return Ok(Found { results, next: Some(at) });
        }
        results.push(name.to_owned());
    }
    let next = candidates.next().map(|_| end);
    Ok(Found { results, next })
}

fn candidates(root: &Place<'_>, kind: &str) -> Result<Option<Vec<Entity>>, AuthzenError> {
    let Some(items) = root.list("candidates")? else { return Ok(None) };
    if items.len() > MAX_CANDIDATES {
        let found = items.len();
        let message =
            format!("`candidates` must have at most {MAX_CANDIDATES} items, found {found}");
        return Err(bad(message));
    }
    items.iter().map(|item| candidate(item, kind)).collect::<Result<_, _>>().map(Some)
}

fn candidate(item: &Attr, kind: &str) -> Result<Entity, AuthzenError> {
    let Attr::Map(map) = item else {
        return Err(bad(format!("a candidate must be an object, found {}", kind_of(item))));
    };
    let place = Place { path: "candidates[]", map };
    let is_other = |given: &Attr| *given != Attr::String(kind.into());
    if place.member("type").is_some_and(is_other) {
        return Err(bad("a candidate must be of the type that is searched for".to_owned()));
    }
    let properties = place.given("properties")?.cloned();
    Ok(Entity { kind: kind.to_owned(), id: place.text("id")?, properties })
}

fn page(root: &Place<'_>) -> Result<Option<Page>, AuthzenError> {
    let Some(map) = root.given("page")? else { return Ok(None) };
    let place = Place { path: "page", map };
    let token = match place.member("token") {
        None => None,
        Some(Attr::String(token)) => Some(token.to_string()),
        found => return Err(place.wrong("token", "a string", found)),
    };
    let limit = match place.member("limit") {
        None => None,
        found => {
            let expected = "a whole number that is not negative";
            Some(found.and_then(whole).ok_or_else(|| place.wrong("limit", expected, found))?)
        }
    };
    Ok(Some(Page { token, limit }))
}

#[expect(clippy::as_conversions, reason = "whole, not negative, and small enough to be exact")]
fn whole(value: &Attr) -> Option<u64> {
    match value {
        Attr::Number(number) if (0.0..=MAX_WHOLE).contains(number) && number.fract() == 0.0 => {
            Some(*number as u64)
        }
        _ => None,
    }
}

/// The most candidates of one search.
const MAX_CANDIDATES: usize = 10_000;

/// The largest number such that all whole numbers up to it are doubles.
const MAX_WHOLE: f64 = 9_007_199_254_740_991.0;
