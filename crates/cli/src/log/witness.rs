//! `wardgate log witness`: cosigns checkpoints of other logs.

use std::future::pending;

use wardgate_decision_log::checkpoint::LogKey;
use wardgate_server::witness::{Witness, WitnessSettings};

use super::operator::secret;
use super::trusted_by;
use crate::arguments::WitnessLogs;
use crate::failure::{Failure, Result};
use crate::output::{Output, shown};

pub(super) fn run(arguments: &WitnessLogs, out: &mut Output) -> Result<()> {
    let signer = secret(&arguments.key)?;
    let name = signer.origin().to_owned();
    let logs = arguments
        .log_key
        .iter()
        .map(|path| trusted_by(path, LogKey::read))
        .collect::<Result<Vec<_>>>()?;
    let origins: Vec<String> = logs.iter().map(|key| key.name().to_owned()).collect();
    let settings = WitnessSettings {
        folder: arguments.state.clone(),
        is_new: arguments.new,
        signer,
        logs,
        listen: arguments.listen.clone(),
    };
    let failed = |error: wardgate_server::ServerError| Failure::policies(error.to_string());
    let witness = Witness::bind(settings).map_err(failed)?;
    if let Some(address) = witness.address() {
        out.line(format_args!("witness `{}` at http://{address}", shown(&name)))?;
    }
    for origin in origins {
        let size = witness.cosigned(&origin).unwrap_or(0);
        out.line(format_args!("  log `{}`: {size} frames were cosigned", shown(&origin)))?;
    }
    out.flush()?;
    witness.run(pending()).map_err(failed)
}
