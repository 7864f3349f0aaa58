use super::*;

#[test]
fn smoke() {
    let regex = compile("a(b|c)*d", &Ascii).unwrap();
    assert_eq!(regex.program().is_match("xabcbd", &mut 1000), Ok(true));
}
