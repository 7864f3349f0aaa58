//! Lists of topic filters: what they allow, the policies allow, and where they are exact, nothing else.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value as Json, json};
use wardgate_mqtt::Name;
use wardgate_native::mqtt::{Grants, Shortfall};
use wardgate_native::{Policies, Request};
use wardgate_tests::check;
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
    assert!(counts.exact > enough && counts.useful > enough && counts.nested > 0, "{counts:?}");
    assert!(counts.missed * 10 < counts.listed, "{counts:?}");
}

fn check_lists(world: &World, request: &Json, names: &[String], counts: &mut Counts) {
    let grants = grants(world, &check::request(request).unwrap());
    let requests = variants(request);
    for name in names {
        let listed = grants.allows(Name::new(name).unwrap());
        let decided: Vec<bool> =
            requests.iter().map(|request| world.decide(request, &json!(name))).collect();
        let (always, never) = (decided.iter().all(|is| *is), decided.iter().all(|is| !*is));
        let is_right =
            if grants.is_exact() { listed == always && listed != never } else { always || !listed };
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

/// Returns the requests that one for lists stands for: its attribute may have any value, or none.
fn variants(request: &Json) -> Vec<Json> {
    if request["resource"]["attr"]["qos"].is_number() {
        return vec![request.clone()];
    }
    let with = |attr: Json| {
        let mut request = request.clone();
        request["resource"]["attr"] = attr;
        request
    };
    vec![
        with(json!({})),
        with(json!({ "qos": 1 })),
        with(json!({ "qos": 2 })),
        with(json!({ "qos": "x" })),
    ]
}
