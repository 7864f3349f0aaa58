use wardgate_compiler::cel::parse;
use wardgate_engine::attr::Attr;

use super::{Names, Shape, Shapes};

fn of(condition: &str) -> Shapes {
    let mut shapes = Shapes::default();
    shapes.condition(&parse(condition).unwrap(), &Names::default());
    shapes
}

/// Returns the shape of an attribute of the resource.
fn attribute(condition: &str, name: &str) -> Shape {
    of(condition).resource.members.remove(name).unwrap()
}

fn texts(all: &[&str]) -> Vec<Attr> {
    all.iter().map(|text| Attr::String((*text).into())).collect()
}

#[test]
fn values_are_near_the_constants() {
    let check = |condition: &str, expected: Vec<Attr>| {
        assert_eq!(attribute(condition, "a").values, expected, "{condition}");
    };
    check("R.attr.a == 'x'", texts(&["x"]));
    check("'x' != request.resource.attr.a", texts(&["x"]));
    check("R.attr.a > 3", [3.0, 2.0, 4.0].map(Attr::Number).into());
    check("R.attr.a in ['x', 'y']", texts(&["x", "y"]));
    check("R.attr.a || R.attr.b", [true, false].map(Attr::Bool).into());
    check("R.attr['a'].startsWith('/public')", texts(&["/public", "/publicmore", "other"]));
    check("has(R.attr.a)", Vec::new());
}

#[test]
fn values_of_the_request_are_names() {
    assert!(attribute("R.attr.owner == P.id", "owner").is_name);
    let teams = of("R.attr.team in P.attr.teams");
    assert!(teams.resource.members.get("team").unwrap().is_name);
    assert!(teams.principal.members.get("teams").unwrap().element.as_ref().unwrap().is_name);
}

#[test]
fn elements_of_lists_have_members() {
    let shares = attribute("R.attr.shares.exists(s, s.with == P.id && s.level > 1)", "shares");
    let element = shares.element.unwrap();
    assert!(element.members.get("with").unwrap().is_name);
    assert_eq!(element.members.get("level").unwrap().values.first(), Some(&Attr::Number(1.0)));
}

#[test]
fn variables_and_constants_are_looked_up() {
    let names = Names {
        variables: [("same".to_owned(), parse("R.attr.a == C.red").unwrap())].into(),
        constants: [("red".to_owned(), Attr::String("red".into()))].into(),
    };
    let mut shapes = Shapes::default();
    shapes.condition(&parse("V.same && request.auxData.jwt.aud == 'x'").unwrap(), &names);
    assert_eq!(shapes.resource.members.get("a").unwrap().values, texts(&["red"]));
    assert_eq!(shapes.token.members.get("aud").unwrap().values, texts(&["x"]));
}
