//! Bar charts as SVG: groups of bars, each on a logarithmic scale of its own.

use std::fmt::Write;

/// A chart.
pub(crate) struct Chart<'t> {
    pub(crate) title: &'t str,
    pub(crate) groups: Vec<Group>,
}

/// Bars with one scale.
pub(crate) struct Group {
    /// Its heading; without one there is no line for it.
    pub(crate) title: String,
    pub(crate) bars: Vec<Bar>,
}

/// A bar.
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: f64,
    /// The value as it is written beside the bar.
    pub(crate) figure: String,
    /// False for the program that ours is compared with.
    pub(crate) is_ours: bool,
}

impl Chart<'_> {
    /// Draws the chart.
    pub(crate) fn svg(&self) -> String {
        let height = self.groups.iter().fold(TOP + FOOT, |height, group| height + group.height());
        let title = escaped(self.title);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{ALL}\" height=\"{height}\" viewBox=\"0 0 {ALL} {height}\" \
             role=\"img\" aria-label=\"{title}\">\n{STYLE}\n<rect class=\"p\" width=\"{ALL}\" height=\"{height}\"/>\n\
             <text x=\"16\" y=\"28\">{title}</text>\n"
        );
        let mut y = TOP;
        for group in &self.groups {
            group.draw(&mut out, y);
            y += group.height();
        }
        out.push_str("</svg>\n");
        out
    }
}

impl Group {
    fn height(&self) -> f64 {
        self.bars.iter().fold(self.head(), |height, _| height + ROW)
    }

    fn head(&self) -> f64 {
        if self.title.is_empty() { 0.0 } else { HEAD }
    }

    fn draw(&self, out: &mut String, top: f64) {
        let values = || self.bars.iter().map(|bar| bar.value).filter(|value| *value > 0.0);
        let most = values().fold(f64::MIN_POSITIVE, f64::max);
        // A bar that ends at the left edge would be invisible.
        let least = values().fold(most, f64::min) / 4.0;
        // Writing to a string cannot fail.
        if !self.title.is_empty() {
            let (base, title) = (top + HEAD - 6.0, escaped(&self.title));
            let _ = writeln!(out, "<text class=\"h\" x=\"16\" y=\"{base}\">{title}</text>");
        }
        let mut y = top + self.head();
        for bar in &self.bars {
            let width = WIDTH * (bar.value.max(least) / least).ln() / (most / least).ln();
            let (base, label, figure) = (y + 15.0, LEFT - 8.0, LEFT + width + 6.0);
            let class = if bar.is_ours { "o" } else { "r" };
            let _ = writeln!(
                out,
                "<text class=\"n\" x=\"{label}\" y=\"{base}\">{}</text>\n<rect class=\"{class}\" x=\"{LEFT}\" y=\"{}\" width=\"{width:.1}\" height=\"14\"/>\n\
                 <text x=\"{figure:.1}\" y=\"{base}\">{}</text>",
                escaped(&bar.name),
                y + 4.0,
                escaped(&bar.figure),
            );
            y += ROW;
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "<style>text { font: 13px sans-serif; fill: #222 } .n { text-anchor: end } .h { font-weight: bold } \
    .o { fill: #1a7f5a } .r { fill: #c9772c } .p { fill: #fff }</style>";

const ALL: f64 = 860.0;
const LEFT: f64 = 240.0;
const WIDTH: f64 = 500.0;
const TOP: f64 = 44.0;
const HEAD: f64 = 28.0;
const ROW: f64 = 24.0;
const FOOT: f64 = 12.0;

#[cfg(test)]
mod tests {
    use super::{Bar, Chart, Group};

    #[test]
    fn bars_fit_and_texts_are_escaped() {
        let bar = |value| Bar { name: "<a>".into(), value, figure: "1".into(), is_ours: true };
        for values in [vec![], vec![0.0], vec![7.0], vec![1.0, 1e9], vec![0.0, 5.0]] {
            let bars: Vec<Bar> = values.into_iter().map(bar).collect();
            let svg = Chart { title: "a & b", groups: vec![Group { title: "g".into(), bars }] };
            let svg = svg.svg();
            assert!(svg.contains("a &amp; b") && !svg.contains("<a>"), "{svg}");
            let widths = svg.split("width=\"").skip(2).filter_map(|rest| rest.split('"').next());
            for width in widths.filter_map(|width| width.parse::<f64>().ok()) {
                assert!((0.0..=860.0).contains(&width), "{svg}");
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
