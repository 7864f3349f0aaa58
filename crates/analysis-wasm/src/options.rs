//! The heads of messages.
//!
//! The package has checked every value already: a value that does not fit here is a fault of the
//! border.

use serde::Deserialize;
use wardgate_compiler::{Enforcement, Options, globals};
use wardgate_engine::table::Evaluation;

use crate::refusal::Refusal;

/// The options of a policy table. An absent one has the default of the command.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TableOptions {
    evaluation: Mode,
    lenient_scope_search: bool,
    schema_enforcement: Schemas,
    default_version: Option<String>,
    /// The globals as a JSON object.
    globals: Option<String>,
}

/// The options of an index.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Opening {
    #[serde(flatten)]
    pub(crate) table: TableOptions,
    /// The folder that is put before the paths of answers.
    pub(crate) directory: String,
}

/// A question about similar rules. A draft is the one file of the message.
#[derive(Debug, Deserialize)]
pub(crate) struct Similar {
    /// `POLICY` or `POLICY#RULE`, if there is no draft.
    pub(crate) to: Option<String>,
    pub(crate) top: usize,
}

/// A question about groups.
#[derive(Debug, Deserialize)]
pub(crate) struct Groups {
    /// The names of kinds of groups; none for all.
    pub(crate) only: Vec<String>,
}

/// The options of an analysis.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Analyzing {
    #[serde(flatten)]
    pub(crate) table: TableOptions,
    /// The folder that is put before the paths of answers.
    pub(crate) directory: String,
    /// The names of kinds of findings; none for all.
    pub(crate) only: Vec<String>,
}

/// The options of a comparison.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Comparing {
    #[serde(flatten)]
    pub(crate) table: TableOptions,
    /// The number of files that are those before the change.
    pub(crate) old_files: usize,
    /// The folders that are put before the paths of answers.
    pub(crate) directories: [String; 2],
    /// The time at which requests are decided, in milliseconds since 1970.
    pub(crate) now: i64,
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

impl TableOptions {
    /// Returns the options for the compiler.
    pub(crate) fn options(&self) -> Result<Options, Refusal> {
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
            options.globals = globals::read(GLOBALS, text.as_bytes()).map_err(Refusal::Range)?;
        }
        Ok(options)
    }
}

/// The name of the globals in messages. The ending makes them JSON and nothing else.
const GLOBALS: &str = "globals.json";
