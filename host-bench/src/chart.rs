//! Bar charts as SVG, on a logarithmic scale.
//!
//! One bar for each row, grouped by host. Ten times as long is the same distance anywhere on the
//! scale, so a bar's length must not be read as a share of another's.

use std::fmt::Write;

use crate::measure::{Figure, Side, float};
use crate::report::{Section, duration};

/// Draws a section.
pub(crate) fn svg(section: &Section) -> String {
    let figures = || section.hosts.iter().flat_map(|(_, figures)| figures);
    let scale = Scale::of(figures().map(|figure| figure.nanoseconds));
    let rows = figures().count();
    let bottom = TOP + float(rows) * ROW + float(section.hosts.len()) * HEAD;
    let mut out = head(&section.title, bottom + FOOT);
    scale.draw(&mut out, bottom);
    let mut y = TOP;
    for (host, figures) in &section.hosts {
        let base = y + HEAD - 9.0;
        // Writing to a string cannot fail.
        let _ =
            writeln!(out, "<text class=\"h\" x=\"{MARGIN}\" y=\"{base}\">{}</text>", escaped(host));
        y += HEAD;
        for figure in figures {
            bar(&mut out, figure, &scale, y);
            y += ROW;
        }
    }
    out.push_str("</svg>\n");
    out
}

/// The position of durations.
struct Scale {
    /// The powers of ten at both ends.
    low: f64,
    high: f64,
}

impl Scale {
    fn of(durations: impl Iterator<Item = f64> + Clone) -> Self {
        let least = durations.clone().fold(f64::INFINITY, f64::min);
        let most = durations.fold(f64::MIN_POSITIVE, f64::max);
        // A bar that ends at the left edge would be invisible.
        let low = (least * 0.8).log10().floor();
        Self { low, high: most.log10().ceil().max(low + 1.0) }
    }

    fn x(&self, nanoseconds: f64) -> f64 {
        LEFT + (nanoseconds.log10() - self.low) / (self.high - self.low) * WIDTH
    }

    /// Draws a line at each power of ten.
    fn draw(&self, out: &mut String, bottom: f64) {
        let mut power = self.low;
        while power <= self.high {
            let nanoseconds = 10_f64.powf(power);
            let x = self.x(nanoseconds);
            let label = tick(nanoseconds);
            let below = bottom + 18.0;
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>\n\
                 <text class=\"t\" x=\"{x:.1}\" y=\"{below:.1}\">{label}</text>"
            );
            power += 1.0;
        }
    }
}

fn bar(out: &mut String, figure: &Figure, scale: &Scale, y: f64) {
    let Figure { name, side, nanoseconds, .. } = figure;
    let end = scale.x(*nanoseconds);
    let (width, base, label) = (end - LEFT, y + 15.0, LEFT - 8.0);
    let _ = writeln!(
        out,
        "<text class=\"n\" x=\"{label}\" y=\"{base:.1}\">{}</text>\n\
         <rect class=\"{}\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{BAR}\"/>\n\
         <text x=\"{:.1}\" y=\"{base:.1}\">{}</text>",
        escaped(name),
        side.word(),
        y + (ROW - BAR) / 2.0,
        end + 6.0,
        duration(*nanoseconds),
    );
}

fn head(title: &str, height: f64) -> String {
    let all = LEFT + WIDTH + RIGHT;
    let title = escaped(title);
    let legend = legend();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {all} {height:.0}\" role=\"img\" aria-label=\"{title}\">\n{STYLE}\n\
         <rect class=\"p\" width=\"{all}\" height=\"{height:.0}\"/>\n\
         <text class=\"b\" x=\"{MARGIN}\" y=\"28\">{title}</text>\n{legend}"
    )
}

fn legend() -> String {
    let entries = [(Side::Ours, "Wardgate"), (Side::Floor, "by hand"), (Side::Rival, "others")];
    let mut x = MARGIN;
    let mut out = String::new();
    for (side, word) in entries {
        let _ = writeln!(
            out,
            "<rect class=\"{}\" x=\"{x}\" y=\"42\" width=\"12\" height=\"12\"/>\n\
             <text x=\"{}\" y=\"52\">{word}</text>",
            side.word(),
            x + 18.0,
        );
        x += 100.0;
    }
    let _ = writeln!(out, "<text x=\"{x}\" y=\"52\">logarithmic scale, shorter is better</text>");
    out
}

/// Spells a power of ten: `1 ns`, `10 us`.
fn tick(nanoseconds: f64) -> String {
    let text = duration(nanoseconds);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let whole = number.trim_end_matches('0').trim_end_matches('.');
    let number = if number.contains('.') { whole } else { number };
    format!("{number} {unit}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "<style>
text { font: 13px sans-serif; fill: #222; stroke: #fff; stroke-width: 3px; paint-order: stroke }
.b { font-size: 16px; font-weight: bold }
.h { font-weight: bold }
.n { text-anchor: end }
.t { text-anchor: middle; fill: #666 }
.p { fill: #fff }
.ours { fill: #1a7f5a }
.floor { fill: #9aa0a6 }
.rival { fill: #c9772c }
line { stroke: #ddd }
</style>";

const MARGIN: f64 = 16.0;
/// Room for the names.
const LEFT: f64 = 380.0;
const WIDTH: f64 = 480.0;
/// Room for the figure beside the longest bar.
const RIGHT: f64 = 90.0;
const TOP: f64 = 66.0;
const HEAD: f64 = 30.0;
const ROW: f64 = 22.0;
const BAR: f64 = 14.0;
const FOOT: f64 = 30.0;
