//! `wardgate types`: writes the types of policies for TypeScript, or checks those that were written.

use std::io::ErrorKind;
use std::path::Path;

use wardgate_bundle::Label;
use wardgate_compiler::compile::schema_in;
use wardgate_compiler::reading;
use wardgate_tooling::typescript;

use crate::arguments::Types;
use crate::failure::{Failure, Result, Status};
use crate::globals;
use crate::output::{InOneLine, Output, is_standard_output};
use crate::overwriting::{Form, Paths};
use crate::{policies, replace};

pub(crate) fn run(types: &Types, out: &mut Output) -> Result<Status> {
    let Types { directory, output, check, .. } = types;
    let is_printed = is_standard_output(output);
    if *check && is_printed {
        let message = "`--check` compares a file: name it with `-o`";
        return Err(Failure::usage(message));
    }
    paths(types).check()?;
    if !check && !is_printed {
        Form::Types.replaces(output, types.overwrite.force)?;
    }
    let text = written(types)?;
    match (check, is_printed) {
        (true, _) => compare(types, &text),
        (false, true) => out.bytes(text.as_bytes()).map(|()| Status::Done),
        (false, false) if is_written(output, &text) => Ok(Status::Done),
        (false, false) => {
            replace::file(output, text.as_bytes())?;
            out.line(format_args!(
                "{}: types of `{}`",
                output.in_one_line(),
                directory.in_one_line()
            ))?;
            Ok(Status::Done)
        }
    }
}

fn paths(types: &Types) -> Paths<'_> {
    let output = Some(types.output.as_path()).filter(|output| !is_standard_output(output));
    Paths {
        outputs: output.map(|path| ("-o", path)).into_iter().collect(),
        inputs: types.options.globals.as_deref().and_then(globals::path).into_iter().collect(),
        directories: vec![&types.directory],
    }
}

fn written(types: &Types) -> Result<String> {
    let Types { directory, output, options, .. } = types;
    let compiled = policies::compile(directory, options, &Label::default())?;
    let digest = wardgate_bundle::digest(&compiled.bundle)
        .ok_or_else(|| Failure::policies("the bundle has no digest"))?;
    let options = policies::table_options(options)?;
    let load = |path: &str| schema_in(directory, path);
    let text = typescript::declarations(&compiled.sources, &options, &load, digest)
        .map_err(|found| policies::below(directory, found))?;
    Ok(if is_module(output) { text + &typescript::constant(digest) } else { text })
}

/// Returns true if the file has values beside types.
fn is_module(output: &Path) -> bool {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let has_end = |ends: [&str; 3]| ends.iter().any(|end| name.ends_with(end));
    has_end([".ts", ".mts", ".cts"]) && !has_end([".d.ts", ".d.mts", ".d.cts"])
}

/// Returns true if the file has this text already: a tool that watches it need not run again.
fn is_written(output: &Path, text: &str) -> bool {
    reading::file(output).is_ok_and(|old| old == text.as_bytes())
}

fn compare(types: &Types, text: &str) -> Result<Status> {
    let Types { directory, output, .. } = types;
    let file = output.in_one_line();
    let write = format!("run `wardgate types {} -o {file}`", directory.in_one_line());
    let stale = |message: String| Err(Failure::Message(Status::OtherTypes, message));
    let old = match reading::file(output) {
        Ok(old) => String::from_utf8_lossy(&old).replace("\r\n", "\n"),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return stale(format!("`{file}` does not exist: {write}"));
        }
        Err(error) => return Err(Failure::reading(output, &error)),
    };
    if old == text {
        return Ok(Status::Done);
    }
    stale(match (typescript::digest_in(&old), typescript::digest_in(text)) {
        (Some(found), Some(digest)) if found != digest => format!(
            "`{file}` has the types of policies {}, and these are {}: {write}",
            short(found),
            short(digest)
        ),
        _ => format!("`{file}` differs from what `wardgate types` writes: {write}"),
    })
}

/// Returns the first digits of a digest.
fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}
