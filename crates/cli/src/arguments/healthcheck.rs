//! The arguments of `wardgate healthcheck`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Healthcheck {
    /// The URL that must answer with 200. At `/healthz` a server says that it runs, at `/readyz` that
    /// it takes requests.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:3592/healthz")]
    pub(crate) url: String,
    /// The roots of the server's certificate, as PEM: for a URL with `https`.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Seconds within which the answer must be there, from 1 to 300.
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(crate) timeout: u64,
}

pub(super) const HELP: &str = "\
Exit codes:
  0  the server is healthy
  1  it is not, or does not answer in time
  2  the arguments are wrong";
