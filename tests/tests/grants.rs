//! Lists of topic filters: what they allow, the policies allow, and where they are exact, nothing else.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use serde_json::{Value as Json, json};
use wardgate_mqtt::Name;
use wardgate_native::mqtt::{Grants, Shortfall};
use wardgate_native::{Policies, Request};
use wardgate_tests::check;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::topics::{World, names_with_internal, now};

/// Returns how many sets of policies are generated.
fn policies() -> u64 {
    if std::env::var_os("SLOW_TESTS").is_some() { 100_000 } else { 1_500 }
}

/// Requests for each set of policies.
const REQUESTS: usize = 2;

#[derive(Debug, Default)]
struct Counts {
    exact: usize,
    /// Lists that allow something.
    useful: usize,
    attributes: usize,
    nested: usize,
    /// Topics that are in lists.
    listed: usize,
    /// Topics that are allowed whatever the attributes are, and not in lists.
    missed: usize,
}

#[test]
fn lists_allow_what_the_policies_allow() {
    let names = names_with_internal();
    let mut counts = Counts::default();
    for seed in 0..policies() {
        let mut world = World::with_internal(seed);
        for number in 0..REQUESTS {
            let mut request = world.request();
            // Attributes that are known when a client connects, and none.
            if number == 0 {
                request["resource"]["attr"] = json!({});
            }
            check_lists(&world, &request, &names, &mut counts);
        }
    }
    println!("{counts:?}");
    let enough = usize::try_from(policies()).unwrap();
    assert!(counts.exact > enough && counts.useful > enough / 2 && counts.nested > 0, "{counts:?}");
    assert!(counts.missed * 10 < counts.listed, "{counts:?}");
}

fn check_lists(world: &World, request: &Json, names: &[String], counts: &mut Counts) {
    let grants = grants(world, &check::request(request).unwrap());
    let mut requests: Vec<Request> =
        variants(request).iter().map(|request| check::request(request).unwrap()).collect();
    for name in names {
        let listed = grants.allows(Name::new(name).unwrap());
        let decided: Vec<bool> =
            requests.iter_mut().map(|request| world.is_allowed(request, name)).collect();
        let (always, never) = (decided.iter().all(|is| *is), decided.iter().all(|is| !*is));
        let is_right = match grants.is_exact() {
            true => listed == always && listed != never,
            false => always || !listed,
        };
        assert!(is_right, "`{name}`: {decided:?}\n{grants:?}\n{request}\n{}", world.text());
        counts.listed += usize::from(listed);
        counts.missed += usize::from(always && !listed);
    }
    counts.exact += usize::from(grants.is_exact());
    counts.useful += usize::from(!grants.allow.is_empty());
    counts.attributes += usize::from(grants.shortfalls.contains(&Shortfall::Attributes));
    counts.nested += usize::from(grants.shortfalls.contains(&Shortfall::Nested));
    assert!(!grants.shortfalls.contains(&Shortfall::Limit), "{grants:?}\n{}", world.text());
}

fn grants(world: &World, request: &Request) -> Grants {
    Policies::of(world.open()).grants(request, "subscribe", now())
}

/// Returns the requests that one for lists stands for: its attribute may have any value, or none. The
/// topic is still to be filled in.
fn variants(request: &Json) -> Vec<Json> {
    let with = |mut attr: Json| {
        let mut request = request.clone();
        attr["topic"] = json!("");
        request["resource"]["attr"] = attr;
        request
    };
    let known = &request["resource"]["attr"];
    if known["qos"].is_number() {
        return vec![with(known.clone())];
    }
    [json!({}), json!({ "qos": 1 }), json!({ "qos": 2 }), json!({ "qos": "x" })].map(with).to_vec()
}

const ONE_RULE: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: mqtt:topic
  version: default
  rules:
    - actions: [publish]
      roles: [r]
      effect: EFFECT_ALLOW
      condition: { match: { expr: R.attr.topic.matchesTopic(P.attr.allow) } }
    - actions: [publish]
      roles: [r]
      effect: EFFECT_DENY
      condition: { match: { expr: 'P.attr.deny.exists(pattern, R.attr.topic.matchesTopic(pattern))' } }
"#;

/// Returns the lists of a principal with these patterns.
fn of_patterns(allow: &[String], deny: &[String]) -> Grants {
    let policies = Policies::of(Compiled::of_texts(&[("a.yaml", ONE_RULE)]).unwrap().table);
    let request = json!({
        "principal": { "id": "p", "roles": ["r"], "attr": { "allow": allow, "deny": deny } },
    });
    policies.grants(&check::request(&request).unwrap(), "publish", now())
}

fn numbered(count: usize, form: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(form).collect()
}

#[test]
fn a_thousand_filters_are_exact() {
    let mut allow = numbered(1000, |number| format!("a/{number}"));
    let grants = of_patterns(&allow, &[]);
    allow.sort();
    assert_eq!((grants.allow.as_slice(), grants.is_exact()), (allow.as_slice(), true));
}

#[test]
fn more_filters_than_the_bound_are_cut_short() {
    let allow = numbered(5000, |number| format!("a/{number}"));
    let grants = of_patterns(&allow, &[]);
    assert_eq!(grants.shortfalls, [Shortfall::Limit]);
    assert!(grants.allow.len() > 500 && grants.allow.iter().all(|filter| allow.contains(filter)));
}

#[test]
fn patterns_that_cross_are_bounded() {
    // Each pattern shares topics with each other one, so that there are more sets than any bound.
    let allow = numbered(300, |number| format!("+/w{number}/#"));
    let deny = numbered(300, |number| format!("w{number}/+/+/#"));
    let grants = of_patterns(&allow, &deny);
    let allows = |name: &str| grants.allows(Name::new(name).unwrap());
    assert!(!allows("w1/w1/x") && !allows("w299/w299/x") && !allows("a/b"));
    let deny = numbered(300, |number| format!("w{number}/w{number}/w{number}"));
    let grants = of_patterns(&["+/+/+".to_owned()], &deny);
    assert!(grants.is_exact() && grants.deny.len() == 300, "{grants:?}");
}

#[test]
fn patterns_that_are_none_list_nothing() {
    for patterns in [&["a#"][..], &["a", ""], &["a/+b"]] {
        let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
        let grants = of_patterns(&patterns, &[]);
        assert!(grants.allow.is_empty() && grants.is_exact(), "{grants:?}");
    }
}
