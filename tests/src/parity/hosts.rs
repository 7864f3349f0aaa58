//! The forms in which a Rust host asks: see `wardgate_native`.
//!
//! The clock shows if the general path decided: it always reads the clock, a fast path only for
//! rules that do. So the count of answers by fast paths is never too high.

mod typed;

use std::cell::Cell;

use serde_json::Value as Json;
use wardgate_bundle::Trust;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::{AuxData, Request};
use wardgate_native::{Clock, Pdp, RequestError};

use crate::check::question;
use crate::generate::with_action;

/// One request about one action, in all forms.
pub(crate) struct Forms<'a> {
    pub(crate) request: &'a Request,
    pub(crate) action: &'a str,
    json: Json,
    text: Vec<u8>,
}

impl<'a> Forms<'a> {
    /// Makes the forms; `json` is the request as a host in JavaScript takes it, with a list of
    /// actions.
    pub(crate) fn new(request: &'a Request, json: &Json, action: &'a str) -> Self {
        let json = with_action(json, action);
        let text = json.to_string().into_bytes();
        Self { request, action, json, text }
    }
}

/// The call of one form.
type Form = fn(&Pdp, &Forms<'_>, &Counted) -> Result<bool, RequestError>;

const FORMS: [(&str, Form); 6] = [
    ("native request", |pdp, forms, clock| Ok(pdp.is_allowed(forms.request, forms.action, clock))),
    ("native fields", |pdp, forms, clock| {
        Ok(pdp.is_allowed_fields(&question(forms.request, forms.action), clock))
    }),
    ("native value", |pdp, forms, clock| pdp.is_allowed_value(&forms.json, clock)),
    ("native typed", |pdp, forms, clock| Ok(typed::anew(pdp, forms, clock))),
    ("native principal", |pdp, forms, clock| Ok(typed::of_principal(pdp, forms, clock))),
    ("native json", |pdp, forms, clock| pdp.is_allowed_json(&forms.text, clock)),
];

/// Forms of questions that cannot carry auxiliary data.
const HAVE_NO_AUX_DATA: [&str; 3] = ["native fields", "native typed", "native principal"];

/// The PDPs of a Rust host.
pub(crate) struct Host {
    pdp: Pdp,
    /// Remembers so few answers that most are forgotten at once.
    caching: Pdp,
}

impl Host {
    pub(crate) fn open(bundle: &[u8]) -> Option<Self> {
        let open = |entries| Pdp::open_with_cache(bundle, Trust::Unsigned, entries).ok();
        Some(Self { pdp: open(0)?, caching: open(4)? })
    }

    /// Hands to `take` the answer of each form, and true if a fast path gave it.
    pub(crate) fn ask(
        &self,
        forms: &Forms<'_>,
        now: Timestamp,
        mut take: impl FnMut(&'static str, Result<bool, RequestError>, bool),
    ) {
        for (name, form) in FORMS {
            if HAVE_NO_AUX_DATA.contains(&name) && forms.request.aux_data != AuxData::default() {
                continue;
            }
            let clock = Counted { now, reads: Cell::new(0) };
            let answer = form(&self.pdp, forms, &clock);
            take(name, answer, clock.reads.get() == 0);
        }
        // The second answer is the remembered one, where there is one.
        for form in [FORMS[0].1, FORMS[2].1, FORMS[0].1] {
            let clock = Counted { now, reads: Cell::new(0) };
            let answer = form(&self.caching, forms, &clock);
            take("native cached", answer, clock.reads.get() == 0);
        }
    }
}

/// A clock that stands still and counts its readers.
struct Counted {
    now: Timestamp,
    reads: Cell<u32>,
}

impl Clock for &Counted {
    fn now(&self) -> Timestamp {
        self.reads.set(self.reads.get() + 1);
        self.now
    }
}
