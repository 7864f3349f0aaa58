//! A comparison as one page of HTML, without scripts and without anything from elsewhere.

use std::fmt::Write as _;

use wardgate_analysis::compare::{Change, Comparison};
use wardgate_analysis::report;

use super::{Sides, decision, summary, table};
use crate::output::InOneLine;

/// Returns the page.
pub(super) fn page(found: &Comparison, sides: Sides<'_>) -> String {
    let title = format!("{} and {}", sides.old.in_one_line(), sides.new.in_one_line());
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{0}</title>\n{STYLE}<h1>{0}</h1>\n<p>{1}</p>\n",
        escaped(&title),
        escaped(&summary(found)),
    );
    for change in [Change::More, Change::Less] {
        let groups = found.groups();
        for group in groups.iter().filter(|group| group.change == change) {
            let witness = group.witness;
            let _ = write!(
                page,
                "<section class=\"{0}\"><h2>{0}: {1}</h2>\n<dl><dt>was</dt><dd>{2}</dd>\n<dt>now</dt><dd>{3}</dd>\n<dt>for</dt><dd><code>{4}</code></dd></dl></section>\n",
                report::word(change),
                escaped(&table::title(group)),
                escaped(&decision(&witness.old, sides.old)),
                escaped(&decision(&witness.new, sides.new)),
                escaped(&report::request(&witness.request).to_string()),
            );
        }
    }
    for group in found.unknown_groups() {
        let _ = write!(
            page,
            "<section class=\"unknown\"><h2>unknown: {}</h2>\n<p>{}: {}</p></section>\n",
            escaped(&table::unknown_title(&group)),
            table::may(&group),
            group.why.words(),
        );
    }
    page.push_str("</html>\n");
    page
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
