//! The policies compiled, packed and opened, as every host gets them.

use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use crate::measure::{Row, Side};
use crate::request::action;
use crate::workload::{Workload, lines};

/// The policies of a workload, ready to decide.
pub(crate) struct Compiled {
    pub(crate) bundle: Vec<u8>,
    pub(crate) table: PolicyTable,
}

impl Compiled {
    pub(crate) fn new(workload: &Workload) -> Result<Self, String> {
        let compiled = compile_files(&workload.policies, &Options::default());
        let compiled = compiled.map_err(|errors| lines(&errors))?;
        let bundle = pack(&compiled.parts);
        let opened = open(&bundle, Trust::Unsigned, &Conditions::default());
        let table = opened.map_err(|error| error.to_string())?.table;
        Ok(Self { bundle, table })
    }
}

/// Returns the rows of the engine itself, without fast paths.
pub(crate) fn rows<'a>(
    workload: &'a Workload,
    compiled: &'a Compiled,
    requests: &'a [Request],
) -> Vec<Row<'a>> {
    let table = &compiled.table;
    let now = Timestamp::default();
    let general = move |one: &Request| table.is_allowed(one, action(one), now);
    let check = move |one: &Request| {
        table.check(one, now).actions.into_iter().map(|action| action.effect).eq([Effect::Allow])
    };
    let cases = workload.cases(requests);
    vec![
        cases.row("Wardgate general path", Side::Ours, general),
        cases.row("Wardgate check", Side::Ours, check),
    ]
}

/// Opens the bundle once more, as a host does that loads new policies.
pub(crate) fn reload(compiled: &Compiled) -> Result<(), String> {
    open(&compiled.bundle, Trust::Unsigned, &Conditions::default())
        .map(drop)
        .map_err(|error| error.to_string())
}
