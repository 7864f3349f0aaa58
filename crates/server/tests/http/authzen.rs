//! AuthZEN by policies: searches that answer as evaluations do, tokens, pages, and the metadata.

use serde_json::{Value, json};

use crate::running::{ASKER, KEEPER, OPEN, Running, bearer};

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [edit, "view:*"], effect: EFFECT_ALLOW, roles: [user] }
    - actions: [share]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: request.auxData.jwt.team == "red" } }
    - actions: [edit]
      effect: EFFECT_DENY
      roles: [user]
      condition: { match: { expr: 'request.auxData.jwt.?suspended.orValue(false)' } }
    - { actions: ["*"], effect: EFFECT_ALLOW, roles: [keeper] }
    - actions: [count]
      effect: EFFECT_ALLOW
      roles: [counter]
      condition: { match: { expr: 'P.attr.all.all(number, number >= 0.0)' } }
"#;

const INDEX: &[(&str, &str)] = &[
    ("index/subject.user.json", r#"[{"id":"ada"},{"id":"bo","properties":{"roles":["keeper"]}}]"#),
    ("index/resource.album.json", r#"[{"id":"a"},{"id":"b"},{"id":"c"}]"#),
    ("pages", "a secret of at least thirty-two bytes"),
];

/// Claims are taken as they come, so that the tests need no keys.
const CLAIMS: &str = "[aux-data]\ndisable-verification = true\n";
const SUSPENDED: &str = "e30.eyJzdXNwZW5kZWQiOnRydWV9.";
const RED: &str = "e30.eyJ0ZWFtIjoicmVkIn0.";

fn config(authzen: &str) -> String {
    format!("{OPEN}{CLAIMS}[authzen]\n{authzen}")
}

fn indexed() -> Running {
    Running::with_files(POLICY, &config("index = \"index\"\npage-key = \"pages\"\n"), INDEX)
}

fn post(server: &Running, path: &str, headers: &str, body: &Value) -> (u16, Value) {
    let (status, text) = server.post(&format!("/access/v1/{path}"), headers, &body.to_string());
    (status, serde_json::from_str(&text).unwrap())
}

fn tokens(token: &str) -> Value {
    json!({ "cerbos.auxData": { "jwt": { "token": token } } })
}

fn ids(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap().iter();
    results.map(|found| found.get("id").unwrap_or(&found["name"]).as_str().unwrap()).collect()
}

#[test]
fn searches_agree_with_evaluations_with_any_tokens() {
    let server = indexed();
    for token in [None, Some(SUSPENDED), Some(RED)] {
        let context = token.map_or_else(|| json!({}), tokens);
        for action in ["edit", "share", "view:public"] {
            let mut body = json!({
                "subject": { "type": "user", "id": "ada" }, "action": { "name": action },
                "resource": { "type": "album", "id": "a" }, "context": context,
            });
            let is_allowed = post(&server, "evaluation", "", &body).1["decision"] == true;
            let found = post(&server, "search/resource", "", &body).1;
            let expected = if is_allowed { vec!["a", "b", "c"] } else { vec![] };
            assert_eq!(ids(&found), expected, "{body}");
            let found = post(&server, "search/subject", "", &body).1;
            assert_eq!(ids(&found).contains(&"ada"), is_allowed, "{body}");
            body["candidates"] = json!([{ "name": action }]);
            let found = post(&server, "search/action", "", &body).1;
            assert_eq!(ids(&found).contains(&action), is_allowed, "{body}");
        }
    }
}

#[test]
fn a_refused_token_is_refused_by_searches_as_by_an_evaluation() {
    let server = indexed();
    for subject in ["ada", "nobody"] {
        let body = json!({
            "subject": { "type": "user", "id": subject }, "action": { "name": "edit" },
            "resource": { "type": "album", "id": "a" }, "context": tokens("a.b.c"),
        });
        for path in ["evaluation", "search/subject", "search/resource", "search/action"] {
            let (status, reply) = post(&server, path, "", &body);
            let message = "the token of `auxData.jwt` is refused: it is not a signed token";
            assert_eq!((status, &reply["message"]), (400, &json!(message)), "{path}");
        }
    }
}

#[test]
fn a_refused_token_denies_its_item_alone() {
    let server = indexed();
    let mut body = json!({
        "subject": { "type": "user", "id": "ada" }, "action": { "name": "edit" },
        "resource": { "type": "album", "id": "a" },
        "evaluations": [{}, { "context": tokens("a.b.c") }, {}, { "context": null }],
    });
    let (status, reply) = post(&server, "evaluations", "", &body);
    let decisions = reply["evaluations"].as_array().unwrap();
    let decided: Vec<_> = decisions.iter().map(|answer| &answer["decision"]).collect();
    assert_eq!(
        (status, decided),
        (200, vec![&json!(true), &json!(false), &json!(true), &json!(false)])
    );
    let why = |at: usize| decisions[at]["context"]["error"]["message"].as_str().unwrap();
    assert_eq!(why(1), "the token of `auxData.jwt` is refused: it is not a signed token");
    assert_eq!(why(3), "`context` must be an object, found null");
    body["context"] = tokens("a.b.c");
    body["evaluations"] = json!([{}, { "context": {} }]);
    let reply = post(&server, "evaluations", "", &body).1;
    let decisions = reply["evaluations"].as_array().unwrap();
    assert_eq!(
        (&decisions[0]["decision"], &decisions[1]["decision"]),
        (&json!(false), &json!(true))
    );
}

#[test]
fn tokens_of_one_request_are_bounded() {
    let server = indexed();
    let items: Vec<_> = (0..65).map(|_| json!({ "context": tokens(RED) })).collect();
    let body = json!({
        "subject": { "type": "user", "id": "ada" }, "action": { "name": "share" },
        "resource": { "type": "album", "id": "a" }, "evaluations": items,
    });
    let reply = post(&server, "evaluations", "", &body).1;
    assert_eq!(reply["evaluations"][63]["decision"], true);
    let expected = "the request brings more than 64 tokens to be verified";
    assert_eq!(reply["evaluations"][64]["context"]["error"]["message"], expected);
}

#[test]
fn metadata_cover_evaluations_behind_the_end_of_a_semantic() {
    let server = indexed();
    let send = |semantic: &str, items: Value| {
        let body = json!({
            "subject": { "type": "user", "id": "ada" }, "resource": { "type": "album", "id": "a" },
            "context": { "cerbos.includeMeta": true },
            "options": { "evaluations_semantic": semantic }, "evaluations": items,
        });
        let reply = post(&server, "evaluations", "", &body).1;
        let count = reply["evaluations"].as_array().unwrap().len();
        (count, reply["evaluations"][0]["context"]["cerbos.response"]["results"].to_string())
    };
    let items = json!([
        { "action": { "name": "share" } }, { "action": { "name": "edit" } },
        { "action": { "name": "view:later" } },
    ]);
    let (count, reply) = send("deny_on_first_deny", items.clone());
    assert!(count == 1 && reply.contains("share") && reply.contains("later"), "{count} {reply}");
    let (count, reply) = send("permit_on_first_permit", items.clone());
    assert!(count == 2 && reply.contains("edit") && reply.contains("later"), "{count} {reply}");
    let (count, reply) = send("execute_all", items);
    assert_eq!((count, reply.contains("later")), (3, true), "{reply}");
}

#[test]
fn metadata_join_an_action_with_several_properties() {
    let policy = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [pay], roles: ["*"], effect: EFFECT_ALLOW, output: { when: { ruleActivated: "request.auxData.jwts.action.claims.amount" } } }
"#;
    let server = Running::with_files(policy, &config(""), &[]);
    let paying =
        |amount: u32| json!({ "action": { "name": "pay", "properties": { "amount": amount } } });
    let body = json!({
        "subject": { "type": "user", "id": "ada" }, "resource": { "type": "album", "id": "a" },
        "context": { "cerbos.includeMeta": true },
        "evaluations": [paying(1), paying(999), paying(1)],
    });
    let reply = post(&server, "evaluations", "", &body).1;
    let outputs = &reply["evaluations"][0]["context"]["cerbos.response"]["results"][0]["outputs"];
    let values: Vec<_> = outputs.as_array().unwrap().iter().map(|output| &output["val"]).collect();
    assert_eq!(values, [&json!(1), &json!(999)], "{reply}");
}

#[test]
fn metadata_of_many_subjects_share_a_long_resource() {
    let server = indexed();
    let long: Vec<_> = (0..20_000).collect();
    let items: Vec<_> =
        (0..200).map(|at| json!({ "subject": { "type": "user", "id": at.to_string() } })).collect();
    let body = json!({
        "action": { "name": "edit" }, "context": { "cerbos.includeMeta": true },
        "resource": { "type": "album", "id": "a", "properties": { "long": long } },
        "evaluations": items,
    });
    let (status, reply) = post(&server, "evaluations", "", &body);
    let answers = reply["evaluations"].as_array().unwrap();
    assert_eq!((status, answers.len()), (200, 200));
    let is_alone = |answer: &Value| {
        answer["context"]["cerbos.response"]["results"].as_array().is_some_and(|all| all.len() == 1)
    };
    assert!(answers.iter().all(is_alone));
}

#[test]
fn without_an_index_entities_are_not_searched_nor_in_the_metadata() {
    let server = Running::with_files(POLICY, &config(""), &[]);
    let mut body = json!({
        "subject": { "type": "user", "id": "ada" }, "action": { "name": "edit" },
        "resource": { "type": "album", "id": "a" },
    });
    for path in ["search/subject", "search/resource"] {
        let (status, reply) = post(&server, path, "", &body);
        assert_eq!((status, &reply["error"]), (501, &json!("no-index")), "{path}");
    }
    assert_eq!(ids(&post(&server, "search/action", "", &body).1), ["edit"]);
    body["candidates"] = json!([{ "id": "x" }]);
    for path in ["search/subject", "search/resource"] {
        assert_eq!(ids(&post(&server, path, "", &body).1), ["x"], "{path}");
    }
    let metadata = |server: &Running| server.get("/.well-known/authzen-configuration", "").1;
    let (bare, full) = (metadata(&server), metadata(&indexed()));
    for name in ["search_subject_endpoint", "search_resource_endpoint"] {
        assert_eq!((bare.contains(name), full.contains(name)), (false, true), "{name}");
    }
    assert!(bare.contains("search_action_endpoint"), "{bare}");
}

#[test]
fn action_searches_list_names_and_never_patterns() {
    let server = indexed();
    let send = |subject: &str, more: Value| {
        let mut body = json!({
            "subject": { "type": "user", "id": subject }, "resource": { "type": "album", "id": "a" },
        });
        if !more.is_null() {
            body["candidates"] = more;
        }
        let found = post(&server, "search/action", "", &body).1;
        ids(&found).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(send("ada", Value::Null), ["edit"]);
    // A pattern of a rule allows a name that another rule has, and a name that the caller has.
    assert_eq!(send("bo", Value::Null), ["count", "edit", "share"]);
    let names = json!([{ "name": "view:public" }, { "name": "print" }, { "name": "edit" }]);
    assert_eq!(send("ada", names.clone()), ["view:public", "edit"]);
    assert_eq!(send("bo", names), ["view:public", "print", "edit"]);
}

#[test]
fn metadata_repeat_no_foreign_host() {
    let server = indexed();
    let port = server.address.port();
    let reply = |host: &str| {
        let request = format!(
            "GET /.well-known/authzen-configuration HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        );
        let (status, body) = crate::running::answer(&server.exchange(request.as_bytes()));
        assert_eq!(status, 200, "{host}");
        let reply: Value = serde_json::from_str(&body).unwrap();
        reply["policy_decision_point"].as_str().unwrap().to_owned()
    };
    let own = format!("http://127.0.0.1:{port}");
    for foreign in ["evil.example", "localhost", "localhost:1", "localhost.evil.example"] {
        assert_eq!(reply(foreign), own, "{foreign}");
    }
    let unusual =
        format!("GET / HTTP/1.1\r\nHost: evil@localhost:{port}\r\nConnection: close\r\n\r\n");
    assert_eq!(crate::running::answer(&server.exchange(unusual.as_bytes())).0, 400);
    assert_eq!(reply(&format!("evil.example:{port}")), own);
    assert_eq!(reply(&format!("localhost:{port}")), format!("http://localhost:{port}"));
}

#[test]
fn metadata_are_not_served_without_a_url() {
    let elsewhere = OPEN.replace("127.0.0.1:0", "0.0.0.0:0");
    let server = Running::with_files(POLICY, &elsewhere, &[]);
    let (status, reply) = server.get("/.well-known/authzen-configuration", "");
    assert_eq!((status, reply.contains(r#""error":"no-url""#)), (404, true), "{reply}");
    let known = format!("{elsewhere}[authzen]\nurl = \"https://pdp.example/tenant/\"\n");
    let server = Running::with_files(POLICY, &known, &[]);
    let (status, reply) = server.get("/.well-known/authzen-configuration/tenant", "");
    let expected = r#"{"policy_decision_point":"https://pdp.example/tenant","access_evaluation_endpoint":"https://pdp.example/tenant/access/v1/evaluation""#;
    assert_eq!((status, reply.starts_with(expected)), (200, true), "{reply}");
}

#[test]
fn tokens_of_pages_are_for_one_search_of_one_caller() {
    let config = format!(
        "{}[[auth.tokens]]\nname = \"asker\"\nfile = \"asker\"\n[[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\n{CLAIMS}\
         [authzen]\nindex = \"index\"\npage-key = \"pages\"\n",
        OPEN
    );
    let server = Running::with_files(POLICY, &config, INDEX);
    let search = |headers: &str, page: Value| {
        let body = json!({
            "subject": { "type": "user", "id": "ada" }, "action": { "name": "edit" },
            "resource": { "type": "album" }, "page": page,
        });
        post(&server, "search/resource", headers, &body)
    };
    let (status, first) =
        search(&bearer(ASKER), json!({ "limit": 1, "properties": { "order": "up" } }));
    let token = &first["page"]["next_token"];
    assert_eq!((status, ids(&first)), (200, vec!["a"]));
    let next = |headers: &str, page: Value| search(headers, page).0;
    let same = json!({ "token": token, "properties": { "order": "up" } });
    assert_eq!(ids(&search(&bearer(ASKER), same.clone()).1), ["b"]);
    assert_eq!(next(&bearer(KEEPER), same.clone()), 400);
    assert_eq!(next("", same), 400);
    assert_eq!(next(&bearer(ASKER), json!({ "token": token })), 400);
    assert_eq!(
        next(&bearer(ASKER), json!({ "token": token, "properties": { "order": "down" } })),
        400
    );
    assert_eq!(next(&bearer(ASKER), json!({ "limit": 0 })), 400);
}

/// A subject whose every decision takes so many steps that one request may have some dozens of
/// them.
fn counter() -> Value {
    let all: Vec<_> = (0..50_000).collect();
    json!({ "type": "user", "id": "c", "properties": { "roles": ["counter"], "all": all } })
}

#[test]
fn evaluations_share_one_budget_of_steps() {
    let server = indexed();
    for with_meta in [false, true] {
        let items: Vec<_> = (0..40).map(|_| json!({})).collect();
        let body = json!({
            "subject": counter(), "action": { "name": "count" }, "evaluations": vec![items; 10].concat(),
            "resource": { "type": "album", "id": "a" }, "context": { "cerbos.includeMeta": with_meta },
        });
        let (status, answer) = post(&server, "evaluations", "", &body);
        let answers = answer["evaluations"].as_array().unwrap();
        assert_eq!((status, answers.len()), (200, 400));
        let allowed = answers.iter().take_while(|answer| answer["decision"] == true).count();
        assert!((10..200).contains(&allowed), "{allowed}");
        let expected = "the questions of the request take more steps than one may";
        for answer in &answers[allowed..] {
            assert_eq!(answer["decision"], false);
            assert_eq!(answer["context"]["error"]["message"], expected);
        }
    }
}

#[test]
fn a_search_that_takes_too_much_ends_with_a_short_page_or_an_error() {
    let candidates: Vec<_> = (0..150).map(|id| json!({ "id": id.to_string() })).collect();
    let mut body = json!({
        "subject": counter(), "action": { "name": "count" }, "resource": { "type": "album" },
        "candidates": candidates,
    });
    let whole = Running::with_files(POLICY, &config(""), &[]);
    let (status, reply) = post(&whole, "search/resource", "", &body);
    let message = reply["message"].as_str().unwrap();
    assert_eq!((status, message.contains("more than 4000000 steps")), (400, true), "{reply}");
    let paged = indexed();
    let mut found = Vec::new();
    for page in 0.. {
        let (status, reply) = post(&paged, "search/resource", "", &body);
        assert_eq!(status, 200, "{reply}");
        assert!(page < 15 && !ids(&reply).is_empty(), "{page}");
        found.extend(ids(&reply).iter().map(ToString::to_string));
        let token = reply["page"]["next_token"].as_str().unwrap_or("");
        if token.is_empty() {
            assert!(page > 0, "all of it came at once");
            break;
        }
        body["page"] = json!({ "token": token });
    }
    let all: Vec<_> = (0..150).map(|id| id.to_string()).collect();
    assert_eq!(found, all);
}
