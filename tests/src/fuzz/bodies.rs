//! Bodies of requests over HTTP, from any client that can reach a server.
//!
//! Every body gets an answer in JSON, if only that there is no index to search; and a call that is
//! answered from its text is answered as if all of it were read, so that the fast way never allows
//! what the full reader denies.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value as Json;
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_server::Bodies;

use crate::http;

/// Answers the body: its first byte selects the endpoint.
///
/// # Panics
/// If an answer is no JSON, or if two ways to answer differ.
pub fn bodies(input: &[u8]) {
    let (Some(server), Some((first, body))) = (server(), input.split_first()) else { return };
    let paths: Vec<&str> = Bodies::paths().collect();
    let Some(path) = paths.get(usize::from(*first) % paths.len()) else { return };
    let (status, answer) = server.answer(path, body);
    // Brokers are told a denial by its status.
    let is_denial = status == 403 && path.starts_with("/mqtt/");
    assert!(
        is_denial || matches!(status, 200 | 400 | 413 | 501),
        "{path} is answered with {status}"
    );
    let is_json = serde_json::from_str::<Json>(&answer).is_ok();
    assert!(is_json, "{path} is answered with {answer}");
    let whole = server.answer_full(path, body);
    assert!(whole == (status, answer), "{path}: the answer is not {whole:?}");
}

pub(super) fn server() -> Option<&'static Bodies> {
    static SERVER: OnceLock<Option<Bodies>> = OnceLock::new();
    let server = || {
        let file = |(name, text): (&str, &str)| (name.to_owned(), text.as_bytes().to_vec());
        let files = [("album.yaml", ALBUM), ("note.yaml", NOTE)].map(file);
        let compiled = compile_files(&files, &Options::default()).ok()?;
        let config = "[auth]\nanonymous-queries = true\n[ratelimit]\n";
        http::bodies(pack(&compiled.parts), config, Path::new("")).ok()
    };
    SERVER.get_or_init(server).as_ref()
}

/// Returns the bodies that a fuzzer changes.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let with = |line: &str| {
        let (path, body) = line.split_once(' ')?;
        let index = Bodies::paths().position(|known| known == path)?;
        Some([&[u8::try_from(index).ok()?], body.as_bytes()].concat())
    };
    let seeds: Vec<_> = SEEDS.lines().filter_map(with).collect();
    assert!(seeds.len() == SEEDS.lines().count(), "every seed names a path that answers bodies");
    seeds
}

/// A path and a body on each line.
const SEEDS: &str = r#"/mqtt/authorize/emqx {"clientid":"c1","username":"ada","peerhost":"::1","action":"subscribe","topic":"$share/g/a/+/#","qos":1,"retain":"false"}
/mqtt/authorize/nanomq clientid=c1&username=ada&access=2&ipaddr=127.0.0.1&topic=a%2Fb+c
/mqtt/authorize/vernemq {"client_id":"c1","username":"ada","topics":[{"topic":"a/#","qos":1},{"topic":"a#","qos":2}]}
/mqtt/authorize/go-auth {"clientid":"c1","username":"ada","acc":3,"topic":"a/b"}
/api/check/resources {"requestId":"1","principal":{"id":"ada","roles":["user"],"attr":{"team":"red","level":2.5}},"resources":[{"actions":["view","edit","tag"],"resource":{"kind":"album","id":"a","attr":{"owner":"ada","public":true,"tags":["x","shared"],"place":{"team":"red"}}}}]}
/api/check/resources {"principal":{"id":"eve","roles":["user","editor"],"policyVersion":"default","scope":""},"resources":[{"actions":["edit"],"resource":{"kind":"album","id":"a"}},{"actions":["tag","rate"],"resource":{"kind":"album","id":"b","attr":{"stars":4,"name":"holiday 1","tags":[]}}}]}
/api/check/resources {"includeMeta":false,"principal":{"id":"bob","roles":["guest"]},"resources":[{"resource":{"attr":{"locked":false,"n":-1e9},"id":"b","kind":"note","scope":"acme"},"actions":["view"]}]}
/api/check/resources {"includeMeta":true,"auxData":{"jwt":{"token":"e30.e30.e30"}},"principal":{"id":"bob","roles":["user"]},"resources":[{"resource":{"id":"b","kind":"note"},"actions":["view"]}],"requestContext":{"annotations":{"a":1}}}
/api/check {"actions":["view"],"principal":{"id":"ada","roles":["user"]},"resource":{"kind":"album","instances":{"a":{"attr":{"owner":"ada"}},"b":{}}}}
/api/check_resource_batch {"principal":{"id":"ada","roles":["user"]},"resources":[{"actions":["view"],"resource":{"kind":"album","id":"a"}}]}
/access/v1/evaluation {"subject":{"type":"user","id":"ada","properties":{"roles":["user"]}},"action":{"name":"edit","properties":{}},"resource":{"type":"album","id":"a","properties":{"owner":"ada"}},"context":{"cerbos.includeMeta":true}}
/access/v1/evaluations {"subject":{"type":"user","id":"ada"},"action":{"name":"view"},"evaluations":[{"resource":{"type":"album","id":"a"}},{"resource":{"type":"album","id":"b"}}],"options":{"evaluations_semantic":"deny_on_first_deny"}}
/access/v1/search/subject {"subject":{"type":"user"},"action":{"name":"view"},"resource":{"type":"album","id":"a"},"page":{"limit":2}}
/access/v1/search/resource {"subject":{"type":"user","id":"ada"},"action":{"name":"view"},"resource":{"type":"album"}}
/access/v1/search/action {"subject":{"type":"user","id":"ada","properties":{"roles":["user"]}},"resource":{"type":"album","id":"a"}}
/ratelimit/check {"principal":{"id":"ada","roles":["user"]},"action":"view","resource":{"kind":"album","id":"a"}}
/ratelimit/status {"principal":{"id":"ada","roles":["user"]},"action":"view","resource":{"kind":"album","id":"a"},"limits":[]}
/ratelimit/reset {"principal":{"id":"ada","roles":["user"]},"action":"view","resource":{"kind":"album","id":"a"},"limits":["views"]}
/admin/explain {"principal":{"id":"ada","roles":["user"]},"resources":[{"actions":["tag"],"resource":{"kind":"album","id":"a","attr":{"tags":["\u0073hared"]}}}]}"#;

const ALBUM: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: R.attr.public == true } } }
    - actions: [edit]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { any: { of: [{ expr: R.attr.owner == P.id }, { expr: R.attr.place.team == P.attr.team }] } } }
    - { actions: [edit], effect: EFFECT_DENY, roles: [user], condition: { match: { expr: R.attr.locked == true } } }
    - { actions: [rate], effect: EFFECT_ALLOW, roles: [user], condition: { match: { expr: R.attr.stars > 3.0 } } }
    - actions: [tag]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: '"shared" in R.attr.tags || R.attr.name.startsWith("holiday")' } }
"#;

const NOTE: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: note
  rules:
    - { actions: ['*'], effect: EFFECT_ALLOW, roles: [user, guest], output: { when: { ruleActivated: '"seen " + R.id' } } }
"#;
