use super::*;

fn location(line: u32, column: u32, text: &str) -> Location {
    let position = Position { line, column };
    Location { file: SourceFile::of("p.yaml", text), position, path: Arc::from("$.a") }
}

#[test]
fn a_diagnostic_shows_the_line_and_a_caret() {
    let error = Diagnostic::error(Code::Parse, &location(2, 3, "x: y\na: é"), "no good");
    let error = error.found("a number").expected("text");
    let expected = "p.yaml:2:3: error[parse]: no good: expected text, found a number\n  at $.a\n   |\n 2 | a: é\n   |   ^";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn long_lines_are_cut_around_the_caret() {
    let line = format!("{}X{}", "a".repeat(500), "b".repeat(500));
    let shown = Diagnostic::error(Code::Parse, &location(1, 501, &line), "no good").to_string();
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[3].find('X'), lines[4].find('^'));
    assert!(lines[3].len() < 130);
}

#[test]
fn diagnostics_stand_in_the_order_of_the_text_without_repetitions() {
    let at = |line, message: &str| Diagnostic::error(Code::Parse, &location(line, 1, "a"), message);
    let mut diagnostics = vec![at(2, "b"), at(1, "z"), at(2, "a"), at(2, "b")];
    sort(&mut diagnostics);
    let messages: Vec<_> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["z", "a", "b"]);
}
