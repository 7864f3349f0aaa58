//! The short way answers as the whole one does, or leaves it to it.

use std::path::Path;
use std::sync::mpsc;
use std::task::{self, Poll, Waker};

use wardgate_compiler::{Enforcement, Options, compile_files};

use super::{Context, check, check_full, limited, try_fast};
use crate::config::Config;
use crate::http::charging::Answer;
use crate::http::reply::Result;
use crate::policies::source::{Lookup, Source, SourceError};
use crate::policies::state::Origin;
use crate::shared::Shared;

struct Bytes(Vec<u8>);

impl Source for Bytes {
    fn look(&mut self, _: bool) -> Result<Lookup, SourceError> {
        Ok(Lookup::Bundle(self.0.clone()))
    }

    fn name(&self) -> String {
        "the bundle".to_owned()
    }
}

fn shared(policy: &str) -> Shared {
    shared_of(&[("policy.yaml", policy)], &Options::default())
}

fn shared_of(files: &[(&str, &str)], options: &Options) -> Shared {
    shared_under(files, options, "")
}

fn shared_under(files: &[(&str, &str)], options: &Options, section: &str) -> Shared {
    let file = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
    let files: Vec<_> = files.iter().map(file).collect();
    let bundle = wardgate_bundle::pack(&compile_files(&files, options).unwrap().parts);
    let config = "[policies]\nbundle = \"none\"\ntrust = \"unsigned\"\n[http]\nmax-resources = 2\nmax-actions = 2\n";
    let config = Config::parse(&format!("{config}{section}"), Path::new("")).unwrap();
    let source: Box<dyn Source> = Box::new(Bytes(bundle.clone()));
    let origin = Origin { source: Some(source), ..Origin::default() };
    let state = origin.next(Some(&bundle), None).unwrap().unwrap();
    Shared::new(config, state, mpsc::channel().0).unwrap()
}

/// Both ways give `body` the same answer, and the short one answers by itself if it `is_short`.
fn compare(shared: &Shared, body: &str, is_short: bool) {
    let state = shared.state();
    let context = Context { state: &state, shared, caller: "" };
    let full = check_full(body.as_bytes(), context);
    let answered = check(body.as_bytes(), context).map(|answer| match answer {
        Answer::Written(body) => String::from_utf8(body.to_vec()).unwrap(),
        Answer::Charging(_) => panic!("these policies have no limits"),
    });
    assert_eq!(answered, full, "{body}");
    let fast = try_fast(body.as_bytes(), context);
    assert_eq!(fast.is_some(), is_short, "{body}");
    let Some(Ok(fast)) = fast else { return };
    let count = |effect: &str| u64::try_from(fast.json.matches(effect).count()).unwrap();
    assert_eq!(fast.allowed, count("EFFECT_ALLOW"), "{body}");
    assert_eq!(fast.denied, count("EFFECT_DENY"), "{body}");
}

fn call(principal: &str, entries: &str, more: &str) -> String {
    format!(r#"{{{more}"principal":{principal},"resources":[{entries}]}}"#)
}

const ADA: &str = r#"{"id":"ada","roles":["user"]}"#;

#[test]
fn usual_calls_are_answered_from_their_text() {
    let shared = shared(POLICY);
    let entry = r#"{"actions":["view","edit"],"resource":{"kind":"album","id":"a","attr":{"owner":"ada"}}}"#;
    compare(&shared, &call(ADA, entry, ""), true);
    compare(&shared, &call(ADA, entry, r#""requestId":"é 7","includeMeta":false,"#), true);
    compare(&shared, &call(ADA, &format!("{entry},{entry}"), r#""requestId":"","#), true);
    let turned = r#"{ "resource" : {"attr":{"owner":"bob","x":[1,{"y":null}]},"id":"b","kind":"album","policyVersion":"default"}, "actions" : [ "edit" ] }"#;
    compare(&shared, &call(ADA, turned, ""), true);
    compare(&shared, &call(ADA, turned, "").replace("default", "other"), true);
    let unknown = r#"{"actions":["view"],"resource":{"kind":"other","id":"b"}}"#;
    compare(&shared, &call(ADA, unknown, ""), true);
}

#[test]
fn unusual_and_wrong_calls_take_the_general_path() {
    let shared = shared(POLICY);
    let entry = r#"{"actions":["view"],"resource":{"kind":"album","id":"a"}}"#;
    for body in [
        String::new(),
        "{}".to_owned(),
        call(ADA, "", ""),
        call(ADA, entry, r#""includeMeta":true,"#),
        call(ADA, entry, r#""includeMeta":null,"#),
        call(ADA, entry, r#""auxData":{},"#),
        call(ADA, entry, r#""other":1,"#),
        call(ADA, entry, r#""requestId":"a\n","#),
        call(ADA, &format!("{entry},{entry},{entry}"), ""),
        call(r#"{"id":"","roles":["user"]}"#, entry, ""),
        call(r#"{"id":"ada","roles":[]}"#, entry, ""),
        call(r#"{"id":"ada","roles":["user","user"]}"#, entry, ""),
        call(r#"{"id":"ada","roles":["user",""]}"#, entry, ""),
        call(r#"{"id":"ada","roles":["user"],"kind":"x"}"#, entry, ""),
        call(r#"{"id":"ada","roles":["user"],"scope":"a..b"}"#, entry, ""),
        call(r#"{"id":"ada","roles":["user"],"policyVersion":"a-b"}"#, entry, ""),
        call(r#"{"id":"ada","roles":["user"],"attr":{"":1}}"#, entry, ""),
        call(ADA, &entry.replace("view", ""), ""),
        call(ADA, &entry.replace(r#""view""#, r#""a","b","c""#), ""),
        call(ADA, &entry.replace(r#""view""#, r#""a","a""#), ""),
        call(ADA, &entry.replace("album", ""), ""),
        call(ADA, &entry.replace(r#""id":"a""#, r#""id":"a","roles":["b"]"#), ""),
        call(ADA, &entry.replace(r#""id":"a""#, r#""id":"\u0061""#), ""),
        format!(r#"{{"resources":[{entry}],"principal":{ADA}}}"#),
        call(ADA, entry, "") + "x",
    ] {
        compare(&shared, &body, false);
    }
}

#[test]
fn bounds_are_the_same_both_ways() {
    let shared = shared(POLICY);
    let nested = |depth: usize| {
        let lists = "[".repeat(depth) + &"]".repeat(depth);
        let entry = format!(
            r#"{{"actions":["view"],"resource":{{"kind":"album","id":"a","attr":{{"x":{lists}}}}}}}"#
        );
        call(ADA, &entry, "")
    };
    compare(&shared, &nested(64), true);
    compare(&shared, &nested(65), false);
    let wide = |count: usize| {
        let many = vec!["0"; count].join(",");
        let entry = format!(
            r#"{{"actions":["view"],"resource":{{"kind":"album","id":"a","attr":{{"x":[{many}]}}}}}}"#
        );
        call(ADA, &entry, "")
    };
    compare(&shared, &wide(99_000), true);
    compare(&shared, &wide(100_000), false);
}

#[test]
fn kinds_with_outputs_take_the_general_path() {
    let output = "roles: [user], output: { when: { ruleActivated: '\"seen\"' } }";
    let shared = shared(&POLICY.replace("roles: [user]", output));
    let entry = r#"{"actions":["view"],"resource":{"kind":"album","id":"a"}}"#;
    compare(&shared, &call(ADA, entry, ""), false);
}

#[test]
fn kinds_with_schemas_take_the_general_path_if_a_fault_may_be_reported() {
    let schemas =
        "  resource: album\n  schemas: { resourceSchema: { ref: cerbos:///album.json } }\n";
    let with = POLICY.replacen("  resource: album\n", schemas, 1);
    let without = POLICY.replacen("album", "note", 1);
    let schema = r#"{"required":["owner"]}"#;
    let files = [("a.yaml", with.as_str()), ("b.yaml", &without), ("_schemas/album.json", schema)];
    for (schema_enforcement, is_short) in
        [(Enforcement::None, true), (Enforcement::Warn, false), (Enforcement::Reject, false)]
    {
        let options = Options { schema_enforcement, ..Options::default() };
        let shared = shared_of(&files, &options);
        let entry = |kind: &str| {
            format!(r#"{{"actions":["view"],"resource":{{"kind":"{kind}","id":"a"}}}}"#)
        };
        compare(&shared, &call(ADA, &entry("album"), ""), is_short);
        compare(&shared, &call(ADA, &entry("note"), ""), true);
        let both = [entry("note"), entry("album")].join(",");
        compare(&shared, &call(ADA, &both, ""), is_short);
        // Where schemas reject, fast paths know the requests that fit.
        let fits =
            r#"{"actions":["view"],"resource":{"kind":"album","id":"a","attr":{"owner":"a"}}}"#;
        compare(&shared, &call(ADA, fits, ""), schema_enforcement != Enforcement::Warn);
    }
}

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [user] }
    - { actions: [edit], effect: EFFECT_ALLOW, roles: [user], condition: { match: { expr: R.attr.owner == P.id } } }
"#;

/// Returns the text of an answer without its durations, which depend on the time, and its head.
fn charged(answer: Result<Answer>) -> Result<(String, Vec<String>)> {
    let Answer::Charging(charged) = answer? else { panic!("an action meets a limit") };
    let mut charged = charged;
    let Poll::Ready(charged) = charged.as_mut().poll(&mut task::Context::from_waker(Waker::noop()))
    else {
        panic!("the states are in memory");
    };
    let reply = charged.reply?;
    let names = reply.fields.iter().map(|(name, _)| name.to_string()).collect();
    let counts = format!("{:?}", charged.tally);
    let mut text = String::from_utf8(reply.body.to_vec()).unwrap();
    for name in ["\"resetMs\":", "\"retryAfterMs\":"] {
        let parts =
            text.split(name).map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        text = parts.collect::<Vec<_>>().join(name);
    }
    Ok((text + &counts, names))
}

#[test]
fn plain_limits_are_answered_as_on_the_general_path() {
    let limit = |fields: &str| {
        format!(
            "apiVersion: api.cerbos.dev/v1\nwardgateLimit: {{ window: 1d, resource: album, {fields} }}\n"
        )
    };
    let views = limit("name: views, actions: [view], key: [P.id], quota: 3");
    let all =
        limit("name: all, actions: ['*'], key: [R.attr.team, R.kind], quota: 4, algorithm: fixed");
    let seen = limit("name: seen, actions: ['*'], key: [], quota: 2, mode: shadow, charge: always");
    let files =
        [("album.yaml", ALBUM), ("views.yaml", &views), ("all.yaml", &all), ("seen.yaml", &seen)];
    let shared = || shared_under(&files, &Options::default(), "[ratelimit]\n");
    let (short, general) = (shared(), shared());
    let body = |id: &str, actions: &str, team: &str| {
        format!(
            "{{\"requestId\":\"r\",\"principal\":{{\"id\":\"{id}\",\"roles\":[\"user\"]}},\"resources\":[\
             {{\"actions\":[{actions}],\"resource\":{{\"kind\":\"album\",\"id\":\"a\",\"attr\":{{\"team\":{team}}}}}}},\
             {{\"actions\":[\"view\"],\"resource\":{{\"kind\":\"album\",\"id\":\"b\",\"scope\":\"\"}}}}]}}"
        )
    };
    for (id, actions, team) in [
        ("ada", "\"view\"", "\"red\""),
        ("ada", "\"view\",\"edit\"", "1"),
        ("ada", "\"edit\",\"view\"", "\"red\""),
        ("bob", "\"drop\",\"view\"", "\"red\""),
        ("bob", "\"view\"", "[1]"),
        ("bob", "\"view\"", "\"blue\""),
    ] {
        let body = body(id, actions, team);
        let (state, body) = (short.state(), body.as_bytes());
        let found = limited::check(body, Context { state: &state, shared: &short, caller: "" });
        let state = general.state();
        let of_general = Context { state: &state, shared: &general, caller: "" };
        let expected = limited::general(body, of_general);
        let body = String::from_utf8_lossy(body);
        assert_eq!(charged(found).unwrap(), charged(expected).unwrap(), "{body}");
    }
}

const ALBUM: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  rules:
    - { actions: [view, edit], roles: [user], effect: EFFECT_ALLOW }
";
