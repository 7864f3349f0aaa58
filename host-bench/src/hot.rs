//! The native forms of a question, for programs that count something other than time.

use crate::measure::Row;
use crate::rows::evaluation::Frames;
use crate::rows::native::Forms;
use crate::rows::wardgate::{self, Compiled};
use crate::workload::Workload;

/// Hands the rows of Wardgate for a workload to `act`.
///
/// # Errors
/// If the workload cannot be made, or `act` fails.
pub fn rows<T>(
    workload: &str,
    act: impl FnOnce(&[Row<'_>]) -> Result<T, String>,
) -> Result<T, String> {
    let workload = Workload::generate(workload)?;
    let compiled = Compiled::new(&workload)?;
    let requests = workload.engine_requests()?;
    let forms = Forms::new(&workload, &compiled.bundle, &requests)?;
    let frames = Frames::new(&compiled.table, &requests)?;
    let mut rows = vec![frames.row(&workload, &compiled.table)];
    rows.extend(forms.rows(&workload));
    rows.extend(wardgate::rows(&workload, &compiled, &requests));
    act(&rows)
}
