//! `is_allowed` allocates nothing where no condition builds a value, and verification nothing at
//! all.
#![forbid(unsafe_code)]

use serde_json::{Value as Json, json};
use wardgate_crypto::ml_dsa::{Level, PreparedKey, Question, SigningKey, verify_batch};
use wardgate_engine::cel::Timestamp;
use wardgate_tests::check::request;
use wardgate_tests::compiled::Compiled;

#[test]
fn attributes_and_constants_are_compared_in_place() {
    let narrower = SCOPED.replace("acme", "acme.eu");
    let texts = [("a.yaml", POLICY), ("b.yaml", SCOPED), ("c.yaml", narrower.as_str())];
    let table = Compiled::of_texts(&texts).unwrap().table;
    let check = |attributes: Json, expected: &[&str]| {
        let json = json!({
            "principal": { "id": "ada", "roles": ["guest", "member"], "scope": "acme" },
            "resource": { "kind": "album", "id": "a", "scope": "acme.eu", "attr": attributes },
        });
        let request = request(&json).unwrap();
        let counted = allocation_counter::measure(|| drop(request.clone()));
        assert!(counted.count_total > 0, "allocations are not counted");
        for action in ["view", "edit", "tag", "rate", "unknown"] {
            let mut allowed = false;
            let allocated = allocation_counter::measure(|| {
                allowed = table.is_allowed(&request, action, Timestamp::default());
            });
            assert_eq!(allowed, expected.contains(&action), "{action} of {json}");
            assert_eq!(allocated.count_total, 0, "{action} of {json}");
        }
    };
    let none = json!({ "public": false, "owner": "bob", "tags": [], "name": "x", "stars": 1 });
    check(none, &[]);
    let all = json!({
        "public": true, "owner": "ada", "tags": ["a", "shared"], "name": "holiday-1", "stars": 4.5,
    });
    check(all, &["view", "edit", "tag", "rate"]);
    let locked = json!({
        "public": true, "owner": "ada", "tags": ["shared"], "name": "x", "stars": 4, "locked": true,
    });
    check(locked, &["view", "rate", "tag"]);
}

#[test]
fn signatures_are_verified_in_place() {
    for level in [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87] {
        let secret = SigningKey::from_seed(level, &[1; 32]);
        let key = PreparedKey::new(level, &secret.public_key()).unwrap();
        let signature = secret.sign(b"text", b"", None).unwrap();
        let question =
            Question { key: &key, message: b"text", context: b"", signature: &signature };
        let mut accepted = [false; 8];
        let allocated = allocation_counter::measure(|| {
            assert!(key.verify(b"text", b"", &signature));
            assert!(!key.verify(b"other", b"", &signature));
            verify_batch(&[question; 8], &mut accepted);
        });
        assert_eq!(accepted, [true; 8]);
        assert_eq!(allocated.count_total, 0, "{level:?}");
    }
}

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [member], condition: { match: { expr: R.attr.public == true } } }
    - { actions: [edit], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: R.attr.owner == P.id } } }
    - actions: [tag]
      effect: EFFECT_ALLOW
      roles: [member]
      condition:
        match:
          any:
            of:
              - expr: '"shared" in R.attr.tags'
              - expr: R.attr.name.startsWith("holiday")
    - actions: [rate]
      effect: EFFECT_ALLOW
      roles: [member]
      condition: { match: { expr: R.attr.stars > 3.0 && R.kind == "album" } }
"#;

const SCOPED: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  scope: acme
  rules:
    - actions: [edit]
      effect: EFFECT_DENY
      roles: ["*"]
      condition: { match: { expr: has(R.attr.locked) && R.attr.locked } }
"#;
