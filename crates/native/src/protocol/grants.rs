//! Requests for the lists of one principal, and answers, as JSON.
//!
//! A request is `{"principal", "resource", "auxData", "actions", "for"}`. `resource` may have
//! `scope`, `policyVersion`, and attributes in `attr` that every message or subscription has. The host
//! reads `auxData`, as it does for a call of Cerbos.

use serde_json::{Map, Value, json};
use wardgate_engine::attr::Attr;
use wardgate_engine::budget::Budget;
use wardgate_engine::request::{AuxData, Request, Resource};

use super::cerbos::{Message, principal, scope, version};
use crate::clock::Clock;
use crate::mqtt::{ClientGrants, Grants, Target};
use crate::policies::Policies;

/// A request for lists.
#[derive(Debug)]
pub struct GrantsCall {
    /// The principal, and what is known about the resource.
    pub request: Request,
    /// The actions, if no form is wanted.
    pub actions: Vec<String>,
    /// The form of a broker.
    pub target: Option<Target>,
}

impl GrantsCall {
    /// Reads a request, and its `auxData` with `aux_data`.
    ///
    /// # Errors
    /// The value is not a request; the message is for its sender.
    pub fn read(
        value: &Attr,
        aux_data: impl FnOnce(&Attr) -> Result<AuxData, String>,
    ) -> Result<Self, String> {
        let call = Message::read(value, String::new(), CALL)?;
        let target = target(call.text("for")?)?;
        let actions = match (call.field("actions"), target) {
            (Some(_), Some(_)) => {
                return Err(
                    "`actions` and `for` are both given: a form has `publish` and `subscribe`"
                        .to_owned(),
                );
            }
            (Some(_), None) => call.names("actions")?,
            (None, _) => ["publish", "subscribe"].map(str::to_owned).to_vec(),
        };
        let request = Request {
            principal: principal(call.required("principal")?)?,
            resource: call.field("resource").map_or(Ok(Resource::default()), resource)?,
            aux_data: call.field("auxData").map_or(Ok(AuxData::default()), aux_data)?,
            ..Request::default()
        };
        Ok(Self { request, actions, target })
    }

    /// Returns the lists of each action.
    pub fn lists(
        &self,
        policies: &Policies,
        clock: impl Clock,
        budget: &Budget,
    ) -> Vec<(&str, Grants)> {
        let now = clock.now();
        let lists = |action| policies.grants_within(&self.request, action, now, budget);
        self.actions.iter().map(|action| (action.as_str(), lists(action))).collect()
    }

    /// Returns the answer.
    ///
    /// # Errors
    /// A filter cannot be written in the form that is wanted; the message is for the sender.
    pub fn answer(
        &self,
        policies: &Policies,
        clock: impl Clock,
        budget: &Budget,
    ) -> Result<Value, String> {
        self.written(&self.lists(policies, clock, budget))
    }

    /// Returns the answer with the lists of each action.
    ///
    /// # Errors
    /// A filter cannot be written in the form that is wanted; the message is for the sender.
    pub fn written(&self, lists: &[(&str, Grants)]) -> Result<Value, String> {
        let Some(target) = self.target else {
            let lists = lists.iter().map(|(action, grants)| ((*action).to_owned(), of(grants)));
            return Ok(json!({ "grants": Map::from_iter(lists) }));
        };
        let [(_, publish), (_, subscribe)] = lists else {
            return Err("a form has `publish` and `subscribe`".to_owned());
        };
        let grants = ClientGrants { publish: publish.clone(), subscribe: subscribe.clone() };
        translated(&grants, target)
    }
}

/// Returns the lists of one action with all that is known about them.
#[must_use]
pub fn of(grants: &Grants) -> Value {
    let mut value = grants.json();
    if let Value::Object(members) = &mut value {
        members.insert("exact".to_owned(), grants.is_exact().into());
        let because = grants.shortfalls.iter().map(|shortfall| shortfall.name());
        members.insert("because".to_owned(), because.collect());
        members.insert("readsTime".to_owned(), grants.reads_time.into());
    }
    value
}

/// Returns the lists in the form of a broker, with all that is known about them.
///
/// # Errors
/// A filter has no spelling there.
pub fn translated(grants: &ClientGrants, target: Target) -> Result<Value, String> {
    let translated = grants.translate(target).map_err(|error| error.to_string())?;
    let shortfalls = grants.publish.shortfalls.iter().chain(&grants.subscribe.shortfalls);
    let because: std::collections::BTreeSet<&str> =
        shortfalls.map(|shortfall| shortfall.name()).collect();
    let dropped = translated.dropped.iter().map(|dropped| {
        json!({ "action": dropped.action, "filter": dropped.filter, "because": dropped.reason.name() })
    });
    Ok(json!({
        "lists": translated.lists,
        "exact": translated.exact,
        "because": because,
        "dropped": dropped.collect::<Vec<_>>(),
        "readsTime": grants.publish.reads_time || grants.subscribe.reads_time,
    }))
}

fn resource(value: &Attr) -> Result<Resource, String> {
    let fields = Message::read(value, "resource".to_owned(), RESOURCE)?;
    let attr = fields.attributes("attr")?;
    if attr.get("topic").is_some() {
        return Err(
            "`resource.attr.topic` is what the lists are about, and is not given".to_owned()
        );
    }
    Ok(Resource {
        policy_version: version(&fields)?,
        scope: scope(&fields)?,
        attr,
        ..Resource::default()
    })
}

/// Returns the form of this name; `None` for none.
///
/// # Errors
/// There is no such form; the message is for the sender.
pub fn target(name: &str) -> Result<Option<Target>, String> {
    if name.is_empty() {
        return Ok(None);
    }
    let found = Target::ALL.iter().find(|(known, _)| *known == name);
    let names = Target::ALL.map(|(name, _)| name).join("`, `");
    found
        .map(|(_, target)| Some(*target))
        .ok_or_else(|| format!("`for`: expected one of `{names}`, found `{}`", name.escape_debug()))
}

const CALL: &[&str] = &["principal", "resource", "auxData", "actions", "for"];
const RESOURCE: &[&str] = &["attr", "policyVersion", "scope"];
