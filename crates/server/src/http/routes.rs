//! The table of endpoints: the path, the callers and the handler of each.
//!
//! The pipeline (`answer`), the metrics, the metadata of AuthZEN and the fuzz targets know an
//! endpoint by its row alone. Rows are searched from the first to the last, so the usual calls
//! stand first.

use hyper::Method;
use wardgate_native::protocol::authzen::SearchKind;

use super::authzen::{
    self, EVALUATION, EVALUATIONS, Named, SEARCH_ACTION, SEARCH_RESOURCE, SEARCH_SUBJECT,
};
use super::brokers::{self, Broker};
use super::charging::Answer;
use super::context::{Context, Head};
use super::reply::{Reply, Result};
use super::{cerbos, grants, operations, ratelimit};
use crate::config::Config;
use crate::shared::Shared;
use crate::telemetry::metrics::Endpoint;

/// One endpoint.
pub(super) struct Route {
    pub(super) path: Path,
    pub(super) guard: Guard,
    pub(super) dialect: Dialect,
    /// The label that its requests are counted under.
    pub(super) endpoint: Endpoint,
    pub(super) handler: Handler,
}

/// The path of an endpoint, without parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// This path.
    At(&'static str),
    /// This path below the path of the URL by which callers know the server.
    Below(&'static str),
    /// This path, followed by the path of that URL, as RFC 8615 places metadata.
    WellKnown(&'static str),
}

/// The callers of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    Everybody,
    Callers,
    /// Callers who may see and change policies.
    Administrators,
}

/// The form of requests and errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Cerbos,
    /// Requests must have the type `application/json`.
    Authzen,
    /// Every answer allows or denies.
    Mqtt(Broker),
    Own,
}

/// The code that answers.
pub(super) enum Handler {
    /// Answers a `GET` from the head of the request.
    Head(fn(&Head<'_>) -> Result<Reply>),
    /// Answers the body of a `POST`.
    Body(BodyHandler, Cost),
    /// Loads policies and rules at a `POST`.
    Reload,
}

/// Decides on a body, and returns the answer.
pub(super) type BodyHandler = fn(&[u8], Context<'_>) -> Result<Answer>;

/// The measure of a decision's time: could it keep the thread of a connection?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    BySize,
    Long,
}

/// All endpoints.
pub(super) static ROUTES: [Route; 25] = [
    Route::cerbos("/api/check/resources", cerbos::check),
    Route::cerbos("/api/check", |body, context| cerbos::set(body, context).map(Answer::from)),
    Route::cerbos("/api/check_resource_batch", |body, context| {
        cerbos::batch(body, context).map(Answer::from)
    }),
    Route::evaluation(EVALUATION, authzen::evaluation),
    Route::evaluation(EVALUATIONS, authzen::evaluations),
    Route::search(SEARCH_SUBJECT, |body, context| {
        authzen::search(body, SearchKind::Subjects, context).map(Answer::from)
    }),
    Route::search(SEARCH_RESOURCE, |body, context| {
        authzen::search(body, SearchKind::Resources, context).map(Answer::from)
    }),
    Route::search(SEARCH_ACTION, |body, context| {
        authzen::search(body, SearchKind::Actions, context).map(Answer::from)
    }),
    Route::broker("/mqtt/authorize/emqx", Broker::Emqx, |body, context| {
        brokers::emqx(body, context).map(Answer::from)
    }),
    Route::broker("/mqtt/authenticate/emqx", Broker::Emqx, |body, context| {
        brokers::authenticate::emqx(body, context).map(Answer::from)
    }),
    Route::broker("/mqtt/authorize/nanomq", Broker::NanoMq, |body, context| {
        brokers::nanomq(body, context).map(Answer::from)
    }),
    Route::broker("/mqtt/authorize/vernemq", Broker::VerneMq, |body, context| {
        brokers::vernemq(body, context).map(Answer::from)
    }),
    Route::broker("/mqtt/authorize/go-auth", Broker::GoAuth, |body, context| {
        brokers::go_auth(body, context).map(Answer::from)
    }),
    Route::admin(
        "/admin/explain",
        Handler::Body(|body, context| cerbos::explain(body, context).map(Answer::from), Cost::Long),
    ),
    Route::admin(
        "/mqtt/grants",
        Handler::Body(|body, context| grants::grants(body, context).map(Answer::from), Cost::Long),
    ),
    Route::ratelimit("/ratelimit/check", ratelimit::check),
    Route::ratelimit("/ratelimit/status", ratelimit::status),
    Route {
        guard: Guard::Administrators,
        ..Route::ratelimit("/ratelimit/reset", ratelimit::reset)
    },
    Route::admin("/admin/reload", Handler::Reload),
    Route::head(Path::At("/metrics"), Guard::Callers, |head| Ok(operations::metrics(head))),
    Route::head(Path::At("/healthz"), Guard::Everybody, |_| Ok(operations::health())),
    Route::head(Path::At("/_cerbos/health"), Guard::Everybody, |_| Ok(operations::health())),
    Route::head(Path::At("/readyz"), Guard::Everybody, operations::readiness),
    Route::head(Path::At("/openapi.json"), Guard::Everybody, |_| Ok(operations::open_api())),
    Route::head(Path::WellKnown("/.well-known/authzen-configuration"), Guard::Everybody, |head| {
        authzen::metadata(head).map(Reply::json)
    }),
];

/// Returns the endpoint at a path.
pub(super) fn find(path: &str, shared: &Shared) -> Option<&'static Route> {
    at(path, shared.config())
}

/// Returns true if an endpoint has a path.
pub(super) fn has(path: &str, config: &Config) -> bool {
    at(path, config).is_some()
}

fn at(path: &str, config: &Config) -> Option<&'static Route> {
    let base = base_path(config);
    let below = path.strip_prefix(base);
    ROUTES.iter().find(|route| match route.path {
        Path::At(at) => at == path,
        Path::Below(at) => below == Some(at),
        Path::WellKnown(at) => path.strip_prefix(at) == Some(base),
    })
}

impl Route {
    const fn cerbos(path: &'static str, handler: BodyHandler) -> Self {
        let handler = Handler::Body(handler, Cost::BySize);
        Self::row(Path::At(path), Dialect::Cerbos, Endpoint::Check, handler)
    }

    const fn evaluation(Named { path, .. }: Named, handler: BodyHandler) -> Self {
        let handler = Handler::Body(handler, Cost::BySize);
        Self::row(Path::Below(path), Dialect::Authzen, Endpoint::Evaluation, handler)
    }

    const fn broker(path: &'static str, broker: Broker, handler: BodyHandler) -> Self {
        let handler = Handler::Body(handler, Cost::BySize);
        Self::row(Path::At(path), Dialect::Mqtt(broker), Endpoint::Mqtt, handler)
    }

    const fn ratelimit(path: &'static str, handler: BodyHandler) -> Self {
        let handler = Handler::Body(handler, Cost::BySize);
        Self::row(Path::At(path), Dialect::Own, Endpoint::RateLimit, handler)
    }

    const fn search(Named { path, .. }: Named, handler: BodyHandler) -> Self {
        let handler = Handler::Body(handler, Cost::Long);
        Self::row(Path::Below(path), Dialect::Authzen, Endpoint::Search, handler)
    }

    const fn admin(path: &'static str, handler: Handler) -> Self {
        let row = Self::row(Path::At(path), Dialect::Own, Endpoint::Admin, handler);
        Self { guard: Guard::Administrators, ..row }
    }

    const fn head(path: Path, guard: Guard, handler: fn(&Head<'_>) -> Result<Reply>) -> Self {
        let row = Self::row(path, Dialect::Own, Endpoint::Other, Handler::Head(handler));
        Self { guard, ..row }
    }

    const fn row(path: Path, dialect: Dialect, endpoint: Endpoint, handler: Handler) -> Self {
        Self { path, guard: Guard::Callers, dialect, endpoint, handler }
    }

    pub(super) const fn method(&self) -> &'static Method {
        match self.handler {
            Handler::Head(_) => &Method::GET,
            Handler::Body(..) | Handler::Reload => &Method::POST,
        }
    }

    /// Returns true if the type of a body must be `application/json`, which no page of another site
    /// can post by itself.
    pub(super) fn needs_json(&self) -> bool {
        self.dialect == Dialect::Authzen
            || self.endpoint == Endpoint::RateLimit
            || self.guard == Guard::Administrators
    }
}

/// The path of the URL by which callers know the server.
fn base_path(config: &Config) -> &str {
    let url = config.authzen.url.as_deref().unwrap_or("");
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    host.find('/').and_then(|at| host.get(at..)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::{Path, ROUTES};

    /// Endpoints that the description for programs leaves out: itself, and a second name.
    const NOT_DESCRIBED: [&str; 2] = ["/_cerbos/health", "/openapi.json"];

    #[test]
    fn every_endpoint_is_described_for_programs_and_for_operators() {
        let described: serde_json::Value =
            serde_json::from_str(include_str!("openapi.json")).unwrap();
        let manual = include_str!("../../../../docs/server.md");
        for route in &ROUTES {
            let (Path::At(path) | Path::Below(path) | Path::WellKnown(path)) = route.path;
            let method = route.method().as_str().to_ascii_lowercase();
            let is_described = described["paths"][path][&method].is_object();
            assert_eq!(is_described, !NOT_DESCRIBED.contains(&path), "{method} {path}");
            assert!(manual.contains(path), "{path}");
        }
    }
}
