//! Allocations of checks in process, which another program counts: the allocator that counts would
//! slow the rows that are timed.

use std::fmt::Write;
use std::path::Path;

use wardgate_ratelimit::{Algorithm, Operation, Rule, Set, Table, WhenFull, Window};
use wardgate_ratelimit_store::{Action, Memory};

use super::{PLENTY, demands};
use crate::measure::Row;
use crate::program;

/// Hands each row to `act`; a pass of a row has [`CHECKS`] checks.
///
/// # Errors
/// If a row errs, or `act` fails.
pub fn allocations(mut act: impl FnMut(&Row<'_>) -> Result<(), String>) -> Result<(), String> {
    let rule = Rule::new(Algorithm::Gcra { burst: None }, PLENTY, Window::HOUR);
    let rule = rule.map_err(|error| error.to_string())?;
    let table = Table::new([Set::default()], WhenFull::Deny);
    let charge = |_| table.apply(7, &rule, 1, Operation::Charge(1)).is_allowed();
    act(&row("table", charge))?;
    let (memory, one, four) =
        (Memory::new(100, WhenFull::Deny), demands(1, 0, PLENTY)?, demands(4, 0, PLENTY)?);
    let apply = |demands| memory.apply(Action::Charge, demands).iter().all(|it| it.is_allowed());
    act(&row("store in memory, one limit", |_| apply(&one)))?;
    act(&row("store in memory, four limits", |_| apply(&four)))
}

fn row<'a>(name: &str, check: impl Fn(usize) -> bool + 'a) -> Row<'a> {
    let pass = move |range: std::ops::Range<usize>| range.filter(|at| !check(*at)).count();
    Row::of_pass(name, crate::measure::Side::Ours, 1000, pass)
}

/// Returns the table of what `counter` counts.
pub(super) fn table(counter: &Path) -> Result<String, String> {
    let text = program::text_of(counter, &["ratelimit"]);
    if text.is_empty() {
        return Err(format!("{} counted nothing", counter.display()));
    }
    let mut table = "\nAllocations of a check, counted by `wardgate-host-memory ratelimit`:\n\n\
        | what | allocations |\n|---|--:|\n"
        .to_owned();
    for line in text.lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {} |", line.split('\t').collect::<Vec<_>>().join(" | "));
    }
    Ok(table)
}

/// The checks of a pass of [`allocations`].
pub const CHECKS: u64 = 1000;
