//! The arguments of `wardgate bench mqtt`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Mqtt {
    /// The program `mosquitto`; otherwise the one of the system, if it is installed.
    #[arg(long, value_name = "PATH")]
    pub(crate) mosquitto: Option<PathBuf>,
    /// How long each measurement lasts, in seconds. It is repeated three times for each broker.
    #[arg(long, value_name = "N", default_value = "1", value_parser = super::seconds)]
    pub(crate) seconds: Duration,
    /// The number of idle clients, as far as the limit of open files allows; 0 leaves them out.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(0..=20_000))]
    pub(crate) idle: u32,
    /// Measures the memory of servers with hostile clients too, and fails beyond its bounds. The
    /// half-open connections are 10,000, as far as the limit of open files allows.
    #[arg(long)]
    pub(crate) hostile: bool,
    /// The file of the bar chart.
    #[arg(long, value_name = "FILE", default_value = "wardgate-mqtt.svg")]
    pub(crate) chart: PathBuf,
}

pub(super) const HELP: &str = "\
Two servers are started on this machine: this program as a broker and as a gate before mosquitto,
both with a policy that allows everything. One client publishes; others read and compare each message
with the next one that they expect, before and while anything is timed. Everybody shares the machine,
and all figures are of one run, so that ratios count.";
