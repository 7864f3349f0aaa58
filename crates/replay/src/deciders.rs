//! The policies of both sides, and decisions by them with all reasons.

use wardgate_analysis::compare::Decided;
use wardgate_engine::attr::AttrMap;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::{Attribute, Owner};
use wardgate_engine::request::Request;
use wardgate_native::Policies;

use crate::kinds::{Mask, Watched};
use crate::roles::NamedRoles;
use crate::sides::Sides;

/// The policies of a replay, and what is known of them.
pub(crate) struct Deciders<'p> {
    pub(crate) sides: Sides<'p>,
    pub(crate) watched: Watched,
    pub(crate) roles: NamedRoles,
}

/// A question that was decided with all reasons.
pub(crate) struct Judged {
    /// `None` if there are no old policies.
    pub(crate) old: Option<Decided>,
    pub(crate) new: Decided,
}

impl<'p> Deciders<'p> {
    pub(crate) fn new(sides: Sides<'p>) -> Self {
        let tables = [Some(sides.new), sides.old].into_iter().flatten().map(Policies::table);
        Self { sides, watched: Watched::of(&sides), roles: NamedRoles::of(tables) }
    }

    /// Decides a request about one action with all reasons. The second value is true if the answer is the same at
    /// every time.
    pub(crate) fn judge(&self, request: &Request, now: Timestamp) -> (Judged, bool) {
        let explain = |policies: &Policies| {
            let (explanation, is_timed) = policies.table().explain_timed(request, now);
            (Decided::of(&explanation), is_timed)
        };
        let (new, new_is_timed) = explain(self.sides.new);
        let (old, old_is_timed) = self.sides.old.map(explain).unzip();
        (Judged { old, new }, !new_is_timed && old_is_timed != Some(true))
    }

    /// Returns the watched attributes that the new decision reads, and the request lacks.
    pub(crate) fn missed(&self, request: &Request, action: &str, now: Timestamp) -> Mask {
        if self.watched.all() == 0 {
            return 0;
        }
        let maps = maps(request);
        let is_absent = |attribute: &Attribute<'_>| {
            let map = maps.iter().find(|(owner, _)| *owner == attribute.owner);
            map.is_none_or(|(_, map)| map.get(attribute.name).is_none())
        };
        let read = self.sides.new.table().attributes_read(request, action, now);
        self.watched.mask(read.into_iter().filter(is_absent))
    }
}

/// Returns the attributes of a request, by their owners.
pub(crate) const fn maps(request: &Request) -> [(Owner, &AttrMap); 4] {
    [
        (Owner::Principal, &request.principal.attr),
        (Owner::Resource, &request.resource.attr),
        (Owner::Claims, &request.aux_data.jwt),
        (Owner::Tokens, &request.aux_data.jwts),
    ]
}
