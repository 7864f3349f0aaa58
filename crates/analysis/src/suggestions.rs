//! All suggestions about the rules of policies: merges, derived roles, rules that decide nothing, groups.

use wardgate_compiler::resolve::model::Resolved;

use crate::derived::{Derivations, derivations};
use crate::findings::{Finding, contradictions, idle};
use crate::groups::Group;
use crate::index::Index;
use crate::merges::{Merges, merges};
use crate::proof::{Basis, Edit};

/// The kinds of suggestions with edits, which rest on a proof.
const EDITED: [&str; 2] = ["merge", "derived-role"];

/// The kinds of findings about rules that decide nothing, which rest on a proof too.
const IDLE: [&str; 3] = ["same-in-parent-scope", "shadowed-across", "never-decides"];

/// Merges, derived roles, findings and groups: what policies could do without, or say in fewer words.
#[derive(Clone, Debug, Default)]
pub struct Suggestions {
    /// Rules that can be one.
    pub merges: Merges,
    /// Derived roles that would carry conditions.
    pub derivations: Derivations,
    /// Rules that decide nothing, and rules that contradict each other.
    pub findings: Vec<Finding>,
    /// The number of rules that were not tried, because the bound was reached.
    pub untried: usize,
    /// Groups of rules that are alike.
    pub groups: Vec<Group>,
}

/// Returns true if a suggestion of some kinds needs a [`Basis`] for its proof.
pub fn need_proof(wants: impl Fn(&str) -> bool) -> bool {
    EDITED.into_iter().chain(IDLE).any(wants)
}

impl Suggestions {
    /// Returns the suggestions of the kinds that are wanted, by their names. Without a basis there are none that rest on
    /// a proof.
    #[must_use]
    pub fn of(
        (index, resolved): (&Index, &Resolved),
        basis: Option<&mut Basis<'_>>,
        wants: impl Fn(&str) -> bool,
    ) -> Self {
        let mut all = Self { groups: index.groups(), ..Self::default() };
        all.groups.retain(|group| wants(group.kind.name()));
        if let Some(basis) = basis {
            if wants("merge") {
                all.merges = merges(index, resolved, basis);
            }
            if wants("derived-role") {
                all.derivations = derivations(index, resolved, basis);
            }
            if IDLE.into_iter().any(&wants) {
                let idle = idle(index, resolved, basis);
                (all.findings, all.untried) = (idle.found, idle.untried);
            }
        }
        all.findings.extend(contradictions(index));
        all.findings.retain(|finding| wants(finding.kind.name()));
        all
    }

    /// Returns the edits that are proved to change no decision, together.
    pub fn edits(&self) -> impl Iterator<Item = &Edit> {
        self.merges.edits().chain(self.derivations.edits())
    }
}
