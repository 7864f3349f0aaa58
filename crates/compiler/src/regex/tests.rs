use super::compile;

fn check(pattern: &str, text: &str, expected: bool) {
    let regex = compile(pattern).unwrap();
    assert_eq!(regex.program().is_match(text, &mut 1_000_000), Ok(expected), "{pattern} {text}");
}

#[test]
fn unicode_classes_are_known() {
    check(r"^\pL+$", "Zürich", true);
    check(r"^\p{Greek}+$", "αβγ", true);
    check(r"^\p{Old_Italic}$", "𐌀", true);
    check(r"^\PL$", "ß", false);
    check(r"^\p{^Lu}$", "ß", true);
    check(r"^[\p{Nd}x]+$", "x٣", true);
}
