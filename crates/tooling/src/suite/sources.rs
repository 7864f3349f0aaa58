//! Policies that are read once and compiled for each set of options of the tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wardgate_engine::table::{Parts, PolicyTable};

use wardgate_compiler::compile::{resolve_and_emit, schema_file, schema_in};
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::emit::{self, Options};
use wardgate_compiler::repository::Repository;
use wardgate_compiler::repository::files::SCHEMAS;
use wardgate_compiler::resolve::model::Resolved;
use wardgate_compiler::schema::{SchemaFile, Unavailable};

/// Policies that are sound under the options they were read with.
#[derive(Debug)]
pub struct Sources {
    /// The policies as their authors wrote them.
    pub repository: Repository,
    resolved: Resolved,
    schemas: Schemas,
}

/// The source of schemas.
#[derive(Debug)]
enum Schemas {
    /// Below `_schemas` of this directory.
    Folder(PathBuf),
    Files(BTreeMap<String, Vec<u8>>),
}

impl Sources {
    /// Reads the policies below a directory.
    ///
    /// # Errors
    /// Everything that is wrong with them under these options.
    pub fn read(root: &Path, options: &Options) -> Result<Self, Vec<Diagnostic>> {
        Self::new(Repository::read(root), Schemas::Folder(root.to_owned()), options)
    }

    /// Reads policies that are in memory.
    ///
    /// # Errors
    /// Everything that is wrong with them under these options.
    pub fn from_files(
        files: &[(String, Vec<u8>)],
        options: &Options,
    ) -> Result<Self, Vec<Diagnostic>> {
        let all = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        let below = |(path, bytes): &(String, Vec<u8>)| {
            let path = path.strip_prefix(SCHEMAS)?.strip_prefix('/')?;
            Some((path.to_owned(), bytes.clone()))
        };
        let schemas = files.iter().filter_map(below).collect();
        Self::new(Repository::from_files(all), Schemas::Files(schemas), options)
    }

    fn new(
        repository: Repository,
        schemas: Schemas,
        options: &Options,
    ) -> Result<Self, Vec<Diagnostic>> {
        let (resolved, _) = resolve_and_emit(&repository, options, &|path| schemas.load(path))?;
        Ok(Self { repository, resolved, schemas })
    }

    /// Compiles the policies under other options.
    ///
    /// # Errors
    /// The errors under those options, such as a global that an expression cannot work with.
    pub fn parts(&self, options: &Options) -> Result<Parts, Vec<Diagnostic>> {
        emit::table(&self.resolved, options, &|path| self.schemas.load(path))
    }

    /// Compiles the policies to a table.
    pub(super) fn table(&self, options: &Options) -> Result<PolicyTable, String> {
        let parts = self.parts(options).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!(
                "the policies do not compile under the options of the test:\n{}",
                errors.join("\n")
            )
        })?;
        PolicyTable::from_parts_with_limits(parts)
            .map_err(|flaw| format!("the table is not sound: {flaw}"))
    }
}

impl Schemas {
    fn load(&self, path: &str) -> Result<SchemaFile, Unavailable> {
        match self {
            Self::Folder(root) => schema_in(root, path),
            Self::Files(files) => schema_file(path, files.get(path).map(Vec::as_slice)),
        }
    }
}
