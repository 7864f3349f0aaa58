//! Rate limits over HTTP, in memory and in a real Redis.

use serde_json::{Value, json};

use crate::redis_server::Server;
use crate::reload::block_on;
use crate::running::{KEEPER, OPEN, Running, answer, bearer, checked, compiled};

const ALBUMS: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view, edit, share], effect: EFFECT_ALLOW, roles: [user] }
---
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: note
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [user] }
";

const MEMORY: &str = "[ratelimit]\n";

/// Returns policies with limits for albums, each with its fields.
fn policies(limits: &[&str]) -> String {
    let limits = limits.iter().map(|fields| {
        format!("\n---\napiVersion: api.cerbos.dev/v1\nwardgateLimit: {{ resource: album, window: 1d, {fields} }}\n")
    });
    ALBUMS.to_owned() + &limits.collect::<String>()
}

fn start(limits: &[&str], section: &str) -> Running {
    let keeper = "[[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n";
    Running::start(&policies(limits), &format!("{OPEN}{keeper}{section}"))
}

fn call(id: &str, actions: &[&str]) -> String {
    let resource = json!({ "kind": "album", "id": "a" });
    json!({
        "principal": { "id": id, "roles": ["user"] },
        "resources": [{ "actions": actions, "resource": resource }],
    })
    .to_string()
}

fn of_limits(id: &str, limits: &[&str]) -> String {
    let resource = json!({ "kind": "album", "id": "a" });
    let principal = json!({ "id": id, "roles": ["user"] });
    json!({ "principal": principal, "action": "view", "resource": resource, "limits": limits })
        .to_string()
}

/// Posts a body. Returns the head of the answer in lower case, and its body.
fn post(server: &Running, path: &str, headers: &str, body: &str) -> (u16, String, Value) {
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
    );
    let text = server.exchange(request.as_bytes());
    let head = text.split("\r\n\r\n").next().unwrap().to_ascii_lowercase();
    let (status, body) = answer(&text);
    (status, head, serde_json::from_str(&body).unwrap())
}

fn check(server: &Running, id: &str, actions: &[&str]) -> (String, Value) {
    let (status, head, body) = post(server, "/api/check/resources", "", &call(id, actions));
    assert_eq!(status, 200, "{body}");
    (head, body["results"][0].clone())
}

fn effect(server: &Running, id: &str, action: &str) -> String {
    check(server, id, &[action]).1["actions"][action].as_str().unwrap().to_owned()
}

#[test]
fn a_decision_is_narrowed_and_reported() {
    let server =
        start(&["name: api, actions: [view], key: [P.id], quota: 2, algorithm: fixed"], MEMORY);
    let (head, first) = check(&server, "ada", &["view", "edit"]);
    assert_eq!(first["actions"], json!({ "view": "EFFECT_ALLOW", "edit": "EFFECT_ALLOW" }));
    let [output] = &first["outputs"].as_array().unwrap()[..] else { panic!("{first}") };
    assert_eq!((&output["src"], &output["action"]), (&json!("limit.api"), &json!("view")));
    let value = &output["val"];
    let known = [
        &value["name"],
        &value["quota"],
        &value["remaining"],
        &value["state"],
        &value["retryAfterMs"],
    ];
    assert_eq!(known, [&json!("api"), &json!(2), &json!(1), &json!("charged"), &json!(0)]);
    assert!(value["resetMs"].as_u64().unwrap() > 0);
    assert!(head.contains("\r\nratelimit-policy: \"api\";q=2;w=86400;pk=:"), "{head}");
    assert!(head.contains("\r\nratelimit: \"api\";r=1;t="), "{head}");
    assert!(!head.contains("retry-after") && !head.contains("x-ratelimit"), "{head}");
    assert_eq!(effect(&server, "ada", "view"), "EFFECT_ALLOW");
    let (head, third) = check(&server, "ada", &["view"]);
    assert_eq!(third["actions"]["view"], "EFFECT_DENY");
    assert_eq!(third["outputs"][0]["val"]["state"], "refused");
    assert!(head.contains("\r\nretry-after: "), "{head}");
    assert_eq!(effect(&server, "bob", "view"), "EFFECT_ALLOW");
    let metrics = server.get("/metrics", "").1;
    for line in [
        "wardgate_ratelimit_limits_total{limit=\"api\",outcome=\"charged\"} 3",
        "wardgate_ratelimit_limits_total{limit=\"api\",outcome=\"refused\"} 1",
        "wardgate_ratelimit_keys 2",
        "wardgate_decisions_total{effect=\"deny\"} 1",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    assert!(!metrics.contains("ada"));
}

#[test]
fn several_resources_are_charged_in_their_order() {
    let server = start(&["name: api, actions: [view, edit], key: [P.id], quota: 3"], MEMORY);
    let album = |id: &str| json!({ "actions": ["view", "edit"], "resource": { "kind": "album", "id": id } });
    let body = json!({ "principal": { "id": "ada", "roles": ["user"] }, "resources": [album("a"), album("b")] });
    let (_, head, body) = post(&server, "/api/check/resources", "", &body.to_string());
    let allowed = json!({ "view": "EFFECT_ALLOW", "edit": "EFFECT_ALLOW" });
    assert_eq!(body["results"][0]["actions"], allowed);
    assert_eq!(
        body["results"][1]["actions"],
        json!({ "view": "EFFECT_ALLOW", "edit": "EFFECT_DENY" })
    );
    assert_eq!(head.matches("\"api\"").count(), 2, "one key is told once in each field: {head}");
}

#[test]
fn all_limits_of_an_action_are_charged_or_none() {
    let server = start(
        &[
            "name: a, actions: [view], key: [P.id], quota: 9",
            "name: b, actions: [view], key: [], quota: 1",
        ],
        MEMORY,
    );
    assert_eq!(effect(&server, "ada", "view"), "EFFECT_ALLOW");
    for _ in 0..3 {
        let (_, denied) = check(&server, "ada", &["view"]);
        let states: Vec<&Value> = denied["outputs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|output| &output["val"]["state"])
            .collect();
        assert_eq!(states, ["untouched", "refused"]);
        assert_eq!(denied["outputs"][0]["val"]["remaining"], 8);
    }
}

#[test]
fn policies_decide_first_and_errors_deny() {
    let server = start(
        &[
            "name: a, actions: ['*'], key: [P.id], quota: 9, charge: always",
            "name: b, actions: [share], key: [P.attr.team], quota: 9",
            "name: c, actions: [edit], key: [P.id], quota: 1, mode: shadow",
        ],
        MEMORY,
    );
    let (_, denied) = check(&server, "ada", &["delete"]);
    assert_eq!(denied["actions"]["delete"], "EFFECT_DENY");
    assert_eq!(denied["outputs"][0]["val"]["state"], "charged");
    let (_, failed) = check(&server, "ada", &["share"]);
    assert_eq!(failed["actions"]["share"], "EFFECT_DENY");
    assert!(failed["outputs"][1]["error"].as_str().unwrap().contains("team"), "{failed}");
    for wait in [false, true] {
        let (head, edited) = check(&server, "ada", &["edit"]);
        assert_eq!(edited["actions"]["edit"], "EFFECT_ALLOW");
        let shadow = &edited["outputs"][1]["val"];
        assert_eq!(
            (shadow["state"].as_str(), shadow["retryAfterMs"].as_u64() > Some(0)),
            (Some("shadow"), wait)
        );
        assert!(!head.contains("\"c\""), "a shadow is in no field");
    }
}

#[test]
fn kinds_without_limits_are_answered_as_before() {
    let server = start(&["name: api, actions: ['*'], key: [], quota: 1"], MEMORY);
    let body = call("ada", &["view"]).replace("album", "note");
    for _ in 0..3 {
        let (_, head, answered) = post(&server, "/api/check/resources", "", &body);
        assert_eq!(answered["results"][0]["actions"]["view"], "EFFECT_ALLOW");
        assert!(answered["results"][0]["outputs"].is_null() && !head.contains("ratelimit"));
    }
}

#[test]
fn calls_that_charge_nothing_refuse_limits() {
    let server = start(&["name: api, actions: [view], key: [], quota: 1"], MEMORY);
    let set = r#"{"actions":["view"],"principal":{"id":"ada","roles":["user"]},"resource":{"kind":"album","instances":{"a":{}}}}"#;
    for (path, body) in
        [("/api/check", set), ("/api/check_resource_batch", &call("ada", &["view"]))]
    {
        let (status, _, refused) = post(&server, path, "", body);
        assert_eq!((status, &refused["error"]), (409, &json!("limits-not-charged")), "{path}");
        assert_eq!(post(&server, path, "", &body.replace("album", "note")).0, 200, "{path}");
    }
}

#[test]
fn evaluations_of_authzen_have_their_limits() {
    let server = start(&["name: api, actions: [view], key: [P.id], quota: 2"], MEMORY);
    let one = r#"{"subject":{"type":"user","id":"ada"},"action":{"name":"view"},"resource":{"type":"album","id":"a"}}"#;
    let (_, head, answered) = post(&server, "/access/v1/evaluation", "", one);
    assert_eq!(answered["decision"], true);
    assert_eq!(answered["context"]["limits"][0]["remaining"], 1);
    assert!(head.contains("\r\nratelimit: \"api\";r=1;t="), "{head}");
    let many = |semantic: &str| {
        format!(
            r#"{{"subject":{{"type":"user","id":"bob"}},"action":{{"name":"view"}},"options":{{"evaluations_semantic":"{semantic}"}},"evaluations":[
            {{"resource":{{"type":"note","id":"n"}}}},{{"resource":{{"type":"album","id":"a"}}}},{{"resource":{{"type":"album","id":"b"}}}},{{"resource":{{"type":"album","id":"c"}}}},{{"resource":{{"type":"album","id":"d"}}}}]}}"#
        )
    };
    let decisions = |answered: &Value| -> Vec<bool> {
        let all = answered["evaluations"].as_array().unwrap().iter();
        all.map(|one| one["decision"].as_bool().unwrap()).collect()
    };
    let (_, _, answered) = post(&server, "/access/v1/evaluations", "", &many("deny_on_first_deny"));
    assert_eq!(decisions(&answered), [true, true, true, false]);
    assert!(answered["evaluations"][0]["context"].is_null());
    assert_eq!(answered["evaluations"][3]["context"]["limits"][0]["state"], "refused");
    let body = many("permit_on_first_permit").replace("bob", "eve");
    let (_, _, answered) = post(&server, "/access/v1/evaluations", "", &body);
    assert_eq!(decisions(&answered), [true]);
    let body = body.replace(r#"{"resource":{"type":"note","id":"n"}},"#, "");
    let (_, _, answered) = post(&server, "/access/v1/evaluations", "", &body);
    assert_eq!(decisions(&answered), [true]);
    assert_eq!(
        answered["evaluations"][0]["context"]["limits"][0]["remaining"], 1,
        "the others are not charged"
    );
}

#[test]
fn metadata_of_an_evaluation_lists_limits_as_outputs() {
    let server = start(&["name: api, actions: [view], key: [P.id], quota: 2"], MEMORY);
    let one = r#"{"subject":{"type":"user","id":"ada"},"action":{"name":"view"},"resource":{"type":"album","id":"a"},"context":{"cerbos.includeMeta":true}}"#;
    let (_, _, answered) = post(&server, "/access/v1/evaluation", "", one);
    let output = &answered["context"]["cerbos.response"]["results"][0]["outputs"][0];
    assert_eq!((&output["src"], &output["val"]["remaining"]), (&json!("limit.api"), &json!(1)));
    let many = one.replace("\"context\"", "\"evaluations\":[{},{}],\"context\"");
    assert_eq!(post(&server, "/access/v1/evaluations", "", &many).0, 400);
}

#[test]
fn limits_are_charged_alone() {
    let server = start(
        &[
            "name: a, actions: [view], key: [P.id], quota: 1",
            "name: b, actions: [view], key: [P.id], quota: 9",
            "name: c, actions: [edit], key: [P.attr.team], quota: 9",
        ],
        "[ratelimit]\nlegacy-headers = true\n",
    );
    let (status, head, body) = post(&server, "/ratelimit/check", "", &of_limits("ada", &["a"]));
    assert_eq!(
        (status, &body["allowed"], body["limits"].as_array().unwrap().len()),
        (200, &json!(true), 1)
    );
    assert!(head.contains("\r\nx-ratelimit-limit: 1\r\nx-ratelimit-remaining: 0\r\n"), "{head}");
    let (status, _, body) = post(&server, "/ratelimit/status", "", &of_limits("ada", &["a", "b"]));
    assert_eq!((status, &body["allowed"]), (200, &json!(false)));
    assert_eq!(body["limits"][1]["remaining"], 9);
    let all = of_limits("ada", &[]).replace(r#""limits":[],"#, "");
    let (status, head, body) = post(&server, "/ratelimit/check", "", &all);
    assert_eq!((status, &body["violated-policies"]), (429, &json!(["a"])));
    assert_eq!(body["type"], "https://iana.org/assignments/http-problem-types#quota-exceeded");
    assert!(head.contains("\r\ncontent-type: application/problem+json\r\n"), "{head}");
    assert!(head.contains("\r\nretry-after: "), "{head}");
    assert_eq!(body["limits"][1]["state"], "untouched");

    assert_eq!(post(&server, "/ratelimit/reset", "", &of_limits("ada", &["a"])).0, 401);
    let (status, _, body) =
        post(&server, "/ratelimit/reset", &bearer(KEEPER), &of_limits("ada", &["a"]));
    assert_eq!((status, &body["limits"][0]["remaining"]), (200, &json!(1)));
    assert_eq!(post(&server, "/ratelimit/check", "", &of_limits("ada", &["a"])).0, 200);
    let failed = of_limits("ada", &["c"]).replace("\"view\"", "\"edit\"");
    let (status, _, body) = post(&server, "/ratelimit/check", "", &failed);
    assert_eq!((status, &body["error"]), (400, &json!("limit-error")));
}

#[test]
fn wrong_calls_of_limits_are_refused() {
    let server = start(&["name: a, actions: [view], key: [P.id], quota: 1"], MEMORY);
    let good = of_limits("ada", &["a"]);
    for (body, message) in [
        (String::new(), ""),
        ("[]".to_owned(), ""),
        (good.replace("\"a\"]", "\"x\"]"), "there is no limit `x`"),
        (good.replace("\"a\"]", "\"a\",\"a\"]"), ""),
        (good.replace("\"limits\"", "\"quota\""), "quota"),
        (good.replace("\"limits\":[\"a\"]", "\"limits\":[{\"name\":\"a\",\"quota\":9}]"), ""),
        (good.replace("\"view\"", "7"), ""),
        ("[".repeat(10_000), ""),
    ] {
        let (status, _, refused) = post(&server, "/ratelimit/check", "", &body);
        assert_eq!(status, 400, "{body}");
        assert!(refused["message"].as_str().unwrap().contains(message), "{refused}");
    }
    let form = format!(
        "POST /ratelimit/check HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{good}",
        good.len()
    );
    assert_eq!(
        answer(&server.exchange(form.as_bytes())).0,
        400,
        "a page of another site can send it"
    );
    assert_eq!(post(&server, "/ratelimit/check", "", &good).0, 200, "nothing was charged");
}

#[test]
fn policies_with_limits_need_their_section() {
    let server = Running::start(ALBUMS, OPEN);
    assert_eq!(post(&server, "/ratelimit/check", "", &of_limits("ada", &[])).0, 404);
    let limited = compiled(&policies(&["name: api, actions: [view], key: [], quota: 1"]));
    server.bundle.lock().unwrap().clone_from(&limited);
    let error = block_on(server.shared.reload()).unwrap_err();
    assert!(
        error.contains("rate limits, such as `api`") && error.contains("no section `[ratelimit]`"),
        "{error}"
    );
    assert_eq!(server.shared.state().serial(), 0);
}

#[test]
fn limits_of_mqtt_and_its_section_exclude_each_other() {
    let config = format!(
        "{OPEN}[ratelimit]\n[mqtt]\nlisten = \"127.0.0.1:0\"\nanonymous = true\n[mqtt.broker]\n"
    );
    let server = Running::start(ALBUMS, &config);
    let limits = ["name: api, actions: [view], key: [], quota: 1"];
    for (policies, is_refused) in [
        (policies(&limits), false),
        (
            policies(&limits).replace("resource: album, window", "resource: 'mqtt:client', window"),
            true,
        ),
    ] {
        server.bundle.lock().unwrap().clone_from(&compiled(&policies));
        let reloaded = block_on(server.shared.reload());
        assert_eq!(reloaded.is_err(), is_refused);
        if let Err(error) = reloaded {
            assert!(error.contains("`mqtt:client`") && error.contains("`[mqtt]`"), "{error}");
        }
    }
}

#[test]
fn a_reload_keeps_states_and_counts() {
    let limit = "name: api, actions: [view], key: [P.id], quota: 1";
    let server = start(&[limit], MEMORY);
    assert_eq!(effect(&server, "ada", "view"), "EFFECT_ALLOW");
    let next = policies(&[limit, "name: other, actions: [edit], key: [], quota: 1"]);
    server.bundle.lock().unwrap().clone_from(&compiled(&next));
    block_on(server.shared.reload()).unwrap();
    assert_eq!(effect(&server, "ada", "view"), "EFFECT_DENY");
    let metrics = server.get("/metrics", "").1;
    assert!(metrics.contains("{limit=\"api\",outcome=\"charged\"} 1\n"), "{metrics}");
    assert!(metrics.contains("{limit=\"other\",outcome=\"charged\"} 0\n"), "{metrics}");
}

#[test]
fn addresses_and_passwords_are_checked_before_anything_starts() {
    let section = |store: &str| format!("{OPEN}[ratelimit]\n{store}\n");
    assert_eq!(
        checked(&section("store = \"redis://127.0.0.1:1\"\npassword-file = \"keeper\"")),
        Ok(())
    );
    let error =
        checked(&section("store = \"redis://127.0.0.1:1\"\npassword-file = \"none\"")).unwrap_err();
    assert!(error.contains("cannot read") && error.contains("none"), "{error}");
    let error = checked(&section("store = \"redis://127.0.0.1:x\"")).unwrap_err();
    assert!(error.contains("ratelimit.store"), "{error}");
}

fn redis(server: &Server, more: &str) -> String {
    format!("[ratelimit]\nstore = \"{}\"\n{more}", server.address())
}

#[test]
fn servers_share_the_limits_in_redis() {
    let Some(redis_server) = Server::start("servers_share_the_limits_in_redis") else { return };
    let limits = [
        "name: a, actions: [view], key: [P.id], quota: 3",
        "name: b, actions: [edit], key: [P.id], quota: 100, consistency: leased",
    ];
    let servers = [(); 2].map(|()| start(&limits, &redis(&redis_server, "")));
    let effects = [0, 1, 0, 1, 0].map(|number: usize| effect(&servers[number], "ada", "view"));
    let (allow, deny) = ("EFFECT_ALLOW", "EFFECT_DENY");
    assert_eq!(effects, [allow, allow, allow, deny, deny]);
    assert_eq!(effect(&servers[0], "ada", "edit"), allow);
    let (status, ..) =
        post(&servers[1], "/ratelimit/reset", &bearer(KEEPER), &of_limits("ada", &["a"]));
    assert_eq!((status, effect(&servers[0], "ada", "view").as_str()), (200, allow));
}

#[test]
fn a_password_is_read_from_its_file() {
    let Some(free) = Server::start("a_password_is_read_from_its_file") else { return };
    let port = free.kill();
    let locked = Server::start_with(port, &["--requirepass", KEEPER]);
    let limit = ["name: a, actions: [view], key: [P.id], quota: 1, failure: deny"];
    let server = start(&limit, &redis(&locked, "password-file = \"keeper\"\n"));
    assert_eq!(effect(&server, "ada", "view"), "EFFECT_ALLOW");
    let server = start(&limit, &redis(&locked, ""));
    assert_eq!(effect(&server, "bob", "view"), "EFFECT_DENY");
}

#[test]
fn each_limit_says_what_holds_while_redis_is_away() {
    let Some(redis_server) = Server::start("each_limit_says_what_holds_while_redis_is_away") else {
        return;
    };
    let limits = [
        "name: local, actions: [view], key: [P.id], quota: 4",
        "name: deny, actions: [edit], key: [P.id], quota: 4, failure: deny",
        "name: allow, actions: [share], key: [P.id], quota: 4, failure: allow",
    ];
    let server = start(&limits, &redis(&redis_server, "share = 0.5\n"));
    assert_eq!(effect(&server, "ada", "view"), "EFFECT_ALLOW");
    let port = redis_server.kill();
    let views = [(); 3].map(|()| effect(&server, "ada", "view"));
    assert_eq!(
        views,
        ["EFFECT_ALLOW", "EFFECT_DENY", "EFFECT_DENY"],
        "one of the two of its share was used before"
    );
    let (head, denied) = check(&server, "ada", &["edit"]);
    assert_eq!(denied["actions"]["edit"], "EFFECT_DENY");
    assert_eq!(denied["outputs"][0]["val"]["state"], "store-away");
    assert!(head.contains("\r\nratelimit-policy: \"deny\""), "{head}");
    let edit = of_limits("ada", &[]).replace("\"view\"", "\"edit\"").replace(r#""limits":[],"#, "");
    let (status, _, problem) = post(&server, "/ratelimit/check", "", &edit);
    assert_eq!((status, &problem["violated-policies"]), (503, &json!(["deny"])));
    assert_eq!(
        problem["type"],
        "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
    );
    for _ in 0..6 {
        assert_eq!(effect(&server, "ada", "share"), "EFFECT_ALLOW");
    }
    let reset = post(&server, "/ratelimit/reset", &bearer(KEEPER), &of_limits("ada", &["local"]));
    assert_eq!(reset.0, 503, "the keys in Redis are not full");
    let metrics = server.get("/metrics", "").1;
    assert!(metrics.contains("wardgate_ratelimit_store_away 1\n"), "{metrics}");
    let _again = Server::start_at(port);
    // One check a second tries the store while it is away.
    let is_back = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        check(&server, "eve", &["edit"]).1["outputs"][0]["val"]["state"] == "charged"
    });
    assert!(is_back);
}
