//! regorus: Rego compiled beforehand, by its interpreter and by its register machine.
//!
//! Inputs are built before anything is timed.

use std::cell::RefCell;
use std::fmt::Display;

use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::RegoVM;
use regorus::{CompiledPolicy, Engine, Value};

use crate::measure::{Row, Side};
use crate::rivals::{self, Modules};
use crate::workload::Workload;

/// Returns the rows of regorus, for each form of the policy.
pub(crate) fn rows(workload: &Workload) -> Result<Vec<Row<'_>>, String> {
    let inputs: Vec<Value> = workload.requests.iter().cloned().map(Value::from).collect();
    let mut rows = Vec::new();
    for (form, modules) in rivals::rego(workload) {
        let policy = compile(&modules)?;
        match machine(workload, form, &policy, inputs.clone()) {
            Ok(row) => rows.push(row),
            // A program has a bound, which ten thousand rules in one package exceed.
            Err(message) => eprintln!("{}, {form}: left out: {message}", workload.name),
        }
        rows.push(interpreter(workload, form, policy, inputs.clone()));
    }
    Ok(rows)
}

/// Parses and compiles a policy, as a program does that loads a new one.
pub(crate) fn compile(modules: &Modules) -> Result<CompiledPolicy, String> {
    let mut engine = Engine::new();
    for (path, text) in modules {
        engine.add_policy(path.clone(), text.clone()).map_err(message)?;
    }
    engine.compile_with_entrypoint(&ENTRY.into()).map_err(message)
}

fn interpreter<'a>(
    workload: &'a Workload,
    form: &str,
    policy: CompiledPolicy,
    inputs: Vec<Value>,
) -> Row<'a> {
    let name = format!("{NAME} interpreter, {form}");
    workload.cases(inputs).row(&name, Side::Rival, move |input| {
        policy.eval_with_input(input.clone()).is_ok_and(|answer| answer == Value::Bool(true))
    })
}

fn machine<'a>(
    workload: &'a Workload,
    form: &str,
    policy: &CompiledPolicy,
    inputs: Vec<Value>,
) -> Result<Row<'a>, String> {
    let program = Compiler::compile_from_policy(policy, &[ENTRY]).map_err(message)?;
    let mut machine = RegoVM::new();
    machine.load_program(program);
    // A row answers through a shared reference; this one is used by one thread only.
    let machine = RefCell::new(machine);
    let name = format!("{NAME} machine, {form}");
    Ok(workload.cases(inputs).row(&name, Side::Rival, move |input| {
        let mut machine = machine.borrow_mut();
        machine.set_input(input.clone());
        machine.execute().is_ok_and(|answer| answer == Value::Bool(true))
    }))
}

fn message(error: impl Display) -> String {
    format!("regorus: {error}")
}

const ENTRY: &str = "data.authz.allow";
/// The version is pinned in the manifest.
const NAME: &str = "regorus 0.14.1";
