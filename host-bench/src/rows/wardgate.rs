//! The policies compiled, sealed and opened, as every host gets them.

use wardgate_bundle::{Trust, open, seal};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use crate::measure::{Row, Side};
use crate::workload::{Asked, Workload};

/// The policies of a workload, ready to decide, and the requests.
pub(crate) struct Compiled {
    pub(crate) bundle: Vec<u8>,
    table: PolicyTable,
    requests: Vec<Request>,
}

impl Compiled {
    pub(crate) fn new(workload: &Workload) -> Result<Self, String> {
        let compiled =
            compile_files(&workload.policies(), &Options::default()).map_err(|errors| {
                errors.iter().map(|error| format!("{error}\n")).collect::<String>()
            })?;
        let bundle = seal(&compiled.parts);
        let table = open(&bundle, Trust::Unsigned).map_err(|error| error.to_string())?;
        Ok(Self { bundle, table, requests: workload.requests.iter().map(Asked::request).collect() })
    }
}

/// The rows of the engine, the quickest first.
pub(crate) fn rows(compiled: &Compiled) -> Vec<Row<'_>> {
    let Compiled { table, requests, .. } = compiled;
    let now = Timestamp::default();
    let is_allowed = move |at: usize| {
        requests.get(at).is_some_and(|request| {
            request.actions.first().is_some_and(|action| table.is_allowed(request, action, now))
        })
    };
    let check = move |at: usize| {
        let decision = requests.get(at).map(|request| table.check(request, now));
        let actions = decision.into_iter().flat_map(|decision| decision.actions);
        actions.map(|action| action.effect).eq([Effect::Allow])
    };
    vec![
        Row::new("Wardgate is_allowed", Side::Ours, is_allowed),
        Row::new("Wardgate check", Side::Ours, check),
    ]
}
