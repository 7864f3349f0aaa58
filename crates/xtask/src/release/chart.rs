//! The chart for Kubernetes: linted, rendered with each set of values, and packed.

use std::fs;
use std::path::{Path, PathBuf};

use super::archive::Archive;
use super::facts::Facts;
use super::report::{self, Report, ensure};
use crate::languages;
use crate::setup::{timed, version_of};
use crate::shell::{self, Outcome, command, root, tools};

/// Checks the chart and packs it with the version and the repository of this release.
pub(super) fn check(facts: &Facts, report: &mut Report) -> Outcome {
    let chart = stage(facts)?;
    let helm = helm()?;
    let run = |words: &[&str], values: &Path| {
        shell::captured(command(&helm).args(words).arg(&chart).arg("--values").arg(values))
    };
    for values in shell::entries(&root().join(VALUES))? {
        let shown = report::shown(&values);
        let linted = run(&["lint", "--strict", "--quiet"], &values).map(drop);
        report.check(format!("helm lint finds nothing with {shown}"), linted);
        let rendered = run(&["template", "policies"], &values);
        let outcome = rendered.and_then(|text| closed(&text, &facts.version));
        report.check(format!("{shown} renders, closed"), outcome);
    }
    let incomplete = command(&helm).args(["template", "policies"]).arg(&chart).output();
    report.check("without policies nothing renders", {
        let refused = incomplete.is_ok_and(|output| !output.status.success());
        ensure(refused, format!("{CHART}: it rendered a server without policies"))
    });
    let mut archive = Archive::default();
    archive.tree(&chart, "wardgate")?;
    let path = report::folder().join(format!("wardgate-chart-{}.tgz", facts.version));
    archive.write_gzipped(facts.epoch, &path)?;
    let shown = shell::captured(command(&helm).args(["show", "chart"]).arg(&path));
    report.check("helm reads the packed chart", shown.map(drop));
    report.add(&path, "forge")
}

/// Copies the chart, with the facts in it.
fn stage(facts: &Facts) -> Outcome<PathBuf> {
    let chart = report::empty_folder("chart")?.join("wardgate");
    let from = root().join(CHART);
    let copied = command("cp").arg("-R").arg(&from).arg(&chart).status();
    ensure(copied.is_ok_and(|status| status.success()), "cannot copy the chart")?;
    fs::remove_dir_all(chart.join("tests")).map_err(|error| format!("{CHART}/tests: {error}"))?;
    let file = chart.join("Chart.yaml");
    let text = shell::read(&file)?;
    let text = text.replace("0.0.0", &facts.version);
    shell::write(&file, format!("{text}home: {0}\nsources: [\"{0}\"]\n", facts.repository))?;
    Ok(chart)
}

/// Checks that the rendered pods run without rights, and with this version.
fn closed(text: &str, version: &str) -> Outcome {
    let image = format!(":{version}\"");
    for expected in MUST_HAVE.iter().copied().chain([image.as_str()]) {
        ensure(text.contains(expected), format!("`{expected}` is not in what it renders"))?;
    }
    Ok(())
}

/// Returns helm: that of the machine, or one that Go builds.
fn helm() -> Outcome<PathBuf> {
    if version_of("helm", "version").is_some() {
        return Ok("helm".into());
    }
    go_tool("helm", HELM)
}

/// Builds a program with Go, once.
pub(super) fn go_tool(name: &str, module: &str) -> Outcome<PathBuf> {
    let program = tools().join("bin").join(name);
    let stamp = tools().join(format!(".{name}"));
    if program.exists() && fs::read_to_string(&stamp).is_ok_and(|built| built == module) {
        return Ok(program);
    }
    let go = languages::go()?;
    timed(module, |_| {
        let mut install = command(go);
        install.args(["install", module]).env("GOBIN", tools().join("bin"));
        shell::logged(name, &mut install)
    })?;
    shell::write(&stamp, module)?;
    Ok(program)
}

const CHART: &str = "crates/server/deploy/chart";

/// The values that tests render: a bundle from a ConfigMap, and one from an address with all options.
const VALUES: &str = "crates/server/deploy/chart/tests";

const HELM: &str = "helm.sh/helm/v3/cmd/helm@v3.19.2";

const MUST_HAVE: &[&str] = &[
    "runAsNonRoot: true",
    "readOnlyRootFilesystem: true",
    "allowPrivilegeEscalation: false",
    "automountServiceAccountToken: false",
    "path: /readyz",
    "path: /healthz",
];
