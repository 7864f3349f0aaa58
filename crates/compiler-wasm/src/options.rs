//! The options of the calls from JavaScript.
//!
//! The package has checked every value already: a value that does not fit here is a fault of the
//! border.

use serde::Deserialize;
use serde_bytes::ByteBuf;
use wardgate_bundle::Label;
use wardgate_compiler::{Enforcement, Options, globals};
use wardgate_engine::table::Evaluation;
use wardgate_tooling::suite::Filter;

use crate::failure::Failure;

/// The path of a file and its contents, which need not be text.
pub(crate) type File = (String, ByteBuf);

/// The options of one call. An absent one has the default of the command.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct CompileOptions {
    evaluation: Mode,
    lenient_scope_search: bool,
    schema_enforcement: Schemas,
    default_version: Option<String>,
    /// The globals as a JSON object.
    globals: Option<String>,
    name: String,
    revision: u64,
    created: u64,
    not_before: Option<u64>,
    expires: Option<u64>,
    /// True if to look through the files instead, and to compile nothing.
    pub(crate) lint: bool,
    /// True if a module of accessors is wanted too.
    pub(crate) emit_accessors: bool,
    /// True if declarations of the types are wanted too.
    pub(crate) emit_types: bool,
}

/// The options of one run of tests.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct TestOptions {
    evaluation: Mode,
    lenient_scope_search: bool,
    schema_enforcement: Schemas,
    default_version: Option<String>,
    globals: Option<String>,
    run: Option<String>,
    filter: Option<String>,
    /// True if JUnit XML is wanted too.
    pub(crate) emit_junit: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Mode {
    #[default]
    Strict,
    Lenient,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Schemas {
    #[default]
    None,
    Warn,
    Reject,
}

impl CompileOptions {
    /// Returns the options of the table.
    pub(crate) fn table(&self) -> Result<Options, Failure> {
        let mut options = Options {
            evaluation: match self.evaluation {
                Mode::Strict => Evaluation::Strict,
                Mode::Lenient => Evaluation::Lenient,
            },
            lenient_scope_search: self.lenient_scope_search,
            schema_enforcement: match self.schema_enforcement {
                Schemas::None => Enforcement::None,
                Schemas::Warn => Enforcement::Warn,
                Schemas::Reject => Enforcement::Reject,
            },
            ..Options::default()
        };
        if let Some(version) = &self.default_version {
            options.default_version.clone_from(version);
        }
        if let Some(text) = &self.globals {
            options.globals = globals::read(GLOBALS, text.as_bytes()).map_err(Failure::range)?;
        }
        Ok(options)
    }

    /// Returns the label of the bundle.
    pub(crate) fn label(&self) -> Label {
        Label {
            name: self.name.clone(),
            revision: self.revision,
            created: self.created,
            not_before: self.not_before,
            expires: self.expires,
        }
    }
}

impl TestOptions {
    /// Returns the options of the table for tests without settings of their own.
    pub(crate) fn table(&self) -> Result<Options, Failure> {
        let options = CompileOptions {
            evaluation: self.evaluation,
            lenient_scope_search: self.lenient_scope_search,
            schema_enforcement: self.schema_enforcement,
            default_version: self.default_version.clone(),
            globals: self.globals.clone(),
            ..CompileOptions::default()
        };
        options.table()
    }

    /// Returns which tests to run.
    pub(crate) fn filter(&self) -> Result<Filter, Failure> {
        let mut filter = Filter::default();
        if let Some(pattern) = &self.run {
            let wrong = |why| Failure::range(format!("option `run` is not a pattern: {why}"));
            filter = filter.name(pattern).map_err(wrong)?;
        }
        if let Some(globs) = &self.filter {
            let wrong = |why| Failure::range(format!("option `filter`: {why}"));
            filter = filter.globs(globs).map_err(wrong)?;
        }
        Ok(filter)
    }
}

/// The name of the globals in messages. The ending makes them JSON and nothing else.
const GLOBALS: &str = "globals.json";
