//! `wardgate compile`: compiles a directory of policies to a bundle, or only checks it.
//!
//! The summary goes to standard output, unless the bundle goes there.

use std::path::PathBuf;

use serde_json::{Value as Json, json};
use wardgate_bundle::{Label, strip};
use wardgate_compiler::diagnostics::{Diagnostic, Severity};
use wardgate_engine::table::PolicyTable;
use wardgate_tooling::accessors;

use crate::arguments::Compile;
use crate::failure::{Failure, Result, Status};
use crate::keys::PrivateKey;
use crate::output::{InOneLine, Output, complain, counted, is_standard_output, shown};
use crate::overwriting::{Form, Paths};
use crate::policies::Compiled;
use crate::{answer, globals, label, pages, policies, replace, sign};

pub(crate) fn run(compile: &Compile, out: &mut Output) -> Result<Status> {
    check(compile)?;
    let keys = sign::read_keys(&compile.sign)?;
    let label = label::changed(Label::default(), &compile.label)?;
    let label = if keys.is_empty() { label } else { label::dated(label) };
    label::check(&label)?;
    let compiled = policies::compile(&compile.directory, &compile.options, &label)?;
    // A bundle that could not be opened must not take the place of one that can.
    let table = policies::proved(&compile.directory, &compiled.bundle, &label)?.table;
    let summary = Summary::new(&compiled, &table, label.revision, &keys);
    let bundle = match (keys.as_slice(), &compile.output) {
        ([], _) | (_, None) => compiled.bundle,
        (keys, Some(output)) => sign::signed(output, compiled.bundle, keys, false)?,
    };
    let bundle = if compile.strip { stripped(&bundle)? } else { bundle };
    let warnings = policies::located(&compile.directory, compiled.warnings);
    if !compile.json {
        warnings.iter().map(pages::explained).for_each(complain);
    }
    write(compile, &bundle, out)?;
    emit(compile, &table, &bundle)?;
    summary.print(compile, (bundle.len(), &warnings), out)?;
    Ok(Status::Done)
}

/// Returns the bundle without its explanations.
fn stripped(bundle: &[u8]) -> Result<Vec<u8>> {
    strip(bundle).map_err(|error| Failure::policies(error.to_string()))
}

/// Refuses options that would have no effect, and outputs that would overwrite the bundle.
fn check(compile: &Compile) -> Result<()> {
    let option = match &compile.output {
        Some(output) if is_standard_output(output) && compile.json => {
            let message =
                "`--json` and the bundle both go to standard output: name a file for the bundle";
            return Err(Failure::usage(message));
        }
        Some(_) => None,
        None if compile.emit.is_some() => Some("--emit"),
        None if !compile.sign.is_empty() => Some("--sign"),
        None if compile.strip => Some("--strip"),
        None if compile.overwrite.force => Some("--force"),
        None => compile.label.given(),
    };
    if let Some(option) = option {
        let message = format!("`{option}` is for a bundle: name its file with `-o`");
        return Err(Failure::usage(message));
    }
    paths(compile).check()?;
    let force = compile.overwrite.force;
    let bundle = compile.output.as_deref().filter(|output| !is_standard_output(output));
    bundle.map_or(Ok(()), |path| Form::Bundle.replaces(path, force))?;
    compile.emit.as_deref().map_or(Ok(()), |path| Form::Accessors.replaces(path, force))
}

/// Returns the files that are written and read. Only the bundle may go to standard output instead.
fn paths(compile: &Compile) -> Paths<'_> {
    let bundle = compile.output.as_deref().filter(|output| !is_standard_output(output));
    let bundle = bundle.map(|path| ("-o", path));
    let module = compile.emit.as_deref().map(|path| ("--emit", path));
    let globals = compile.options.globals.as_deref().and_then(globals::path);
    Paths {
        outputs: bundle.into_iter().chain(module).collect(),
        inputs: compile.sign.iter().map(PathBuf::as_path).chain(globals).collect(),
        directories: vec![&compile.directory],
    }
}

fn write(compile: &Compile, bundle: &[u8], out: &mut Output) -> Result<()> {
    match &compile.output {
        None => Ok(()),
        Some(output) if is_standard_output(output) => out.bytes(bundle).and_then(|()| out.flush()),
        Some(output) => replace::file(output, bundle),
    }
}

/// Summarises a compiled bundle for its author.
struct Summary {
    policies: usize,
    rules: usize,
    rules_of_spocp: usize,
    ignored: usize,
    evaluation: &'static str,
    revision: u64,
    signers: Vec<String>,
}

impl Summary {
    fn new(compiled: &Compiled, table: &PolicyTable, revision: u64, keys: &[PrivateKey]) -> Self {
        let rules = table.inspect().policies.into_iter().map(|policy| policy.rules);
        Self {
            policies: compiled.policies,
            rules: rules.map(|rules| usize::try_from(rules).unwrap_or(usize::MAX)).sum(),
            rules_of_spocp: compiled.rules_of_spocp,
            ignored: compiled.sources.ignored,
            evaluation: label::evaluation(table.evaluation()),
            revision,
            signers: keys.iter().map(|key| key.public.id.to_string()).collect(),
        }
    }

    fn print(
        &self,
        compile: &Compile,
        (bytes, warnings): (usize, &[Diagnostic]),
        out: &mut Output,
    ) -> Result<()> {
        let output = compile.output.as_ref().map(|output| output.display().to_string());
        if compile.json {
            return out.line(json!({
                "output": output, "policies": self.policies, "rules": self.rules,
                "rulesOfSpocp": self.rules_of_spocp, "ignored": self.ignored,
                "evaluation": self.evaluation, "bytes": bytes, "revision": self.revision,
                "signers": self.signers, "warnings": diagnostics_json(warnings),
            }));
        }
        let line = self.words(bytes);
        match &output {
            Some(output) if output == "-" => {
                complain(format_args!("standard output: {line}"));
                Ok(())
            }
            Some(output) => out.line(format_args!("{}: {line}", shown(output))),
            None => {
                let directory = compile.directory.in_one_line();
                out.line(format_args!("{directory}: {line}; no bundle is written without `-o`"))
            }
        }
    }

    fn words(&self, bytes: usize) -> String {
        let mut words = vec![
            counted(self.policies, "policy", "policies"),
            counted(self.rules, "rule", "rules"),
        ];
        if self.rules_of_spocp > 0 {
            words.push(format!("{} of SPOCP", counted(self.rules_of_spocp, "rule", "rules")));
        }
        words.push(format!("{} evaluation", self.evaluation));
        if self.ignored > 0 {
            words.push(format!("{} ignored", counted(self.ignored, "entry", "entries")));
        }
        words.push(format!("{bytes} bytes"));
        if !self.signers.is_empty() {
            words.push(format!("signed by {}", self.signers.join(" and ")));
        }
        words.join(", ")
    }
}

/// Writes the accessor module, if one is wanted. It names the bundle, so it is written after it: a
/// module without its bundle could not be used, and is refused beside another.
fn emit(compile: &Compile, table: &PolicyTable, bundle: &[u8]) -> Result<()> {
    let Some(path) = &compile.emit else { return Ok(()) };
    let digest = wardgate_bundle::digest(bundle)
        .ok_or_else(|| Failure::policies("the bundle has no digest"))?;
    replace::file(path, accessors::module(table, digest).as_bytes())
}

/// Returns diagnostics as a JSON array.
pub(crate) fn diagnostics_json(diagnostics: &[Diagnostic]) -> Json {
    diagnostics.iter().map(diagnostic_json).collect()
}

fn diagnostic_json(diagnostic: &Diagnostic) -> Json {
    let end = diagnostic.end();
    answer::present(json!({
        "severity": severity(diagnostic),
        "code": diagnostic.code.name(),
        "page": diagnostic.code.page(),
        "message": diagnostic.message,
        "file": diagnostic.file,
        "text": diagnostic.to_string(),
        "line": diagnostic.position.map(|start| start.line),
        "column": diagnostic.position.map(|start| start.column),
        "end": end.map(|end| json!({ "line": end.line, "column": end.column })),
        "path": Some(&diagnostic.path).filter(|path| !path.is_empty()),
        "found": diagnostic.found,
        "expected": diagnostic.expected,
    }))
}

/// Returns the name of a severity, in every form of JSON.
pub(crate) const fn severity(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
