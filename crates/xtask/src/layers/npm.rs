//! Proves that the arrows between the folders of `npm/src`, its rooms, are those of the table
//! below.
//!
//! Every import statement counts, those of types too; tests may import any file. Loaders of a
//! runtime are behind `#` imports, which `bundle.mjs` resolves, so no import points up to
//! `runtimes`. Rooms without a circle leave no circle of files across rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::shell::{self, Outcome};

/// Checks the imports of the package and prints a line for each room: its floor, and the rooms that
/// it imports.
pub(super) fn check(faults: &mut Vec<String>) -> Outcome {
    let mut sources = BTreeMap::new();
    read_sources(&shell::root().join("npm/src"), "", &mut sources)?;
    let rooms = arrows(&sources, faults);
    let floors = floors(&rooms, faults);
    for (name, _) in ROOMS {
        let Some(uses) = rooms.get(name) else { continue };
        let uses: Vec<&str> = uses.iter().copied().collect();
        let uses = if uses.is_empty() { "-".into() } else { uses.join(", ") };
        let floor = floors.get(name).copied().unwrap_or(0);
        println!("    {:<15} {floor} -> {uses}", format!("npm/{name}"));
    }
    Ok(())
}

/// The text of each source file except tests, by its path from `npm/src`.
type Sources = BTreeMap<String, String>;
/// The rooms that each room imports.
type Rooms<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn read_sources(folder: &Path, prefix: &str, sources: &mut Sources) -> Outcome {
    for path in shell::entries(folder)? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let inside = format!("{prefix}{name}");
        if path.is_dir() {
            read_sources(&path, &format!("{inside}/"), sources)?;
        } else if name.ends_with(".ts")
            && !name.ends_with(".test.ts")
            && !name.starts_with("testing")
        {
            sources.insert(inside, shell::read(&path)?);
        }
    }
    Ok(())
}

/// Returns the arrows between rooms, and reports the ones that the table does not allow.
fn arrows<'a>(sources: &'a Sources, faults: &mut Vec<String>) -> Rooms<'a> {
    let mut rooms = Rooms::new();
    for (file, text) in sources {
        let from = room(file);
        let uses = rooms.entry(from).or_default();
        let Some((_, may)) = ROOMS.iter().find(|(name, _)| *name == from) else {
            faults.push(format!("npm/src/{file}: `{from}` is not in the table of rooms"));
            continue;
        };
        for target in imports(text).filter_map(|address| resolve(file, address)) {
            let Some((target, _)) = sources.get_key_value(&target) else {
                faults.push(format!("npm/src/{file}: found no source file `{target}`"));
                continue;
            };
            let to = room(target);
            if to == from {
                continue;
            }
            uses.insert(to);
            if !may.contains(&to) {
                faults.push(format!("npm/src/{file} -> {target}: `{from}` may not import `{to}`"));
            }
        }
    }
    rooms
}

/// Returns the relative addresses in the import and export statements of a text.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with(['*', '/'])).flat_map(|line| {
        ["from \"", "import \"", "import(\""].into_iter().filter_map(|before| {
            let (_, rest) = line.split_once(before)?;
            let (address, _) = rest.split_once('"')?;
            address.starts_with('.').then_some(address)
        })
    })
}

/// Resolves an address against the file that imports it. Returns `None` for a file outside of
/// `npm/src`: the glue of a module.
fn resolve(file: &str, address: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in address.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the room of a file: its first folder, or `index` for the files beside the rooms.
fn room(file: &str) -> &str {
    file.split_once('/').map_or("index", |(room, _)| room)
}

/// Returns the floor of each room, one above the highest that it imports. Reports circles, and too
/// many rooms or floors.
fn floors<'a>(rooms: &Rooms<'a>, faults: &mut Vec<String>) -> BTreeMap<&'a str, usize> {
    let mut floors = BTreeMap::new();
    loop {
        let found: Vec<(&str, usize)> = rooms
            .iter()
            .filter(|(name, _)| !floors.contains_key(*name))
            .filter_map(|(name, uses)| {
                let below: Option<Vec<usize>> =
                    uses.iter().map(|to| floors.get(to).copied()).collect();
                Some((*name, below?.into_iter().max().map_or(0, |floor| floor + 1)))
            })
            .collect();
        if found.is_empty() {
            break;
        }
        floors.extend(found);
    }
    let tied: Vec<&str> = rooms.keys().copied().filter(|name| !floors.contains_key(name)).collect();
    if !tied.is_empty() {
        faults.push(format!("npm/src: a circle among {}", tied.join(", ")));
    }
    let height = floors.values().max().map_or(0, |floor| floor + 1);
    if height > MAX_FLOORS || rooms.len() > MAX_ROOMS {
        faults.push(format!(
            "npm/src: {} rooms on {height} floors, expected at most {MAX_ROOMS} on {MAX_FLOORS}",
            rooms.len()
        ));
    }
    floors
}

/// The rooms of `npm/src`, and which others each of them may import.
const ROOMS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("wasm", &["base"]),
    ("fast", &["base", "wasm"]),
    ("pdp", &["base", "wasm", "fast"]),
    ("spocp", &["base", "wasm", "pdp"]),
    ("mqtt", &["base", "wasm", "pdp"]),
    ("log", &["base", "wasm", "fast", "pdp"]),
    ("ratelimit", &["base"]),
    ("pool", &["base", "wasm", "pdp"]),
    ("watcher", &["base", "pdp"]),
    ("authzen", &["base", "pdp", "ratelimit"]),
    ("adapters", &["base", "pdp"]),
    ("compiler", &["base", "wasm", "pdp"]),
    ("analysis", &["base", "wasm", "compiler"]),
    ("bundlers", &["base", "pdp", "compiler"]),
    ("runtimes", &["base", "wasm", "pool"]),
    ("index", &["base", "wasm", "fast", "pdp", "watcher"]),
];

const MAX_ROOMS: usize = 17;
const MAX_FLOORS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that these files have these faults.
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let sources =
            files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
        let mut faults = Vec::new();
        let rooms = arrows(&sources, &mut faults);
        floors(&rooms, &mut faults);
        assert_eq!(faults, expected);
    }

    const BASE: (&str, &str) = ("base/text.ts", "");

    #[test]
    fn arrows_down_are_allowed() {
        check(&[BASE, ("wasm/abi.ts", "import { a } from \"../base/text.ts\";")], &[]);
        check(&[BASE, ("runtimes/node/load.ts", "export * from \"../../base/text.ts\";")], &[]);
        check(&[("wasm/glue.ts", "import * as glue from \"../../wasm/wardgate_bg.js\";")], &[]);
    }

    #[test]
    fn an_upward_arrow_is_a_fault() {
        let upward = "npm/src/base/text.ts -> wasm/abi.ts: `base` may not import `wasm`";
        let texts = [
            "import { a } from \"../wasm/abi.ts\";",
            "import type {\n  A,\n} from \"../wasm/abi.ts\";",
            "import \"../wasm/abi.ts\";",
            "const a = await import(\"../wasm/abi.ts\");",
        ];
        for text in texts {
            check(&[("base/text.ts", text), ("wasm/abi.ts", "")], &[upward]);
        }
        check(&[("base/text.ts", "// from \"../wasm/abi.ts\""), ("wasm/abi.ts", "")], &[]);
    }

    #[test]
    fn a_circle_of_rooms_is_a_fault() {
        let up = ("base/text.ts", "import \"../wasm/abi.ts\";");
        let down = ("wasm/abi.ts", "import \"../base/text.ts\";");
        let upward = "npm/src/base/text.ts -> wasm/abi.ts: `base` may not import `wasm`";
        check(&[up, down], &[upward, "npm/src: a circle among base, wasm"]);
    }

    #[test]
    fn a_room_that_the_table_lacks_is_a_fault() {
        check(
            &[("attic/old.ts", "")],
            &["npm/src/attic/old.ts: `attic` is not in the table of rooms"],
        );
    }

    #[test]
    fn the_table_itself_has_no_circle() {
        let rooms =
            ROOMS.iter().map(|(name, may)| (*name, may.iter().copied().collect())).collect();
        let mut faults = Vec::new();
        floors(&rooms, &mut faults);
        assert_eq!(faults, [""; 0]);
    }
}
