//! The workload: every action of every request, one question each.
//!
//! All requests are in memory at once, so their size is bounded. A bad line is reported and left
//! out, as `wardgate check` does.

use std::path::Path;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::Request;

use crate::failure::{Failure, Result, Status};
use crate::limits::MAX_MEASURED_BYTES;
use crate::requests;

/// The requests of a measurement.
pub(crate) struct Workload {
    requests: Vec<Request>,
    /// Memory that the requests take, roughly.
    bytes: usize,
}

/// May the principal of the request perform this action?
#[derive(Clone, Copy)]
pub(crate) struct Question<'w> {
    pub(crate) request: &'w Request,
    pub(crate) action: &'w str,
}

impl Question<'_> {
    /// Returns the error of two hosts that answer a question differently. `first` and `second` name
    /// each host and its answer.
    pub(crate) fn answered_differently(&self, first: &str, second: &str) -> Failure {
        let Self { request, action } = self;
        let (kind, resource) = (&request.resource.kind, &request.resource.id);
        let principal_id = &request.principal.id;
        let message = format!(
            "`{action}` of {kind} {resource}, requested by {principal_id}: {first}, {second}; no time was measured"
        );
        Failure::Message(Status::Disagreement, message)
    }
}

impl Workload {
    /// Reads the requests in `path`, and returns true if all of them can be used.
    pub(crate) fn read(path: &Path) -> Result<(Self, Status)> {
        let mut workload = Self { requests: Vec::new(), bytes: 0 };
        let status = requests::each(path, |mut call| call.each(|request| workload.push(request)))?;
        if workload.requests.is_empty() {
            return Err(Failure::request("no request is left to measure"));
        }
        Ok((workload, status))
    }

    fn push(&mut self, request: &Request) -> Result<()> {
        self.bytes = self.bytes.saturating_add(footprint(request));
        if self.bytes > MAX_MEASURED_BYTES {
            return Err(Failure::request(format!(
                "the requests take more than {MAX_MEASURED_BYTES} bytes of memory: measure a part of them"
            )));
        }
        self.requests.push(request.clone());
        Ok(())
    }

    /// Returns the requests: one for each resource of each call.
    pub(crate) fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Returns one question for each action of each request, in their order.
    pub(crate) fn questions<'w>(&'w self) -> Vec<Question<'w>> {
        let of = |request: &'w Request| {
            request.actions.iter().map(move |action| Question { request, action })
        };
        self.requests.iter().flat_map(of).collect()
    }
}

/// Returns the word for an answer.
pub(crate) const fn answer(allowed: bool) -> &'static str {
    if allowed { "allows" } else { "denies" }
}

/// Returns the memory that a request takes, roughly.
fn footprint(request: &Request) -> usize {
    let Request { principal, resource, aux_data, .. } = request;
    let maps = [&principal.attr, &resource.attr, &aux_data.jwt, &aux_data.jwts];
    let names: usize =
        principal.roles.iter().chain(&request.actions).map(|name| text(name) + ENTRY).sum();
    let ids = text(&principal.id) + text(&resource.id) + text(&resource.kind);
    size_of::<Request>() + ids + names + maps.into_iter().map(map).sum::<usize>()
}

fn map(map: &AttrMap) -> usize {
    map.entries().iter().map(|(name, value)| text(name) + attr(value)).sum()
}

/// The values were read with a bounded depth, so the recursion ends.
fn attr(value: &Attr) -> usize {
    ENTRY
        + match value {
            Attr::String(it) => text(it),
            Attr::List(items) => items.iter().map(attr).sum(),
            Attr::Map(it) => map(it),
            Attr::Null | Attr::Bool(_) | Attr::Number(_) => 0,
        }
}

/// An allocator rounds up.
const fn text(text: &str) -> usize {
    text.len().saturating_add(16)
}

/// The bytes of a value or a question in a list.
const ENTRY: usize = 32;

#[cfg(test)]
mod tests {
    use wardgate_engine::attr::Attr;
    use wardgate_engine::request::Request;

    use super::{Workload, footprint};
    use crate::failure::Failure;
    use crate::limits::MAX_MEASURED_BYTES;

    #[test]
    fn memory_is_bounded() {
        let mut workload = Workload { requests: Vec::new(), bytes: 0 };
        assert!(workload.push(&Request::default()).is_ok());
        workload.bytes = MAX_MEASURED_BYTES;
        let Err(Failure::Message(_, message)) = workload.push(&Request::default()) else {
            unreachable!()
        };
        let expected =
            "the requests take more than 268435456 bytes of memory: measure a part of them";
        assert_eq!((message.as_str(), workload.requests().len()), (expected, 1));
    }

    #[test]
    fn every_value_takes_memory() {
        let check = |value: Attr, least: usize| {
            let mut request = Request::default();
            let before = footprint(&request);
            request.resource.attr = [("it".into(), value)].into_iter().collect();
            assert!(footprint(&request) - before >= least, "{request:?}");
        };
        check(Attr::Null, size_of::<Attr>());
        check(Attr::String("x".repeat(1000).into()), 1000);
        check(Attr::List(vec![Attr::Null; 100]), 100 * size_of::<Attr>());
        let map = [("y".into(), Attr::List(vec![Attr::Bool(true); 100]))].into_iter().collect();
        check(Attr::Map(map), 100 * size_of::<Attr>());
    }

    #[test]
    fn every_action_is_a_question() {
        let mut workload = Workload { requests: Vec::new(), bytes: 0 };
        for actions in [vec!["view".to_owned()], vec!["edit".to_owned(), "sell".to_owned()]] {
            assert!(workload.push(&Request { actions, ..Request::default() }).is_ok());
        }
        let actions: Vec<_> = workload.questions().iter().map(|it| it.action).collect();
        assert_eq!(actions, ["view", "edit", "sell"]);
    }
}
