//! The arguments of `wardgate bench protocols`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Other things to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchWhat {
    /// Compare ways to ask: directly, over SPOCP on TCP, and over AuthZEN on HTTP.
    #[command(after_help = PROTOCOLS_HELP)]
    Protocols(Protocols),
}

#[derive(Debug, Args)]
pub(crate) struct Protocols {
    /// How many rules there are.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rules: u32,
    /// How many queries are asked in one round. Rounds are repeated for a second at least.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) queries: u32,
    /// How many clients ask at the same time, beside one alone.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) concurrent: u32,
    /// Give clients threads of their own, which each answer may have to wake.
    #[arg(long)]
    pub(crate) apart: bool,
    /// Leave out SPOCP on TCP.
    #[arg(long)]
    pub(crate) skip_tcp: bool,
    /// Leave out AuthZEN on HTTP.
    #[arg(long)]
    pub(crate) skip_http: bool,
    /// Where the bar chart goes.
    #[arg(long, value_name = "FILE", default_value = "wardgate-protocols.svg")]
    pub(crate) chart: PathBuf,
}

const PROTOCOLS_HELP: &str = "\
Rules and queries are generated, the same ones each time, and about half of the queries are
allowed. A server runs in this process, and so do the clients: all of them share the machine.
Clients are tasks of the threads that answer, so that no question wakes another thread; with
`--apart` they have threads of their own. Before anything is timed, every answer of every way is
compared with the expected one.";
