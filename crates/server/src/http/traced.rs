//! Spans of requests, named by OpenTelemetry's conventions for HTTP servers.
//!
//! There is one for the request, and one for the decision within it. The query of a URL is left
//! out: no endpoint reads one.

use std::borrow::Cow;

use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode, Version};

use super::peer::Peer;
use super::reply::Problem;
use crate::policies::state::State;
use crate::shared::Shared;
use crate::telemetry::metrics::Tally;
use crate::telemetry::traces::{Attribute, Kind, OpenSpan, SpanFields, Tracer, Value};

/// A request with an open span. It is a box, so that a connection without one carries little.
pub(super) struct Traced<'t>(Box<Inner<'t>>);

struct Inner<'t> {
    tracer: &'t Tracer,
    span: OpenSpan,
    method: &'static str,
    attributes: Vec<Attribute>,
}

impl<'t> Traced<'t> {
    /// Begins the span of a request, if it is sampled.
    pub(super) fn begin(
        request: &Request<Incoming>,
        shared: &'t Shared,
        peer: &Peer,
    ) -> Option<Self> {
        let tracer = shared.tracer()?;
        let span = tracer.begin_request(request.headers())?;
        let method = known(request.method());
        let scheme = if peer.is_tls { "https" } else { "http" };
        let version = if request.version() == Version::HTTP_10 { "1.0" } else { "1.1" };
        let mut attributes = vec![
            ("http.request.method", Value::word(method.unwrap_or("_OTHER"))),
            ("url.path", Value::text(request.uri().path())),
            ("url.scheme", Value::word(scheme)),
            ("network.protocol.version", Value::word(version)),
        ];
        if method.is_none() {
            let original = Value::text(request.method().as_str());
            attributes.push(("http.request.method_original", original));
        }
        // Callers must not choose the name of a span.
        let method = method.unwrap_or("HTTP");
        Some(Self(Box::new(Inner { tracer, span, method, attributes })))
    }

    /// Returns the open span, as the parent of others.
    pub(super) const fn span(&self) -> &OpenSpan {
        &self.0.span
    }

    /// Ends the span. The route is the path of an endpoint, if it is one.
    pub(super) fn end(self, route: Option<String>, status: StatusCode) {
        let Inner { tracer, span, method, mut attributes } = *self.0;
        let name = match &route {
            None => Cow::Borrowed(method),
            Some(route) => Cow::Owned(format!("{method} {route}")),
        };
        attributes.extend(route.map(|route| ("http.route", Value::Text(route.into()))));
        let code = Value::Number(u64::from(status.as_u16()));
        attributes.push(("http.response.status_code", code));
        let has_failed = status.is_server_error();
        if has_failed {
            attributes.push(("error.type", Value::text(status.as_str())));
        }
        tracer.end(span, SpanFields { name, kind: Kind::Server, attributes, has_failed });
    }
}

impl Traced<'_> {
    /// Begins the span of a decision.
    pub(super) fn begin_decision(&self) -> OpenSpan {
        self.0.tracer.begin_child(&self.0.span)
    }

    /// Ends it.
    pub(super) fn end_decision(
        &self,
        span: OpenSpan,
        state: &State,
        tally: Tally,
        problem: Option<&Problem>,
    ) {
        let Tally { resources, allowed, denied } = tally;
        let mut attributes: Vec<_> = state.span_attributes().collect();
        attributes.extend([
            ("wardgate.resources", Value::Number(resources)),
            ("wardgate.actions", Value::Number(allowed.saturating_add(denied))),
            ("wardgate.allowed", Value::Number(allowed)),
            ("wardgate.denied", Value::Number(denied)),
        ]);
        attributes.extend(problem.map(|problem| ("error.type", Value::word(problem.code))));
        let (name, kind) = ("decide".into(), Kind::Internal);
        self.0.tracer.end(span, SpanFields { name, kind, attributes, has_failed: false });
    }
}

/// The methods that the conventions name.
fn known(method: &Method) -> Option<&'static str> {
    METHODS.into_iter().find(|known| *known == method.as_str())
}

const METHODS: [&str; 9] =
    ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
