//! From policy sources to the parts of a policy table, in one call.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use wardgate_engine::order::in_order;
use wardgate_engine::table::Parts;
use wardgate_spocp::RuleSet;

use crate::diagnostics::{self, Diagnostic};
use crate::emit::{self, Options};
use crate::reading;
use crate::repository::Repository;
use crate::repository::files::SCHEMAS;
use crate::resolve::model::Resolved;
use crate::resolve::resolve;
use crate::schema::{SchemaFile, Unavailable, missing_schemas};
use crate::source::SourceFile;
use crate::topics;
use crate::yaml;

/// The result of a compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The parts of the policy table, ready to be packed.
    pub parts: Parts,
    /// The number of policies of all kinds that were read, without disabled ones.
    pub policies: usize,
    /// The rules of SPOCP that lie beside the policies.
    pub rules: RuleSet,
    /// Warnings for the author, which do not prevent the compilation.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles the policies below a directory; its `_schemas` hold the schemas that they name.
///
/// ```no_run
/// use wardgate_compiler::{Options, compile_dir};
///
/// match compile_dir("policies".as_ref(), &Options::default()) {
///     Ok(compiled) => println!("{} policies", compiled.policies),
///     Err(errors) => errors.iter().for_each(|error| eprintln!("{error}")),
/// }
/// ```
///
/// # Errors
/// All errors of the policies, sorted; never an empty list.
pub fn compile_dir(root: &Path, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    compile_repository(&Repository::read(root), root, options)
}

/// Compiles policies that were read from the directory `root`, whose `_schemas` hold the schemas
/// that they name.
///
/// ```no_run
/// use wardgate_compiler::repository::Repository;
/// use wardgate_compiler::{Options, compile_repository};
///
/// let root = "policies".as_ref();
/// let repository = Repository::read(root);
/// println!("{} files are ignored", repository.ignored);
/// let compiled = compile_repository(&repository, root, &Options::default());
/// ```
///
/// # Errors
/// All errors of the policies, sorted; never an empty list.
pub fn compile_repository(
    repository: &Repository,
    root: &Path,
    options: &Options,
) -> Result<Compiled, Vec<Diagnostic>> {
    compile(repository, options, &|path| schema_in(root, path))
}

/// Compiles policies that are in memory: paths with `/` between their segments, and contents.
///
/// ```
/// use wardgate_compiler::{Options, compile_files};
///
/// let policy = r#"
/// apiVersion: api.cerbos.dev/v1
/// resourcePolicy:
///   resource: album
///   version: default
///   rules:
///     - { actions: [view], roles: [user], effect: EFFECT_ALLOW }
/// "#;
/// let files = [("album.yaml".to_owned(), policy.into())];
/// let compiled = compile_files(&files, &Options::default()).unwrap();
/// assert_eq!(compiled.policies, 1);
///
/// let broken = [("album.yaml".to_owned(), b"apiVersion: [".to_vec())];
/// let errors = compile_files(&broken, &Options::default()).unwrap_err();
/// assert_eq!(errors[0].code.name(), "syntax");
/// ```
///
/// # Errors
/// All errors of the policies, sorted; never an empty list.
pub fn compile_files(
    files: &[(String, Vec<u8>)],
    options: &Options,
) -> Result<Compiled, Vec<Diagnostic>> {
    let found = FilesByPath::of(files);
    compile(&found.repository(), options, &|path| found.schema(path))
}

/// Files in memory.
pub struct FilesByPath<'f>(BTreeMap<&'f str, &'f [u8]>);

impl<'f> FilesByPath<'f> {
    /// Takes files: paths with `/` between their segments, and contents.
    #[must_use]
    pub fn of(files: &'f [(String, Vec<u8>)]) -> Self {
        Self(in_order(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))))
    }

    /// Reads the policies and the rules among the files.
    #[must_use]
    pub fn repository(&self) -> Repository {
        Repository::from_files(self.0.iter().map(|(path, bytes)| (*path, *bytes)))
    }

    /// Reads the schema at `path` below `_schemas`.
    ///
    /// # Errors
    /// The file is missing or broken.
    pub fn schema(&self, path: &str) -> Result<SchemaFile, Unavailable> {
        schema_file(path, self.0.get(format!("{SCHEMAS}/{path}").as_str()).copied())
    }
}

fn compile(
    repository: &Repository,
    options: &Options,
    load: &crate::schema::Load<'_>,
) -> Result<Compiled, Vec<Diagnostic>> {
    let (resolved, parts) = resolve_and_emit(repository, options, load)?;
    let (policies, rules) = (repository.policies.len(), repository.rules.clone());
    let mut warnings = missing_schemas(&resolved, load);
    diagnostics::sort(&mut warnings);
    Ok(Compiled { parts, policies, rules, warnings })
}

/// Resolves and compiles policies.
///
/// # Errors
/// All errors of the policies, sorted; never an empty list.
pub fn resolve_and_emit(
    repository: &Repository,
    options: &Options,
    load: &crate::schema::Load<'_>,
) -> Result<(Resolved, Parts), Vec<Diagnostic>> {
    let (resolved, mut errors) = resolve(repository);
    errors.extend_from_slice(&repository.errors);
    errors.extend(topics::read_as_text(&resolved));
    match emit::table(&resolved, options, load) {
        Ok(parts) if errors.is_empty() => return Ok((resolved, parts)),
        Ok(_) => {}
        Err(more) => errors.extend(more),
    }
    diagnostics::sort(&mut errors);
    Err(errors)
}

/// Reads a schema of the policies below `root`.
pub fn schema_in(root: &Path, path: &str) -> Result<SchemaFile, Unavailable> {
    let location = root.join(SCHEMAS).join(path);
    let mut parts = Path::new(path).components();
    let only_names = parts.all(|part| matches!(part, Component::Normal(_)));
    if !only_names || !reading::exists(&location) {
        return Err(Unavailable::Missing);
    }
    let file = format!("{SCHEMAS}/{path}");
    let bytes = reading::file_within(root, &location)
        .map_err(|error| Unavailable::Broken(vec![reading::unreadable(&file, &error)]))?;
    schema_file(path, Some(&bytes))
}

/// Reads the schema at `path` below `_schemas` from its bytes.
///
/// # Errors
/// There are no bytes, or they hold no schema.
pub fn schema_file(path: &str, bytes: Option<&[u8]>) -> Result<SchemaFile, Unavailable> {
    let bytes = bytes.ok_or(Unavailable::Missing)?;
    let broken = |error: Box<Diagnostic>| Unavailable::Broken(vec![*error]);
    let file = format!("{SCHEMAS}/{path}");
    let source = SourceFile::new(&file, bytes)
        .map_err(|error| broken(Box::new(Diagnostic::refused_source(&file, error))))?;
    let root = yaml::read_json(&source).map_err(broken)?;
    Ok(SchemaFile::new(source, root))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Position;

    #[test]
    fn a_broken_file_hides_no_error_of_another() {
        let policy = |expr: &str| {
            format!(
                "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: a\n  version: v\n  rules:\n    - actions: [x]\n      roles: [r]\n      effect: EFFECT_ALLOW\n      condition: {{match: {{expr: \"{expr}\"}}}}\n"
            )
        };
        let files = [
            ("a.yaml".to_owned(), policy("P.id ==").into_bytes()),
            ("b.yaml".to_owned(), b"apiVersion: [\n".to_vec()),
        ];
        let errors = compile_files(&files, &Options::default()).unwrap_err();
        let files: Vec<&str> = errors.iter().map(|error| error.file.as_str()).collect();
        assert_eq!(files, ["a.yaml", "b.yaml"]);
    }

    #[test]
    fn rules_of_spocp_are_read_in_the_order_of_their_files() {
        let files = [
            (
                "b.spoc".to_owned(),
                b"\xEF\xBB\xBF# rules\r\n(4:http)\r\n(file (* prefix /etc))".to_vec(),
            ),
            ("a/x_test.SPOC".to_owned(), b"(file (* prefix /etc))\n".to_vec()),
            ("testdata/c.spoc".to_owned(), b"(".to_vec()),
            (".d.spoc".to_owned(), b"(".to_vec()),
        ];
        let compiled = compile_files(&files, &Options::default()).unwrap();
        let text = |rule: wardgate_spocp::Normal| {
            String::from_utf8(rule.expression().to_advanced()).unwrap()
        };
        let rules: Vec<String> = compiled.rules.iter().map(|(_, rule)| text(rule)).collect();
        assert_eq!(rules, ["(file (* prefix /etc))", "(http)"]);
        assert_eq!(compiled.policies, 0);
    }

    #[test]
    fn errors_of_a_rule_are_located_at_their_character() {
        let check = |text: &[u8], expected: (u32, u32), message: &str| {
            let files = [("a.spoc".to_owned(), text.to_vec())];
            let errors = compile_files(&files, &Options::default()).unwrap_err();
            let found: Vec<_> = errors.iter().map(|error| error.position.unwrap()).collect();
            assert_eq!(found, [Position { line: expected.0, column: expected.1 }]);
            assert!(errors[0].message.contains(message), "{}", errors[0].message);
        };
        check("\u{feff}(\u{e9} (* set))".as_bytes(), (1, 10), "at least one element");
        check(b"(a)\r\n  (1:b5:c)\n", (2, 7), "longer than what is left");
        check(b"# \xFF\n(a (* range numeric ge x))", (2, 4), "does not fit the type");
    }

    #[test]
    fn the_same_policies_give_the_same_parts() {
        let text = "apiVersion: api.cerbos.dev/v1\nresourcePolicy: {resource: a, version: v, rules: [{actions: [x, 'y:*'], roles: [r, s], effect: EFFECT_ALLOW}]}\n";
        let files = [("a.yaml".to_owned(), text.as_bytes().to_vec())];
        let compile = || compile_files(&files, &Options::default()).unwrap().parts;
        assert_eq!(compile(), compile());
    }
}
