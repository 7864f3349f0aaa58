//! What the names in the expressions of a policy mean.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use wardgate_compiler::cel::{self, Expr};
use wardgate_compiler::resolve::model::Variable;
use wardgate_engine::attr::Attr;

/// The expressions that were parsed already: conditions recur in many policies.
#[derive(Debug, Default)]
pub struct Parsed {
    known: RefCell<HashMap<Arc<str>, Option<Rc<Expr>>>>,
}

impl Parsed {
    pub(super) fn tree(&self, text: &Arc<str>) -> Option<Rc<Expr>> {
        if let Some(known) = self.known.borrow().get(text) {
            return known.clone();
        }
        let parsed = cel::parse(text).ok().map(Rc::new);
        self.known.borrow_mut().insert(Arc::clone(text), parsed.clone());
        parsed
    }
}

/// The names that the expressions of one policy or derived role use.
pub struct Scope<'p> {
    pub(super) parsed: &'p Parsed,
    pub(super) constants: &'p BTreeMap<String, Attr>,
    pub(super) variables: BTreeMap<&'p str, &'p Variable>,
    /// True in a derived role, where a variable that fails is `null` in a lenient table.
    pub(super) is_of_derived_role: bool,
    /// True if sides may change: an id of SPIFFE equals a text, and the text does not equal it.
    pub(super) may_turn: Cell<bool>,
    /// True if an expression means something in this policy only.
    pub(super) is_own: Cell<bool>,
    pub(super) fuel: Cell<u32>,
}

impl<'p> Scope<'p> {
    /// Takes the names of a policy.
    #[must_use]
    pub fn new(
        parsed: &'p Parsed,
        constants: &'p BTreeMap<String, Attr>,
        variables: &'p [Variable],
    ) -> Self {
        let is_plain = variables.iter().all(|one| !mentions_spiffe(&one.expr.text));
        Self {
            parsed,
            constants,
            variables: variables.iter().map(|one| (one.name.as_str(), one)).collect(),
            is_of_derived_role: false,
            may_turn: Cell::new(is_plain),
            is_own: Cell::new(false),
            fuel: Cell::new(FUEL),
        }
    }

    /// Makes it the scope of a derived role.
    #[must_use]
    pub fn of_derived_role(self) -> Self {
        Self { is_of_derived_role: true, ..self }
    }

    /// Returns true if an expression so far means something in this policy only.
    #[must_use]
    pub const fn is_own(&self) -> bool {
        self.is_own.get()
    }

    /// Returns false once an expression took more than its share of work.
    pub(super) fn burn(&self) -> bool {
        self.fuel.set(self.fuel.get().saturating_sub(1));
        self.fuel.get() > 0
    }

    pub(super) fn refuel(&self) {
        self.fuel.set(FUEL);
    }
}

pub(super) fn mentions_spiffe(text: &str) -> bool {
    text.contains("spiffe")
}

/// The largest number of nodes of one expression, those of its variables counted each time.
const FUEL: u32 = 4_000;
