use super::*;

fn limit(name: &str, state: LimitState) -> MetLimit {
    MetLimit {
        name: name.into(),
        is_shadow: false,
        key: Some([7; 16]),
        quota: 100,
        window: Some(60_000_000),
        cost: 1,
        state,
        remaining: Some(50),
        reset: Some(29_000_001),
    }
}

#[track_caller]
fn check(limits: &[MetLimit], has_legacy: bool, expected: &[(&str, &str)]) {
    let mut fields = Fields::default();
    limits.iter().for_each(|limit| fields.add(limit));
    let found = fields.headers(has_legacy);
    let found: Vec<(&str, &str)> =
        found.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    assert_eq!(found, expected);
}

const PK: &str = ";pk=:BwcHBwcHBwcHBwcHBwcHBw==:";

#[test]
fn all_limits_are_told_while_none_refuses() {
    let month = MetLimit {
        window: None,
        key: Some(*Key::new([]).bytes()),
        ..limit("m", LimitState::Spared)
    };
    let shadow = MetLimit { is_shadow: true, ..limit("s", LimitState::Charged) };
    let failed = MetLimit { key: None, ..limit("f", LimitState::Spared) };
    let all = [limit("a", LimitState::Charged), month, shadow, failed];
    let policy = format!("\"a\";q=100;w=60{PK}, \"m\";q=100");
    let told = format!("\"a\";r=50;t=30{PK}, \"m\";r=50;t=30");
    check(&all, false, &[("ratelimit-policy", &policy), ("ratelimit", &told)]);
    check(&[], true, &[]);
}

#[test]
fn a_refusal_is_told_alone_with_the_time_to_wait() {
    let refused =
        MetLimit { remaining: Some(0), ..limit("b", LimitState::Refused { retry: 1_000_001 }) };
    let policy = format!("\"a\";q=100;w=60{PK}, \"b\";q=100;w=60{PK}");
    let told = format!("\"b\";r=0;t=2{PK}");
    let both = [limit("a", LimitState::Spared), refused];
    let fields =
        [("ratelimit-policy", policy.as_str()), ("ratelimit", &told), ("retry-after", "2")];
    check(&both, false, &fields);
    let legacy =
        [("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "30")];
    check(&both, true, &[&fields[..], &legacy].concat());
}

#[test]
fn a_cost_that_never_will_be_there_has_no_time() {
    let policy = format!("\"a\";q=100;w=60{PK}");
    let told = format!("\"a\";r=50{PK}");
    let fields = [("ratelimit-policy", policy.as_str()), ("ratelimit", &told)];
    check(&[limit("a", LimitState::Never)], false, &fields);
}

#[test]
fn a_store_that_is_away_has_no_numbers() {
    let away = MetLimit {
        remaining: None,
        reset: None,
        ..limit("a", LimitState::Away { is_allowed: false })
    };
    let policy = format!("\"a\";q=100;w=60{PK}");
    check(&[away], true, &[("ratelimit-policy", &policy)]);
}

#[test]
fn a_key_is_told_once_as_it_is_last_and_a_refusal_stays() {
    let less = MetLimit { remaining: Some(49), ..limit("a", LimitState::Charged) };
    let policy = format!("\"a\";q=100;w=60{PK}");
    let told = format!("\"a\";r=49;t=30{PK}");
    let fields = [("ratelimit-policy", policy.as_str()), ("ratelimit", &told)];
    check(&[limit("a", LimitState::Charged), less.clone()], false, &fields);
    let told = format!("\"a\";r=50;t=1{PK}");
    let fields =
        [("ratelimit-policy", policy.as_str()), ("ratelimit", &told), ("retry-after", "1")];
    check(&[limit("a", LimitState::Refused { retry: 5 }), less], false, &fields);
}

#[test]
fn the_number_of_limits_is_bounded_and_refusals_come_first() {
    let mut fields = Fields::default();
    for number in 0..1000 {
        fields.add(&limit(&format!("l{number}"), LimitState::Charged));
    }
    fields.add(&limit("last", LimitState::Refused { retry: 5 }));
    let found = fields.headers(false);
    let told = found.iter().find(|(name, _)| *name == LIMIT).unwrap().1.to_str().unwrap();
    assert!(told.starts_with("\"last\";") && !told.contains(','), "{told}");
    assert!(found.iter().all(|(_, value)| value.len() < 2000));
}

#[test]
fn names_are_strings_of_structured_fields() {
    let mut text = String::new();
    name(r#"a"b\c"#, &mut text);
    assert_eq!(text, r#""a\"b\\c""#);
}
