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
use crate::request::{action, has_flag, text};
use crate::workload::{RuleSet, Workload};

/// The requests of a workload in every form.
pub(crate) struct Forms<'r> {
    pdp: Pdp,
    /// A PDP that remembers answers; only where conditions are long.
    caching: Option<Pdp>,
    requests: &'r [Request],
    forms: Vec<RequestForms<'r>>,
    /// A prepared question for each kind and action of the requests; none where there are no types.
    prepared: Vec<Prepared<User, Thing>>,
}

struct RequestForms<'r> {
    user: User,
    thing: Thing,
    fields: Fields<'r>,
    value: Json,
    text: Vec<u8>,
    /// The index of its prepared question.
    prepared: usize,
}

/// A request of a host without types.
pub(crate) struct Fields<'r> {
    request: &'r Request,
    of_principal: Pairs,
    of_resource: Pairs,
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

impl<'r> Forms<'r> {
    pub(crate) fn new(
        workload: &Workload,
        bundle: &[u8],
        requests: &'r [Request],
    ) -> Result<Self, String> {
        let open = |entries| {
            let opened = Pdp::open_with_cache(bundle, Trust::Unsigned, entries);
            opened.map_err(|error| error.to_string())
        };
        let pdp = open(0)?;
        let are_long = workload.rules == RuleSet::Conditions;
        let caching = are_long.then(|| open(CACHE_ENTRIES)).transpose()?;
        let mut forms: Vec<_> =
            requests.iter().zip(&workload.requests).map(RequestForms::new).collect();
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
        Ok(Self { pdp, caching, requests, forms, prepared })
    }

    /// Returns a row for each form.
    pub(crate) fn rows<'a>(&'a self, workload: &'a Workload) -> Vec<Row<'a>> {
        let Self { pdp, requests, forms, .. } = self;
        let expected = &workload.expected;
        let is_allowed = |one: &Request| pdp.is_allowed(one, action(one), NOW);
        let is_allowed =
            workload.cases(*requests).row("Wardgate is_allowed", Side::Ours, is_allowed);
        let mut rows = vec![is_allowed];
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
        rows.extend(self.typed(workload));
        let cases = workload.cases(forms.as_slice());
        rows.extend([
            cases.row("Wardgate fields by name", Side::Ours, |one| {
                pdp.is_allowed_fields(&one.fields.question(), NOW)
            }),
            cases.row("Wardgate serde_json::Value", Side::Ours, |one| {
                pdp.is_allowed_value(&one.value, NOW) == Ok(true)
            }),
            cases.row("Wardgate JSON text", Side::Ours, |one| {
                pdp.is_allowed_json(&one.text, NOW) == Ok(true)
            }),
        ]);
        rows
    }

    /// Returns the rows of the host's own types.
    fn typed<'a>(&'a self, workload: &'a Workload) -> Vec<Row<'a>> {
        if self.prepared.is_empty() {
            return Vec::new();
        }
        let typed = |one: &RequestForms<'_>| {
            let prepared = self.prepared.get(one.prepared);
            prepared.is_some_and(|prepared| prepared.is_allowed(&one.user, &one.thing, NOW))
        };
        let bound = |one: &'a RequestForms<'r>| {
            let prepared = self.prepared.get(one.prepared)?;
            Some((prepared.principal(&one.user), &one.thing))
        };
        let bound: Vec<_> = self.forms.iter().filter_map(bound).collect();
        let typed =
            workload.cases(self.forms.as_slice()).row("Wardgate typed struct", Side::Ours, typed);
        let name = "Wardgate typed struct, prepared principal";
        let bound = workload
            .cases(bound)
            .row(name, Side::Ours, |(principal, thing)| principal.is_allowed(thing, NOW));
        vec![typed, bound]
    }
}

impl<'r> RequestForms<'r> {
    fn new((request, json): (&'r Request, &Json)) -> Self {
        let Request { principal, resource, .. } = request;
        Self {
            user: User { id: principal.id.clone(), roles: principal.roles.clone() },
            thing: Thing {
                id: resource.id.clone(),
                owner: text(resource.attr.get("owner")).to_owned(),
                public: has_flag(request, "public"),
                locked: has_flag(request, "locked"),
            },
            fields: Fields::new(request),
            value: json.clone(),
            text: json.to_string().into_bytes(),
            prepared: 0,
        }
    }
}

impl<'r> Fields<'r> {
    pub(crate) fn new(request: &'r Request) -> Self {
        let of_principal = pairs(&request.principal.attr);
        Self { request, of_principal, of_resource: pairs(&request.resource.attr) }
    }

    pub(crate) fn question(&self) -> Question<'_, String, Pairs, Pairs> {
        let Request { principal, resource, .. } = self.request;
        Question {
            principal: PrincipalRef::new(&principal.id, &principal.roles, &self.of_principal),
            action: action(self.request),
            resource: ResourceRef {
                kind: &resource.kind,
                id: &resource.id,
                attributes: &self.of_resource,
                policy_version: &resource.policy_version,
                scope: &resource.scope,
            },
        }
    }
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
pub(crate) struct Epoch;

impl Clock for Epoch {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
}

pub(crate) const NOW: Epoch = Epoch;
