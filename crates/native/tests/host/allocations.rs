//! `is_allowed` allocates nothing, in whatever form it is asked.

use allocation_counter::measure;
use serde_json::json;
use wardgate_native::{Attr, Pdp, PrincipalRef, Question, Request, ResourceRef, Timestamp, Trust};

use crate::policies::{DOCUMENTS, Document, Person, bundle, owned_by, person};

#[test]
fn no_form_allocates() {
    for places in [0, 1, 64] {
        let pdp = Pdp::open_with_cache(&bundle(DOCUMENTS), Trust::Unsigned, places).unwrap();
        every_form_is_free(&pdp);
    }
}

fn every_form_is_free(pdp: &Pdp) {
    let now = Timestamp::default();
    let (bob, document) = (person("bob", &["editor", "viewer"]), owned_by("ada"));
    let pairs = [("owner", Attr::String("ada".into())), ("stars", Attr::Number(1.0))];
    let level = [("level", 3.0)];
    let free = |what: &str, expected: bool, decide: &dyn Fn() -> bool| {
        // The first decision of a thread makes what the thread keeps.
        let _ = decide();
        let mut found = !expected;
        let counted = measure(|| found = decide());
        assert_eq!(found, expected, "{what}");
        assert_eq!(counted.count_total, 0, "{what}");
    };
    for (action, expected) in
        [("list", true), ("delete", false), ("rate", true), ("name", true), ("unknown", false)]
    {
        let prepared = pdp.prepare::<Person, Document>("document", action);
        free(&format!("typed {action}"), expected, &|| prepared.is_allowed(&bob, &document, now));
        let bound = prepared.principal(&bob);
        free(&format!("bound {action}"), expected, &|| bound.is_allowed(&document, now));
        let question = Question {
            principal: PrincipalRef::new("bob", &["editor", "viewer"], &level[..]),
            action,
            resource: ResourceRef::new("document", "d1", &pairs[..]),
        };
        // Who does not say whether a document is locked may not delete it either.
        free(&format!("fields {action}"), expected, &|| pdp.is_allowed_fields(&question, now));
        let value = json!({
            "principal": { "id": "bob", "roles": ["editor", "viewer"], "attr": { "level": 3 } },
            "action": action,
            "resource": {
                "kind": "document",
                "id": "d1",
                "attr": { "owner": "ada", "stars": 1, "tags": ["a", { "b": [] }] },
            },
        });
        free(&format!("value {action}"), expected, &|| pdp.is_allowed_value(&value, now).unwrap());
        let text = value.to_string();
        free(&format!("json {action}"), expected, &|| {
            pdp.is_allowed_json(text.as_bytes(), now).unwrap()
        });
    }
    let request = request();
    for action in ["list", "delete", "rate", "tag", "name", "visit", "join"] {
        let expected = action != "delete";
        free(action, expected, &|| pdp.is_allowed(&request, action, now));
    }
}

fn request() -> Request {
    let text = |text: &str| Attr::String(text.into());
    let mut request = Request::default();
    request.principal.id = "bob".to_owned();
    request.principal.roles = vec!["viewer".to_owned()];
    request.principal.attr =
        [("level".into(), Attr::Number(3.0)), ("team".into(), text("red"))].into_iter().collect();
    request.resource.kind = "document".to_owned();
    let place = [("team".into(), text("red"))];
    request.resource.attr = [
        ("owner".into(), text("ada")),
        ("stars".into(), Attr::Number(1.0)),
        ("tags".into(), Attr::List(vec![text("shared")])),
        ("place".into(), Attr::Map(place.into_iter().collect())),
    ]
    .into_iter()
    .collect();
    request
}
