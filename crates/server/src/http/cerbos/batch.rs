//! CheckResourceBatch, which CheckResources replaced.

use super::{each, joined, must_have_no_limits, read};
use crate::http::context::Context;
use crate::http::reply::Result;
use crate::limits::MAX_ANSWER_BYTES;
use wardgate_native::protocol::cerbos::answer::{begin_response, effects, validation_errors};
use wardgate_native::protocol::json::document;

/// Answers it.
pub(in crate::http) fn batch(body: &[u8], context: Context<'_>) -> Result<String> {
    context.policies()?;
    let mut call = read(body, context.shared)?;
    must_have_no_limits(&call, context)?;
    let mut text = begin_response(call.request_id());
    each(&mut call, context, |request, decision| {
        let result = document(|json| {
            json.field("resourceId", &request.resource.id);
            effects(json, decision);
            validation_errors(json, decision);
        });
        joined(&mut text, &result, MAX_ANSWER_BYTES)
    })?;
    Ok(text + "]}")
}
