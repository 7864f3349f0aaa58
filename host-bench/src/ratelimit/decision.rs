//! A decision and the charge of a limit in this process, beside the decision alone.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wardgate_bundle::Trust;
use wardgate_native::limited::{Limited, Memory, Settings, WhenFull};
use wardgate_native::{Effect, Pdp, Principal, Request, Resource, SystemClock};

use crate::arguments::Arguments;
use crate::entry::{Entry, figures};
use crate::measure::{Figure, Side};
use crate::report::{NATIVE, Section, duration};
use crate::workload::bundle;

pub(super) fn section(arguments: &Arguments) -> Result<Section, String> {
    let figures = measure(arguments)?;
    let time = |name: &str| {
        let figure = figures.iter().find(|figure| figure.name == name);
        figure.map_or(f64::NAN, |figure| figure.nanoseconds)
    };
    let added = |limited, alone| duration((time(limited) - time(alone)).max(0.0));
    let (check, allowed) = (added(LIMITED, CHECK), added(ALLOWED_LIMITED, ALLOWED));
    let mut section = Section::new(NAME, TITLE, "").with(NATIVE, figures);
    section.details = format!(
        "\nThe limit adds {check} to the decision with its reason, and {allowed} to that without.\n"
    );
    Ok(section)
}

fn measure(arguments: &Arguments) -> Result<Vec<Figure>, String> {
    let plain = bundle(&[("album.yaml", ALBUM)])?;
    let limited = bundle(&[("album.yaml", ALBUM), ("views.yaml", VIEWS)])?;
    let pdp = Pdp::open(&plain, Trust::Unsigned).map_err(|error| error.to_string())?;
    let open = |bundle| {
        let memory = Memory::new(1000, WhenFull::Deny);
        Limited::open(bundle, Trust::Unsigned, memory, Settings::default())
            .map_err(|error| error.to_string())
    };
    let (without, with) = (open(&plain)?, open(&limited)?);
    let request = request();
    let is_charged = |pdp: &Limited<Memory>, limits: usize| {
        let found = ready(pdp.check(&request, SystemClock));
        found.is_some_and(|found| {
            let action = found.decision.actions.first();
            action.is_some_and(|action| action.effect == Effect::Allow)
                && found.limits.iter().map(|limits| limits.len()).sum::<usize>() == limits
        })
    };
    let entries = vec![
        Entry::new(LIMITED, Side::Ours, |_| is_charged(&with, 1)),
        Entry::new(ALLOWED_LIMITED, Side::Ours, |_| {
            let found = ready(with.is_allowed(&request, "view", SystemClock));
            found.is_some_and(|found| found.effect == Effect::Allow && found.outcome.is_some())
        }),
        Entry::new("Wardgate, Limited::check that meets no limit", Side::Ours, |_| {
            is_charged(&without, 0)
        }),
        Entry::new(CHECK, Side::Ours, |_| {
            let decision = pdp.check(&request, SystemClock);
            decision.actions.first().is_some_and(|action| action.effect == Effect::Allow)
        }),
        Entry::new(ALLOWED, Side::Ours, |_| pdp.is_allowed(&request, "view", SystemClock)),
    ];
    figures(entries, arguments.bounds())
}

/// Returns the result of a future that waits for nothing.
fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

fn request() -> Request {
    Request {
        principal: Principal {
            id: "ada".into(),
            roles: vec!["user".into()],
            ..Principal::default()
        },
        resource: Resource { kind: "album".into(), id: "a1".into(), ..Resource::default() },
        actions: vec!["view".into()],
        ..Request::default()
    }
}

const NAME: &str = "ratelimit-decision";
const TITLE: &str = "A decision and a limit in this process";
const LIMITED: &str = "Wardgate, Limited::check with one local limit";
const CHECK: &str = "Wardgate, Pdp::check";
const ALLOWED_LIMITED: &str = "Wardgate, Limited::is_allowed with one local limit";
const ALLOWED: &str = "Wardgate, Pdp::is_allowed";

const ALBUM: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  rules:
    - { actions: [view], roles: [user], effect: EFFECT_ALLOW }
"#;

const VIEWS: &str = r#"
apiVersion: api.cerbos.dev/v1
wardgateLimit:
  name: views
  resource: album
  actions: [view]
  key: [P.id]
  quota: 1000000000
  window: 1h
  consistency: local
"#;
