//! Calls whose values are long.

use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;

use super::{Answered, CallLimits};
use crate::fast::json::reread;
use crate::policies::Policies;

/// Answers a call about 32 actions of a principal with so many teams, and counts the bytes that
/// were read again.
fn input(teams: usize, nested: bool) -> (Option<Answered>, usize, usize) {
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let files = [file("album.yaml", ALBUM), file("led.yaml", LED)];
    let compiled = compile_files(&files, &Options::default()).unwrap();
    let bundle = pack(&compiled.parts);
    let policies =
        Policies::of(open(&bundle, Trust::Unsigned, &Conditions::default()).unwrap().table);
    let teams: Vec<_> = (0..teams).map(|team| format!("\"team-{team:06}\"")).collect();
    let teams = format!("[{}]", teams.join(","));
    let attributes = if nested {
        format!("{{\"org\":{{\"lead\":\"x\",\"teams\":{teams}}}}}")
    } else {
        format!("{{\"teams\":{teams}}}")
    };
    let kind = if nested { "led" } else { "album" };
    let actions: Vec<_> = (0..32).map(|at| format!("\"view-{at}\"")).collect();
    let call = format!(
        "{{\"principal\":{{\"id\":\"ada\",\"roles\":[\"member\"],\"attr\":{attributes}}},\"resources\":[{{\"actions\":[{}],\
         \"resource\":{{\"kind\":\"{kind}\",\"id\":\"a\",\"attr\":{{\"team\":\"team-000001\",\"lead\":\"x\"}}}}}}]}}",
        actions.join(",")
    );
    let limits = CallLimits { resources: 10, actions: 50, steps: u32::MAX };
    reread::take();
    let answered = policies.answer_call(call.as_bytes(), limits, Timestamp::default());
    (answered, reread::take(), call.len())
}

#[test]
fn values_of_a_usual_call_are_read_for_each_action() {
    for nested in [false, true] {
        let (answered, reread, _) = input(40, nested);
        assert_eq!(answered.map(|answered| (answered.allowed, answered.denied)), Some((32, 0)));
        assert!(reread > 0);
    }
}

#[test]
fn long_values_are_not_read_again_for_each_action() {
    for nested in [false, true] {
        for teams in [1_000, 20_000] {
            let (answered, reread, length) = input(teams, nested);
            assert_eq!(answered, None, "{teams}: it is for the general way");
            assert!(reread <= length + (64 << 10), "{teams}: {reread} bytes of {length}");
        }
    }
}

const ALBUM: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: ["*"], effect: EFFECT_ALLOW, roles: [member], condition: { match: { expr: R.attr.team in P.attr.teams } } }
"#;

const LED: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: led
  rules:
    - actions: ["*"]
      effect: EFFECT_ALLOW
      roles: [member]
      condition: { match: { expr: R.attr.lead == P.attr.org.lead } }
"#;
