//! CheckResourceBatch, which CheckResources replaced.

use wardgate_engine::wire::Json;

use super::{each, joined, read};
use crate::http::context::Context;
use crate::http::reply::Problem;
use crate::limits::MAX_ANSWER_BYTES;
use wardgate_native::protocol::cerbos::answer::{effects, optional, validation_errors};

/// Answers it.
pub(in crate::http) fn batch(body: &[u8], context: Context<'_>) -> Result<String, Problem> {
    let policies = context.policies()?;
    let mut call = read(body, context.shared)?;
    let mut json = Json::default();
    json.open('{');
    optional(&mut json, "requestId", call.request_id());
    json.key("results");
    json.open('[');
    let mut text = json.finish();
    each(&mut call, policies, context.shared, |request, decision| {
        let mut json = Json::default();
        json.open('{');
        json.field("resourceId", &request.resource.id);
        effects(&mut json, decision);
        validation_errors(&mut json, decision);
        json.close('}');
        joined(&mut text, &json.finish(), MAX_ANSWER_BYTES)
    })?;
    Ok(text + "]}")
}
