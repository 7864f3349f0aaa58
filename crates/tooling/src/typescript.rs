//! The types of policies for TypeScript: one `interface Policies` for `open<Policies>` of the npm
//! package.
//!
//! Pure: the same policies give the same bytes. A type accepts every request about which a rule says
//! something; what policies do not restrict, types leave open. Names are text from policies, so they
//! are written as JSON strings and nothing else.

mod attributes;
mod output;
mod pattern;
mod places;
mod schemas;
mod shape;
mod survey;
mod text;
mod uses;
mod values;

use std::fmt::Write as _;

use wardgate_compiler::Options;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::repository::Repository;
use wardgate_compiler::resolve::resolve;
use wardgate_compiler::schema::Load;

use pattern::{Names, union};
use shape::{Direction, JSON, Shape};
use survey::{Kind, Survey};
use text::name;

/// Returns the text of the declarations for policies that compile, whose content has this digest.
///
/// # Errors
/// The errors of the policies, sorted; never an empty list.
pub fn declarations(
    repository: &Repository,
    options: &Options,
    load: &Load<'_>,
    digest: [u8; 32],
) -> Result<String, Vec<Diagnostic>> {
    let (resolved, errors) = resolve(repository);
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(written(&Survey::of(&resolved, options, load), digest))
}

/// Returns the text of the constant for modules, with the digest that the declarations name.
#[must_use]
pub fn constant(digest: [u8; 32]) -> String {
    format!("{CONSTANT}export const digest = \"{}\";\n", digits(digest))
}

/// Returns the digest that the text of declarations names, as it is written there.
#[must_use]
pub fn digest_in(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix(DIGEST))?;
    Some(line).filter(|digest| digest.len() == 64)
}

fn written(survey: &Survey, digest: [u8; 32]) -> String {
    let mut text = format!("{HEAD}{DIGEST}{}\n\n{INTERFACE}", digits(digest));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  roles: {};", union(&survey.roles));
    let _ =
        writeln!(text, "  principal: {{\n    attr: {};\n  }};", attributes(&survey.principal, 4));
    text.push_str("  resources: {");
    for (kind, about) in &survey.kinds {
        push_kind(&mut text, &name(kind), about);
    }
    for pattern in Names::of(&survey.patterns).written() {
        push_kind(&mut text, &format!("[kind: {pattern}]"), &survey.others);
    }
    let has_kinds = !survey.kinds.is_empty() || !survey.patterns.is_empty();
    text.push_str(if has_kinds { "\n  };\n" } else { "};\n" });
    let outputs = outputs(survey);
    let _ = writeln!(text, "  outputs: {outputs};\n}}");
    if text.contains("Open<") {
        text.push_str(OPEN);
    }
    if outputs.contains(JSON) {
        text.push_str(ANY_JSON);
    }
    text
}

fn digits(digest: [u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn push_kind(text: &mut String, name: &str, kind: &Kind) {
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n    {name}: {{\n      action: {};\n      attr: {};\n      version: {};\n      scope: {};\n      output: {};\n    }};",
        union(&kind.actions),
        attributes(&kind.attributes, 6),
        text::texts(&kind.versions),
        text::texts(&kind.scopes),
        if kind.outputs.is_empty() { "never".to_owned() } else { text::texts(&kind.outputs) },
    );
}

/// Writes the values of outputs, by the rule that emits them.
fn outputs(survey: &Survey) -> String {
    if survey.outputs.is_empty() {
        return "{}".to_owned();
    }
    let of = |(source, output): (&String, &Shape)| {
        format!("\n    {}: {};", name(source), output.written(Direction::Decision, 4))
    };
    format!("{{{}\n  }}", survey.outputs.iter().map(of).collect::<String>())
}

/// Writes the type of attributes, which are an object even if nothing is known of them.
fn attributes(shape: &Shape, indent: usize) -> String {
    match &shape.members {
        Some(members) if shape.has_members() => members.written(Direction::Request, indent),
        _ => "object".to_owned(),
    }
}

/// The first line of declarations.
pub const HEAD: &str =
    "// The types of policies, written by `wardgate types`. Do not change them: write them anew.\n";

/// The start of the line with the digest of the policies.
const DIGEST: &str = "// Policies: ";

const CONSTANT: &str = "
/** The digest of the policies: `pdp.header.content` of their bundle. */
";

const INTERFACE: &str = "/** The policies, for `open<Policies>` of the package `wardgate`. */
export interface Policies {\n";

const OPEN: &str = "
/** An object with these members, and with others. */
export type Open<T> = T | (T & { readonly [name: string]: unknown });\n";

const ANY_JSON: &str = "
/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };\n";

#[cfg(test)]
mod tests;
