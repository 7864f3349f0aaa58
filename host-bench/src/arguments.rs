//! The options of the command line.

use std::path::PathBuf;

use crate::measure::Bounds;
use crate::workload::Workload;
use crate::{compare, compile, corpus, hospital, oopsla, rest, signed, similar, spocp, tenants};

/// The options of a run.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) json: bool,
    pub(crate) native: bool,
    pub(crate) node: bool,
    pub(crate) quick: bool,
    /// True if the memory after many decisions is measured instead of the time.
    pub(crate) memory: bool,
    /// The folder for the charts of a run that is not complete.
    pub(crate) charts: Option<PathBuf>,
    /// The optimised `wardgate` program, which serves decisions.
    pub(crate) server: Option<PathBuf>,
    /// The folder for rows and samples; those of the last run lie there before.
    pub(crate) results: Option<PathBuf>,
    /// The folder for pages of the results.
    pub(crate) site: Option<PathBuf>,
    /// The results of another machine, to be checked.
    pub(crate) submitted: Option<PathBuf>,
    /// The `opa` program, which compiles the policies of OPA.
    pub(crate) opa: Option<PathBuf>,
    /// The `cerbos` program, which checks folders of policies.
    pub(crate) cerbos: Option<PathBuf>,
    /// The `wardgate` program, which emits modules of accessors.
    pub(crate) cli: Option<PathBuf>,
    /// The folder of policy folders.
    pub(crate) corpus: Option<PathBuf>,
    /// The folder of the modules with cryptography in WebAssembly.
    pub(crate) modules: Option<PathBuf>,
    /// The `wardgate-host-memory` program, which counts allocations.
    pub(crate) counter: Option<PathBuf>,
    /// The folder of the modules for hosts beside JavaScript.
    #[cfg(feature = "hosts")]
    pub(crate) hosts: Option<PathBuf>,
    /// Names of workloads and of the other sections; everything if there are none.
    only: Vec<String>,
}

impl Arguments {
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self { native: true, node: true, ..Self::default() };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => arguments.json = true,
                "--native" => arguments.node = false,
                "--node" => arguments.native = false,
                "--quick" => arguments.quick = true,
                "--memory" => arguments.memory = true,
                "--charts" => arguments.charts = words.next().map(PathBuf::from),
                "--server" => arguments.server = words.next().map(PathBuf::from),
                "--results" => arguments.results = words.next().map(PathBuf::from),
                "--site" => arguments.site = words.next().map(PathBuf::from),
                "--submit" => arguments.submitted = words.next().map(PathBuf::from),
                "--opa" => arguments.opa = words.next().map(PathBuf::from),
                "--cerbos" => arguments.cerbos = words.next().map(PathBuf::from),
                "--cli" => arguments.cli = words.next().map(PathBuf::from),
                "--corpus" => arguments.corpus = words.next().map(PathBuf::from),
                "--modules" => arguments.modules = words.next().map(PathBuf::from),
                "--counter" => arguments.counter = words.next().map(PathBuf::from),
                #[cfg(feature = "hosts")]
                "--hosts" => arguments.hosts = words.next().map(PathBuf::from),
                "--only" => arguments.only.push(section(words.next())?),
                other => return Err(format!("unknown argument `{other}`; {USAGE}")),
            }
        }
        if !arguments.native && !arguments.node {
            return Err("`--native` and `--node` each leave out the other".to_owned());
        }
        Ok(arguments)
    }

    /// Returns true if a section is selected.
    pub(crate) fn wants(&self, section: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == section)
    }

    /// Returns true if any section about decisions is selected.
    pub(crate) fn decides(&self) -> bool {
        let apart = [
            CRYPTO,
            DECISION_LOG,
            MQTT,
            RATELIMIT,
            spocp::NAME,
            compare::NAME,
            compile::NAME,
            corpus::NAME,
            oopsla::NAME,
            similar::NAME,
            hospital::NAME,
            tenants::NAME,
            rest::NAME,
            END_TO_END,
        ];
        self.only.is_empty() || self.only.iter().any(|only| !apart.contains(&only.as_str()))
    }

    /// Returns true if the figures may replace those in the project.
    pub(crate) fn is_complete(&self) -> bool {
        self.native && self.node && !self.quick && self.only.is_empty()
    }

    pub(crate) fn bounds(&self) -> Bounds {
        if self.quick { Bounds::QUICK } else { Bounds::FULL }
    }

    /// Returns the bounds of one of many folders.
    pub(crate) fn folder_bounds(&self) -> Bounds {
        if self.quick { Bounds::QUICK_FOLDER } else { Bounds::FOLDER }
    }
}

fn section(word: Option<String>) -> Result<String, String> {
    let names = || Workload::names().into_iter().chain(OTHERS.iter().map(ToString::to_string));
    word.filter(|word| names().any(|name| name == *word)).ok_or_else(|| {
        format!("`--only` needs one of {}; {USAGE}", names().collect::<Vec<_>>().join(", "))
    })
}

/// The sections that are no workload of their own.
const OTHERS: &[&str] = &[
    "evaluation",
    "filter",
    "cold",
    "reload",
    "hosts",
    signed::NAME,
    spocp::NAME,
    compare::NAME,
    compile::NAME,
    corpus::NAME,
    oopsla::NAME,
    similar::NAME,
    hospital::NAME,
    tenants::NAME,
    rest::NAME,
    END_TO_END,
    CRYPTO,
    DECISION_LOG,
    MQTT,
    RATELIMIT,
];

/// The section about cryptography.
pub(crate) const CRYPTO: &str = "crypto";

/// The section about a shop that asks.
pub(crate) const END_TO_END: &str = "end-to-end";

/// The section about recording decisions.
pub(crate) const DECISION_LOG: &str = "decision-log";

/// The section about MQTT.
pub(crate) const MQTT: &str = "mqtt";

/// The section about rate limits.
pub(crate) const RATELIMIT: &str = "ratelimit";

const USAGE: &str = "expected --quick, --json, --memory, --charts FOLDER, --results FOLDER, --site FOLDER, --submit FILE, --native or --node \
    (leave the other host out), --opa PROGRAM, --cerbos PROGRAM, --cli PROGRAM, --server PROGRAM, --corpus FOLDER, --modules FOLDER, --hosts FOLDER, --counter PROGRAM, --only SECTION (may be repeated)";
