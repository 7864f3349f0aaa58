//! The accessor module for the npm package: its hot function with the names of one bundle.
//!
//! The template is that function as the package has it, and a test there compares them. The names
//! are text from policies, so they are written as JSON strings and nothing else.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use wardgate_engine::cel::pool::Root;
use wardgate_engine::order::in_order;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire::Json;

/// Returns the text of the module for the bundle with this digest.
#[must_use]
pub fn module(table: &PolicyTable, digest: [u8; 32]) -> String {
    let names: Vec<String> = names(table).into_iter().take(MAX_NAMES).map(quoted).collect();
    let mut reads = String::new();
    for (name, number) in names.iter().zip(FIRST_NUMBER..) {
        let _ = write!(
            reads,
            "            case {number}:\n                if ({name} in OBJECT)\n                    \
             return UNSURE;\n                v = o[{name}];\n                break;\n"
        );
    }
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let bundle = quoted(&digits);
    let names = format!("[{}]", names.join(", "));
    filled(&[("BUNDLE", &bundle), ("NAMES", &names), ("READS", &reads)])
}

/// Returns the first line of every module.
#[must_use]
pub fn head() -> &'static str {
    TEMPLATE.lines().next().unwrap_or_default()
}

/// Fills the template from its front to its end, so that no placeholder is looked for in a filled
/// value.
fn filled(values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = TEMPLATE;
    for (placeholder, value) in values {
        if let Some((before, after)) = rest.split_once(placeholder) {
            text.push_str(before);
            text.push_str(value);
            rest = after;
        }
    }
    text + rest
}

/// Returns every name of an attribute that a fast path reads.
fn names(table: &PolicyTable) -> BTreeSet<&str> {
    let fast_paths = table.fast_paths();
    let views = u32::try_from(fast_paths.len()).unwrap_or(u32::MAX);
    let fast_paths = (0..views).filter_map(|id| fast_paths.get(id));
    let slots = fast_paths
        .flat_map(|fast_path| fast_path.slots().filter_map(|slot| table.slot_path(slot.slot)));
    let attributes = |root| matches!(root, Root::PrincipalAttr | Root::ResourceAttr);
    in_order(slots.filter(|(root, _)| attributes(*root)).flat_map(|(_, path)| path))
}

fn quoted(text: &str) -> String {
    let mut json = Json::default();
    json.string(text);
    json.finish()
}

const TEMPLATE: &str = include_str!("accessors/template.js");

/// The first place of a name, and how many there are: `npm/src/fast/read-sites.ts` counts the same.
const FIRST_NUMBER: u32 = 64;
const MAX_NAMES: usize = 4096 - 64;
