//! Counts the allocations of a decision, in every native form, and the memory of sets of SPOCP
//! rules; with the argument `mqtt`, those of packets of MQTT, and with `ratelimit`, those of checks of
//! rate limits in process.
//!
//! It is a program of its own because the counting allocator would slow the rows of the benchmark.
#![forbid(unsafe_code)]

use std::fmt::Display;
use std::process::ExitCode;

use allocation_counter::measure;
#[cfg(feature = "mqtt")]
use wardgate_host_bench::mqtt;
#[cfg(feature = "ratelimit")]
use wardgate_host_bench::ratelimit;
use wardgate_host_bench::{Row, exit_code, hot, spocp};

fn main() -> ExitCode {
    #[cfg(feature = "mqtt")]
    if std::env::args().nth(1).is_some_and(|word| word == "mqtt") {
        return exit_code(mqtt::allocations(packet));
    }
    #[cfg(feature = "ratelimit")]
    if std::env::args().nth(1).is_some_and(|word| word == "ratelimit") {
        return exit_code(ratelimit::allocations(check));
    }
    let counted = hot::rows(WORKLOAD, |rows| rows.iter().try_for_each(count));
    exit_code(counted.and_then(|()| RULES.into_iter().try_for_each(resident)))
}

/// Prints the allocations of one pass over the 2000 requests.
fn count(row: &Row<'_>) -> Result<(), String> {
    // The first decision of a thread makes the thread's buffers.
    row.pass()?;
    let mut outcome = Ok(());
    let counted = measure(|| outcome = row.pass());
    outcome?;
    print(row.name(), counted.count_total, counted.bytes_total);
    Ok(())
}

/// Prints what a codec allocates for one packet, with tabs between.
#[cfg(feature = "mqtt")]
fn packet(what: &str, row: &Row<'_>) -> Result<(), String> {
    // The first pass makes buffers.
    row.pass()?;
    let mut outcome = Ok(());
    let counted = measure(|| outcome = row.pass());
    outcome?;
    let (count, bytes) = (counted.count_total / mqtt::ACTS, counted.bytes_total / mqtt::ACTS);
    println!("{what}\t{}\t{count}\t{bytes}", row.name());
    Ok(())
}

/// Prints what a check of rate limits allocates, with a tab between.
#[cfg(feature = "ratelimit")]
fn check(row: &Row<'_>) -> Result<(), String> {
    let mut outcome = Ok(());
    let counted = measure(|| outcome = row.pass());
    outcome?;
    println!("{}\t{}", row.name(), counted.count_total / ratelimit::CHECKS);
    Ok(())
}

fn print(name: &str, allocations: impl Display, bytes: impl Display) {
    println!("{name:<44} {allocations:>9} allocations {bytes:>11} bytes");
}

/// Prints the memory of a set of SPOCP rules.
fn resident(rules: usize) -> Result<(), String> {
    let mut set = Err(String::new());
    let counted = measure(|| set = spocp::rules(rules));
    let name = format!("{} SPOCP rules, held", set?.len());
    print(&name, counted.count_current, counted.bytes_current);
    Ok(())
}

const WORKLOAD: &str = "five-rules-200";
const RULES: [usize; 3] = [1_000, 100_000, 1_000_000];
