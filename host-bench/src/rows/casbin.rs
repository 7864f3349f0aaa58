//! casbin: a row of its policy for each rule.
//!
//! The values that a rule's condition reads are handed to it as flags of the request, computed
//! beforehand: the figure is the least that casbin takes.

use std::fmt::Display;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use casbin::{CoreApi, DefaultModel, Enforcer, StringAdapter};
use wardgate_engine::request::Request;

use crate::measure::{Row, Side};
use crate::request::{action, has_flag, has_role, owns};
use crate::rivals;
use crate::workload::Workload;

/// A request as this model defines it.
type Input = (String, String, bool, bool, bool, bool, bool);

/// Returns the row of casbin.
pub(crate) fn row<'a>(
    workload: &'a Workload,
    requests: &[Request],
    policy: &str,
) -> Result<Row<'a>, String> {
    let enforcer = load(policy)?;
    let inputs: Vec<Input> = requests.iter().map(input).collect();
    Ok(workload.cases(inputs).row(NAME, Side::Rival, move |input| {
        let (kind, action, viewer, editor, owner, public, locked) = input;
        let (kind, action) = (kind.as_str(), action.as_str());
        let input = (kind, action, *viewer, *editor, *owner, *public, *locked);
        enforcer.enforce(input).unwrap_or(false)
    }))
}

/// Reads a policy, as a program does that loads a new one.
pub(crate) fn load(policy: &str) -> Result<Enforcer, String> {
    let model = rivals::casbin_model(REQUEST, MATCHER);
    let model = at_once(DefaultModel::from_str(&model))?.map_err(message)?;
    at_once(Enforcer::new(model, StringAdapter::new(policy)))?.map_err(message)
}

fn input(request: &Request) -> Input {
    (
        request.resource.kind.clone(),
        action(request).to_owned(),
        has_role(request, "viewer"),
        has_role(request, "editor"),
        owns(request),
        has_flag(request, "public"),
        has_flag(request, "locked"),
    )
}

/// Ends a future that waits for nothing: the policy is in memory.
fn at_once<T>(future: impl Future<Output = T>) -> Result<T, String> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err("casbin: reading from memory waits for something".to_owned()),
    }
}

fn message(error: impl Display) -> String {
    format!("casbin: {error}")
}

const REQUEST: &str = "kind, act, viewer, editor, owner, public, locked";
const MATCHER: &str = "r.kind == p.kind && (r.act == p.act || r.act == p.other) && \
    ((p.cond == \"viewer\" && r.viewer) || (p.cond == \"public\" && r.public) || \
    (p.cond == \"editor\" && r.editor) || (p.cond == \"owner\" && r.owner) || \
    (p.cond == \"locked\" && r.locked))";
/// The version is pinned in the manifest.
const NAME: &str = "casbin 2.20.0";
