//! Covers: which part of the topics of a filter others match.

use std::hint::black_box;
use std::path::Path;

use wardgate_mqtt::{Cover, Filter, cover};

use super::node;
use crate::arguments::Arguments;
use crate::entry::{Entry, figures};
use crate::measure::{Figure, Side};
use crate::report::Section;

pub(super) fn section(root: &Path, arguments: &Arguments) -> Result<Section, String> {
    let section = Section::new("mqtt-cover", "MQTT: a filter against patterns", NOTE);
    section
        .native(arguments, || native(arguments))?
        .node(arguments, || node::covers(root, arguments))
}

fn native(arguments: &Arguments) -> Result<Vec<Figure>, String> {
    let texts: Vec<String> = (0..100).map(|number| format!("a/{number}/c/#")).collect();
    let filter = |text| Filter::new(text).map_err(|error| error.to_string());
    let others = texts.iter().map(|text| filter(text)).collect::<Result<Vec<_>, _>>()?;
    let (asked, all) = (filter("a/+/c/#")?, filter("a/+/#")?);
    let (_, fewer) = others.split_first().ok_or("no patterns")?;
    let with_all = [fewer, &[all]].concat();
    let witness = "a/x/c".to_owned();
    let cases = [
        ("by 1, all", vec![all], Cover::All),
        ("by 100, all", with_all, Cover::All),
        ("by 100, a part, with a witness", others, Cover::Part { witness }),
    ];
    let entries = cases.iter().map(|(name, by, expected)| {
        Entry::new(&format!("Wardgate, {name}"), Side::Ours, move |_| {
            cover(black_box(asked), black_box(by)) == *expected
        })
    });
    figures(entries.collect(), arguments.bounds())
}

const NOTE: &str = "`a/+/c/#` against `a/+/#`, and against 99 patterns such as `a/7/c/#` before it, \
    or 100 of them alone.";
