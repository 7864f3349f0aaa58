//! Questions as values, sent to the component directly: invalid values give no answer.

use wasmtime::component::{Component, Linker, ResourceAny};
use wasmtime::{Engine, Store};

use crate::{album, bundle, file};
use glue::exports::wardgate::pdp::types::{Answer, Moment, Plan, Target, Terms, Trust, Value};

/// The code generated from the description. Its lints are not ours.
#[allow(missing_docs, unreachable_pub, clippy::all)]
#[allow(clippy::as_conversions, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
mod glue {
    wasmtime::component::bindgen!({ world: "wardgate", path: "../component/wit" });
}

struct TextQuestion {
    store: Store<()>,
    calls: glue::Wardgate,
    pdp: ResourceAny,
}

impl TextQuestion {
    fn new(bundle: &[u8]) -> Self {
        let engine = Engine::default();
        let component = Component::from_binary(&engine, &file("wardgate.component.wasm")).unwrap();
        let mut store = Store::new(&engine, ());
        let linker = Linker::new(&engine);
        let calls = glue::Wardgate::instantiate(&mut store, &component, &linker).unwrap();
        let terms = Terms {
            trust: Trust::Unsigned,
            name: None,
            max_bytes: None,
            decides_after_expiry: false,
        };
        let at = Moment { now: None, min_revision: 0 };
        let open = calls.wardgate_pdp_decisions().pdp();
        let pdp = open.call_open(&mut store, bundle, &terms, at).unwrap().unwrap();
        Self { store, calls, pdp }
    }

    fn reload(&mut self, bundle: &[u8]) {
        let at = Moment { now: None, min_revision: 0 };
        let calls = self.calls.wardgate_pdp_decisions().pdp();
        calls.call_reload(&mut self.store, self.pdp, bundle, at).unwrap().unwrap();
    }

    fn prepare(&mut self, kind: &str, action: &str) -> Option<Plan> {
        let [kind, action] = [kind, action].map(str::to_owned);
        let (policy_version, scope) = (String::new(), String::new());
        let target = Target { kind, action, policy_version, scope };
        let calls = self.calls.wardgate_pdp_decisions().pdp();
        calls.call_prepare(&mut self.store, self.pdp, &target).unwrap()
    }

    fn decide(&mut self, fast_path: u64, roles: u32, values: &[Value]) -> Answer {
        let calls = self.calls.wardgate_pdp_decisions().pdp();
        calls.call_decide(&mut self.store, self.pdp, fast_path, roles, values, None).unwrap()
    }
}

const ADA: Value = Value::Text(1 << 24);
const BOB: Value = Value::Text((1 << 24) + 1);

#[test]
fn incomplete_values_are_unsure() {
    let mut question = TextQuestion::new(&bundle(&album("view")));
    let fast_path = question.prepare("album", "view").unwrap();
    assert_eq!(fast_path.slots.len(), 2, "{fast_path:?}");
    let (_, member) = fast_path.roles.iter().find(|(role, _)| role == "member").unwrap().clone();
    let mut check = |roles: u32, values: &[Value], expected: Answer| {
        assert_eq!(question.decide(fast_path.id, roles, values), expected, "{values:?}");
    };
    check(member, &[ADA, ADA], Answer::Allow);
    check(member, &[ADA, BOB], Answer::Deny);
    check(fast_path.others, &[ADA, ADA], Answer::Deny);
    check(0, &[ADA, ADA], Answer::Deny);
    check(member, &[ADA, Value::Missing], Answer::Deny);
    check(member, &[Value::Broken, ADA], Answer::Deny);
    check(member, &[Value::Null, Value::Boolean(true)], Answer::Deny);
    check(member, &[Value::Null, Value::Null], Answer::Allow);
    check(member, &[Value::Number(2.5), Value::Number(2.5)], Answer::Allow);
    check(member, &[Value::Number(0.0), Value::Number(-0.0)], Answer::Allow);
    check(member, &[Value::Number(2.5), Value::Number(2.0)], Answer::Deny);
    // Old values in the frame are never taken for those of a question.
    check(member, &[ADA], Answer::Unsure);
    check(member, &[], Answer::Unsure);
    check(member, &[ADA, ADA, ADA], Answer::Unsure);
    check(member, &vec![ADA; 100_000], Answer::Unsure);
    check(member, &[Value::Number(f64::NAN), Value::Number(f64::NAN)], Answer::Unsure);
    check(member, &[Value::Number(f64::INFINITY), Value::Number(1.0)], Answer::Unsure);
    // Words below 16 are not texts.
    for word in 0..16 {
        check(member, &[Value::Text(word), Value::Text(word)], Answer::Unsure);
    }
    check(member, &[ADA, ADA], Answer::Allow);
}

#[test]
fn a_fast_path_is_valid_for_one_bundle() {
    let [view, edit] = ["view", "edit"].map(|action| bundle(&album(action)));
    let mut question = TextQuestion::new(&view);
    let fast_path = question.prepare("album", "view").unwrap();
    assert_eq!(TextQuestion::new(&view).prepare("album", "view").unwrap().id, fast_path.id);
    let values = [ADA, ADA];
    assert_eq!(question.decide(fast_path.id, u32::MAX, &values), Answer::Allow);
    assert_eq!(question.decide(fast_path.id ^ 1 << 32, u32::MAX, &values), Answer::Stale);
    assert_eq!(question.decide(fast_path.id | 0xffff_ffff, u32::MAX, &values), Answer::Unsure);
    question.reload(&edit);
    assert_eq!(question.decide(fast_path.id, u32::MAX, &values), Answer::Stale);
    question.reload(&view);
    assert_eq!(question.decide(fast_path.id, u32::MAX, &values), Answer::Allow);
}

#[test]
fn an_unknown_target_has_no_fast_path() {
    let mut question = TextQuestion::new(&bundle(&album("view")));
    assert!(question.prepare("picture", "view").is_none());
    assert!(question.prepare("", "").is_none());
}
