//! Real policies: a folder of policy folders, each decided by the requests of its own test suites.
//!
//! The folders lie outside the project and differ from run to run, so the report has figures over
//! all of them, and only the output of a program (`--json`) names a folder. In each folder every
//! form gives every answer of the general path before it is timed.

mod folder;
mod generate;
mod native;
mod node;
mod shapes;
mod summary;
mod ways;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value as Json;

use crate::arguments::Arguments;
use crate::files;
use crate::measure::Figure;
use crate::node as host;
use crate::report::{NATIVE, Section};
use folder::{Folder, Inquiry};
use summary::Summary;
use ways::{Counts, Way, Ways};

/// The name of the section in `--only`.
pub(crate) const NAME: &str = "corpus";

/// Measures every folder; returns no section without a folder of them.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let Some(corpus) = &arguments.corpus else {
        eprintln!("`{NAME}` is left out: `--corpus FOLDER` names a folder of policy folders");
        return Ok(Vec::new());
    };
    let mut summary = Summary::default();
    for path in folders(corpus)? {
        let start = Instant::now();
        match Folder::read(&path)? {
            Ok(folder) => {
                let measured = Measured::new(root, arguments, &folder)?;
                eprintln!("{NAME}: {}: {:.1} s", folder.name, start.elapsed().as_secs_f64());
                summary.folders.push(measured);
            }
            Err(refused) => {
                eprintln!("{NAME}: {} is left out: {refused}", path.display());
                summary.refused += 1;
            }
        }
    }
    if summary.folders.is_empty() {
        return Err(format!("`{}` has no folder of policies", corpus.display()));
    }
    let mut section = Section::new(NAME, summary.title(), NOTE);
    if arguments.native {
        section = section.with(NATIVE, summary.medians(|folder| &folder.native));
    }
    if arguments.node {
        section = section.with(&host::name()?, summary.medians(|folder| &folder.node));
    }
    section.details = summary.markdown();
    section.json = summary.json();
    Ok(vec![section])
}

/// The figures of one folder.
pub(crate) struct Measured {
    pub(crate) name: String,
    /// The number of rules that its authors wrote.
    pub(crate) rules: usize,
    /// The size of the bundle, and of the bundle after `gzip -9`.
    pub(crate) bytes: [usize; 2],
    /// The kinds, versions, scopes and actions by what keeps them from having a fast path.
    pub(crate) actions: Counts,
    /// The decisions by their way: natively and in Node, of the suites and of generated requests.
    pub(crate) ways: Vec<HostWays>,
    /// The requests of suites and generated ones by the way of `check` in Node.
    pub(crate) checks: [Counts; 2],
    pub(crate) native: Vec<Figure>,
    pub(crate) node: Vec<Figure>,
}

/// The decisions of one host by their way.
pub(crate) struct HostWays {
    pub(crate) host: &'static str,
    pub(crate) suites: Counts,
    pub(crate) generated: Counts,
    /// A request for each reason why a decision leaves the fast path.
    pub(crate) examples: BTreeMap<&'static str, Json>,
}

impl Measured {
    fn new(root: &Path, arguments: &Arguments, folder: &Folder) -> Result<Self, String> {
        let ways = Ways::new(&folder.table);
        let native = ways.native([&folder.suites, &folder.generated]);
        let mut found = Self {
            name: folder.name.clone(),
            rules: folder.rules,
            bytes: folder.bytes()?,
            actions: ways.actions(),
            ways: Vec::new(),
            checks: Default::default(),
            native: Vec::new(),
            node: Vec::new(),
        };
        if arguments.native {
            found.native = native::figures(folder, &native, arguments.folder_bounds())?;
        }
        found.ways.push(HostWays::new("natively", folder, &native));
        if arguments.node {
            let in_node = node::figures(root, folder, &ways, &native, arguments.quick)?;
            found.ways.push(HostWays::new("in Node", folder, &in_node.ways));
            found.node = in_node.figures;
            found.checks = in_node.checks;
        }
        Ok(found)
    }
}

impl HostWays {
    fn new(host: &'static str, folder: &Folder, [suites, generated]: &[Vec<Way>; 2]) -> Self {
        let count = |ways: &[Way]| ways.iter().map(|way| way.words()).collect();
        let mut examples = BTreeMap::new();
        for (inquiries, ways) in [(&folder.suites, suites), (&folder.generated, generated)] {
            let decisions = inquiries.iter().flat_map(Inquiry::decisions);
            for ((request, action, _), way) in decisions.zip(ways) {
                if let Way::General(reason) = way {
                    examples.entry(*reason).or_insert_with(|| node::about(request, action));
                }
            }
        }
        Self { host, suites: count(suites), generated: count(generated), examples }
    }
}

/// Returns the folders in a folder, by name.
fn folders(corpus: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(corpus).map_err(|error| files::cannot(corpus, &error))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

const NOTE: &str = "The median over the folders of the mean time of a decision; a `check` as requested counts once for \
    all of its actions. A folder without suites is timed on generated requests.";
