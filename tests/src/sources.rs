//! Sources for the compiler as WebAssembly and the native one, which must give the same bytes or
//! the same diagnostics.
//!
//! The policies are those of the cases and generated ones, whole and broken: a broken file is a
//! whole one with a part missing or added, at positions that are the same in every run.

mod hostile;
mod wrong;

use serde_json::{Map, Value as Json, json};
use wardgate_bundle::{Conditions, Label, Trust, digest, open, pack_as};
use wardgate_compiler::diagnostics::{Diagnostic, Severity};
use wardgate_compiler::{Enforcement, Options, compile_files};
use wardgate_engine::attr::Attr;
use wardgate_engine::table::Evaluation;
use wardgate_engine::wire::attr_json;
use wardgate_tooling::{accessors, lint_files};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::cases::Case;
use crate::generate::{World, with};
pub use hostile::hostile;
pub use wrong::wrong;

/// Files to compile.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The name in messages.
    pub name: String,
    /// Paths and contents.
    pub files: Vec<(String, Vec<u8>)>,
    options: Options,
}

impl Sources {
    /// Returns the policies of a case.
    #[must_use]
    pub fn of_case(case: Case) -> Self {
        Self { name: case.name, files: case.files, options: case.options }
    }

    /// Returns the policies of a generated world.
    ///
    /// # Errors
    /// Never for a generated world.
    pub fn of_world(world: &World) -> Result<Self, String> {
        let (files, options) = (world.files(), world.table_options()?);
        Ok(Self { name: "generated".to_owned(), files, options })
    }

    /// Returns the same files, each of them broken in some ways.
    pub fn broken(&self) -> impl Iterator<Item = Self> + '_ {
        let ways = |file: usize| (0..WAYS).map(move |way| (file, way));
        (0..self.files.len()).flat_map(ways).map(|(file, way)| {
            let mut broken = self.clone();
            broken.name = format!("{}, file {file}, way {way}", self.name);
            if let Some((_, text)) = broken.files.get_mut(file) {
                damage(text, way);
            }
            broken
        })
    }

    /// Returns the question to Node.
    #[must_use]
    pub fn question(&self) -> Json {
        let file = |(path, bytes): &(String, Vec<u8>)| json!([path, STANDARD.encode(bytes)]);
        let Options { lenient_scope_search, default_version, globals, .. } = &self.options;
        let globals = globals.iter().map(|(name, value)| (name.clone(), value_json(value)));
        let label = label();
        json!({
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
            "options": {
                "evaluation": match self.options.evaluation {
                    Evaluation::Strict => "strict",
                    Evaluation::Lenient => "lenient",
                },
                "schemaEnforcement": match self.options.schema_enforcement {
                    Enforcement::None => "none",
                    Enforcement::Warn => "warn",
                    Enforcement::Reject => "reject",
                },
                "lenientScopeSearch": lenient_scope_search,
                "defaultVersion": default_version,
                "globals": globals.collect::<Map<_, _>>(),
                "name": label.name,
                "revision": label.revision,
                "created": label.created * 1000,
                "notBefore": label.not_before.map(|seconds| seconds * 1000),
                "expires": label.expires.map(|seconds| seconds * 1000),
                "emitAccessors": true,
            },
        })
    }

    /// Returns the right answer of Node.
    ///
    /// # Errors
    /// If the native compiler writes a bundle that cannot be opened.
    pub fn answer(&self) -> Result<Json, String> {
        let found = lint_files(&self.files, &self.options);
        Ok(with(&self.compiled()?, "lint", found.iter().map(diagnostic).collect()))
    }

    fn compiled(&self) -> Result<Json, String> {
        let compiled = match compile_files(&self.files, &self.options) {
            Ok(compiled) if compiled.policies > 0 => compiled,
            Ok(_) => return Ok(refused(&[Diagnostic::no_policies()])),
            Err(diagnostics) => return Ok(refused(&diagnostics)),
        };
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", self.name);
        let label = label();
        let bundle = pack_as(&compiled.parts, &label).map_err(|error| wrong(&error))?;
        let conditions = Conditions { now: label.not_before, ..Conditions::default() };
        let opened = open(&bundle, Trust::Unsigned, &conditions).map_err(|error| wrong(&error))?;
        let digest = digest(&bundle).ok_or_else(|| wrong(&"no digest"))?;
        let accessors = accessors::module(&opened.table, digest);
        Ok(json!({
            "bundle": STANDARD.encode(&bundle), "accessors": accessors, "diagnostics": [],
        }))
    }
}

/// Returns the label of every bundle here.
fn label() -> Label {
    let (not_before, expires) = (Some(1_700_000_001), Some(1_800_000_000));
    Label { name: "párity".to_owned(), revision: 7, created: 1_714_979_289, not_before, expires }
}

fn value_json(value: &Attr) -> Json {
    serde_json::from_str(&attr_json(value)).unwrap_or_default()
}

fn refused(diagnostics: &[Diagnostic]) -> Json {
    json!({ "diagnostics": diagnostics.iter().map(diagnostic).collect::<Vec<_>>() })
}

fn diagnostic(one: &Diagnostic) -> Json {
    let mut json = json!({
        "severity": match one.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": one.code.name(),
        "page": one.code.page(),
        "message": one.message,
        "file": one.file,
        "text": one.to_string(),
        "line": one.position.map(|position| position.line),
        "column": one.position.map(|position| position.column),
        "end": one.end().map(|end| json!({ "line": end.line, "column": end.column })),
        "path": Some(one.path.as_str()).filter(|path| !path.is_empty()),
        "found": one.found,
        "expected": one.expected,
    });
    if let Some(members) = json.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    json
}

/// Damages a text at a position and in a manner that follow from the number of the way.
fn damage(text: &mut Vec<u8>, way: usize) {
    let at = text.len() * way / WAYS;
    match way % 6 {
        0 => text.truncate(at),
        1 => drop(text.splice(at..at.saturating_add(1).min(text.len()), [])),
        2 => text.insert(at, b'"'),
        3 => text.insert(at, b'{'),
        4 => text.insert(at, 0xff),
        _ => {
            let rest = text.iter().skip(at).position(|byte| *byte == b'\n');
            let end = rest.map_or(text.len(), |length| at + length);
            drop(text.splice(at..end, []));
        }
    }
}

/// The number of broken texts made of one.
const WAYS: usize = 12;
