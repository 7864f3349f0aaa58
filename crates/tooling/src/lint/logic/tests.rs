use super::*;
use wardgate_compiler::Options;
use wardgate_compiler::expression::{ExprSource, ScalarSpan, Style};
use wardgate_compiler::source::{Location, Position, SourceFile};

fn source(text: &str) -> ExprSource {
    let file = SourceFile::new("a.yaml", text.as_bytes()).unwrap();
    let at = Location { file, position: Position::START, path: Arc::from("") };
    let scalar = ScalarSpan { offset: 0, start: Position::START, style: Style::Plain };
    ExprSource { text: Arc::from(text), at, scalar }
}

fn judged(text: &str) -> Outcomes {
    let parsed = Parsed::new();
    let limit = Attr::List(vec![Attr::Number(1.0), Attr::String("a".into())]);
    let constants =
        BTreeMap::from([("list".to_owned(), limit), ("n".to_owned(), Attr::Number(3.0))]);
    let variable = |name: &str, text: &str| Variable { name: name.to_owned(), expr: source(text) };
    let variables = [variable("a", "R.attr.a == 1"), variable("safe", "has(R.attr.a) && V.a")];
    let options = Options::default();
    let logic = Logic::new(&parsed, &constants, &variables, &options);
    logic.outcomes(&parsed.tree(&Arc::from(text)).unwrap(), &Facts::default())
}

/// Writes outcomes down: true, false, other, missing, broken.
fn shown(found: Outcomes) -> String {
    let letters = [
        (found.yes, 't'),
        (found.no, 'f'),
        (found.other, 'o'),
        (found.fails.missing, 'm'),
        (found.fails.broken, 'b'),
    ];
    letters.into_iter().filter(|(is, _)| *is).map(|(_, letter)| letter).collect()
}

#[test]
fn outcomes_are_what_is_possible() {
    let check = |text: &str, expected: &str| assert_eq!(shown(judged(text)), expected, "{text}");
    check("true", "t");
    check("1", "o");
    check("1 + 1 == 2", "t");
    check("1 / 0 == 2", "b");
    check("C.n == 3 && 'a' in C.list", "t");
    check("P.id == R.id", "tf");
    check("P.id == request.principal.id", "t");
    check("P.id != P['id']", "f");
    check("R.attr.a == R.attr.a", "tfm");
    check("R.attr.a", "tfom");
    check("!R.attr.a", "tfmb");
    check("R.attr.a == 1", "tfm");
    check("R.attr.a > 1", "tfmb");
    check("P.id in R.attr.a", "tfmb");
    check("P.id in ['a']", "tf");
    check("'a' in R.attr", "tf");
    check("has(R.attr.a)", "tf");
    check("has(R.attr.a.b)", "tfmb");
    check("runtime.effectiveDerivedRoles == []", "tfb");
    check("R.attr.a == 1 && false", "f");
    check("false || R.attr.a == 1", "tfm");
    check("R.attr.a == 1 || true", "t");
    check("G.env == 'a'", "tfb");
}

#[test]
fn a_part_knows_what_the_others_prove() {
    let check = |text: &str, expected: &str| assert_eq!(shown(judged(text)), expected, "{text}");
    check("has(R.attr.a) && R.attr.a == 1", "tf");
    check("R.attr.a == 1 && has(R.attr.a)", "tf");
    check("!has(R.attr.a) || R.attr.a == 1", "tf");
    check("has(R.attr.a) || R.attr.a == 1", "tfm");
    check("has(R.attr.a) ? R.attr.a == 1 : false", "tf");
    check("!has(R.attr.a) ? false : R.attr.a == 1", "tf");
    check("has(R.attr.a) && has(R.attr.a.b) && R.attr.a.b == 1", "tfb");
    check("'a' in R.attr && R.attr.a == 1", "tf");
    check("has(R.attr.a) && R.attr.b == 1", "tfm");
    check("V.safe", "tf");
    check("V.a", "tfm");
    check("has(V.a) && V.a", "tf");
    check("has(R.attr.a) && !(R.attr.a == 1 && R.attr.b == 2)", "tfm");
}

#[test]
fn contradictions_are_found() {
    let check = |text: &str, expected: &str| assert_eq!(shown(judged(text)), expected, "{text}");
    check("R.attr.a == 'x' && R.attr.a == 'y'", "fm");
    check("R.attr['a'] == 'x' && 'y' == request.resource.attr.a", "fm");
    check("R.attr.a == 'x' && R.attr.b == 'y'", "tfm");
    check("R.attr.a == 'x' && R.attr.a != 'x'", "fm");
    check("R.attr.a in ['x', 'y'] && R.attr.a == 'z'", "fm");
    check("R.attr.a in ['x', 'y'] && R.attr.a == 'y'", "tfm");
    check("R.attr.a in [] ", "tfm");
    check("R.attr.a > 3 && R.attr.a < 2", "fmb");
    check("R.attr.a >= 3 && R.attr.a <= 3", "tfmb");
    check("R.attr.a > 3 && R.attr.a <= 3", "fmb");
    check("R.attr.a == 1 && R.attr.a == 1.0", "tfm");
    check("R.attr.a && !R.attr.a", "fmb");
    check("V.a && R.attr.a != 1", "fm");
    check("P.id == R.attr.o && P.id != R.attr.o", "fm");
    check("has(R.attr.a) && !has(R.attr.a)", "f");
    check("has(R.attr.a) || !has(R.attr.a)", "t");
    check("R.attr.a != 'x' || R.attr.a != 'y'", "tm");
    check("R.attr.a < 3 || R.attr.a >= 3", "tfmb");
    check("C.n == R.attr.a && R.attr.a == 4", "fm");
}

#[test]
fn expensive_conditions_may_have_any_outcome() {
    let text = vec!["R.attr.a == 1"; 60].join(" || ");
    assert_eq!(shown(judged(&text)), "tfm");
}
