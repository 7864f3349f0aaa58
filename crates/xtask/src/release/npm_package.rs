//! The tarball for the npm registry: packed, completed with the address of the repository, checked, and
//! installed in an empty folder.
//!
//! The checks look at the tarball, because users get that and not the folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::facts::Facts;
use super::report::{self, Report, ensure};
use crate::metadata::{list, string};
use crate::shell::{self, Outcome, command, root};
use crate::{npm, npm_command, setup};

/// Makes the tarball and checks it.
pub(super) fn check(facts: &Facts, report: &mut Report) -> Outcome {
    npm::build()?;
    npm_command::build()?;
    let tarball = pack(facts)?;
    let manifest = shell::read(&report::folder().join("npm/package/package.json"))?;
    let manifest: Value =
        serde_json::from_str(&manifest).map_err(|error| format!("npm/package.json: {error}"))?;
    for (what, fault) in faults(&manifest, facts) {
        report.check(what, fault.map_err(|fault| format!("npm/package.json: {fault}")));
    }
    setup::npm_ci(CHECKS)?;
    report.check("publint finds nothing in the tarball", publint(&tarball));
    report.check("the types of every entry resolve (attw)", types_resolve(&tarball));
    report.check("the installed package imports, requires and compiles", smoke(&tarball));
    report.add(&tarball, "npm")
}

/// Returns the tarball of this version, if it was made.
pub(super) fn tarball(facts: &Facts) -> PathBuf {
    report::folder().join(format!("wardgate-{}.tgz", facts.version))
}

/// Packs `npm`, writes the address of the repository into the copy, and packs that.
fn pack(facts: &Facts) -> Outcome<PathBuf> {
    let stage = report::empty_folder("npm")?;
    npm_in(&root().join("npm"), &["pack", "--silent", "--pack-destination"], &stage)?;
    let packed = stage.join(format!("wardgate-{}.tgz", facts.version));
    shell::captured(command("tar").arg("-xzf").arg(&packed).arg("-C").arg(&stage))?;
    let package = stage.join("package");
    let repository = &facts.repository;
    let mut set = command("npm");
    set.current_dir(&package).args(["pkg", "set", "repository.type=git"]);
    set.arg(format!("repository.url=git+{repository}.git"));
    set.arg(format!("homepage={repository}#readme"));
    set.arg(format!("bugs.url={repository}/issues"));
    shell::captured(&mut set)?;
    npm_in(&package, &["pack", "--silent", "--pack-destination"], &report::folder())?;
    Ok(tarball(facts))
}

fn npm_in(folder: &Path, words: &[&str], last: &Path) -> Outcome {
    shell::captured(command("npm").args(words).arg(last).current_dir(folder)).map(drop)
}

/// Returns each check of the manifest with its outcome.
fn faults(manifest: &Value, facts: &Facts) -> Vec<(String, Outcome)> {
    let text = |key: &str| string(manifest, key);
    let at = |path: &str| manifest.pointer(path).cloned().unwrap_or_default();
    let mut checks = vec![
        ("the version is that of the workspace".into(), same(text("version"), &facts.version)),
        ("the licence is that of the workspace".into(), same(text("license"), &facts.license)),
        ("the engines are those that require ES modules".into(), {
            same(at("/engines/node").as_str().unwrap_or_default(), NODE)
        }),
        ("the package is not private".into(), {
            ensure(at("/private") != Value::Bool(true), "`private` is true")
        }),
        ("it is published with provenance".into(), {
            ensure(at("/publishConfig/provenance") == Value::Bool(true), "no `provenance`")
        }),
        ("it has at least five keywords".into(), {
            ensure(list(manifest, "keywords").len() >= 5, "too few `keywords`")
        }),
        ("it depends on no package".into(), {
            ensure(at("/dependencies").is_null(), "it has `dependencies`")
        }),
    ];
    for path in ["/description", "/repository/url", "/homepage", "/bugs/url"] {
        let found = at(path).as_str().is_some_and(|text| !text.is_empty());
        let name = path.trim_start_matches('/').replace('/', ".");
        checks.push((format!("it has `{name}`"), ensure(found, "it is missing")));
    }
    checks
}

fn same(found: &str, expected: &str) -> Outcome {
    ensure(found == expected, format!("expected `{expected}`, found `{found}`"))
}

fn publint(tarball: &Path) -> Outcome {
    quiet("publint", &["--strict"], tarball)
}

/// Checks the types of all entries. ES modules only: what CommonJS or compilers without `exports` find
/// is told and does not count.
fn types_resolve(tarball: &Path) -> Outcome {
    quiet("attw", &["--profile", "esm-only", "--no-emoji"], tarball)
}

/// Runs a program of the checks on the tarball, and prints its output only if it fails.
fn quiet(program: &str, words: &[&str], tarball: &Path) -> Outcome {
    let folder = root().join(CHECKS);
    let mut run = command(folder.join("node_modules/.bin").join(program));
    run.current_dir(&folder).args(words).arg(tarball).env("NO_COLOR", "1");
    shell::logged(program, &mut run)
}

/// Installs the tarball into an empty folder, and uses it there as its README says.
fn smoke(tarball: &Path) -> Outcome {
    let folder = report::empty_folder("installed")?;
    shell::write(&folder.join("package.json"), "{ \"private\": true }\n")?;
    let install = ["install", "--silent", "--no-audit", "--no-fund", "--omit=peer"];
    shell::captured(command("npm").args(install).arg(tarball).current_dir(&folder))?;
    fs::create_dir_all(folder.join("policies"))
        .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    shell::write(&folder.join("policies/document.yaml"), POLICY)?;
    let compile = ["--no-install", "wardgate", "compile", "policies", "-o", "policies.wardgate"];
    shell::captured(command("npx").args(compile).current_dir(&folder))?;
    shell::write(&folder.join("check.cjs"), PROGRAM)?;
    let answer = shell::captured(command("node").arg("check.cjs").current_dir(&folder))?;
    ensure(answer.trim() == "true false true", format!("check.cjs printed `{}`", answer.trim()))
}

/// The folder of the programs that check the tarball, with a lock file of its own.
const CHECKS: &str = "crates/xtask/package-checks";

/// Node requires ES modules from this version on.
const NODE: &str = ">=20.19";

const POLICY: &str = "\
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: document
  version: default
  rules:
    - actions: [view]
      roles: [member]
      effect: EFFECT_ALLOW
      condition: { match: { expr: P.id in R.attr.readers } }
";

const PROGRAM: &str = r#"
const { readFileSync } = require("node:fs");
const required = require("wardgate");
const pdp = required.openSync(readFileSync("policies.wardgate"), { trust: "unsigned" });
const resource = { kind: "document", id: "d1", attr: { readers: ["sam"] } };
const answers = ["sam", "eve"].map((id) => pdp.isAllowed({ principal: { id, roles: ["member"] }, action: "view", resource }));
import("wardgate").then((imported) => console.log(...answers, imported.open === required.open));
"#;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::faults;
    use crate::release::facts::Facts;

    fn failed(manifest: serde_json::Value) -> Vec<String> {
        let facts = Facts::of_test(Vec::new());
        let all = faults(&manifest, &facts).into_iter();
        all.filter(|(_, outcome)| outcome.is_err()).map(|(what, _)| what).collect()
    }

    #[test]
    fn a_manifest_that_cannot_be_published_has_its_faults_named() {
        let mut manifest = json!({
            "version": "1.0.0", "license": "Apache-2.0", "engines": { "node": ">=20.19" },
            "publishConfig": { "provenance": true }, "keywords": ["a", "b", "c", "d", "e"],
            "description": "d", "repository": { "url": "u" }, "homepage": "h", "bugs": { "url": "b" },
        });
        assert_eq!(failed(manifest.clone()), Vec::<String>::new());
        manifest["private"] = true.into();
        manifest["version"] = "1.0.1".into();
        manifest["bugs"] = json!({});
        let expected = [
            "the version is that of the workspace",
            "the package is not private",
            "it has `bugs.url`",
        ];
        assert_eq!(failed(manifest), expected);
    }
}
