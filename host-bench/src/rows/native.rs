//! Every form of a question in a Rust host.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value as Json;
use wardgate_bundle::Trust;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_native::{
    AsPrincipal, AsResource, Clock, Pdp, Prepared, PrincipalRef, Question, ResourceRef, attributes,
};

use crate::measure::{Row, Side};
use crate::workload::{RuleSet, Workload};

/// The requests of a workload in every form.
pub(crate) struct Forms {
    pdp: Pdp,
    /// A PDP that remembers answers; only where conditions are long.
    caching: Option<Pdp>,
    forms: Vec<RequestForms>,
    /// A prepared question for each kind and action of the requests; none where there are no types.
    prepared: Vec<Prepared<User, Thing>>,
}

struct RequestForms {
    user: User,
    thing: Thing,
    user_pairs: Pairs,
    thing_pairs: Pairs,
    value: Json,
    text: Vec<u8>,
    /// The index of its prepared question.
    prepared: usize,
}

/// Attributes of a host without types.
type Pairs = Vec<(String, Attr)>;

struct User {
    id: String,
    roles: Vec<String>,
}

struct Thing {
    id: String,
    owner: String,
    public: bool,
    locked: bool,
}

attributes! { User {} }
attributes! { Thing { owner, public, locked } }

impl AsPrincipal for User {
    fn id(&self) -> &str {
        &self.id
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(String::as_str)
    }
}

impl AsResource for Thing {
    fn id(&self) -> &str {
        &self.id
    }
}

impl Forms {
    pub(crate) fn new(
        workload: &Workload,
        bundle: &[u8],
        requests: &[Request],
    ) -> Result<Self, String> {
        let open = |entries| {
            let opened = Pdp::open_with_cache(bundle, Trust::Unsigned, entries);
            opened.map_err(|error| error.to_string())
        };
        let pdp = open(0)?;
        let are_long = workload.rules == RuleSet::Conditions;
        let caching = are_long.then(|| open(CACHE_ENTRIES)).transpose()?;
        let mut forms: Vec<RequestForms> = requests
            .iter()
            .zip(&workload.requests)
            .map(|(one, json)| RequestForms::new(one, json))
            .collect();
        let mut prepared = Vec::new();
        if workload.rules == RuleSet::FiveRules {
            let mut numbers = HashMap::new();
            for (one, request) in forms.iter_mut().zip(requests) {
                let (kind, action) = (request.resource.kind.as_str(), action(request));
                one.prepared = *numbers.entry((kind, action)).or_insert_with(|| {
                    prepared.push(pdp.prepare(kind, action));
                    prepared.len() - 1
                });
            }
        }
        Ok(Self { pdp, caching, forms, prepared })
    }

    /// Returns a row for each form.
    pub(crate) fn rows<'a>(
        &'a self,
        workload: &'a Workload,
        requests: &'a [Request],
    ) -> Vec<Row<'a>> {
        let Self { pdp, forms, .. } = self;
        let expected = &workload.expected;
        let is_allowed = move |at: usize| {
            let request = requests.get(at);
            request.is_some_and(|request| pdp.is_allowed(request, action(request), NOW))
        };
        let fields = move |at: usize| {
            let found = forms.get(at).zip(requests.get(at));
            found.is_some_and(|(one, request)| pdp.is_allowed_fields(&one.question(request), NOW))
        };
        let value = move |at: usize| {
            forms.get(at).is_some_and(|one| pdp.is_allowed_value(&one.value, NOW) == Ok(true))
        };
        let text = move |at: usize| {
            forms.get(at).is_some_and(|one| pdp.is_allowed_json(&one.text, NOW) == Ok(true))
        };
        let mut rows = vec![Row::new("Wardgate is_allowed", Side::Ours, expected, is_allowed)];
        if let Some(caching) = &self.caching {
            let remembered = move |at: usize| {
                let request = requests.get(at);
                request.is_some_and(|request| caching.is_allowed(request, action(request), NOW))
            };
            let pass = move |range: Range<usize>| {
                let again = range.map(|at| at % RETURNING.min(expected.len()));
                again.filter(|at| expected.get(*at) != Some(&remembered(*at))).count()
            };
            let name = format!("Wardgate is_allowed, cache, {RETURNING} requests again and again");
            rows.push(Row::of_pass(&name, Side::Ours, expected.len(), pass));
        }
        rows.extend(self.typed(expected));
        rows.extend([
            Row::new("Wardgate fields by name", Side::Ours, expected, fields),
            Row::new("Wardgate serde_json::Value", Side::Ours, expected, value),
            Row::new("Wardgate JSON text", Side::Ours, expected, text),
        ]);
        rows
    }

    /// Returns the rows of the host's own types.
    fn typed<'a>(&'a self, expected: &'a [bool]) -> Vec<Row<'a>> {
        if self.prepared.is_empty() {
            return Vec::new();
        }
        let typed = |at: usize| {
            let Some(one) = self.forms.get(at) else { return false };
            let prepared = self.prepared.get(one.prepared);
            prepared.is_some_and(|prepared| prepared.is_allowed(&one.user, &one.thing, NOW))
        };
        let bound = |one: &'a RequestForms| {
            let prepared = self.prepared.get(one.prepared)?;
            Some((prepared.principal(&one.user), &one.thing))
        };
        let bound: Vec<_> = self.forms.iter().filter_map(bound).collect();
        let bound = move |at: usize| {
            bound.get(at).is_some_and(|(principal, thing)| principal.is_allowed(thing, NOW))
        };
        vec![
            Row::new("Wardgate typed struct", Side::Ours, expected, typed),
            Row::new("Wardgate typed struct, prepared principal", Side::Ours, expected, bound),
        ]
    }
}

impl RequestForms {
    fn new(request: &Request, json: &Json) -> Self {
        let attributes = &request.resource.attr;
        let flag = |name: &str| attributes.get(name) == Some(&Attr::Bool(true));
        let owner = match attributes.get("owner") {
            Some(Attr::String(owner)) => owner.to_string(),
            _ => String::new(),
        };
        Self {
            user: User { id: request.principal.id.clone(), roles: request.principal.roles.clone() },
            thing: Thing {
                id: request.resource.id.clone(),
                owner,
                public: flag("public"),
                locked: flag("locked"),
            },
            user_pairs: pairs(&request.principal.attr),
            thing_pairs: pairs(attributes),
            value: json.clone(),
            text: json.to_string().into_bytes(),
            prepared: 0,
        }
    }

    fn question<'a>(&'a self, request: &'a Request) -> Question<'a, String, Pairs, Pairs> {
        let Request { principal, resource, .. } = request;
        Question {
            principal: PrincipalRef::new(&principal.id, &principal.roles, &self.user_pairs),
            action: action(request),
            resource: ResourceRef {
                kind: &resource.kind,
                id: &resource.id,
                attributes: &self.thing_pairs,
                policy_version: &resource.policy_version,
                scope: &resource.scope,
            },
        }
    }
}

fn action(request: &Request) -> &str {
    request.actions.first().map_or("", String::as_str)
}

fn pairs(attributes: &AttrMap) -> Pairs {
    let pair = |(name, value): &(Box<str>, Attr)| (name.to_string(), value.clone());
    attributes.entries().iter().map(pair).collect()
}

/// The number of requests that the row with a cache repeats in turn.
const RETURNING: usize = 200;
/// The entries of the cache.
const CACHE_ENTRIES: usize = 4096;

/// The same moment in every run.
#[derive(Clone, Copy)]
struct Epoch;

impl Clock for Epoch {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
}

const NOW: Epoch = Epoch;
