//! Writes the hot loops of the npm package: each template of `npm/templates` becomes a file of
//! `npm/src/fast/generated`.
//!
//! V8 needs the copies: it learns the shape of objects at each read site. The templates contain
//! each loop once. A template is TypeScript with three additions: `//= include NAME` is replaced by
//! the fragment `NAME.inc.ts`, the lines between `//= for each site` and `//= end` are repeated
//! with `$N` as the number, and `$SITES` is the list of all names.

use std::fs;
use std::path::PathBuf;

use crate::shell::{self, Outcome, root};

/// Runs `cargo xtask generate`: writes the files, or with `--check` compares them with the
/// templates.
pub(crate) fn run(rest: &[String]) -> Outcome {
    match rest {
        [] => write(),
        [flag] if flag == "--check" => check(),
        [other, ..] => Err(format!("expected `--check` or nothing, found `{other}`")),
    }
}

/// Fails if a generated file differs from the output of its template, or has no template.
pub(crate) fn check() -> Outcome {
    let generated = generated()?;
    let mut stale: Vec<String> = Vec::new();
    for (path, text) in &generated {
        if fs::read_to_string(path).ok().as_ref() != Some(text) {
            stale.push(path.display().to_string());
        }
    }
    for path in shell::entries(&target())? {
        if !generated.iter().any(|(known, _)| *known == path) {
            stale.push(format!("{} (without a template)", path.display()));
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("not current, run `cargo xtask generate`: {}", stale.join(", ")))
}

fn write() -> Outcome {
    for (path, text) in generated()? {
        shell::write(&path, text)?;
        println!("    {}", path.display());
    }
    // The template of the compiler is the hot function without types, which only TypeScript can
    // remove.
    shell::shown(shell::command("node").arg("npm/accessor-template.mjs"))?;
    // A test of the package compares the script of rate limits with its source.
    shell::shown(shell::command("node").arg("npm/charge-script.mjs"))
}

/// Returns each generated file with its text.
fn generated() -> Outcome<Vec<(PathBuf, String)>> {
    let templates = root().join("npm/templates");
    let mut all = Vec::new();
    for path in shell::entries(&templates)? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.ends_with(FRAGMENT) {
            continue;
        }
        let fragment = |name: &str| shell::read(&templates.join(format!("{name}{FRAGMENT}")));
        let text = expand(&shell::read(&path)?, &fragment)?;
        let header = format!(
            "// Generated from `npm/templates/{name}` by `cargo xtask generate`. Do not edit.\n"
        );
        all.push((target().join(name), header + &text));
    }
    Ok(all)
}

/// Expands the directives of a template.
fn expand(template: &str, fragment: &dyn Fn(&str) -> Outcome<String>) -> Outcome<String> {
    let mut text = String::new();
    let mut lines = template.lines();
    while let Some(line) = lines.next() {
        match line.trim().strip_prefix("//= ") {
            None => text += &format!("{}\n", line.replace("$SITES", &sites())),
            Some("for each site") => {
                let body: Vec<&str> =
                    lines.by_ref().take_while(|line| line.trim() != "//= end").collect();
                for site in 0..SITES {
                    for line in &body {
                        text += &format!("{}\n", line.replace("$N", &site.to_string()));
                    }
                }
            }
            Some(directive) => match directive.strip_prefix("include ") {
                Some(name) => text += &expand(&fragment(name)?, fragment)?,
                None => return Err(format!("unknown directive `{directive}` in a template")),
            },
        }
    }
    Ok(text)
}

/// Returns the names of all sites, in the form of an import list.
fn sites() -> String {
    let names: Vec<String> = (0..SITES).map(|site| format!("n{site}")).collect();
    names.chunks(16).map(|names| names.join(", ")).collect::<Vec<_>>().join(",\n  ")
}

fn target() -> PathBuf {
    root().join("npm/src/fast/generated")
}

/// The ending of files that templates include.
const FRAGMENT: &str = ".inc.ts";

/// The number of names that have a site of their own: `BY_NAME` of `npm/src/fast/read-sites.ts`.
const SITES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, expected: Result<&str, &str>) {
        let fragment = |name: &str| Ok(format!("  {name};\n"));
        let expected = expected.map(str::to_string).map_err(str::to_string);
        assert_eq!(expand(template, &fragment), expected);
    }

    #[test]
    fn other_lines_stay() {
        check("let a = 1;\n\n// b\n", Ok("let a = 1;\n\n// b\n"));
    }

    #[test]
    fn fragments_are_included_and_unknown_directives_refused() {
        check("a\n  //= include loop\nb\n", Ok("a\n  loop;\nb\n"));
        check("//= repeat\n", Err("unknown directive `repeat` in a template"));
    }

    #[test]
    fn a_block_is_repeated_for_each_site() {
        let all: String = (0..SITES).map(|site| format!("case {site}: n{site};\n")).collect();
        check("//= for each site\ncase $N: n$N;\n//= end\n", Ok(&all));
        assert!(sites().starts_with("n0, n1, ") && sites().ends_with(" n31"));
    }
}
