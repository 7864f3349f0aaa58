//! The sections of codes that `wardgate help` prints: `crates/cli/src/help/codes.txt`, written from the pages of `docs`.
//!
//! `UPDATE_HELP=1` writes it anew after a change of a page.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use wardgate_compiler::diagnostics::Code;

use crate::folder::Folder;

/// The pages with a section for each code.
const PAGES: [&str; 5] = ["errors", "lints", "BUNDLE", "server", "package-errors"];

/// The width of the text in columns.
const WIDTH: usize = 98;

#[test]
fn the_sections_are_those_of_the_pages() {
    let expected: String = PAGES.iter().map(|page| sections(page)).collect();
    let path = in_crate("src/help/codes.txt");
    if std::env::var_os("UPDATE_HELP").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap();
    let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert_eq!(differs, None, "UPDATE_HELP=1 writes the sections anew");
    assert_eq!(found.len(), expected.len(), "UPDATE_HELP=1 writes the sections anew");
}

#[test]
fn every_code_of_a_message_has_help() {
    let folder = Folder::new();
    for code in Code::ERRORS {
        let ran = folder.run(&format!("help {}", code.name()));
        ran.shows(0, &[&format!("{}: an error in policies", code.name())]);
        let same = folder.run(&format!("help {}", code.page()));
        assert_eq!(same.code, 0, "{}", code.page());
        assert!(ran.out.contains(&same.out), "{}", code.page());
    }
}

fn in_crate(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the sections of a page: the address of each, and its text behind two blanks.
fn sections(page: &str) -> String {
    let text = fs::read_to_string(in_crate(&format!("../../docs/{page}.md"))).unwrap();
    let (mut sections, mut body, mut level) = (String::new(), Vec::new(), 0);
    for line in text.lines() {
        let depth = heading(line);
        if depth > 0 && (level == 0 || depth <= level) {
            write_body(&mut sections, &mut body);
            level = 0;
        }
        match code(line) {
            Some(code) => {
                level = depth;
                writeln!(sections, "docs/{page}.md#{code}").unwrap();
            }
            None if level > 0 => body.push(line),
            None => {}
        }
    }
    write_body(&mut sections, &mut body);
    sections
}

/// Returns the level of a heading, or 0 for another line.
fn heading(line: &str) -> usize {
    let level = line.chars().take_while(|c| *c == '#').count();
    if line[level..].starts_with(' ') { level } else { 0 }
}

/// Returns the code that a heading names.
fn code(line: &str) -> Option<&str> {
    let code = line.trim_start_matches('#').strip_prefix(" `")?.strip_suffix('`')?;
    let is_code = heading(line) > 0 && code.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    is_code.then_some(code)
}

/// Writes paragraphs and programs as plain text, and empties the body.
fn write_body(out: &mut String, body: &mut Vec<&str>) {
    let (mut lines, mut paragraph, mut is_program) = (Vec::new(), String::new(), false);
    for line in body.drain(..).chain([""]) {
        let is_fence = line.starts_with("```");
        if is_fence || is_program || line.is_empty() || line.starts_with("    ") {
            lines.extend(wrapped(&unlinked(&std::mem::take(&mut paragraph))));
        }
        match line {
            _ if is_fence => is_program = !is_program,
            "" => lines.push(String::new()),
            _ if is_program => lines.push(format!("    {line}")),
            _ if line.starts_with("    ") => lines.push(line.to_owned()),
            _ => paragraph = format!("{paragraph} {line}"),
        }
    }
    let text = lines.join("\n");
    for line in text.trim_matches('\n').lines() {
        writeln!(out, "{}", format!("  {line}").trim_end()).unwrap();
    }
}

/// Returns a paragraph in lines of at most `WIDTH` columns.
fn wrapped(paragraph: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns a paragraph with the words of its links only.
fn unlinked(text: &str) -> String {
    let Some((before, after)) = text.split_once("](") else { return text.to_owned() };
    let mut depth = 1;
    let open = before.char_indices().rev().find(|(_, c)| {
        depth += match c {
            ']' => 1,
            '[' => -1,
            _ => 0,
        };
        depth == 0
    });
    let (open, _) = open.unwrap();
    let (_, rest) = after.split_once(')').unwrap();
    unlinked(&format!("{}{}{rest}", &before[..open], &before[open + 1..]))
}
