//! Decisions with rate limits: policies first, then all limits of an action or none.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::decision::Reason;
use wardgate_engine::table::Evaluation;
use wardgate_native::limited::{
    Away, LimitState, Limited, LimitedDecision, Memory, Settings, WhenFull,
};
use wardgate_native::{
    Attr, Effect, OpenError, Pdp, Principal, Request, Resource, Timestamp, Trust,
};
use wardgate_ratelimit::Outcome;
use wardgate_ratelimit_store::{Action, Demands, Store};

const POLICY: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  rules:
    - { actions: [view, edit], roles: [user], effect: EFFECT_ALLOW }
";

/// A memory that can go away, and counts the calls.
#[derive(Clone)]
struct Switched(Arc<(Memory, AtomicBool, AtomicUsize)>);

impl Store for Switched {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        let (memory, is_away, calls) = &*self.0;
        calls.fetch_add(1, Ordering::Relaxed);
        match is_away.load(Ordering::Relaxed) {
            true => Err(Away::Lost),
            false => Ok(memory.apply(action, demands).into_vec()),
        }
    }

    async fn run_each(&self, checks: &[(Action, Demands)]) -> Vec<Result<Vec<Outcome>, Away>> {
        let mut all = Vec::new();
        let calls = self.0.2.load(Ordering::Relaxed);
        for (action, demands) in checks {
            all.push(self.run(*action, demands).await);
        }
        self.0.2.store(calls + 1, Ordering::Relaxed);
        all
    }
}

struct Host {
    pdp: Limited<Switched>,
    store: Switched,
}

impl Host {
    /// Compiles a policy that allows users to view and edit albums, and these limits.
    fn new(limits: &[&str]) -> Self {
        Self::under(limits, &Options::default())
    }

    fn under(limits: &[&str], options: &Options) -> Self {
        let memory = Memory::new(1000, WhenFull::Deny);
        let store = Switched(Arc::new((memory, AtomicBool::new(false), AtomicUsize::new(0))));
        let bundle = bundle(limits, options);
        let pdp = Limited::open(&bundle, Trust::Unsigned, store.clone(), Settings::default());
        Self { pdp: pdp.unwrap(), store }
    }

    fn away(&self, is_away: bool) {
        self.store.0.1.store(is_away, Ordering::Relaxed);
    }

    fn calls(&self) -> usize {
        self.store.0.2.swap(0, Ordering::Relaxed)
    }

    fn check(&self, request: &Request) -> LimitedDecision {
        block_on(self.pdp.check(request, Timestamp::default()))
    }

    /// Checks one action and returns its effect, reason, and the states of its limits.
    fn one(&self, request: &Request) -> (Effect, Reason, Vec<LimitState>) {
        let LimitedDecision { decision, limits } = self.check(request);
        assert_eq!(decision.actions.len(), 1);
        let action = decision.actions.first().unwrap();
        let states = limits.concat().into_iter().map(|limit| limit.state).collect();
        (action.effect, action.reason.clone(), states)
    }
}

fn bundle(limits: &[&str], options: &Options) -> Vec<u8> {
    let limits = limits.iter().enumerate().map(|(number, fields)| {
        let text = format!(
            "apiVersion: api.cerbos.dev/v1\nwardgateLimit: {{ resource: album, window: 1d, {fields} }}\n"
        );
        (format!("limit{number}.yaml"), text.into_bytes())
    });
    let files: Vec<_> =
        limits.chain([("album.yaml".to_owned(), POLICY.as_bytes().to_vec())]).collect();
    pack(&compile_files(&files, options).unwrap().parts)
}

fn request(id: &str, actions: &[&str]) -> Request {
    Request {
        principal: Principal {
            id: id.to_owned(),
            roles: vec!["user".to_owned()],
            ..Principal::default()
        },
        resource: Resource { kind: "album".to_owned(), id: "a".to_owned(), ..Resource::default() },
        actions: actions.iter().map(|action| (*action).to_owned()).collect(),
        ..Request::default()
    }
}

fn with(mut request: Request, name: &str, value: Attr) -> Request {
    let others = std::mem::take(&mut request.principal.attr);
    request.principal.attr = others.into_iter().chain([(name.into(), value)]).collect();
    request
}

/// Runs a future that never waits.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let done = match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    };
    done.unwrap()
}

fn limited(name: &str) -> Reason {
    Reason::Limited(name.to_owned())
}

#[test]
fn a_host_without_limits_refuses_them_by_name() {
    let bundle =
        bundle(&["name: api, actions: [view], key: [P.id], quota: 1"], &Options::default());
    let error = Pdp::open(&bundle, Trust::Unsigned).unwrap_err();
    assert_eq!(error.code(), "malformed");
    let message = "the policies have rate limits, which this host does not enforce";
    assert_eq!(error.to_string(), message);
    let without = bundle_without_limits();
    let pdp = Pdp::open(&without, Trust::Unsigned).unwrap();
    assert!(matches!(pdp.reload(&bundle, Trust::Unsigned), Err(OpenError::Malformed(_))));
}

fn bundle_without_limits() -> Vec<u8> {
    bundle(&[], &Options::default())
}

#[test]
fn a_key_is_refused_when_its_quota_is_used_up() {
    let host = Host::new(&["name: api, actions: [view], key: [P.id], quota: 2"]);
    let ada = request("ada", &["view"]);
    for remaining in [1, 0] {
        let LimitedDecision { decision, limits } = host.check(&ada);
        assert_eq!(decision.actions[0].effect, Effect::Allow);
        let [limit] = &limits[0][..] else { panic!("{limits:?}") };
        assert_eq!((&*limit.name, limit.quota, limit.cost), ("api", 2, 1));
        assert_eq!((&limit.state, limit.remaining), (&LimitState::Charged, Some(remaining)));
        assert_eq!(limit.window, Some(86_400_000_000));
    }
    let (effect, reason, states) = host.one(&ada);
    assert_eq!((effect, reason), (Effect::Deny, limited("api")));
    assert!(matches!(states[..], [LimitState::Refused { retry: 1.. }]), "{states:?}");
    assert_eq!(host.one(&request("bob", &["view"])).0, Effect::Allow);
    assert!(host.check(&request("ada", &["edit"])).limits[0].is_empty(), "another action");
}

#[test]
fn policies_decide_first() {
    let host = Host::new(&["name: api, actions: ['*'], key: [], quota: 1"]);
    host.calls();
    let (effect, reason, states) = host.one(&request("ada", &["delete"]));
    assert_eq!((effect, reason, states), (Effect::Deny, Reason::NoRuleApplied, vec![]));
    assert_eq!(host.calls(), 0, "a denied action charges nothing");
    assert_eq!(host.one(&request("ada", &["view"])).0, Effect::Allow);
}

#[test]
fn a_limit_that_always_charges_counts_denials() {
    let host =
        Host::new(&["name: attempts, actions: ['*'], key: [P.id], quota: 2, charge: always"]);
    for _ in 0..2 {
        let (effect, reason, states) = host.one(&request("ada", &["delete"]));
        assert_eq!((effect, reason), (Effect::Deny, Reason::NoRuleApplied));
        assert_eq!(states, [LimitState::Charged]);
    }
    let (effect, reason, _) = host.one(&request("ada", &["view"]));
    assert_eq!((effect, reason), (Effect::Deny, limited("attempts")));
    let (_, reason, states) = host.one(&request("ada", &["delete"]));
    assert_eq!(reason, Reason::NoRuleApplied, "the policies deny it by themselves");
    assert!(states[0].is_refused());
}

#[test]
fn all_limits_of_an_action_are_charged_or_none() {
    for place in ["exact", "leased", "local"] {
        let wide =
            format!("name: a, actions: [view], key: [P.id], quota: 10, consistency: {place}");
        let host = Host::new(&[&wide, "name: b, actions: [view], key: [], quota: 1"]);
        assert_eq!(host.one(&request("ada", &["view"])).0, Effect::Allow);
        for _ in 0..3 {
            let LimitedDecision { decision, limits } = host.check(&request("ada", &["view"]));
            assert_eq!(decision.actions[0].reason, limited("b"), "{place}");
            let [a, b] = &limits[0][..] else { panic!("{limits:?}") };
            assert_eq!((&a.state, a.remaining), (&LimitState::Spared, Some(9)), "{place}");
            assert!(b.state.is_refused());
        }
    }
}

#[test]
fn two_actions_of_a_check_are_charged_each_for_itself() {
    let host = Host::new(&["name: api, actions: [view, edit], key: [P.id], quota: 3"]);
    let both = request("ada", &["view", "edit", "view"]);
    let effects = |decision: LimitedDecision| -> Vec<Effect> {
        decision.decision.actions.iter().map(|action| action.effect).collect()
    };
    assert_eq!(effects(host.check(&both)), [Effect::Allow, Effect::Allow]);
    assert_eq!(effects(host.check(&both)), [Effect::Allow, Effect::Deny]);
}

#[test]
fn a_shadow_is_charged_and_denies_nothing() {
    let host = Host::new(&[
        "name: a, actions: [view], key: [P.id], quota: 1, mode: shadow",
        "name: b, actions: [view], key: [P.id], quota: 2",
        "name: c, actions: [view], key: [P.attr.team], quota: 2, mode: shadow",
    ]);
    let ada = request("ada", &["view"]);
    let (effect, _, states) = host.one(&ada);
    assert_eq!(effect, Effect::Allow);
    assert!(
        matches!(states[..], [LimitState::Charged, LimitState::Charged, LimitState::Failed { .. }]),
        "{states:?}"
    );
    let (effect, _, states) = host.one(&ada);
    assert_eq!(effect, Effect::Allow);
    assert!(states[0].is_refused() && states[1] == LimitState::Charged);
    assert_eq!(host.one(&ada).1, limited("b"));
}

#[test]
fn an_error_denies_also_in_lenient_tables() {
    let lenient = Options { evaluation: Evaluation::Lenient, ..Options::default() };
    for options in [Options::default(), lenient] {
        for fields in [
            "key: [P.attr.team], quota: 5",
            "key: [R.attr], quota: 5",
            "key: ['null'], quota: 5",
            "key: [], quota: P.attr.quota",
            "key: [], quota: P.id",
            "key: [], quota: 5, cost: P.attr.cost",
            "key: [], quota: 5, cost: 'size(P.id) - 9'",
            "key: [], quota: 'size(P.id) - 3'",
            "key: [], quota: 5, condition: { match: { expr: P.attr.is_guest } }",
            "key: [], quota: 5, condition: { match: { expr: P.id } }",
            "key: [], quota: 5, condition: { match: { none: { of: [{ expr: P.attr.is_guest }] } } }",
        ] {
            let host = Host::under(&[&format!("name: api, actions: [view], {fields}")], &options);
            let (effect, reason, states) = host.one(&request("ada", &["view"]));
            assert_eq!(effect, Effect::Deny, "{fields}");
            assert_eq!(reason, Reason::LimitError("api".to_owned()), "{fields}");
            assert!(matches!(states[..], [LimitState::Failed { .. }]), "{states:?}");
            assert_eq!(host.calls(), 0, "{fields}");
        }
    }
}

#[test]
fn an_error_of_one_limit_charges_no_other() {
    let host = Host::new(&[
        "name: a, actions: [view], key: [], quota: 1",
        "name: b, actions: [view], key: [P.attr.team], quota: 1",
    ]);
    assert_eq!(host.one(&request("ada", &["view"])).1, Reason::LimitError("b".to_owned()));
    let of_team = with(request("ada", &["view"]), "team", Attr::String("x".into()));
    assert_eq!(host.one(&of_team).0, Effect::Allow);
}

#[test]
fn cost_and_quota_come_from_the_request() {
    let host = Host::new(&[
        "name: api, actions: [view], key: [P.id, P.attr.size], quota: 'P.attr.size + 0.5', cost: P.attr.cost",
    ]);
    let ask = |size: f64, cost: f64| {
        let sized = with(request("ada", &["view"]), "size", Attr::Number(size));
        host.one(&with(sized, "cost", Attr::Number(cost)))
    };
    assert_eq!(ask(2.0, 3.0).2, [LimitState::Never]);
    assert_eq!(ask(2.0, 2.0).2, [LimitState::Charged]);
    assert!(matches!(ask(2.0, 1.0).2[..], [LimitState::Refused { .. }]));
    assert_eq!(ask(2.0, 0.0).0, Effect::Allow, "a cost of 0 only looks");
    assert_eq!(ask(3.0, 1.1).2, [LimitState::Charged], "rounded up to 2 of 3");
    assert!(matches!(ask(3.0, 2.0).2[..], [LimitState::Refused { .. }]));
    let (effect, reason, _) = ask(1e300, 1.0);
    assert_eq!((effect, reason), (Effect::Deny, Reason::LimitError("api".to_owned())));
}

#[test]
fn keys_of_other_types_are_other_keys() {
    let host = Host::new(&["name: api, actions: [view], key: [P.attr.key], quota: 1"]);
    let ask = |value: Attr| host.one(&with(request("ada", &["view"]), "key", value)).0;
    for value in [Attr::Number(1.0), Attr::String("1".into()), Attr::Bool(true)] {
        assert_eq!(ask(value.clone()), Effect::Allow);
        assert_eq!(ask(value), Effect::Deny);
    }
}

#[test]
fn each_limit_says_what_holds_while_its_store_is_away() {
    let limit = |failure: &str| {
        format!("name: api, actions: [view], key: [P.id], quota: 1, failure: {failure}")
    };
    let ada = request("ada", &["view"]);
    let deny = Host::new(&[&limit("deny")]);
    deny.away(true);
    let (effect, reason, _) = deny.one(&ada);
    assert_eq!((effect, reason), (Effect::Deny, Reason::StoreAway("api".to_owned())));
    deny.away(false);
    assert_eq!(deny.one(&ada).0, Effect::Allow);

    let allow = Host::new(&[&limit("allow")]);
    allow.away(true);
    for _ in 0..3 {
        let (effect, _, states) = allow.one(&ada);
        assert_eq!((effect, states), (Effect::Allow, vec![LimitState::Away { is_allowed: true }]));
    }

    let local = Host::new(&[&limit("local")]);
    local.away(true);
    assert_eq!(local.one(&ada).2, [LimitState::Charged]);
    assert_eq!(local.one(&ada).1, limited("api"));
}

/// A store that is the memory of the process charges once, wherever a limit is said to be.
#[test]
fn a_memory_charges_each_limit_once() {
    for place in ["exact", "leased", "local"] {
        let fields =
            format!("name: a, actions: [view], key: [P.id], quota: 100, consistency: {place}");
        let store = Arc::new(Memory::new(1000, WhenFull::Deny));
        let bundle = bundle(&[&fields], &Options::default());
        let settings = Settings::default();
        let pdp = Limited::open(&bundle, Trust::Unsigned, Arc::clone(&store), settings).unwrap();
        for remaining in [99, 98, 97] {
            let ada = request("ada", &["view"]);
            let checked = block_on(pdp.check(&ada, Timestamp::default()));
            assert_eq!(checked.limits[0][0].remaining, Some(remaining), "{place}");
        }
        assert_eq!(store.fill().0, 1, "{place}: one key of one table");
    }
}

#[test]
fn a_limit_of_the_process_needs_no_store() {
    let host = Host::new(&["name: api, actions: [view], key: [], quota: 1, consistency: local"]);
    host.away(true);
    assert_eq!(host.one(&request("ada", &["view"])).0, Effect::Allow);
    assert_eq!(host.one(&request("ada", &["view"])).1, limited("api"));
    assert_eq!(host.calls(), 0);
}

#[test]
fn a_reload_keeps_the_states() {
    let limit = "name: api, actions: [view], key: [P.id], quota: 1";
    let host = Host::new(&[limit]);
    assert_eq!(host.one(&request("ada", &["view"])).0, Effect::Allow);
    let again =
        bundle(&[limit, "name: other, actions: [edit], key: [], quota: 1"], &Options::default());
    let conditions = wardgate_native::Conditions::default();
    host.pdp.reload(&again, Trust::Unsigned, &conditions).unwrap();
    assert_eq!(host.one(&request("ada", &["view"])).1, limited("api"));
}

#[test]
fn an_action_meets_at_most_sixteen_limits() {
    let limits: Vec<String> =
        (0..17).map(|n| format!("name: l{n:02}, actions: [view], key: [], quota: 9")).collect();
    let limits: Vec<&str> = limits.iter().map(String::as_str).collect();
    assert_eq!(Host::new(&limits[1..]).one(&request("ada", &["view"])).0, Effect::Allow);
    let (effect, reason, _) = Host::new(&limits).one(&request("ada", &["view"]));
    assert_eq!((effect, reason), (Effect::Deny, Reason::LimitError("l16".to_owned())));
}

#[test]
fn a_request_without_steps_is_denied() {
    let text = "a".repeat(1 << 20);
    let host = Host::new(&[
        "name: api, actions: [view], key: [], quota: 9, condition: { match: { expr: 'P.attr.list.all(x, P.attr.list.all(y, x + y != \"\"))' } }",
    ]);
    let list = Attr::List(vec![Attr::String(text.as_str().into()); 64]);
    let (effect, reason, _) = host.one(&with(request("ada", &["view"]), "list", list));
    assert_eq!((effect, reason), (Effect::Deny, Reason::LimitError("api".to_owned())));
}

#[test]
fn the_example_of_the_page_compiles() {
    let page = include_str!("../../../../docs/ratelimit.md");
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let files = [("views.yaml".to_owned(), example.unwrap().as_bytes().to_vec())];
    let compiled = compile_files(&files, &Options::default()).unwrap();
    let opened = wardgate_bundle::open_with_limits(
        &pack(&compiled.parts),
        Trust::Unsigned,
        &wardgate_native::Conditions::default(),
    );
    let table = opened.unwrap().table;
    let names: Vec<_> = table.limits().map(|limit| (limit.name(), limit.burst())).collect();
    assert_eq!(names, [("views", Some(20))]);
}

#[test]
fn one_limit_in_memory_is_charged_without_an_allocation() {
    let bundle =
        bundle(&["name: api, actions: [view], key: [P.id], quota: 3"], &Options::default());
    let memory = Memory::new(100, WhenFull::Deny);
    let pdp = Limited::open(&bundle, Trust::Unsigned, memory, Settings::default()).unwrap();
    let (request, now) = (request("ada", &["view"]), Timestamp::default());
    for expected in [Effect::Allow, Effect::Allow, Effect::Allow, Effect::Deny] {
        let mut found = None;
        let counted = allocation_counter::measure(|| {
            found = Some(block_on(pdp.is_allowed(&request, "view", now)));
        });
        assert_eq!(found.map(|found| found.effect), Some(expected));
        assert_eq!(counted.count_total, 0);
    }
    let edited = block_on(pdp.is_allowed(&request, "edit", now));
    assert_eq!((edited.effect, edited.outcome), (Effect::Allow, None), "another action");
}

#[test]
fn all_actions_of_a_request_are_one_call() {
    let host = Host::new(&["name: api, actions: ['*'], key: [P.id], quota: 3, charge: always"]);
    let names = ["view", "edit", "a", "b", "c", "d", "e", "f", "g", "h"];
    let checked = host.check(&request("ada", &names));
    assert_eq!(host.calls(), 1);
    let states = checked.limits.concat().into_iter().map(|limit| limit.state);
    assert_eq!(states.filter(LimitState::is_refused).count(), 7);
    let host = Host::new(&[
        "name: api, actions: [view, edit], key: [P.id], quota: 1",
        "name: seen, actions: [view, edit], key: [], quota: 3, mode: shadow",
    ]);
    let checked = host.check(&request("ada", &["edit", "view"]));
    assert_eq!(host.calls(), 2, "shadows are the second");
    let remaining: Vec<_> = checked.limits.concat().iter().map(|limit| limit.remaining).collect();
    assert_eq!(remaining, [Some(0), Some(2), Some(0), Some(2)], "one is only looked at");
    host.away(true);
    let away = host.check(&request("bob", &["view", "edit"]));
    let reasons: Vec<_> = away.decision.actions.iter().map(|action| &action.reason).collect();
    assert!(matches!(reasons[..], [Reason::Rule(_), Reason::Limited(_)]), "{reasons:?}");
}
