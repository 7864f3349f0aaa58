//! Plain limits meet and charge what the engine finds: generated limits and requests, both ways.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use fastrand::Rng;
use wardgate_bundle::{Conditions, Trust, open_with_limits, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::budget::Budget;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Decision;
use wardgate_engine::request::{Principal, Request, Resource};

use super::{
    Away, Few, LimitState, Limited, LimitedDecision, Limiter, Memory, MetLimit, Settings,
    Uncharged, WhenFull,
};
use wardgate_ratelimit::Outcome;
use wardgate_ratelimit_store::{Action, Demands, Store};

use crate::fast::request::RequestInput;
use crate::policies::Policies;

#[test]
fn plain_limits_are_charged_as_the_engine_says() {
    let mut random = Rng::with_seed(26);
    let (mut plain, mut general, mut refused) = (0, 0, 0);
    for _ in 0..60 {
        let bundle = bundle(&mut random);
        let memory = || Memory::new(1000, WhenFull::Deny);
        let opened = open_with_limits(&bundle, Trust::Unsigned, &Conditions::default()).unwrap();
        let policies = Policies::of(opened.table);
        let oracle = Limiter::new(memory(), &Settings::default());
        let open =
            || Limited::open(&bundle, Trust::Unsigned, memory(), Settings::default()).unwrap();
        let (checked, allowed) = (open(), open());
        for _ in 0..60 {
            let request = request(&mut random);
            let expected = ready(oracle.charge(by_engine(&policies, &request)));
            let found = ready(checked.check(&request, now()));
            assert_eq!(untimed(found.clone()), untimed(expected.clone()), "{request:?}");
            for (at, action) in expected.decision.actions.iter().enumerate() {
                let name = &action.action;
                let effect = ready(allowed.is_allowed(&request, name, now()));
                assert_eq!(effect.effect, action.effect, "{name} of {request:?}");
                let states: Vec<_> = expected.limits[at].iter().map(|one| &one.state).collect();
                refused += states.iter().filter(|state| state.is_refused()).count();
                let is_asked = |one: &MetLimit| one.remaining.is_some() && !one.is_shadow;
                assert_eq!(effect.outcome.is_some(), expected.limits[at].iter().any(is_asked));
                let input = RequestInput { request: &request, action: name };
                let of = policies.plain_limits_of(&input, true, &Budget::default());
                *if of.is_some() { &mut plain } else { &mut general } += 1;
            }
        }
    }
    assert!(plain > 1000 && general > 1000 && refused > 500, "{plain} {general} {refused}");
}

/// A memory that is not known to be one: its calls might wait.
struct Apart(Memory);

impl Store for Apart {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        Ok(self.0.apply(action, demands).into_vec())
    }
}

#[test]
fn actions_are_charged_as_if_one_followed_the_other() {
    let mut random = Rng::with_seed(27);
    for _ in 0..60 {
        let bundle = bundle(&mut random);
        let opened = open_with_limits(&bundle, Trust::Unsigned, &Conditions::default()).unwrap();
        let policies = Policies::of(opened.table);
        let limiter =
            || Limiter::new(Apart(Memory::new(1000, WhenFull::Deny)), &Settings::default());
        let (together, oracle) = (limiter(), limiter());
        for _ in 0..40 {
            let request = request(&mut random);
            let actions = by_engine(&policies, &request).actions;
            let charged = ready(together.charge_each(actions.clone()));
            for ((met, denied), limits) in charged.into_iter().zip(actions) {
                let (expected, reason) = ready(oracle.charge_action(limits));
                assert_eq!((without_times(met), denied), (without_times(expected), reason));
            }
        }
    }
}

/// Decides, and finds limits by the engine alone.
fn by_engine(policies: &Policies, request: &Request) -> Uncharged {
    let (decision, budget) = (policies.check(request, now()), Budget::default());
    let limits = decision.actions.iter().map(|action| {
        let of = (action.action.as_str(), action.effect);
        policies.limits_by_engine(request, of, now(), &budget)
    });
    Uncharged { actions: limits.collect(), decision }
}

/// Returns an answer without its durations, which depend on the time of the charge.
fn untimed(answer: LimitedDecision) -> (Decision, Vec<Vec<MetLimit>>) {
    (answer.decision, answer.limits.into_iter().map(without_times).collect())
}

fn without_times(limits: Few<MetLimit>) -> Vec<MetLimit> {
    let limits = limits.into_iter().map(|mut limit| {
        if let LimitState::Refused { retry } = &mut limit.state {
            *retry = 0;
        }
        MetLimit { reset: limit.reset.map(|reset| reset.min(1)), ..limit }
    });
    limits.collect()
}

/// Returns limits that compile: a constant cost must be one that a full key has.
fn bundle(random: &mut Rng) -> Vec<u8> {
    let mut tries =
        (0..100).filter_map(|_| compile_files(&files(random), &Options::default()).ok());
    pack(&tries.next().unwrap().parts)
}

fn files(random: &mut Rng) -> Vec<(String, Vec<u8>)> {
    let limits = (0..random.usize(1..6)).map(|number| {
        let text = format!(
            "apiVersion: api.cerbos.dev/v1\nwardgateLimit:\n  name: l{number}\n  window: 1d\n  \
             variables: {{ local: {{ id: P.id, five: '5' }} }}\n{}",
            fields(random)
        );
        (format!("limit{number}.yaml"), text.into_bytes())
    });
    limits.chain([("album.yaml".to_owned(), POLICY.as_bytes().to_vec())]).collect()
}

/// Returns the fields of a limit, mostly of a plain one.
fn fields(random: &mut Rng) -> String {
    let mut pick = |choices: &[&str]| choices[random.usize(..choices.len())].to_owned();
    let resource = pick(&["album", "album", "al*", "'*'", "other", "mqtt:client"]);
    let actions = pick(&["[view]", "[view, edit]", "['*']", "['e*']", "['share:*', view]"]);
    let key = pick(&[
        "[P.id]",
        "[P.id]",
        "[V.id]",
        "[]",
        "[P.id, R.kind, R.id]",
        "['\"all\"', P.attr.team]",
        "[P.attr.n, '7']",
        "[R.attr.a.b]",
        "[P.id + 'x']",
        "[P.scope]",
        "['7.0', 'true']",
        "[P.attr.team, P.id]",
    ]);
    let quota = pick(&["1", "2", "3", "V.five", "'4.7'", "'P.id == \"ada\" ? 2 : 1'"]);
    let cost = pick(&["1", "1", "0", "'0.5'", "2", "V.five", "size(P.id)"]);
    let condition = pick(&["", "", "", "  condition: { match: { expr: P.id != 'bob' } }\n"]);
    let algorithm = pick(&["gcra", "fixed"]);
    let mode = pick(&["enforce", "enforce", "shadow"]);
    let charge = pick(&["allowed", "always"]);
    let consistency = pick(&["exact", "exact", "local", "leased"]);
    format!(
        "  resource: {resource}\n  actions: {actions}\n  key: {key}\n  quota: {quota}\n  cost: {cost}\n\
         {condition}  algorithm: {algorithm}\n  mode: {mode}\n  charge: {charge}\n  consistency: {consistency}\n"
    )
}

fn request(random: &mut Rng) -> Request {
    let names = ["view", "edit", "share:link", "drop", "exit"];
    let mut actions: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    random.shuffle(&mut actions);
    actions.truncate(random.usize(1..=3));
    let mut pick = |choices: &[&str]| choices[random.usize(..choices.len())].to_owned();
    let (id, kind) =
        (pick(&["ada", "bob", "cy"]), pick(&["album", "album", "other", "mqtt:client"]));
    let long = "t".repeat(300);
    let team = match random.u8(..5) {
        0 => Attr::Null,
        1 => Attr::String(long.as_str().into()),
        _ => Attr::String("red".into()),
    };
    let number = [Attr::Number(7.0), Attr::Number(7.5), Attr::Bool(true), Attr::List(vec![])];
    let number = number[random.usize(..4)].clone();
    let inner: AttrMap = [("b".into(), Attr::Number(1e19))].into_iter().collect();
    let attr: AttrMap = [("team".into(), team), ("n".into(), number)].into_iter().collect();
    let nested: AttrMap = [("a".into(), Attr::Map(inner))].into_iter().collect();
    Request {
        principal: Principal {
            id,
            roles: vec!["user".to_owned()],
            attr: if random.u8(..5) == 0 { AttrMap::new() } else { attr },
            ..Principal::default()
        },
        resource: Resource {
            kind,
            id: "a".to_owned(),
            attr: if random.bool() { AttrMap::new() } else { nested },
            ..Resource::default()
        },
        actions,
        ..Request::default()
    }
}

/// Runs a future that never waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let done = match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    };
    done.unwrap()
}

const POLICY: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  rules:
    - { actions: [view, 'share:*', exit], roles: [user], effect: EFFECT_ALLOW }
    - { actions: [edit], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: P.id == 'ada' } } }
";

fn now() -> Timestamp {
    Timestamp::default()
}
