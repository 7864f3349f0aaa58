//! Replies and problems.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use wardgate_native::protocol::json::document;

/// A value, or the refusal.
pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;

/// An answer, before it is one of HTTP.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
    /// A header more, where one is needed.
    pub(crate) header: Option<(HeaderName, HeaderValue)>,
    /// The fields of rate limits.
    pub(crate) fields: Vec<(HeaderName, HeaderValue)>,
}

/// A refusal. Its message goes to the client, so it reveals nothing internal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// It does not change.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) header: Option<(HeaderName, HeaderValue)>,
}

impl Reply {
    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Self::of(StatusCode::OK, "application/json", body)
    }

    pub(crate) fn of(
        status: StatusCode,
        content_type: &'static str,
        body: impl Into<Bytes>,
    ) -> Self {
        Self { status, content_type, body: body.into(), header: None, fields: Vec::new() }
    }

    /// Forbids caches to store it: a decision holds for this moment.
    pub(crate) fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.extend(self.header);
        headers.extend(self.fields);
        response
    }
}

impl Problem {
    /// The code of a decision that is told as a refusal.
    pub(crate) const DENIED: &'static str = "denied";

    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), header: None }
    }

    /// Tells the client to come again in a second.
    pub(crate) fn busy(message: &'static str) -> Self {
        let header = Some((RETRY_AFTER, HeaderValue::from_static("1")));
        Self { header, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message) }
    }

    /// Tells the client that no decision is answered without a record, and that there is no room for one.
    pub(crate) fn log_full() -> Self {
        let message = "the decision cannot be recorded";
        Self { code: "log-full", ..Self::busy(message) }
    }

    /// Tells the client that the fault is here.
    pub(crate) fn failed(message: &'static str) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "there is no such endpoint")
    }

    pub(crate) fn no_policies() -> Self {
        let message = "this server has no policies: it answers by rules of SPOCP";
        Self::new(StatusCode::NOT_FOUND, "no-policies", message)
    }

    pub(crate) fn no_limits() -> Self {
        let message = "this server charges no rate limits: its configuration has no `[ratelimit]`";
        Self::new(StatusCode::NOT_FOUND, "no-limits", message)
    }

    pub(crate) fn wrong_method(allowed: &'static str) -> Self {
        let header = Some((ALLOW, HeaderValue::from_static(allowed)));
        let message = format!("the method must be {allowed}");
        let problem = Self::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", message);
        Self { header, ..problem }
    }
}

impl Problem {
    /// Returns the problem in the form of Cerbos, with the number of gRPC and our own code beside
    /// it.
    pub(crate) fn into_reply_of_cerbos(self) -> Reply {
        let number = match self.status {
            StatusCode::UNAUTHORIZED => 16.0,
            StatusCode::FORBIDDEN => 7.0,
            StatusCode::NOT_FOUND => 5.0,
            StatusCode::METHOD_NOT_ALLOWED => 12.0,
            StatusCode::PAYLOAD_TOO_LARGE => 8.0,
            StatusCode::SERVICE_UNAVAILABLE => 14.0,
            status if status.is_server_error() => 13.0,
            _ => 3.0,
        };
        let body = document(|json| {
            json.key("code");
            json.number(number);
            json.field("message", &self.message);
            json.key("details");
            json.element("[]");
            json.field("error", self.code);
        });
        Reply { header: self.header, status: self.status, ..Reply::json(body) }
    }
}

impl From<Problem> for Reply {
    fn from(problem: Problem) -> Self {
        let body = document(|json| {
            json.field("error", problem.code);
            json.field("message", &problem.message);
        });
        Self { header: problem.header, status: problem.status, ..Self::json(body) }
    }
}
