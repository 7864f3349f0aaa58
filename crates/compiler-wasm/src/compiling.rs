//! Compiles files to an answer, without a type of JavaScript.
//!
//! An error in the files is a diagnostic. A [`Failure`] is an error that they do not cause: an
//! impossible option, or a fault of the compiler itself.

use serde_bytes::ByteBuf;
use wardgate_bundle::{PackError, digest, pack_with_rules};
use wardgate_compiler::compile::FilesByPath;
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::table::PolicyTable;
use wardgate_tooling::{accessors, lint_files, typescript};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::options::{CompileOptions, File};

/// Compiles files to a bundle, or looks through them.
pub(crate) fn compile(files: Vec<File>, call: CompileOptions) -> Result<Answer, Failure> {
    let (options, label) = (call.table()?, call.label());
    let files: Vec<(String, Vec<u8>)> =
        files.into_iter().map(|(path, bytes)| (path, bytes.into_vec())).collect();
    if call.lint {
        return Ok(Answer::refused(lint_files(&files, &options)));
    }
    let compiled = match compile_files(&files, &options) {
        Ok(compiled) => compiled,
        Err(diagnostics) => return Ok(Answer::refused(diagnostics)),
    };
    if compiled.policies == 0 && compiled.rules.is_empty() {
        return Ok(Answer::refused(vec![Diagnostic::no_policies()]));
    }
    let bundle = match pack_with_rules(&compiled.parts, &compiled.rules, &label) {
        Ok(bundle) => bundle,
        Err(PackError::Label) => return Err(Failure::range(PackError::Label.to_string())),
        Err(error) => return Ok(Answer::refused(vec![too_large(&error)])),
    };
    // A bundle that could not be opened must not take the place of one that can.
    let table = PolicyTable::from_parts_with_limits(compiled.parts).map_err(|flaw| {
        Failure::internal(format!("the compiler wrote a malformed table: {flaw}"))
    })?;
    let digest = digest(&bundle);
    let accessors = digest.filter(|_| call.emit_accessors);
    let accessors = accessors.map(|digest| accessors::module(&table, digest));
    let types =
        match digest.filter(|_| call.emit_types).map(|digest| types(&files, &options, digest)) {
            Some(Err(diagnostics)) => return Ok(Answer::refused(diagnostics)),
            Some(Ok(types)) => Some(types),
            None => None,
        };
    Ok(Answer { bundle: Some(ByteBuf::from(bundle)), accessors, types, diagnostics: Vec::new() })
}

/// Returns the declarations of policies that compile.
fn types(
    files: &[(String, Vec<u8>)],
    options: &Options,
    digest: [u8; 32],
) -> Result<String, Vec<Diagnostic>> {
    let found = FilesByPath::of(files);
    typescript::declarations(&found.repository(), options, &|path| found.schema(path), digest)
}

fn too_large(error: &PackError) -> Diagnostic {
    Diagnostic::in_file(Code::Limit, ".", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "apiVersion: api.cerbos.dev/v1\nresourcePolicy: {resource: a, version: default, rules: [{actions: [x], roles: [r], effect: EFFECT_ALLOW}]}\n";

    fn compiled(files: &[(&str, &str)]) -> Answer {
        let files =
            files.iter().map(|(path, text)| ((*path).to_owned(), ByteBuf::from(*text))).collect();
        compile(files, CompileOptions::default()).unwrap()
    }

    #[test]
    fn the_bundle_is_that_of_the_native_compiler() {
        let files = [("a.yaml".to_owned(), POLICY.as_bytes().to_vec())];
        let native = compile_files(&files, &wardgate_compiler::Options::default()).unwrap();
        let answer = compiled(&[("a.yaml", POLICY)]);
        assert_eq!(answer.bundle.unwrap().into_vec(), wardgate_bundle::pack(&native.parts));
        assert_eq!((answer.accessors, answer.types), (None, None));
    }

    #[test]
    fn the_types_name_the_digest_of_the_bundle() {
        let file = || vec![("a.yaml".to_owned(), ByteBuf::from(POLICY))];
        let options = serde_json::from_str(r#"{"emitTypes": true}"#).unwrap();
        let answer = compile(file(), options).unwrap();
        let digest = digest(&answer.bundle.unwrap()).unwrap();
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let types = answer.types.unwrap();
        assert_eq!(typescript::digest_in(&types), Some(digits.as_str()));
        assert!(types.contains(r#"action: "x";"#), "{types}");
    }

    #[test]
    fn no_policies_give_no_bundle() {
        let disabled = format!("{POLICY}disabled: true\n");
        let nothing = Answer::refused(vec![Diagnostic::no_policies()]);
        for files in [&[][..], &[("a.txt", POLICY)], &[("a.yaml", "")], &[("a.yaml", &disabled)]] {
            assert_eq!(compiled(files), nothing);
        }
    }

    #[test]
    fn errors_are_diagnostics() {
        let options = wardgate_compiler::Options::default();
        let text = POLICY.replace("EFFECT_ALLOW", "ALOW");
        let files = [("a.yaml".to_owned(), text.clone().into_bytes())];
        let native = compile_files(&files, &options).unwrap_err();
        assert_eq!(compiled(&[("a.yaml", &text)]), Answer::refused(native));
    }

    #[test]
    fn the_linter_is_that_of_the_native_compiler() {
        let options = wardgate_compiler::Options::default();
        let text = POLICY.replace("rules:", "variables: {local: {x: P.id}}, rules:");
        let native = lint_files(&[("a.yaml".to_owned(), text.clone().into_bytes())], &options);
        let file = ("a.yaml".to_owned(), ByteBuf::from(text));
        let options = serde_json::from_str(r#"{"lint": true}"#).unwrap();
        assert_eq!(native.len(), 1);
        assert_eq!(compile(vec![file], options).unwrap(), Answer::refused(native));
    }

    #[test]
    fn options_that_are_not_possible_are_failures() {
        let files = || vec![("a.yaml".to_owned(), ByteBuf::from(POLICY))];
        let check = |options: &str, message: &str| {
            let failure = compile(files(), serde_json::from_str(options).unwrap()).unwrap_err();
            assert!(failure.0 == "range" && failure.1.contains(message), "{failure:?}");
        };
        check(r#"{"globals": "[]"}"#, "globals.json: expected an object");
        check(r#"{"notBefore": 2, "expires": 1}"#, "an expiry after the beginning");
    }

    #[test]
    fn unknown_options_are_refused() {
        assert!(serde_json::from_str::<CompileOptions>(r#"{"strict": true}"#).is_err());
    }
}
