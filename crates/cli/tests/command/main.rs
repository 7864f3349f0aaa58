//! The command `wardgate`, run as its users run it: arguments, files and pipes in; text, JSON and an
//! exit code out.
#![forbid(unsafe_code)]

mod check;
mod clumsy;
mod compile;
mod explain;
mod folder;
mod inspect;
