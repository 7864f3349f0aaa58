//! The broker: what comes in from several clients, and what goes out to each.

mod orders;
mod script;
mod scripts;
