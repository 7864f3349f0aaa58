//! The code that decides in wasmtime, beside the same code natively: the cost of the sandbox.
//!
//! Each form of a question stands beside the native row that reads requests in the same form, so
//! that the difference is the border and the sandbox alone.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use wardgate_bundle::Trust;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_native::{Pdp, Target};
use wardgate_wasmtime_host as host;
use wardgate_wasmtime_host::{Code, Limits, Moment, Prepared, Session, Terms};

use crate::measure::{self, Bounds, Figure, Side};
use crate::report::{NATIVE, Section};
use crate::request::action;
use crate::rows::native::Fields;
use crate::rows::wardgate::Compiled;
use crate::run::REFERENCE;
use crate::workload::Workload;

/// The name of the section in `--only`.
pub(crate) const NAME: &str = "hosts";

/// Measures with the modules in `folder`.
pub(crate) fn section(folder: &Path, bounds: Bounds) -> Result<Section, String> {
    let workload = Workload::generate(REFERENCE)?;
    workload.confirm()?;
    let requests = workload.engine_requests()?;
    let bundle = Compiled::new(&workload)?.bundle;
    let targets = Targets::of(&requests);
    let forms: Vec<Forms<'_>> = (requests.iter().zip(&workload.requests))
        .map(|(request, json)| Forms::new(request, json, &targets))
        .collect();
    let native = Pdp::open(&bundle, Trust::Unsigned).map_err(|error| error.to_string())?;
    let module = Sandbox::new(&folder.join("wardgate_abi.wasm"), &bundle, &targets)?;
    let component = Sandbox::new(&folder.join("wardgate.component.wasm"), &bundle, &targets)?;
    let now = Timestamp::default();
    let cases = workload.cases(forms.as_slice());
    let rows = [
        cases.row(FIELDS, Side::Floor, |one| native.is_allowed_fields(&one.fields.question(), now)),
        cases.row(FRAME, Side::Ours, |one| module.by_fields(one)),
        cases.row(TEXT, Side::Floor, |one| native.is_allowed_json(&one.text, now) == Ok(true)),
        cases.row(MODULE, Side::Ours, |one| module.by_text(one)),
        cases.row(VALUES, Side::Ours, |one| component.by_fields(one)),
        cases.row(COMPONENT, Side::Ours, |one| component.by_text(one)),
    ];
    let figures = measure::rows(&rows, bounds)?;
    print_overhead(&figures);
    let title = format!("In wasmtime and natively: {}", workload.title.to_lowercase());
    Ok(Section::new(NAME, title, NOTE).with(NATIVE, figures))
}

/// Prints the cost of the sandbox.
fn print_overhead(figures: &[Figure]) {
    let took = |name: &str| {
        let found = figures.iter().find(|figure| figure.name == name);
        found.map_or(f64::NAN, |figure| figure.nanoseconds)
    };
    for (name, native, most) in OVERHEADS {
        let above = took(name) - took(native);
        eprintln!("{name}: {above:.1} ns above native, at most {most}");
    }
}

/// The kinds and actions of the requests, each pair once.
struct Targets<'a> {
    all: Vec<(&'a str, &'a str)>,
    numbers: HashMap<(&'a str, &'a str), usize>,
}

impl<'a> Targets<'a> {
    fn of(requests: &'a [Request]) -> Self {
        let (mut all, mut numbers) = (Vec::new(), HashMap::new());
        for target in requests.iter().map(about) {
            numbers.entry(target).or_insert_with(|| {
                all.push(target);
                all.len() - 1
            });
        }
        Self { all, numbers }
    }
}

/// One request in every form.
struct Forms<'a> {
    fields: Fields<'a>,
    text: Vec<u8>,
    /// The index of its kind and action.
    target: usize,
}

impl<'a> Forms<'a> {
    fn new(request: &'a Request, json: &Json, targets: &Targets<'a>) -> Self {
        Self {
            fields: Fields::new(request),
            text: json.to_string().into_bytes(),
            target: targets.numbers.get(&about(request)).copied().unwrap_or_default(),
        }
    }
}

/// An instance, and its prepared questions.
struct Sandbox {
    session: RefCell<Session>,
    prepared: Vec<RefCell<Prepared>>,
}

impl Sandbox {
    fn new(code: &Path, bundle: &[u8], targets: &Targets<'_>) -> Result<Self, String> {
        let bytes = fs::read(code).map_err(|error| format!("{}: {error}", code.display()))?;
        let refused = |error: host::HostError| format!("{}: {error}", code.display());
        let compiled = Code::compile(&bytes, Limits::default()).map_err(refused)?;
        let pdp = host::Pdp::open(&compiled, bundle, &Terms::unsigned(), Moment::default());
        let mut session = pdp.map_err(refused)?.session();
        let mut prepare = |(kind, action): &(&str, &str)| {
            session.prepare(Target { kind, action, ..Target::default() }).map(RefCell::new)
        };
        let prepared = targets.all.iter().map(&mut prepare).collect::<Result<_, _>>();
        Ok(Self { prepared: prepared.map_err(refused)?, session: RefCell::new(session) })
    }

    fn by_fields(&self, one: &Forms<'_>) -> bool {
        let Some(prepared) = self.prepared.get(one.target) else { return false };
        let mut session = self.session.borrow_mut();
        let now = Timestamp::default();
        session.is_allowed_fields(&mut prepared.borrow_mut(), &one.fields.question(), &now)
            == Ok(true)
    }

    fn by_text(&self, one: &Forms<'_>) -> bool {
        self.session.borrow_mut().is_allowed(&one.text, &Timestamp::default()) == Ok(true)
    }
}

fn about(request: &Request) -> (&str, &str) {
    (&request.resource.kind, action(request))
}

const NOTE: &str =
    "A row in wasmtime stands below the native one that reads requests in the same form.";

const FIELDS: &str = "native, fields by name";
const FRAME: &str = "wasmtime, module, fields by name into the frame";
const TEXT: &str = "native, JSON text";
const MODULE: &str = "wasmtime, module, JSON text";
const VALUES: &str = "wasmtime, component, fields by name as values";
const COMPONENT: &str = "wasmtime, component, JSON text";

/// A row, the native one above it, and the most nanoseconds between them.
const OVERHEADS: [(&str, &str, &str); 4] =
    [(FRAME, FIELDS, "60"), (VALUES, FIELDS, "500"), (MODULE, TEXT, "-"), (COMPONENT, TEXT, "500")];
