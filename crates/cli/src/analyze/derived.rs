//! Derived roles that would carry conditions, for persons.

use wardgate_analysis::derived::{Derivation, Derivations};

use super::{MAX_SHOWN, Shown};
use crate::failure::Result;
use crate::output::{Output, Tone, counted, shown};
use crate::rules::{few, shown_place};

impl Shown<'_> {
    pub(super) fn print_derivations(&self, found: &Derivations, out: &mut Output) -> Result<()> {
        for one in &found.found {
            out.line(out.paint(Tone::Title, &title(one)).into_owned())?;
            out.line(shown(&format!("  {}", one.condition)))?;
            for rule in one.rules.iter().take(MAX_SHOWN) {
                let Some(place) = self.index.place(*rule) else { continue };
                out.line(format_args!("  {}", shown_place(&self.analyze.directory, place)))?;
            }
            if one.rules.len() > MAX_SHOWN {
                out.line(format_args!("  and {} more", one.rules.len() - MAX_SHOWN))?;
            }
            if let Err(refusal) = one.edits {
                out.line(format_args!("  no edit: {}", refusal.words()))?;
            }
            out.line("")?;
        }
        match found.unproved {
            0 => Ok(()),
            count => {
                let roles = counted(count, "derived role", "derived roles");
                out.line(format_args!("{roles} could not be proved to change no decision\n"))
            }
        }
    }
}

fn title(one: &Derivation) -> String {
    let rules = counted(one.rules.len(), "rule", "rules");
    let policies = counted(one.policies, "policy", "policies");
    let parents = few(one.parents.iter().map(String::as_str));
    let has = if one.is_known { "carries" } else { "would carry" };
    let (name, set) = (&one.name, &one.set);
    shown(&format!(
        "derived-role: one condition stands in {rules} of {policies} for {parents}: `{name}` of `{set}` {has} it"
    ))
    .into_owned()
}
