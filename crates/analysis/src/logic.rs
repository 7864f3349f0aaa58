//! Exact logic over the conditions of two tables: terms that both share, and diagrams of outcomes.
//!
//! No solver is asked. The values of a term fall into finitely many classes (each constant that it is
//! compared with, each interval between numbers, other texts, `null`, missing, and so on), and a
//! condition becomes a decision diagram over these classes. Equal diagrams are equal conditions, errors
//! included. What is not taken apart stays one unknown with every outcome, so a proof of equality
//! holds whatever it does. Diagrams are bounded; beyond the bound nothing is claimed.

pub(crate) mod conditions;
pub(crate) mod diagram;
pub(crate) mod partition;
pub(crate) mod reader;
pub(crate) mod region;
pub(crate) mod terms;
pub(crate) mod truth;
