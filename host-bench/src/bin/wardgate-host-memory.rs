//! Counts the allocations of a decision, in every native form.
//!
//! It is a program of its own because the counting allocator would slow the rows of the benchmark.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use allocation_counter::measure;
use wardgate_host_bench::{Row, hot};

fn main() -> ExitCode {
    let counted = hot::rows(WORKLOAD, |rows| rows.iter().try_for_each(count));
    match counted {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Prints what one pass over the 2000 requests allocates.
fn count(row: &Row<'_>) -> Result<(), String> {
    // The first decision of a thread makes what the thread keeps.
    row.pass()?;
    let mut outcome = Ok(());
    let counted = measure(|| outcome = row.pass());
    outcome?;
    let name = row.name();
    println!("{name:<44} {:>9} allocations {:>11} bytes", counted.count_total, counted.bytes_total);
    Ok(())
}

const WORKLOAD: &str = "five-rules-200";
