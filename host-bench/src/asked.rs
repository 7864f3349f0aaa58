//! Requests of workloads whose policies stand in no table of rules: the engine's request, and JSON text.

use serde_json::{Value as Json, json};
use wardgate_bundle::Trust;
use wardgate_engine::request::Request;
use wardgate_native::Pdp;

use crate::measure::{Cases, Row, Side};
use crate::rows::native::NOW;

/// Requests in two forms, with the right answers.
#[derive(Default)]
pub(crate) struct Questions {
    requests: Vec<(Request, String)>,
    texts: Vec<Vec<u8>>,
    pub(crate) expected: Vec<bool>,
}

impl Questions {
    /// Adds a request: principal, action and resource as JSON has them.
    pub(crate) fn add(&mut self, question: &Json, expected: bool) -> Result<(), String> {
        let action = question.get("action").and_then(Json::as_str).unwrap_or_default().to_owned();
        let mut request = question.clone();
        if let Some(members) = request.as_object_mut() {
            members.insert("actions".to_owned(), json!([action]));
        }
        self.requests.push((wardgate_tests::check::request(&request)?, action));
        self.texts.push(question.to_string().into_bytes());
        self.expected.push(expected);
        Ok(())
    }

    /// Returns the answer of a PDP to the request with a number.
    pub(crate) fn is_allowed(&self, pdp: &Pdp, at: usize) -> bool {
        let request = self.requests.get(at);
        request.is_some_and(|(request, action)| pdp.is_allowed(request, action, NOW))
    }

    /// Returns all requests as JSON.
    pub(crate) fn all(&self) -> impl Iterator<Item = Json> {
        self.texts.iter().map(|text| serde_json::from_slice(text).unwrap_or_default())
    }

    /// Returns a row for each form.
    pub(crate) fn rows<'a>(&'a self, pdp: &'a Pdp) -> Vec<Row<'a>> {
        let Self { requests, texts, expected } = self;
        let of_requests = Cases { inputs: requests.as_slice(), expected };
        let of_texts = Cases { inputs: texts.as_slice(), expected };
        vec![
            of_requests.row("Wardgate is_allowed", Side::Ours, |(request, action)| {
                pdp.is_allowed(request, action, NOW)
            }),
            of_texts.row("Wardgate JSON text", Side::Ours, |text| {
                pdp.is_allowed_json(text, NOW) == Ok(true)
            }),
        ]
    }
}

/// Opens policies.
pub(crate) fn opened(bundle: &[u8]) -> Result<Pdp, String> {
    Pdp::open(bundle, Trust::Unsigned).map_err(|error| error.to_string())
}
