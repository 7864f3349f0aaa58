//! Bills of materials in the form of CycloneDX 1.6: which packages are in what is published.
//!
//! One for the command and one for the npm package, from `cargo metadata`, `Cargo.lock` and the lock file of the
//! package. The same commit gives the same bytes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::binaries;
use super::facts::Facts;
use super::report::{self, Report, ensure};
use crate::metadata::{list, string};
use crate::setup::{WASI_TARGET, WASM_TARGET};
use crate::shell::{self, Outcome, cargo, root};

/// Writes both bills and checks that they are whole.
pub(super) fn check(facts: &Facts, report: &mut Report) -> Outcome {
    let command = Bill::of_crates(&[Built::new("wardgate-cli", &binaries::platform()?)])?;
    write("command", &format!("pkg:cargo/wardgate-cli@{}", facts.version), command, facts, report)?;
    let mut built: Vec<Built> = IN_NPM.iter().map(|name| Built::new(name, WASM_TARGET)).collect();
    built.push(Built { is_default: false, ..Built::new("wardgate-cli", WASI_TARGET) });
    let mut package = Bill::of_crates(&built)?;
    package.add_npm()?;
    write("npm", &format!("pkg:npm/wardgate@{}", facts.version), package, facts, report)
}

fn write(what: &str, purl: &str, bill: Bill, facts: &Facts, report: &mut Report) -> Outcome {
    let name = format!("wardgate-{}-{what}.cdx.json", facts.version);
    let path = report::folder().join(&name);
    let unlicensed = bill.components.values().find(|it| it.pointer("/licenses/0").is_none());
    let fault = unlicensed.map(|it| format!("{name}: {} has no licence", string(it, "bom-ref")));
    report.check(format!("{name}: every component has a licence"), fault.map_or(Ok(()), Err));
    let known: BTreeSet<&str> = bill.components.keys().map(String::as_str).collect();
    let unknown = bill.edges.values().flatten().find(|to| !known.contains(to.as_str()));
    let fault = unknown.map(|to| format!("{name}: {to} is needed and no component"));
    report.check(format!("{name}: every dependency is a component"), fault.map_or(Ok(()), Err));
    let count = bill.components.len();
    report.check(format!("{name}: {count} components"), ensure(count > 10, "too few"));
    let text = serde_json::to_string_pretty(&bill.document(purl, facts)?);
    shell::write(&path, text.map_err(|error| format!("{name}: {error}"))?)?;
    report.add(&path, "forge")
}

/// A crate of the workspace as it is built.
struct Built {
    name: String,
    platform: String,
    /// True if it has its default features.
    is_default: bool,
}

impl Built {
    fn new(name: &str, platform: &str) -> Self {
        Self { name: name.into(), platform: platform.into(), is_default: true }
    }

    /// Returns the package URLs of all that is built for it.
    fn tree(&self) -> Outcome<BTreeSet<String>> {
        let mut tree = cargo(["tree", "--locked", "--edges", "normal,build", "--prefix", "none"]);
        tree.args(["--package", &self.name, "--target", &self.platform]);
        if !self.is_default {
            tree.arg("--no-default-features");
        }
        let text = shell::captured(&mut tree)?;
        let purl = |line: &str| {
            let (name, version) = line.split_once(" v")?;
            Some(format!("pkg:cargo/{name}@{}", version.split_whitespace().next()?))
        };
        Ok(text.lines().filter_map(purl).collect())
    }
}

/// Components by their package URL, and what each of them needs.
#[derive(Default)]
struct Bill {
    components: BTreeMap<String, Value>,
    edges: BTreeMap<String, BTreeSet<String>>,
    roots: BTreeSet<String>,
}

impl Bill {
    /// Collects all that these crates of the workspace are built from, each for its platform.
    fn of_crates(crates: &[Built]) -> Outcome<Self> {
        let digests = digests(&shell::read(&root().join("Cargo.lock"))?);
        let mut bill = Self::default();
        for built in crates {
            bill.add_crate(built, &digests)?;
        }
        Ok(bill)
    }

    fn add_crate(&mut self, built: &Built, digests: &Digests) -> Outcome {
        let graph = metadata(&built.platform)?;
        // The graph has the features of the whole workspace, the tree those of this crate.
        let tree = built.tree()?;
        let packages = by_id(list(&graph, "packages"));
        let is_in = |id: &str| packages.get(id).is_some_and(|it| tree.contains(&purl_of(it)));
        let nodes = graph.pointer("/resolve/nodes").and_then(Value::as_array);
        for node in nodes.into_iter().flatten().filter(|node| is_in(string(node, "id"))) {
            let Some(package) = packages.get(string(node, "id")) else { continue };
            let needed = list(node, "deps").iter().filter(|dependency| is_built(dependency));
            let needed = needed.map(|it| string(it, "pkg")).filter(|id| is_in(id));
            let edges = self.edges.entry(purl_of(package)).or_default();
            edges.extend(needed.filter_map(|id| packages.get(id)).map(|it| purl_of(it)));
            self.components.insert(purl_of(package), component(package, digests));
            if string(package, "name") == built.name {
                self.roots.insert(purl_of(package));
            }
        }
        Ok(())
    }

    /// Adds what the npm package takes along of other packages: all of its lock file that is neither for
    /// development nor a peer.
    fn add_npm(&mut self) -> Outcome {
        let lock = shell::read(&root().join("npm/package-lock.json"))?;
        let lock: Value = serde_json::from_str(&lock).map_err(|error| format!("npm: {error}"))?;
        let packages = lock.get("packages").and_then(Value::as_object);
        for (path, package) in packages.into_iter().flatten() {
            let is_apart = |key: &&str| package.get(*key) == Some(&Value::Bool(true));
            let Some((_, name)) = path.rsplit_once("node_modules/") else { continue };
            if ["dev", "peer", "devOptional"].iter().any(is_apart) {
                continue;
            }
            let purl =
                format!("pkg:npm/{}@{}", name.replace('@', "%40"), string(package, "version"));
            let licences = json!([{ "expression": string(package, "license") }]);
            let part = json!({ "type": "library", "bom-ref": purl, "purl": purl, "name": name, "version": string(package, "version"), "licenses": licences });
            self.edges.insert(purl.clone(), BTreeSet::new());
            self.roots.insert(purl.clone());
            self.components.insert(purl, part);
        }
        Ok(())
    }

    fn document(self, purl: &str, facts: &Facts) -> Outcome<Value> {
        let subject = json!({
            "type": "application", "bom-ref": format!("{purl}#release"), "purl": purl,
            "name": "wardgate", "version": facts.version,
            "licenses": [{ "expression": facts.license }],
            "externalReferences": [{ "type": "vcs", "url": facts.repository }],
        });
        let edge =
            |(from, to): (&String, &BTreeSet<String>)| json!({ "ref": from, "dependsOn": to });
        let mut edges: Vec<Value> = self.edges.iter().map(edge).collect();
        edges.push(json!({ "ref": format!("{purl}#release"), "dependsOn": self.roots }));
        Ok(json!({
            "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "metadata": { "timestamp": facts.time()?, "component": subject },
            "components": self.components.into_values().collect::<Vec<_>>(),
            "dependencies": edges,
        }))
    }
}

/// The SHA-256 digests of packages, by name and version.
type Digests = BTreeMap<(String, String), String>;

/// Reads the digests in the text of a `Cargo.lock`.
fn digests(lock: &str) -> Digests {
    let value = |entry: &str, key: &str| {
        let start = format!("{key} = \"");
        let line = entry.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix('"'));
        line.map(str::to_owned)
    };
    let entries = lock.split("[[package]]\n").skip(1);
    let pair = |entry| {
        Some(((value(entry, "name")?, value(entry, "version")?), value(entry, "checksum")?))
    };
    entries.filter_map(pair).collect()
}

fn metadata(platform: &str) -> Outcome<Value> {
    let mut cargo =
        cargo(["metadata", "--format-version", "1", "--locked", "--filter-platform", platform]);
    serde_json::from_str(&shell::captured(&mut cargo)?)
        .map_err(|error| format!("cargo metadata: {error}"))
}

fn by_id(values: &[Value]) -> BTreeMap<&str, &Value> {
    values.iter().map(|value| (string(value, "id"), value)).collect()
}

/// Returns true for a dependency that is built into the crate, or builds it.
fn is_built(dependency: &Value) -> bool {
    list(dependency, "dep_kinds").iter().any(|kind| string(kind, "kind") != "dev")
}

fn purl_of(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", string(package, "name"), string(package, "version"))
}

fn component(package: &Value, digests: &Digests) -> Value {
    let (name, version) = (string(package, "name"), string(package, "version"));
    let purl = purl_of(package);
    // Old crates write `MIT/Apache-2.0`, which SPDX writes with `OR`.
    let licence = string(package, "license").replace('/', " OR ");
    let licences: Vec<Value> = Some(licence)
        .filter(|it| !it.is_empty())
        .map(|it| json!({ "expression": it }))
        .into_iter()
        .collect();
    let digest = digests.get(&(name.to_owned(), version.to_owned()));
    let hashes: Vec<Value> =
        digest.map(|it| json!({ "alg": "SHA-256", "content": it })).into_iter().collect();
    json!({
        "type": "library", "bom-ref": purl, "purl": purl, "name": name, "version": version,
        "licenses": licences, "hashes": hashes,
    })
}

/// The crates whose modules are in the npm package.
const IN_NPM: [&str; 7] = [
    "wardgate-wasm",
    "wardgate-compiler-wasm",
    "wardgate-analysis-wasm",
    "wardgate-spocp-wasm",
    "wardgate-mqtt-wasm",
    "wardgate-decision-log-wasm",
    "wardgate-log-sequencer-wasm",
];

#[cfg(test)]
mod tests {
    use super::digests;

    #[test]
    fn digests_are_read_from_a_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"00ff\"\n\n\
                    [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n";
        let found = digests(lock);
        assert_eq!(found.len(), 1);
        assert_eq!(found[&("a".into(), "1.0.0".into())], "00ff");
    }
}
