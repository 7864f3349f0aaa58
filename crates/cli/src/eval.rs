//! `wardgate eval`: one expression, compiled and evaluated as a condition of a policy is.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use wardgate_compiler::cel::{CelError, Env, Standalone};
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::reading;
use wardgate_compiler::source::{Location, Position, SourceFile};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::limits::{MAX_REQUEST_BYTES, MAX_STEPS};
use wardgate_engine::request::{Principal, Request, Resource};
use wardgate_engine::wire;

use crate::arguments::{Eval, Given};
use crate::failure::{Failure, Result, Status};
use crate::json::{self, Document};
use crate::output::{Output, shown};
use crate::request::Call;
use crate::{clock, globals, request};

pub(crate) fn run(eval: &Eval, out: &mut Output) -> Result<Status> {
    let value = Surroundings::read(&eval.given)?.value(&[], &eval.expression)?;
    out.line(value)?;
    Ok(Status::Done)
}

/// What expressions read.
pub(crate) struct Surroundings {
    principal: Option<Attr>,
    resource: Option<Attr>,
    aux_data: Option<Attr>,
    globals: BTreeMap<String, Attr>,
    now: Option<Timestamp>,
    request: Request,
}

/// A part of the surroundings that can be exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Principal,
    Resource,
    AuxData,
}

impl Surroundings {
    /// Reads what the arguments give.
    pub(crate) fn read(given: &Given) -> Result<Self> {
        let mut surroundings = Self {
            principal: None,
            resource: None,
            aux_data: None,
            globals: given.globals.as_deref().map(globals::read).transpose()?.unwrap_or_default(),
            now: given.now,
            request: Request::default(),
        };
        let parts = [
            (Part::Principal, &given.principal),
            (Part::Resource, &given.resource),
            (Part::AuxData, &given.aux_data),
        ];
        for (part, text) in parts {
            if let Some(text) = text {
                surroundings.exchange(part, text)?;
            }
        }
        Ok(surroundings)
    }

    /// Exchanges a part for the object in a file, or the text if that is one. The part stays if the
    /// other cannot be used.
    pub(crate) fn exchange(&mut self, part: Part, given: &str) -> Result<()> {
        let value = Some(document(given)?);
        let (mut principal, mut resource) = (self.principal.clone(), self.resource.clone());
        let mut aux_data = self.aux_data.clone();
        match part {
            Part::Principal => principal = value,
            Part::Resource => resource = value,
            Part::AuxData => aux_data = value,
        }
        self.request = request(principal.as_ref(), resource.as_ref(), aux_data.as_ref())?;
        (self.principal, self.resource, self.aux_data) = (principal, resource, aux_data);
        Ok(())
    }

    /// Returns the value of an expression as JSON. Names mean other expressions, in their order.
    pub(crate) fn value(&self, names: &[(&str, &str)], expression: &str) -> Result<String> {
        // A comment ends with its line.
        let bind = |(name, value): &(&str, &str)| format!("cel.bind({name}, {value}\n, ");
        let prefix: String = names.iter().map(bind).collect();
        let source = format!("{prefix}{expression}{}", "\n)".repeat(names.len()));
        let compiled = Standalone::compile_with(&source, &Env::cerbos(), &self.globals);
        let compiled = compiled.map_err(|errors| {
            Failure::Diagnostics(
                errors.iter().map(|error| diagnostic(expression, prefix.len(), error)).collect(),
            )
        })?;
        let now = self.now.unwrap_or_else(clock::now);
        let value = compiled.eval_over(&self.request, now, |value| {
            let attr = value.to_attr(&Cell::new(MAX_STEPS)).map_err(|error| error.to_string())?;
            Ok(wire::attr_json(&attr))
        });
        value.map_err(|why: String| {
            Failure::policies(format!("`{}` has no value: {}", shown(expression), shown(&why)))
        })
    }
}

/// Makes the request that consists of these parts.
fn request(
    principal: Option<&Attr>,
    resource: Option<&Attr>,
    aux_data: Option<&Attr>,
) -> Result<Request> {
    let text = |text: &str| Attr::String(text.into());
    let list = |text: &str| Attr::List(vec![Attr::String(text.into())]);
    let named = |names: [(&str, Attr); 2]| {
        Attr::Map(names.into_iter().map(|(name, value)| (name.into(), value)).collect::<AttrMap>())
    };
    // A call has both, so an absent one is filled in, and taken out again.
    let nobody = named([("id", text("-")), ("roles", list("-"))]);
    let nothing = named([("id", text("-")), ("kind", text("-"))]);
    let members = [
        ("principal", Some(principal.unwrap_or(&nobody))),
        ("resource", Some(resource.unwrap_or(&nothing))),
        ("actions", Some(&list("-"))),
        ("auxData", aux_data),
    ]
    .map(|(name, value)| value.map(|value| (name.into(), value.clone())));
    let call = Attr::Map(members.into_iter().flatten().collect::<AttrMap>());
    let mut made = Request::default();
    let read = Call::read(&call, request::aux_data);
    let read = read.and_then(|mut call| {
        call.each(|request| {
            made = request.clone();
            Ok::<_, String>(())
        })
    });
    read.map_err(|why| Failure::request(shown(&why)))?;
    if principal.is_none() {
        made.principal = Principal::default();
    }
    if resource.is_none() {
        made.resource = Resource::default();
    }
    Ok(made)
}

/// Reads an object of JSON: the text itself, or the file that it names.
fn document(given: &str) -> Result<Attr> {
    let (name, bytes) = match globals::path(given) {
        None => ("the argument".to_owned(), given.as_bytes().to_vec()),
        Some(path) => (format!("`{}`", shown(given)), file(path)?),
    };
    let read: Result<Document, _> = serde_json::from_slice(bytes.trim_ascii());
    read.map(|document| document.0).map_err(|error| {
        let position = format!("line {}, column {}", error.line(), error.column());
        Failure::request(format!("{name}, {position}: invalid JSON: {}", json::message(&error)))
    })
}

fn file(path: &Path) -> Result<Vec<u8>> {
    let read = reading::open(path).and_then(|file| reading::bounded(file, MAX_REQUEST_BYTES));
    read.map_err(|error| Failure::reading(path, &error))
}

/// Shows an error of an expression that begins at this byte of what was compiled.
fn diagnostic(expression: &str, begin: usize, error: &CelError) -> Diagnostic {
    let offset = error.span.start.saturating_sub(begin).min(expression.len());
    let before = expression.get(..offset).unwrap_or(expression);
    let position = before.chars().fold(Position::START, Position::after);
    let file = SourceFile::of("expression", expression);
    let location = Location { file, position, path: Arc::from("") };
    Diagnostic::error(Code::InvalidExpression, &location, &error.message)
        .with(error.found.clone(), error.expected.clone())
}
