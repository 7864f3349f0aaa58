//! Writes a module with its functions in an order that compresses better: `order-functions FROM TO`.
//!
//! DEFLATE finds repetitions within 32 KiB. So functions follow each other that have most in common, whatever crate
//! they come from. What they do stays the same, and so do the names and the order of imports and exports.
//!
//! It is a separate program, because `cargo xtask` is built before any other step and should not wait
//! for the writer of modules.
#![forbid(unsafe_code)]

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::process::ExitCode;

use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{CodeSectionReader, FunctionSectionReader, Parser, Payload, TypeRef};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = arguments.as_slice() else {
        eprintln!("error: expected the paths of a module and of the module to write");
        return ExitCode::from(2);
    };
    match ordered(from).and_then(|bytes| written(to, &bytes)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn written(path: &str, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("cannot write {path}: {error}"))
}

fn ordered(path: &str) -> Result<Vec<u8>, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let unread = |error: &dyn std::fmt::Display| format!("{path} is no module: {error}");
    let mut order = Order::of(&bytes).map_err(|error| unread(&error))?;
    let mut module = Module::new();
    let encoded = order.parse_core_module(&mut module, Parser::new(0), &bytes);
    encoded.map_err(|error| unread(&error))?;
    Ok(module.finish())
}

/// An order of the functions that a module defines.
struct Order {
    /// The old positions, in the new order.
    positions: Vec<usize>,
    /// The new number of each function, the imported ones first.
    numbers: Vec<u32>,
}

impl Order {
    fn of(module: &[u8]) -> wasmparser::Result<Self> {
        let (mut imported, mut bodies) = (0_u32, Vec::new());
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes()),
                _ => {}
            }
        }
        let positions = similar_beside_each_other(&bodies);
        let mut numbers: Vec<u32> = (0..imported).collect();
        numbers.resize(numbers.len() + positions.len(), 0);
        let defined = numbers.iter_mut().skip(usize::try_from(imported).unwrap_or(usize::MAX));
        let mut defined: Vec<&mut u32> = defined.collect();
        for (number, position) in (imported..).zip(&positions) {
            if let Some(new) = defined.get_mut(*position) {
                **new = number;
            }
        }
        Ok(Self { positions, numbers })
    }

    fn arranged<T: Clone>(&self, all: &[T]) -> Vec<T> {
        self.positions.iter().filter_map(|position| all.get(*position).cloned()).collect()
    }
}

/// A number that no function has.
#[derive(Debug)]
struct Unknown;

impl std::fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("it names a function that is not there")
    }
}

impl Reencode for Order {
    type Error = Unknown;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Unknown>> {
        let position = usize::try_from(function).unwrap_or(usize::MAX);
        self.numbers.get(position).copied().ok_or(Error::UserError(Unknown))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Unknown>> {
        let types = section.into_iter().collect::<wasmparser::Result<Vec<u32>>>()?;
        for function in self.arranged(&types) {
            functions.function(self.type_index(function)?);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Unknown>> {
        let bodies = section.into_iter().collect::<wasmparser::Result<Vec<_>>>()?;
        for body in self.arranged(&bodies) {
            self.parse_function_body(code, body)?;
        }
        Ok(())
    }
}

/// Returns the positions of bodies, so that each has much in common with those shortly before it. The largest body is
/// the first; each other is the one of which the largest share is in reach. Equal ones keep their order.
fn similar_beside_each_other(bodies: &[&[u8]]) -> Vec<usize> {
    let mut parts = Parts::of(bodies);
    let mut left: Vec<usize> = (0..bodies.len()).collect();
    let mut order = Vec::with_capacity(bodies.len());
    let (mut reach, mut bytes) = (VecDeque::new(), 0);
    let largest = left
        .iter()
        .copied()
        .max_by_key(|position| (size(bodies, *position), usize::MAX - position));
    let mut next = largest;
    while let Some(position) = next {
        left.retain(|other| *other != position);
        order.push(position);
        parts.enter(position);
        reach.push_back(position);
        bytes += size(bodies, position);
        while bytes > REACH
            && let Some(first) = reach.pop_front()
        {
            parts.leave(first);
            bytes -= size(bodies, first);
        }
        next = left.iter().copied().reduce(|best, other| parts.better(best, other));
    }
    order
}

fn size(bodies: &[&[u8]], position: usize) -> usize {
    bodies.get(position).map_or(0, |body| body.len())
}

/// The runs of bytes that bodies consist of.
struct Parts {
    /// The different runs of each body.
    of: Vec<Vec<usize>>,
    /// The bodies that have a run, by the number of the run.
    bodies: Vec<Vec<usize>>,
    /// How many bodies in reach have a run.
    counts: Vec<usize>,
    /// How many runs of each body are in reach.
    found: Vec<usize>,
}

impl Parts {
    fn of(bodies: &[&[u8]]) -> Self {
        let mut numbers: HashMap<&[u8], usize> = HashMap::new();
        let mut having: Vec<Vec<usize>> = Vec::new();
        let mut of = Vec::with_capacity(bodies.len());
        for (position, body) in bodies.iter().enumerate() {
            let mut runs = Vec::new();
            for run in body.windows(RUN) {
                let number = *numbers.entry(run).or_insert_with(|| {
                    having.push(Vec::new());
                    having.len() - 1
                });
                if let Some(having) = having.get_mut(number)
                    && having.last() != Some(&position)
                {
                    having.push(position);
                    runs.push(number);
                }
            }
            of.push(runs);
        }
        let (counts, found) = (vec![0; having.len()], vec![0; bodies.len()]);
        Self { of, bodies: having, counts, found }
    }

    /// Takes a body into reach.
    fn enter(&mut self, position: usize) {
        self.change(position, |count| (*count == 0, *count += 1).0, |found| *found += 1);
    }

    /// Takes a body out of reach.
    fn leave(&mut self, position: usize) {
        self.change(position, |count| (*count == 1, *count -= 1).0, |found| *found -= 1);
    }

    /// Counts each run of a body anew, and that of each body which has the run if it comes into reach or leaves it.
    fn change(
        &mut self,
        position: usize,
        count: impl Fn(&mut usize) -> bool,
        found: impl Fn(&mut usize),
    ) {
        for run in self.of.get(position).into_iter().flatten() {
            if !self.counts.get_mut(*run).is_some_and(&count) {
                continue;
            }
            for body in self.bodies.get(*run).into_iter().flatten() {
                if let Some(runs) = self.found.get_mut(*body) {
                    found(runs);
                }
            }
        }
    }

    /// Returns the body of which the larger share is in reach. Of small ones a few bytes more are never in reach.
    fn better(&self, one: usize, other: usize) -> usize {
        let share = |position: usize| {
            let all = self.of.get(position).map_or(0, Vec::len) + NEVER_FOUND;
            (self.found.get(position).copied().unwrap_or(0), all)
        };
        let ((found, all), (other_found, other_all)) = (share(one), share(other));
        if other_found * all > found * other_all { other } else { one }
    }
}

/// How far back a repetition may lie, less what the compressor itself needs.
const REACH: usize = 28_000;
/// A repetition of fewer bytes saves hardly anything.
const RUN: usize = 5;
/// The runs that each body is taken to have alone.
const NEVER_FOUND: usize = 8;
