//! The comparison as a bar chart: queries a second, longer is better.

use std::fmt::Write;

use super::Row;
use crate::bench::units::grouped;

pub(crate) fn svg(rows: &[Row]) -> String {
    let most = rows.iter().map(|row| row.per_second).fold(1.0, f64::max);
    let height = rows.iter().fold(TOP + FOOT, |height, _| height + ROW);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{ALL}\" height=\"{height}\" viewBox=\"0 0 {ALL} {height}\" \
         role=\"img\" aria-label=\"Queries a second\">\n<style>text {{ font: 13px sans-serif; fill: #222 }} .n {{ text-anchor: end }} \
         rect {{ fill: #1a7f5a }} .p {{ fill: #fff }}</style>\n<rect class=\"p\" width=\"{ALL}\" height=\"{height}\"/>\n\
         <text x=\"16\" y=\"28\">Queries a second on a logarithmic scale, longer is better</text>\n"
    );
    let mut y = TOP;
    for row in rows {
        let width = (WIDTH * (row.per_second.max(LEAST) / LEAST).ln()
            / (most.max(2.0 * LEAST) / LEAST).ln())
        .max(1.0);
        let (base, label, figure) = (y + 15.0, LEFT - 8.0, LEFT + width + 6.0);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<text class=\"n\" x=\"{label}\" y=\"{base}\">{}</text>\n<rect x=\"{LEFT}\" y=\"{}\" width=\"{width:.1}\" height=\"14\"/>\n\
             <text x=\"{figure:.1}\" y=\"{base}\">{}</text>",
            row.name,
            y + 4.0,
            grouped(row.per_second),
        );
        y += ROW;
    }
    out.push_str("</svg>\n");
    out
}

const ALL: f64 = 860.0;
const LEFT: f64 = 240.0;
const WIDTH: f64 = 500.0;
const TOP: f64 = 44.0;
const ROW: f64 = 24.0;
const FOOT: f64 = 12.0;
/// The start of the scale.
const LEAST: f64 = 1000.0;
