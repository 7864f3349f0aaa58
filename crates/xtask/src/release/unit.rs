//! The units of systemd: valid, and as closed as the promise says.

use std::path::Path;

use super::facts::Facts;
use super::report::{self, Report, ensure};
use crate::setup;
use crate::shell::{self, Outcome, command, root};

/// Checks the units with systemd, where there is one.
pub(super) fn check(_: &Facts, report: &mut Report) -> Outcome {
    if setup::version_of("systemd-analyze", "--version").is_none() {
        println!("    skipped the units: there is no `systemd-analyze` on this machine");
        return Ok(());
    }
    let folder = report::empty_folder("units")?;
    for name in ["wardgate.service", "wardgate.socket"] {
        // The command is not installed on the machine that checks.
        let text = shell::read(&root().join(UNITS).join(name))?;
        shell::write(&folder.join(name), text.replace("/usr/local/bin/wardgate", "/bin/true"))?;
    }
    let service = folder.join("wardgate.service");
    report.check(format!("{UNITS}/wardgate.service and .socket are valid"), valid(&folder));
    let exposure = exposure(&service);
    let what = format!("{UNITS}/wardgate.service is exposed to at most {MAX_EXPOSURE}");
    report.check(
        what,
        exposure.and_then(|found| {
            ensure(found <= MAX_EXPOSURE, format!("systemd-analyze finds {found}"))
        }),
    );
    Ok(())
}

fn valid(folder: &Path) -> Outcome {
    let mut verify = command("systemd-analyze");
    verify.args(["verify", "--man=no"]);
    for unit in shell::entries(folder)? {
        verify.arg(unit);
    }
    shell::logged("systemd-analyze", &mut verify)
}

/// Returns the exposure of the service, from 0 to 10, as systemd weighs it.
fn exposure(service: &Path) -> Outcome<f64> {
    let mut security = command("systemd-analyze");
    security
        .args(["security", "--offline=true", "--no-pager"])
        .arg(service)
        .env("LC_ALL", "C.UTF-8");
    let text = shell::captured(&mut security)?;
    let line = text.lines().find_map(|line| line.split_once("service: ").map(|(_, rest)| rest));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| "systemd-analyze printed no exposure".into())
}

const UNITS: &str = "crates/server/deploy/systemd";

const MAX_EXPOSURE: f64 = 1.5;
