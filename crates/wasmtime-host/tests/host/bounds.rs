//! No policy hangs a host or exhausts its memory.

use std::time::Duration;

use serde_json::json;
use wardgate_wasmtime_host::{Code, HostError, Limits, Moment, Pdp, Terms};

use crate::{album, bundle, file, now, opened, request};

/// A condition that takes as many steps as a policy may.
const SLOW: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - actions: [view]
      effect: EFFECT_ALLOW
      roles: [member]
      condition:
        match:
          expr: R.attr.list.all(a, R.attr.list.all(b, a + b < 1000000.0))
";

#[test]
fn a_slow_call_ends_and_the_next_one_is_answered() {
    let list: Vec<u32> = (0..1400).collect();
    let slow = json!({
        "principal": { "id": "ada", "roles": ["member"] },
        "action": "view",
        "resource": { "kind": "album", "id": "a", "attr": { "list": list } },
    });
    let quick = json!({
        "principal": { "id": "ada", "roles": ["member"] },
        "action": "view",
        "resource": { "kind": "album", "id": "a", "attr": { "list": [1] } },
    });
    let limits = Limits { time: Duration::from_millis(1), ..Limits::default() };
    for form in ["wardgate_abi.wasm", "wardgate.component.wasm"] {
        let code = Code::compile(&file(form), limits).unwrap();
        // On a busy machine opening may take the time of a call too.
        let mut tries = (0..100)
            .map(|_| Pdp::open(&code, &bundle(SLOW), &Terms::unsigned(), Moment::default()));
        let mut session = tries.find_map(Result::ok).unwrap().session();
        let outcome = session.is_allowed(slow.to_string().as_bytes(), &now());
        assert_eq!(outcome, Err(HostError::OutOfTime), "{form}");
        // A busy machine may take the time of a quick call too.
        let mut answers =
            (0..100).map(|_| session.is_allowed(quick.to_string().as_bytes(), &now()));
        assert!(answers.any(|answer| answer == Ok(true)), "{form}");
    }
}

#[test]
fn a_call_beyond_its_memory_ends_and_the_next_one_is_answered() {
    // The initial memory of the module, and a little for the bundle.
    let limits = Limits { memory: 4 << 20, ..Limits::default() };
    let long = format!("{{\"{}\": 1}}", "x".repeat(3 << 20));
    for form in ["wardgate_abi.wasm", "wardgate.component.wasm"] {
        let code = Code::compile(&file(form), limits).unwrap();
        let mut session = opened(&code, &bundle(&album("view"))).session();
        match session.is_allowed(long.as_bytes(), &now()) {
            Err(HostError::Trapped { .. } | HostError::Refused { .. }) => {}
            other => panic!("{form}: {other:?}"),
        }
        assert_eq!(session.is_allowed(request("view").as_bytes(), &now()), Ok(true), "{form}");
    }
}

#[test]
fn instances_are_counted_and_come_back() {
    let limits = Limits { instances: 2, ..Limits::default() };
    for form in ["wardgate_abi.wasm", "wardgate.component.wasm"] {
        let code = Code::compile(&file(form), limits).unwrap();
        let pdp = opened(&code, &bundle(&album("view")));
        let view = request("view");
        for _ in 0..3 {
            let (mut one, mut other) = (pdp.session(), pdp.session());
            assert_eq!(one.is_allowed(view.as_bytes(), &now()), Ok(true), "{form}");
            assert_eq!(other.is_allowed(view.as_bytes(), &now()), Ok(true), "{form}");
            let third = pdp.is_allowed(view.as_bytes(), &now());
            assert!(matches!(third, Err(HostError::Busy { .. })), "{form}: {third:?}");
        }
        assert_eq!(pdp.is_allowed(view.as_bytes(), &now()), Ok(true), "{form}");
    }
}

#[test]
fn invalid_code_is_refused() {
    let mut cut = file("wardgate_abi.wasm");
    cut.truncate(1000);
    // The module of the component has imports that only the component satisfies.
    for code in [b"".to_vec(), b"policies".to_vec(), cut, file("carrier.wasm")] {
        let outcome = Code::compile(&code, Limits::default());
        assert!(matches!(outcome, Err(HostError::Code { .. })), "{outcome:?}");
    }
    // An empty module lacks all of the calls.
    let code = Code::compile(b"\0asm\x01\0\0\0", Limits::default()).unwrap();
    let bundle = bundle(&album("view"));
    let outcome = Pdp::open(&code, &bundle, &Terms::unsigned(), Moment::default());
    assert!(matches!(outcome, Err(HostError::Code { .. })), "{outcome:?}");
}
