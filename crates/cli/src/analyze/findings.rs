//! Rules that decide nothing, and rules that contradict each other, for persons.

use std::collections::BTreeMap;

use wardgate_analysis::findings::Kind;
use wardgate_analysis::suggestions::Suggestions;

use super::Shown;
use crate::failure::Result;
use crate::output::{Output, Tone, counted};
use crate::rules::shown_place;

impl Shown<'_> {
    pub(super) fn print_findings(
        &self,
        found: &Suggestions,
        by_kind: &mut BTreeMap<&str, usize>,
        out: &mut Output,
    ) -> Result<()> {
        for finding in &found.findings {
            *by_kind.entry(finding.kind.name()).or_default() += 1;
            let title = format!("{}: {}", finding.kind.name(), words(finding.kind));
            out.line(out.paint(Tone::Title, &title).into_owned())?;
            for rule in [Some(finding.rule), finding.other].into_iter().flatten() {
                let Some(place) = self.index.place(rule) else { continue };
                out.line(format_args!("  {}", shown_place(&self.analyze.directory, place)))?;
            }
            out.line("")?;
        }
        match found.untried {
            0 => Ok(()),
            count => {
                let rules = counted(count, "rule was", "rules were");
                out.line(format_args!("{rules} not tried: the bound was reached\n"))
            }
        }
    }
}

const fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::SameInParentScope => {
            "a rule of a parent scope says the same, and decides without this one"
        }
        Kind::ShadowedAcross => "other policies always decide, with or without this rule",
        Kind::NeverDecides => "other rules of the policy always decide, with or without this one",
        Kind::Contradiction => "both effects under one condition, for the same action and role",
    }
}
