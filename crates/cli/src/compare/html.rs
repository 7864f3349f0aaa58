//! A comparison as one page of HTML, without scripts and without anything from elsewhere.

use wardgate_analysis::compare::{Change, Comparison};
use wardgate_analysis::report;

use super::{Sides, decision, summary, table};
use crate::output::InOneLine;

/// Returns the page.
pub(super) fn page(found: &Comparison, sides: Sides<'_>) -> String {
    let title = format!("{} and {}", sides.old.in_one_line(), sides.new.in_one_line());
    let mut sections = String::new();
    for change in [Change::More, Change::Less] {
        let groups = found.groups();
        for group in groups.iter().filter(|group| group.change == change) {
            let witness = group.witness;
            sections.push_str(&changed(
                (report::word(change), &table::title(group)),
                [decision(&witness.old, sides.old), decision(&witness.new, sides.new)],
                &report::request(&witness.request).to_string(),
            ));
        }
    }
    for group in found.unknown_groups() {
        let why = format!("{}: {}", table::may(&group), group.why.words());
        sections.push_str(&noted("unknown", &table::unknown_title(&group), &why));
    }
    framed((&title, &summary(found)), &sections)
}

/// Returns a page with these sections.
pub(crate) fn framed((title, summary): (&str, &str), sections: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{0}</title>\n{STYLE}<h1>{0}</h1>\n<p>{1}</p>\n{sections}</html>\n",
        escaped(title),
        escaped(summary),
    )
}

/// Returns a section about decisions that changed, with a request that shows it.
pub(crate) fn changed(
    (class, title): (&str, &str),
    [old, new]: [String; 2],
    request: &str,
) -> String {
    format!(
        "<section class=\"{class}\"><h2>{class}: {}</h2>\n<dl><dt>was</dt><dd>{}</dd>\n<dt>now</dt><dd>{}</dd>\n<dt>for</dt><dd><code>{}</code></dd></dl></section>\n",
        escaped(title),
        escaped(&old),
        escaped(&new),
        escaped(request),
    )
}

/// Returns a section of one sentence.
pub(crate) fn noted(class: &str, title: &str, text: &str) -> String {
    format!(
        "<section class=\"{class}\"><h2>{class}: {}</h2>\n<p>{}</p></section>\n",
        escaped(title),
        escaped(text),
    )
}

/// Returns text that a browser shows as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    escaped
}

const STYLE: &str = "<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}section{border-left:4px solid #888;padding-left:1em;margin:1em 0}.more{border-color:#b00}.less{border-color:#06c}h2{font-size:1em}dt{float:left;width:3em;color:#666}dd{margin-left:3em}code{overflow-wrap:anywhere}</style>\n";

#[cfg(test)]
mod tests {
    #[test]
    fn text_from_policies_is_no_markup() {
        assert_eq!(super::escaped("<b a=\"&\">\n"), "&lt;b a=&quot;&amp;&quot;&gt;\\n");
    }
}
