//! Compared with an oracle: each question converted by itself gives the request that it gives among
//! others.

use super::*;
use crate::protocol::authzen::{Evaluations, NoDirectory, evaluations};

const SHARED: [(&str, &str); 4] = [
    ("subject", r#"{"type": "user", "id": "ada", "properties": {"roles": ["a"], "n": [1]}}"#),
    ("action", r#"{"name": "view", "properties": {"soft": true}}"#),
    ("resource", r#"{"type": "album", "id": "x", "properties": {"owner": "ada"}}"#),
    ("context", r#"{"ip": "10.0.0.1"}"#),
];

const OWN: [(&str, &str); 4] = [
    ("subject", r#"{"type": "robot", "id": "r2"}"#),
    ("action", r#"{"name": "edit"}"#),
    ("resource", r#"{"type": "photo", "id": "y", "properties": {"cerbos.scope": "acme"}}"#),
    ("context", r#"{"night": true}"#),
];

/// Reads a request whose items are these.
fn read(
    shared: &[(&str, &str)],
    items: &[String],
) -> (Vec<Result<Evaluation, AuthzenError>>, Shared) {
    let members = |members: &[(&str, &str)]| {
        members.iter().map(|(name, value)| format!("\"{name}\": {value}, ")).collect::<String>()
    };
    let json = format!("{{{}\"evaluations\": [{}]}}", members(shared), items.join(","));
    match evaluations(json.as_bytes()).unwrap() {
        Evaluations::Many { items, shared, .. } => (items, shared),
        Evaluations::One(_) => panic!("{json}"),
    }
}

/// Returns all items that name some members themselves and leave out the others, each followed by
/// each.
fn all_items() -> Vec<String> {
    let item = |which: usize| {
        let own = OWN.iter().enumerate().filter(|(at, _)| which >> at & 1 == 1);
        let own: Vec<String> =
            own.map(|(_, (name, value))| format!("\"{name}\": {value}")).collect();
        format!("{{{}}}", own.join(","))
    };
    (0..256).flat_map(|pair| [item(pair / 16), item(pair % 16)]).collect()
}

fn no_tokens(_: &Attr) -> Result<AuxData, String> {
    Err("there are no tokens".to_owned())
}

#[test]
fn questions_among_others_give_the_requests_that_they_give_alone() {
    let (items, shared) = read(&SHARED, &all_items());
    let mut requests = Requests::new(&shared, &NoDirectory, &no_tokens);
    for item in items {
        let question = item.unwrap();
        let alone = question.request(&NoDirectory).unwrap();
        let among = requests.with(&question, Request::clone).unwrap();
        assert_eq!(among, alone);
    }
}

#[test]
fn a_part_that_cannot_be_converted_fails_the_questions_that_need_it() {
    let wrong = r#"{"type": "user", "id": "ada", "properties": {"cerbos.roles": 1}}"#;
    let shared = [("subject", wrong), SHARED[1], SHARED[2]];
    let own = format!("{{\"subject\": {}}}", OWN[0].1);
    let bad_resource =
        r#"{"resource": {"type": "a", "id": "b", "properties": {"cerbos.scope": 1}}}"#;
    let items = ["{}".to_owned(), own.clone(), bad_resource.to_owned(), "{}".to_owned(), own];
    let (items, shared) = read(&shared, &items);
    let mut requests = Requests::new(&shared, &NoDirectory, &no_tokens);
    let allowed = items.iter().map(|item| {
        let question = item.as_ref().unwrap();
        requests.with(question, |request| request.principal.id == "r2").unwrap_or(false)
    });
    assert_eq!(allowed.collect::<Vec<_>>(), [false, true, false, false, true]);
}

#[test]
fn shared_tokens_are_verified_once_and_refused_ones_fail_alone() {
    let calls = std::cell::Cell::new(0);
    let verify = |tokens: &Attr| {
        calls.set(calls.get() + 1);
        let claims: AttrMap = [("team".into(), Attr::String("red".into()))].into_iter().collect();
        match tokens {
            Attr::Bool(true) => Ok(AuxData { jwt: claims, jwts: AttrMap::new() }),
            // A token with the name of the action's claims.
            Attr::Null => {
                let jwts = [(ACTION.into(), Attr::Map(claims))];
                Ok(AuxData { jwt: AttrMap::new(), jwts: jwts.into_iter().collect() })
            }
            _ => Err("refused".to_owned()),
        }
    };
    let shared = [SHARED[0], SHARED[1], SHARED[2], ("context", r#"{"cerbos.auxData": true}"#)];
    let with = |tokens: &str| format!(r#"{{"context": {{"cerbos.auxData": {tokens}}}}}"#);
    let items = ["{}".to_owned(), with("false"), with("null"), "{}".to_owned(), "{}".to_owned()];
    let (items, shared) = read(&shared, &items);
    let mut requests = Requests::new(&shared, &NoDirectory, &verify);
    let mut seen = |item: &Result<Evaluation, AuthzenError>| {
        requests.with(item.as_ref().unwrap(), |request| {
            let action = request.aux_data.jwts.get(ACTION).cloned();
            (!request.aux_data.jwt.entries().is_empty(), action)
        })
    };
    let seen: Vec<_> = items.iter().map(&mut seen).collect();
    let soft = claims(&[("soft".into(), Attr::Bool(true))].into_iter().collect());
    assert_eq!(seen[0], Ok((true, Some(soft))));
    assert_eq!(seen[1], Err(AuthzenError::new("refused".to_owned())));
    let red: AttrMap = [("team".into(), Attr::String("red".into()))].into_iter().collect();
    assert_eq!(seen[2], Ok((false, Some(Attr::Map(red)))));
    assert_eq!((&seen[3], &seen[4]), (&seen[0], &seen[0]));
    assert_eq!(calls.get(), 3);
}

#[test]
fn a_member_that_is_null_is_not_left_out() {
    for (name, _) in SHARED {
        let (items, _) = read(&SHARED, &[format!("{{\"{name}\": null}}")]);
        let error = items[0].as_ref().unwrap_err().to_string();
        assert_eq!(error, format!("`{name}` must be an object, found null"));
    }
}
