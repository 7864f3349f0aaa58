//! Proves that the top modules of a crate use each other downwards only.
//!
//! A crate of the table has floors; a module may use those on lower floors and, where two types
//! name each other, the modules of its own group. Each path counts that starts with `crate::` or
//! climbs to the root with `super::`, outside of comments and tests. Modules without a circle leave
//! no circle of files across modules.

use std::collections::BTreeMap;
use std::path::Path;

use crate::shell::{self, Outcome};

/// Checks the crates of the table.
pub(super) fn check(faults: &mut Vec<String>) -> Outcome {
    for (name, floors) in FLOORS {
        let floors: Vec<&str> = floors.split(" | ").collect();
        let mut uses = BTreeMap::new();
        read_modules(
            &shell::root().join(format!("crates/{name}/src")),
            &mut Vec::new(),
            &mut uses,
        )?;
        wrong_arrows(name, &floors, &uses, faults);
        println!("    {name:<15} {} modules on {} floors", uses.len(), floors.len());
    }
    Ok(())
}

/// The top modules that each top module uses, with a file that uses them.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

fn read_modules(folder: &Path, path: &mut Vec<String>, uses: &mut Uses) -> Outcome {
    for entry in shell::entries(folder)? {
        let Some(stem) = entry.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let is_root = path.is_empty() && matches!(stem, "lib" | "main");
        if stem == "tests" || is_root {
            continue;
        }
        path.push(stem.to_owned());
        if entry.is_dir() {
            read_modules(&entry, path, uses)?;
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            add_uses(path, &shell::read(&entry)?, uses);
        }
        path.pop();
    }
    Ok(())
}

/// Adds the top modules that the file of module `path` uses.
fn add_uses(path: &[String], text: &str, uses: &mut Uses) {
    let Some(own) = path.first() else { return };
    let found = uses.entry(own.clone()).or_default();
    let text = shipped(text);
    for start in ["crate::", "super::".repeat(path.len()).as_str()] {
        let roots = paths(&text, start).flat_map(first_names);
        for name in roots.filter(|name| name != own) {
            found.entry(name.to_owned()).or_insert_with(|| path.join("/"));
        }
    }
}

/// Returns the text before the tests of a file, without comments.
fn shipped(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text.get(..tests).unwrap_or(text).lines();
    let code = lines.map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.collect::<Vec<_>>().join("\n")
}

/// Returns the text after each `start` that begins a path; `a::super::` and `$crate::` do not.
fn paths<'t>(text: &'t str, start: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(start).filter_map(move |(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        let begins = before.is_none_or(|c| !c.is_alphanumeric() && !":$_".contains(c));
        if begins { text.get(at + start.len()..) } else { None }
    })
}

/// Returns the module that a path begins with, or those of each path in braces.
fn first_names(path: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    let (mut depth, mut is_first) = (0_usize, true);
    for piece in path.split_inclusive(|c: char| !is_name(c)) {
        let name = piece.trim_end_matches(|c: char| !is_name(c));
        if is_first && name.starts_with(|c: char| c.is_ascii_lowercase()) && name != "self" {
            names.push(name);
        }
        is_first = is_first && name.is_empty();
        match piece.chars().next_back() {
            Some('{') => depth += 1,
            Some('}') if depth <= 1 => break,
            Some('}') => depth -= 1,
            Some(',') if depth == 1 => is_first = true,
            _ if depth == 0 => break,
            _ => {}
        }
    }
    names
}

/// Reports modules that the table lacks, and uses that do not lead downwards.
fn wrong_arrows(krate: &str, floors: &[&str], uses: &Uses, faults: &mut Vec<String>) {
    let floor = |module: &str| {
        floors.iter().position(|floor| floor.split([' ', '+']).any(|name| name == module))
    };
    let are_one_group = |a: &str, b: &str| {
        let mut groups = floors.iter().flat_map(|floor| floor.split(' '));
        groups.any(|group| [a, b].iter().all(|module| group.split('+').any(|name| name == *module)))
    };
    for (from, targets) in uses {
        let Some(at) = floor(from) else {
            faults.push(format!("crates/{krate}: `{from}` is not in the table of modules"));
            continue;
        };
        for (to, file) in targets {
            // A name without a module is an item of the root.
            if !uses.contains_key(to)
                || floor(to).is_some_and(|below| below < at)
                || are_one_group(from, to)
            {
                continue;
            }
            faults.push(format!("crates/{krate}/src/{file}.rs: `{from}` may not use `{to}`"));
        }
    }
}

/// The floors of each crate, from the ground up, with `|` between them. Modules that `+` joins may
/// use each other.
const FLOORS: &[(&str, &str)] = &[
    ("mqtt", "blocks limits lists | topic | cover packet set | gate | broker"),
    (
        "ratelimit",
        "limits outcome script | calendar state | transition | fixed gcra sliding | rule | table",
    ),
    ("ratelimit-store", "few limits | breaker demand | store+memory | guarded leased remote"),
    (
        "engine",
        "codes limits order text | names attr number budget | glob regex request decision | \
         cel | schema table | decide | fastpath | wire | open",
    ),
    (
        "native",
        "clock error limits names | mqtt | field request | attributes field_impls text_set | fast | plain_limits question \
         value | policies | pdp+prepared protocol | decision_log limited",
    ),
    (
        "bundle",
        "limits cbor chunks compress format short_name | words | key_id | error | envelope header index | conditions \
         container trust | delta opening pack sealed signing terms | rules",
    ),
    (
        "compiler",
        "limits message nearest regex words zones | pool source | cel diagnostics \
         expression | reading yaml | globals policy walk | repository | resolve | schema topics | \
         emit | compile",
    ),
    ("tooling", "accessors edit format json lint typescript | suite | coverage sources"),
    (
        "analysis",
        "limits | logic normal | index | similar | groups | compare policies | proof | written | merges derived findings | suggestions | report",
    ),
    (
        "replay",
        "limits | lines memo roles sides source tally | kinds threads | changed deciders | worker | replay usage",
    ),
    (
        "server",
        "limits | files journal | address deciders | config | net rules | identity telemetry \
         | policies | decision_log ratelimit | shared | mqtt spocp | http | server | health witness",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that files, named by their modules, have these faults on two floors.
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let mut uses = Uses::new();
        for (path, text) in files {
            let path: Vec<String> = path.split('/').map(str::to_owned).collect();
            add_uses(&path, text, &mut uses);
        }
        let mut faults = Vec::new();
        wrong_arrows("a", &["ground", "left+right up"], &uses, &mut faults);
        assert_eq!(faults, expected);
    }

    #[test]
    fn arrows_down_and_within_a_group_are_allowed() {
        let ground = ("ground", "pub const A: u32 = 1;\n");
        check(
            &[
                ground,
                ("up", "use crate::ground::A;\n"),
                ("up/deep", "use super::super::ground::A;\n"),
            ],
            &[],
        );
        check(
            &[
                ground,
                ("left", "use crate::right::B;\n"),
                ("right", "use crate::{ground, left::C};\n"),
            ],
            &[],
        );
        check(
            &[("up", "use crate::Item;\n"), ("ground", "// crate::up\nuse other::crate::up;\n")],
            &[],
        );
        let tested = "const A: u32 = 1;\n\n#[cfg(test)]\nmod tests {\n    use crate::up::B;\n}\n";
        check(&[("ground", tested), ("up", "")], &[]);
    }

    #[test]
    fn an_arrow_up_or_across_is_a_fault() {
        let fault = ["crates/a/src/ground/deep.rs: `ground` may not use `up`"];
        for text in [
            "use crate::up::B;\n",
            "let a = crate::up::b();\n",
            "use crate::{up, Item};\n",
            "use super::super::up::B;\n",
        ] {
            check(&[("ground/deep", text), ("up", "")], &fault);
        }
        check(
            &[("left", "use crate::up;\n"), ("up", "")],
            &["crates/a/src/left.rs: `left` may not use `up`"],
        );
    }

    #[test]
    fn a_module_that_the_table_lacks_is_a_fault() {
        check(&[("attic", "")], &["crates/a: `attic` is not in the table of modules"]);
    }
}
