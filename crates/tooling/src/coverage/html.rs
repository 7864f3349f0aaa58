//! Coverage as one page: the sums, the parts that are not exercised, and the sources with their
//! lines marked.
//!
//! The page holds everything that it needs, runs no script, and declares so to the browser. Colour
//! is never the only sign.

mod lines;

use std::fmt::Write;

use super::{Coverage, PolicyCoverage, Share, Summary};
use lines::{Line, Look, State};
use wardgate_compiler::source::SourceFile;

/// Returns the page.
#[must_use]
pub fn report(coverage: &Coverage) -> String {
    let mut page = Page::default();
    page.head();
    page.sums(coverage);
    page.gaps(coverage);
    for (number, (source, policies)) in coverage.files().enumerate() {
        page.file(number, source, policies);
    }
    page.text.push_str("</main>\n</body>\n</html>\n");
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn head(&mut self) {
        let _ = write!(
            self.text,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{STYLE_HASH}'\">\n\
             <title>Policy coverage</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n\
             <h1>Policy coverage</h1>\n"
        );
    }

    fn sums(&mut self, coverage: &Coverage) {
        let sum = coverage.summary();
        let total = sum.total();
        let _ = write!(
            self.text,
            "<p class=\"total\"><strong>{}</strong> exercised: {} of {}</p>\n<ul class=\"key\">\n",
            total.text(),
            total.covered,
            total.all
        );
        for state in [State::Full, State::Part, State::None] {
            let Look { class, mark, words } = state.look();
            let _ = writeln!(
                self.text,
                "<li class=\"{class}\"><b aria-hidden=\"true\">{mark}</b> {words}</li>"
            );
        }
        self.text.push_str(
            "</ul>\n<p class=\"aside\">One number: how often a rule applied, or a derived role was granted. \
             Two: how often a condition was true, and how often false.</p>\n\
             </header>\n<main>\n<section>\n<h2>Policies</h2>\n\
             <div class=\"scroll\" role=\"region\" aria-label=\"Sums by policy\" tabindex=\"0\">\n<table class=\"sums\">\n\
             <thead><tr><th scope=\"col\">Policy</th><th scope=\"col\">Rules</th><th scope=\"col\">Conditions</th>\
             <th scope=\"col\">Derived roles</th><th scope=\"col\">All</th></tr></thead>\n<tbody>\n",
        );
        for (number, (_, policies)) in coverage.files().enumerate() {
            for policy in policies {
                let line = policy.position.line;
                let key = escaped(&policy.key);
                let name = format!("<a href=\"#f{number}-{line}\">{key}</a>");
                self.row(&name, policy.summary());
            }
        }
        self.text.push_str("</tbody>\n<tfoot>\n");
        self.row("all policies", sum);
        self.text.push_str("</tfoot>\n</table>\n</div>\n</section>\n");
    }

    fn row(&mut self, name: &str, summary: Summary) {
        let _ = write!(self.text, "<tr><th scope=\"row\">{name}</th>");
        for share in [summary.rules, summary.outcomes, summary.grants] {
            let _ = write!(self.text, "<td>{}</td>", cell(share));
        }
        let total = summary.total();
        let meter = match total.all {
            0 => String::new(),
            all => format!(
                "<meter aria-hidden=\"true\" min=\"0\" max=\"{all}\" value=\"{}\"></meter> ",
                total.covered
            ),
        };
        let _ = writeln!(self.text, "<td>{meter}{}</td></tr>", total.text());
    }

    fn gaps(&mut self, coverage: &Coverage) {
        let gaps = coverage.gaps();
        self.text.push_str("<section>\n<h2>Not exercised</h2>\n");
        if gaps.is_empty() {
            self.text.push_str("<p>Everything is.</p>\n</section>\n");
            return;
        }
        self.text.push_str("<ul class=\"gaps\">\n");
        let numbers: std::collections::HashMap<&str, usize> =
            coverage.files().map(|(source, _)| source.path.as_str()).zip(0..).collect();
        for gap in gaps {
            let number = numbers.get(gap.file).copied().unwrap_or_default();
            let (line, file) = (gap.position.line, escaped(gap.file));
            let (what, missing) = (coded(&gap.what), escaped(&gap.missing));
            let _ = writeln!(
                self.text,
                "<li><a href=\"#f{number}-{line}\">{file}:{line}</a> {what}: {missing}</li>"
            );
        }
        self.text.push_str("</ul>\n</section>\n");
    }

    fn file(&mut self, number: usize, source: &SourceFile, policies: &[PolicyCoverage]) {
        let name = escaped(&source.path);
        let _ = write!(
            self.text,
            "<section>\n<h2 id=\"f{number}\">{name}</h2>\n\
             <div class=\"scroll\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\">\n<table class=\"source\">\n"
        );
        let marked = lines::of(policies);
        for (line, text) in (1_u32..).zip(source.text.lines()) {
            let id = format!("f{number}-{line}");
            self.line(&id, line, text, marked.get(&line));
        }
        self.text.push_str("</table>\n</div>\n</section>\n");
    }

    fn line(&mut self, id: &str, number: u32, text: &str, line: Option<&Line>) {
        let (class, mark, times) = match line {
            None => (String::new(), String::new(), String::new()),
            Some(line) => {
                let Look { class, mark, words } = line.state.look();
                (
                    format!(" class=\"{class}\""),
                    format!(
                        "<span aria-hidden=\"true\">{mark}</span><span class=\"spoken\">{words}</span>"
                    ),
                    line.times.join(" · "),
                )
            }
        };
        let text = escaped(text);
        let _ = writeln!(
            self.text,
            "<tr id=\"{id}\"{class}><td class=\"number\">{number}</td><td class=\"mark\">{mark}</td>\
             <td class=\"times\">{times}</td><td>{text}</td></tr>"
        );
        for (state, note) in line.into_iter().flat_map(|line| &line.notes) {
            let (class, note) = (state.look().class, coded(note));
            let _ = writeln!(
                self.text,
                "<tr class=\"note {class}\"><td></td><td></td><td></td><td>{note}</td></tr>"
            );
        }
    }
}

fn cell(share: Share) -> String {
    if share.all == 0 {
        return "<span aria-hidden=\"true\">–</span><span class=\"spoken\">none</span>".to_owned();
    }
    format!("{} of {}", share.covered, share.all)
}

/// Writes the text between backticks as code.
fn coded(text: &str) -> String {
    let Some((before, rest)) = text.split_once('`') else { return escaped(text) };
    // The last backtick ends it: an expression may hold others.
    let (code, after) = rest.rsplit_once('`').unwrap_or((rest, ""));
    format!("{}<code>{}</code>{}", escaped(before), escaped(code), escaped(after))
}

/// Writes text so that a browser shows it as it is; characters that would change the direction of
/// the text around them are shown by their numbers.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' => out.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.extend(c.escape_unicode()),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

const STYLE: &str = include_str!("html/page.css");

/// The digest of the style, by which the page's own policy lets it in. A test works it out.
const STYLE_HASH: &str = "sha256-Dv2MCWFWBOEEyfKLtFsDTa518zSBiQyO8PbZWLanNGk=";

#[cfg(test)]
mod tests;
