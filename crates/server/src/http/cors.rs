//! Cross-Origin Resource Sharing (the Fetch standard, section 3.3): which pages may read answers.
//!
//! A browser enforces it for its user, and a program never has to. So it proves nobody, and every
//! request is checked as if it were not there. Pages reach no endpoint of administrators or brokers.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderName, HeaderValue, ORIGIN,
    VARY,
};
use hyper::{HeaderMap, Method, StatusCode};

use super::reply::{Problem, Reply, Result};
use super::routes::{Dialect, Guard, Route};
use crate::config::{Cors, Origins};

/// The rules for the request of a page.
pub(super) struct Page<'c> {
    cors: &'c Cors,
    /// The origin as the answer names it, if pages of it may read answers.
    admitted: Option<HeaderValue>,
}

impl<'c> Page<'c> {
    /// Returns the rules for a request to an endpoint; `None` where pages of other origins have no
    /// rights at all.
    pub(super) fn of(
        cors: Option<&'c Cors>,
        route: Option<&Route>,
        headers: &HeaderMap,
    ) -> Option<Self> {
        let cors = cors?;
        let is_for_pages = |route: &&Route| {
            route.guard != Guard::Administrators && !matches!(route.dialect, Dialect::Mqtt(_))
        };
        route.filter(is_for_pages)?;
        Some(Self { cors, admitted: admitted(cors, headers) })
    }

    /// Answers a preflight, by which a browser asks whether a page may send a request; returns
    /// `None` if the request is none.
    pub(super) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Result<Reply>> {
        let wanted = headers.get(ACCESS_CONTROL_REQUEST_METHOD)?;
        (method == Method::OPTIONS && headers.contains_key(ORIGIN))
            .then(|| self.judge(wanted, headers))
    }

    fn judge(&self, wanted: &HeaderValue, headers: &HeaderMap) -> Result<Reply> {
        if self.admitted.is_none() {
            return Err(refused("pages of this origin may not read answers"));
        }
        if !self.cors.methods.iter().any(|method| wanted == method) {
            return Err(refused("pages of other origins may not use this method"));
        }
        let wanted = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
        if !wanted.flat_map(names).all(|name| self.allows(name)) {
            return Err(refused("pages of other origins may not send one of these headers"));
        }
        let cors = self.cors;
        let fields = [
            (ACCESS_CONTROL_ALLOW_METHODS, cors.methods.join(", ")),
            (ACCESS_CONTROL_ALLOW_HEADERS, cors.headers.join(", ")),
            (ACCESS_CONTROL_MAX_AGE, cors.max_age.as_secs().to_string()),
        ];
        // All of it is text of the configuration that was checked.
        let field = |(name, text): (HeaderName, String)| Some((name, text.try_into().ok()?));
        let fields = fields.into_iter().filter(|(_, text)| !text.is_empty()).filter_map(field);
        let reply = Reply::of(StatusCode::NO_CONTENT, "text/plain", "");
        Ok(Reply { fields: fields.collect(), ..reply })
    }

    fn allows(&self, name: &[u8]) -> bool {
        self.cors.headers.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
    }

    /// Adds what a browser wants to see before it shows an answer to the page.
    pub(super) fn add_to(self, answer: &mut HeaderMap) {
        if self.cors.origins != Origins::Any {
            answer.append(VARY, HeaderValue::from_static("Origin"));
        }
        let Some(origin) = self.admitted else { return };
        answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        if self.cors.credentials {
            answer.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
    }
}

/// Returns the origin of a request as the answer names it, if the configuration has it.
fn admitted(cors: &Cors, headers: &HeaderMap) -> Option<HeaderValue> {
    let mut all = headers.get_all(ORIGIN).iter();
    let origin = all.next().filter(|_| all.next().is_none())?;
    match &cors.origins {
        Origins::Any => Some(HeaderValue::from_static("*")),
        Origins::Listed(known) => {
            let is_same = |known: &String| known.as_bytes().eq_ignore_ascii_case(origin.as_bytes());
            known.iter().any(is_same).then(|| origin.clone())
        }
    }
}

/// Returns the names in a list of headers.
fn names(list: &HeaderValue) -> impl Iterator<Item = &[u8]> {
    let names = list.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    names.filter(|name| !name.is_empty())
}

fn refused(message: &'static str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "forbidden", message)
}

/// The headers of answers that a page may read beside those that it always may.
const EXPOSED: &str = "RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";
