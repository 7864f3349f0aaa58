//! Makes a component of a module with its description: `encode-component MODULE COMPONENT`.
//!
//! It is a separate program, because `cargo xtask` is built before any other step and should not
//! wait for the encoder. It fails on a module with imports that a component does not satisfy.
#![forbid(unsafe_code)]

use std::fs;
use std::process::ExitCode;

use wit_component::ComponentEncoder;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, component] = arguments.as_slice() else {
        eprintln!("error: expected the paths of a module and of the component to write");
        return ExitCode::from(2);
    };
    match encode(module).and_then(|bytes| written(component, &bytes)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn encode(module: &str) -> Result<Vec<u8>, String> {
    let bytes = fs::read(module).map_err(|error| format!("cannot read {module}: {error}"))?;
    let mut encoder = ComponentEncoder::default();
    let encoded = encoder.validate(true).module(&bytes).and_then(ComponentEncoder::encode);
    encoded.map_err(|error| format!("{module} makes no component: {error:#}"))
}

fn written(path: &str, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("cannot write {path}: {error}"))
}
