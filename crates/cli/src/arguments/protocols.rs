//! The arguments of `wardgate bench protocols`, and the other things that are measured.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::mqtt::{self, Mqtt};
use super::ratelimit::{self, RateLimit};

/// Other things to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchWhat {
    /// Compare direct queries, SPOCP on TCP, and AuthZEN on HTTP.
    #[command(after_help = PROTOCOLS_HELP)]
    Protocols(Protocols),
    /// Compare broker and gate of MQTT with mosquitto.
    #[command(after_help = mqtt::HELP)]
    Mqtt(Mqtt),
    /// Measure checks of rate limits on Redis, on leases and in this process.
    #[command(name = "ratelimit", after_help = ratelimit::HELP)]
    RateLimit(RateLimit),
}

#[derive(Debug, Args)]
pub(crate) struct Protocols {
    /// The number of rules.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rules: u32,
    /// The number of queries in one round. Rounds are repeated for a second at least.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) queries: u32,
    /// The number of concurrent clients, measured beside one alone.
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
    /// The file of the bar chart.
    #[arg(long, value_name = "FILE", default_value = "wardgate-protocols.svg")]
    pub(crate) chart: PathBuf,
}

const PROTOCOLS_HELP: &str = "\
Rules and queries are generated, the same ones each time, and about half of the queries are
allowed. A server runs in this process, and so do the clients: all of them share the machine.
Clients are tasks of the threads that answer, so that no question wakes another thread; with
`--apart` they have threads of their own. Before anything is timed, every answer of every way is
compared with the expected one.";
