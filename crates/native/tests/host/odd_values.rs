//! Attributes of types that are unusual on purpose: every form of a question has the answer of the
//! general path about a copy of the values, or denies what has no copy.

use std::cell::Cell;

use wardgate_native::{
    AsField, Attr, AttrMap, Effect, Field, Items, Lookup, Pdp, PrincipalRef, Question, Request,
    Resource, ResourceRef, SystemClock, Timestamp, Trust,
};

use crate::policies::bundle;

#[test]
fn odd_values_have_the_answers_of_the_general_path() {
    let pdp = Pdp::open(&bundle(&policy()), Trust::Unsigned).unwrap();
    let inner = Cell::new(0);
    let odd = odd_values(&pdp, &inner);
    let (mut allowed, mut refused) = (0, 0);
    for own in &odd {
        for other in &odd {
            let (principal, resource) = (Owner(own), Owner(other));
            for (at, condition) in CONDITIONS.iter().enumerate() {
                let action = format!("action_{at}");
                let question = Question {
                    principal: PrincipalRef::new("ada", &["user"][..], &principal),
                    action: &action,
                    resource: ResourceRef::new("thing", "t1", &resource),
                };
                let found = pdp.is_allowed_fields(&question, Timestamp::default());
                let expected = match (own.copy(), other.copy()) {
                    (Some(own), Some(other)) => {
                        let request = request(own, other, &action);
                        let [decided] = &pdp.check(&request, Timestamp::default()).actions[..]
                        else {
                            panic!("one action");
                        };
                        let found = pdp.is_allowed(&request, &action, Timestamp::default());
                        assert_eq!(found, decided.effect == Effect::Allow, "{action}");
                        found
                    }
                    // Such a value has no end. A rule that does not look at it may allow.
                    _ if !found => {
                        refused += 1;
                        false
                    }
                    _ => true,
                };
                assert_eq!(found, expected, "{condition} of {own:?} and {other:?}");
                allowed += u32::from(found);
            }
        }
    }
    assert!(allowed > 1_000 && refused > 1_000, "{allowed} allowed, {refused} refused");
    assert!(inner.get() > 0, "no question within a question");
}

/// Conditions in every form that a fast path has: words, tests and programs.
const CONDITIONS: [&str; 20] = [
    "R.attr.x == P.attr.x",
    "R.attr.x != P.attr.x",
    r#"R.attr.x == "a""#,
    "R.attr.x == 1.0",
    "R.attr.x == true",
    "R.attr.x < 1.0",
    "R.attr.x in P.attr.x",
    r#""a" in R.attr.x"#,
    "R.attr.x.exists(e, e == P.attr.x)",
    r#"R.attr.x.all(e, e != "a")"#,
    r#"R.attr.x.exists(e, e.name == "a")"#,
    r#"R.attr.x.startsWith("a")"#,
    r#"R.attr.x.contains("\u00e9")"#,
    "size(R.attr.x) > 2",
    "has(R.attr.x)",
    "has(R.attr.x.name)",
    r#"R.attr.x.name == "a""#,
    r#"timestamp(R.attr.x) < timestamp("2030-01-01T00:00:00Z")"#,
    r#"R.attr.x.matches("^a+$") || P.attr.x == null"#,
    "R.attr.x == P.attr.x || has(P.attr.x)",
];

fn policy() -> String {
    let rule = |(at, condition): (usize, &&str)| {
        format!(
            "    - {{ actions: [action_{at}], roles: [user], effect: EFFECT_ALLOW, condition: {{ match: {{ expr: '{condition}' }} }} }}\n"
        )
    };
    let rules: String = CONDITIONS.iter().enumerate().map(rule).collect();
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: thing\n  version: default\n  rules:\n{rules}"
    )
}

fn request(own: Option<Attr>, other: Option<Attr>, action: &str) -> Request {
    let attributes = |value: Option<Attr>| -> AttrMap {
        value.into_iter().map(|value| ("x".into(), value)).collect()
    };
    let mut request = Request::default();
    request.principal.id = "ada".to_owned();
    request.principal.roles = vec!["user".to_owned()];
    request.principal.attr = attributes(own);
    request.resource = Resource {
        kind: "thing".to_owned(),
        id: "t1".to_owned(),
        attr: attributes(other),
        ..Resource::default()
    };
    request.actions = vec![action.to_owned()];
    request
}

/// A value with a member `x`, which it also tells under other names and more than once.
struct Owner<'a, 'p>(&'a Odd<'p>);

impl Lookup for Owner<'_, '_> {
    fn get(&self, name: &str) -> Field<'_> {
        if name == "x" { self.0.field() } else { Field::Missing }
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        if !matches!(self.0, Odd::Missing) {
            visit("x", Field::Text("an earlier one"));
        }
        visit("x", self.0.field());
        visit("__proto__", Field::Missing);
    }
}

/// A value of an unusual type.
enum Odd<'p> {
    Missing,
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(List<'p>),
    Map(Vec<(&'static str, Odd<'p>)>),
    /// An object that contains itself.
    Endless,
    /// An object whose reading asks another question first.
    Asking(&'p Pdp, &'p Cell<u32>),
}

struct List<'p> {
    items: Vec<Odd<'p>>,
}

impl std::fmt::Debug for Odd<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(text) => write!(f, "a text of {} bytes", text.len()),
            Self::List(list) => write!(f, "a list of {}", list.items.len()),
            Self::Map(members) => write!(f, "an object of {}", members.len()),
            Self::Endless => f.write_str("an object that contains itself"),
            Self::Asking(..) => f.write_str("an object that asks"),
        }
    }
}

impl Odd<'_> {
    /// Returns the value as the engine has it; the outer `None` is a value without an end.
    fn copy(&self) -> Option<Option<Attr>> {
        Some(Some(match self {
            Self::Missing => return Some(None),
            Self::Null => Attr::Null,
            Self::Bool(value) => Attr::Bool(*value),
            Self::Number(value) => Attr::Number(*value),
            Self::Text(text) => Attr::String(text.as_str().into()),
            Self::List(list) => {
                let item = |item: &Odd<'_>| Some(item.copy()?.unwrap_or(Attr::Null));
                Attr::List(list.items.iter().map(item).collect::<Option<_>>()?)
            }
            Self::Map(members) => {
                let mut entries = Vec::new();
                for (name, value) in members {
                    if let Some(value) = value.copy()? {
                        entries.push(((*name).into(), value));
                    }
                }
                Attr::Map(entries.into_iter().collect())
            }
            Self::Endless => return None,
            Self::Asking(..) => {
                Attr::Map([("name".into(), Attr::String("a".into()))].into_iter().collect())
            }
        }))
    }
}

impl AsField for Odd<'_> {
    fn field(&self) -> Field<'_> {
        match self {
            Self::Missing => Field::Missing,
            Self::Null => Field::Null,
            Self::Bool(value) => Field::Bool(*value),
            Self::Number(value) => Field::Number(*value),
            Self::Text(text) => Field::Text(text),
            Self::List(list) => Field::List(list),
            Self::Map(_) | Self::Endless | Self::Asking(..) => Field::Map(self),
        }
    }
}

impl Items for List<'_> {
    fn each(&self, visit: &mut dyn FnMut(Field<'_>)) {
        self.items.iter().for_each(|item| visit(item.field()));
    }
}

impl Lookup for Odd<'_> {
    fn get(&self, name: &str) -> Field<'_> {
        match self {
            Self::Map(members) => {
                let found = members
                    .iter()
                    .rev()
                    .find(|(known, value)| *known == name && !matches!(value, Self::Missing));
                found.map_or(Field::Missing, |(_, value)| value.field())
            }
            Self::Endless => Field::Map(self),
            Self::Asking(pdp, asked) => {
                ask(pdp, asked);
                if name == "name" { Field::Text("a") } else { Field::Missing }
            }
            _ => Field::Missing,
        }
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        match self {
            Self::Map(members) => {
                members.iter().for_each(|(name, value)| visit(name, value.field()))
            }
            Self::Endless => visit("again", Field::Map(self)),
            Self::Asking(pdp, asked) => {
                ask(pdp, asked);
                visit("name", Field::Text("a"));
            }
            _ => {}
        }
    }
}

/// Asks about others while a question is read.
fn ask(pdp: &Pdp, asked: &Cell<u32>) {
    let attributes = [("x", Field::Text("a"))].map(|(name, _)| (name, "a"));
    let question = Question {
        principal: PrincipalRef::new("eve", &["user"][..], &attributes[..]),
        action: "action_2",
        resource: ResourceRef::new("thing", "t2", &attributes[..]),
    };
    assert!(pdp.is_allowed_fields(&question, SystemClock));
    asked.set(asked.get() + 1);
}

fn odd_values<'p>(pdp: &'p Pdp, asked: &'p Cell<u32>) -> Vec<Odd<'p>> {
    let text = |text: &str| Odd::Text(text.to_owned());
    let list = |items: Vec<Odd<'p>>| Odd::List(List { items });
    let many = |count: usize| list((0..count).map(|at| Odd::Text(format!("t{at}"))).collect());
    let mut odd = vec![Odd::Missing, Odd::Null, Odd::Bool(true), Odd::Bool(false), Odd::Endless];
    odd.extend(
        [0.0, -0.0, 1.0, -1.5, 1e300, 5e-324, f64::MAX, f64::NAN, f64::INFINITY].map(Odd::Number),
    );
    odd.extend(
        [
            "",
            "a",
            "aaa",
            "A",
            "\u{e9}",
            "e\u{301}",
            "\0",
            "2024-05-06T07:08:09Z",
            "2024-13-01T00:00:00Z",
        ]
        .map(text),
    );
    odd.extend([text(&"a".repeat(300)), text(&"a".repeat(20_000)), text("\u{1f511}")]);
    odd.extend([list(vec![]), many(5), many(1_024), many(1_025)]);
    odd.push(list(vec![
        Odd::Missing,
        Odd::Null,
        text("a"),
        Odd::Number(f64::NAN),
        Odd::Number(1.0),
    ]));
    odd.push(list(vec![list(vec![text("a")]), Odd::Map(vec![("name", text("a"))])]));
    odd.push(list(vec![text("a"), Odd::Endless]));
    odd.push(list(vec![text("b"), Odd::Asking(pdp, asked)]));
    odd.push(Odd::Map(vec![]));
    odd.push(Odd::Map(vec![("name", text("b")), ("name", text("a")), ("a", Odd::Null)]));
    odd.push(Odd::Map(vec![("name", Odd::Missing), ("__proto__", text("a"))]));
    odd.push(Odd::Asking(pdp, asked));
    odd
}
