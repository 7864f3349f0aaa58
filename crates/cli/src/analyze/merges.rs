//! Merges for persons.

use wardgate_analysis::merges::{Merge, Merges};
use wardgate_analysis::similar::Part;

use super::{MAX_SHOWN, Shown};
use crate::failure::Result;
use crate::output::{Output, Tone, counted};
use crate::rules::shown_place;

impl Shown<'_> {
    pub(super) fn print_merges(&self, merges: &Merges, out: &mut Output) -> Result<()> {
        for merge in &merges.found {
            out.line(out.paint(Tone::Title, &title(merge)).into_owned())?;
            for (number, rule) in merge.rules.iter().take(MAX_SHOWN).enumerate() {
                let Some(place) = self.index.place(*rule) else { continue };
                let place = shown_place(&self.analyze.directory, place);
                out.line(format_args!("  {place}{}", if number == 0 { " stays" } else { "" }))?;
            }
            if merge.rules.len() > MAX_SHOWN {
                out.line(format_args!("  and {} more", merge.rules.len() - MAX_SHOWN))?;
            }
            if let Err(refusal) = merge.edits {
                out.line(format_args!("  no edit: {}", refusal.words()))?;
            }
            out.line("")?;
        }
        match merges.unproved {
            0 => Ok(()),
            count => {
                let merges = counted(count, "merge", "merges");
                out.line(format_args!("{merges} could not be proved to change no decision\n"))
            }
        }
    }
}

fn title(merge: &Merge) -> String {
    let differ = match merge.parts.as_slice() {
        [] => "say the same".to_owned(),
        parts => {
            let parts: Vec<&str> = parts.iter().copied().map(Part::name).collect();
            format!("differ only in the {}", parts.join(" and "))
        }
    };
    let end = if merge.edits.is_ok() { ": one of them decides the same" } else { "" };
    format!("merge: {} rules of one policy {differ}{end}", merge.rules.len())
}
