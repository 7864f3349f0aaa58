//! CheckResourceSet, which CheckResources replaced: the same actions on several resources of one
//! kind.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::decision::Decision;
use wardgate_engine::request::{AuxData, Request, Resource};
use wardgate_engine::wire::Json;
use wardgate_native::protocol::cerbos::{Message, principal, scope, version};

use super::{bad, document, joined, must_be_few, must_be_few_actions};
use crate::decision_log::noted;
use crate::http::context::Context;
use crate::http::reply::Result;
use crate::http::steps::Steps;
use crate::limits::MAX_ANSWER_BYTES;
use crate::shared::Shared;
use crate::telemetry::metrics::Tally;
use wardgate_native::protocol::cerbos::answer::{effects, meta, optional, validation_errors};

/// Answers it.
pub(in crate::http) fn set(body: &[u8], context: Context<'_>) -> Result<String> {
    let (policies, shared) = (context.policies()?, context.shared);
    let document = document(body)?;
    let (mut request, instances, with_meta) = read(&document, shared).map_err(bad)?;
    context.policies_without_limits(&request.resource.kind)?;
    must_be_few(instances.entries().len(), &shared.config().http)?;
    must_be_few_actions(request.actions.len(), &shared.config().http)?;
    let (mut tally, budget) = (Tally::default(), Steps::of(shared));
    let now = context.now();
    let (mut instances_text, mut metas) = (String::from("{"), String::from("{"));
    for (id, instance) in instances.entries() {
        let instance = Message::read(instance, format!("resource.instances.{id}"), &["attr"]);
        request.resource.attr = instance.and_then(|found| found.attributes("attr")).map_err(bad)?;
        request.resource.id = id.to_string();
        let decision = policies.check_within(&request, now, &budget);
        tally.add(&decision);
        noted::note(&request, &decision, now);
        let room = MAX_ANSWER_BYTES.saturating_sub(metas.len());
        joined(&mut instances_text, &member(id, |json| written(json, &decision)), room)?;
        if with_meta {
            let room = MAX_ANSWER_BYTES.saturating_sub(instances_text.len());
            joined(&mut metas, &member(id, |json| meta(json, &decision)), room)?;
        }
    }
    shared.decided(tally);
    let mut text = Json::default();
    text.open('{');
    optional(&mut text, "requestId", &request.request_id);
    text.key("resourceInstances");
    let mut text = text.finish() + &instances_text + "}";
    if with_meta {
        text = text + ",\"meta\":{\"resourceInstances\":" + &metas + "}}";
    }
    Ok(text + "}")
}

/// Reads everything but the instances of the resource.
fn read(document: &Attr, shared: &Shared) -> Result<(Request, AttrMap, bool), String> {
    let call = Message::read(document, String::new(), CALL)?;
    let resource = Message::read(call.required("resource")?, "resource".to_owned(), RESOURCE)?;
    let instances = resource.attributes("instances")?;
    if instances.entries().is_empty() {
        return Err("`resource.instances` is empty".to_owned());
    }
    let aux_data = call.field("auxData").map(|value| shared.tokens().read(value)).transpose()?;
    let request = Request {
        request_id: call.text("requestId")?.to_owned(),
        principal: principal(call.required("principal")?)?,
        resource: Resource {
            kind: resource.name("kind")?,
            policy_version: version(&resource)?,
            scope: scope(&resource)?,
            ..Resource::default()
        },
        actions: call.names("actions")?,
        aux_data: aux_data.unwrap_or_else(AuxData::default),
    };
    Ok((request, instances, call.flag("includeMeta")?))
}

/// Writes the result for one instance.
fn written(json: &mut Json, decision: &Decision) {
    json.open('{');
    effects(json, decision);
    validation_errors(json, decision);
    json.close('}');
}

/// Returns a member of an object, without the braces around it.
fn member(name: &str, write: impl FnOnce(&mut Json)) -> String {
    let mut json = Json::default();
    json.open('{');
    json.key(name);
    write(&mut json);
    let mut text = json.finish();
    text.remove(0);
    text
}

const CALL: &[&str] = &["requestId", "actions", "principal", "resource", "includeMeta", "auxData"];
const RESOURCE: &[&str] = &["kind", "policyVersion", "instances", "scope"];
