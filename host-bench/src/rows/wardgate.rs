//! The policies compiled, packed and opened, as every host gets them.

use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use crate::measure::{Row, Side};
use crate::workload::Workload;

/// The policies of a workload, ready to decide.
pub(crate) struct Compiled {
    pub(crate) bundle: Vec<u8>,
    pub(crate) table: PolicyTable,
}

impl Compiled {
    pub(crate) fn new(workload: &Workload) -> Result<Self, String> {
        let compiled =
            compile_files(&workload.policies, &Options::default()).map_err(|errors| {
                errors.iter().map(|error| format!("{error}\n")).collect::<String>()
            })?;
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
    let general = move |at: usize| {
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
        Row::new("Wardgate general path", Side::Ours, &workload.expected, general),
        Row::new("Wardgate check", Side::Ours, &workload.expected, check),
    ]
}

/// Opens the bundle once more, as a host does that loads new policies.
pub(crate) fn reload(compiled: &Compiled) -> Result<(), String> {
    open(&compiled.bundle, Trust::Unsigned, &Conditions::default())
        .map(drop)
        .map_err(|error| error.to_string())
}
