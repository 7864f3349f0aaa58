//! The policies that a log names, by the digests of their content.

use std::collections::HashMap;
use std::path::PathBuf;

use wardgate_bundle::{Opened, describe};
use wardgate_decision_log::record::Decision;
use wardgate_engine::cel::Timestamp;
use wardgate_native::Policies;
use wardgate_server::decision_log::Names;

use super::evidence::Absence;
use crate::arguments::Opening;
use crate::failure::Result;
use crate::opening::{self, Terms};

/// Policies that were in force.
pub(crate) struct Bundles(HashMap<[u8; 32], Policies>);

impl Bundles {
    /// Opens bundles, each at a time when it was valid.
    pub(crate) fn open(paths: &[PathBuf], opening: &Opening) -> Result<Self> {
        let open = |path: &PathBuf| {
            let bytes = opening::bytes(path, opening)?;
            let begin = describe(&bytes).ok().and_then(|about| about.header.label.not_before);
            let begin = i64::try_from(begin.unwrap_or(0)).ok();
            let begin = begin.and_then(|seconds| Timestamp::new(seconds, 0)).unwrap_or_default();
            let terms = Terms::read(opening, begin)?;
            let opened = terms.open_with_limits(&bytes);
            let Opened { header, table, .. } =
                opened.map_err(|error| opening::refused(path, &bytes, &error))?;
            Ok((header.content, Policies::of(table)))
        };
        paths.iter().map(open).collect::<Result<_>>().map(Self)
    }

    /// Returns the policies that made a decision.
    pub(crate) fn of(&self, decision: &Decision, names: &Names) -> Result<&Policies, Absence> {
        let policies = names.policies(decision).and_then(|policies| self.0.get(&policies.root));
        policies.ok_or(Absence::NoPolicies)
    }
}
