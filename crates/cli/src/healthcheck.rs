//! `wardgate healthcheck`: asks a server whether it runs, within a time.

use std::time::Duration;

use wardgate_server::health;

use crate::arguments::Healthcheck;
use crate::failure::{Failure, Result, Status};
use crate::output::{Output, shown};

pub(crate) fn run(check: &Healthcheck, out: &mut Output) -> Result<Status> {
    let (url, within) = (&check.url, Duration::from_secs(check.timeout));
    let healthy = health::check(url.clone(), check.ca.clone(), within);
    let why = |why| Failure::Message(Status::Unhealthy, format!("`{}`: {why}", shown(url)));
    healthy.map_err(why)?;
    out.line(format_args!("`{}` is healthy", shown(url)))?;
    Ok(Status::Done)
}
