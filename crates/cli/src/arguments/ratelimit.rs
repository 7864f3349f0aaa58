//! The arguments of `wardgate bench ratelimit`.

use std::time::Duration;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct RateLimit {
    /// The server, such as `redis://127.0.0.1:6379`; otherwise the program `redis-server` of the
    /// system is started.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) redis: Option<String>,
    /// The number of concurrent callers, measured beside one alone.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) callers: u32,
    /// How long each measurement lasts, in seconds. It is repeated three times.
    #[arg(long, value_name = "N", default_value = "1", value_parser = super::seconds)]
    pub(crate) seconds: Duration,
}

pub(super) const HELP: &str = "\
Before anything is timed, more requests than a quota are sent at once, and exactly the quota must be
admitted. Names of the keys begin with `wg1:`, and they go by themselves some seconds later. A server
that is started writes no file, listens on this machine only, and shares it with the callers.";
