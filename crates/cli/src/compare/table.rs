//! A comparison for people.

use wardgate_analysis::compare::{Change, Comparison, Group, UnknownGroup};
use wardgate_analysis::report;

use super::{Sides, decision, names, scopes, summary};
use crate::failure::Result;
use crate::output::{Output, Tone, shown};

/// Prints all differences, new access first, and what is unknown.
pub(super) fn print(found: &Comparison, sides: Sides<'_>, out: &mut Output) -> Result<()> {
    for group in found.groups() {
        print_group(&group, sides, out)?;
    }
    for group in found.unknown_groups() {
        print_unknown(&group, out)?;
    }
    if found.differences.is_empty() && found.unknown.is_empty() {
        out.line("nobody may do more or less")?;
    }
    out.line(out.paint(Tone::Title, &summary(found)).into_owned())
}

fn print_group(group: &Group<'_>, sides: Sides<'_>, out: &mut Output) -> Result<()> {
    let tone = if group.change == Change::More { Tone::Allow } else { Tone::Deny };
    let head = out.paint(tone, report::word(group.change)).into_owned();
    out.line(format_args!("{head}  {}", shown(&title(group))))?;
    let witness = group.witness;
    for (when, decided, side) in
        [("was", &witness.old, sides.old), ("now", &witness.new, sides.new)]
    {
        out.line(format_args!("      {when}: {}", shown(&decision(decided, side))))?;
    }
    out.line(format_args!("      for: {}", shown(&report::request(&witness.request).to_string())))
}

/// Returns what a group is about, in one line.
pub(super) fn title(group: &Group<'_>) -> String {
    let roles = group.roles.iter().map(Option::as_deref);
    place(
        (&group.actions, group.kind, group.version),
        (&group.scopes, group.principal, &names(roles, ANY_ROLE)),
    )
}

/// Returns what is unknown, in one line.
pub(super) fn unknown_title(group: &UnknownGroup<'_>) -> String {
    let place_ = group.place;
    let roles = names(place_.roles.iter().map(Option::as_deref), ANY_ROLE);
    let kind = place_.kind.as_deref();
    let principal = place_.principal.as_deref();
    place((&group.actions, kind, &place_.version), (&group.scopes, principal, &roles))
}

fn place(
    (actions, kind, version): (&[Option<&str>], Option<&str>, &str),
    (visited, principal, roles): (&[&str], Option<&str>, &str),
) -> String {
    let mut words = vec![names(actions.iter().copied(), ANY_ACTION)];
    words.push(format!("on {}", kind.unwrap_or(ANY_KIND)));
    if version != "default" {
        words.push(match version {
            "" => "without a version".to_owned(),
            version => format!("of version {version}"),
        });
    }
    words.push(scopes(visited));
    words.extend(principal.map(|principal| format!("for {principal}")));
    words.push(format!("[{}]", if roles.is_empty() { "any role" } else { roles }));
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

fn print_unknown(group: &UnknownGroup<'_>, out: &mut Output) -> Result<()> {
    let head = out.paint(Tone::Bar, "unknown").into_owned();
    let may = may(group);
    out.line(format_args!("{head}  {}", shown(&unknown_title(group))))?;
    out.line(format_args!("      {may}: {}", group.why.words()))
}

/// Returns what may be.
pub(super) const fn may(group: &UnknownGroup<'_>) -> &'static str {
    match group.may {
        Some(Change::More) => "perhaps more",
        Some(Change::Less) => "perhaps less",
        None => "perhaps more or less",
    }
}

const ANY_ACTION: &str = "any other action";
const ANY_KIND: &str = "any other kind";
const ANY_ROLE: &str = "any other role";
