//! Acts that are measured together, a thousand of them in a pass.

use crate::measure::{self, Bounds, Figure, Row, Side, float};

/// A row, and the number of measured units in one of its acts.
pub(crate) struct Entry<'a> {
    row: Row<'a>,
    times: usize,
}

impl<'a> Entry<'a> {
    /// Makes a row; `act` returns true if its result was right.
    pub(crate) fn new(name: &str, side: Side, act: impl Fn(usize) -> bool + 'a) -> Self {
        let pass = move |range: std::ops::Range<usize>| range.filter(|at| !act(*at)).count();
        Self { row: Row::of_pass(name, side, ACTS, pass), times: 1 }
    }

    /// Returns the row, of which a pass has a thousand acts.
    #[cfg(feature = "mqtt")]
    pub(crate) const fn row(&self) -> &Row<'a> {
        &self.row
    }

    /// Returns the row, of which one act has this many units.
    #[cfg(feature = "mqtt")]
    pub(crate) fn each_of(self, times: usize) -> Self {
        Self { times, ..self }
    }
}

/// Checks and times the rows.
pub(crate) fn figures(entries: Vec<Entry<'_>>, bounds: Bounds) -> Result<Vec<Figure>, String> {
    let (rows, times): (Vec<_>, Vec<_>) =
        entries.into_iter().map(|entry| (entry.row, entry.times)).unzip();
    let figures = measure::rows(&rows, bounds)?.into_iter().zip(times);
    let each = |(figure, times): (Figure, usize)| Figure {
        nanoseconds: figure.nanoseconds / float(times),
        // All of them were right; their number means nothing here.
        requests: 0,
        ..figure
    };
    Ok(figures.map(each).collect())
}

/// The most acts of one pass, so that calling a pass costs nothing beside it.
const ACTS: usize = 1000;
