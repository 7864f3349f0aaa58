//! The search for a request that two tables decide differently.

use wardgate_engine::glob;
use wardgate_engine::request::Request;

use super::question::{Candidate, Compared};
use super::requests::{Dice, Draft, Pool, RESOURCE};
use super::rows::NameOrOther;
use super::target::{Comparer, Target};
use super::{Change, Decided, Witness};
use crate::limits::MAX_TRIES;
use crate::logic::diagram::Way;
use crate::logic::partition::Class;
use crate::logic::terms::{TermId, TextId};
use crate::logic::truth::Subject;

/// A search in progress.
pub(super) struct Search<'s, 'a> {
    comparer: &'s mut Comparer<'a>,
    compared: &'s Compared,
    target: Target,
    action: NameOrOther,
}

/// What a way through a diagram says.
#[derive(Default)]
struct Wanted {
    classes: Vec<(TermId, Class)>,
    /// Patterns that a name which is left open matches, or does not.
    action: Vec<(TextId, bool)>,
    role: Vec<(TextId, bool)>,
    kind: Vec<(TextId, bool)>,
}

impl<'s, 'a> Search<'s, 'a> {
    pub(super) const fn new(
        comparer: &'s mut Comparer<'a>,
        compared: &'s Compared,
        (target, action): (Target, NameOrOther),
    ) -> Self {
        Self { comparer, compared, target, action }
    }

    /// Returns a request that shows the difference, for a principal with these roles.
    pub(super) fn find(self, candidate: &Candidate, roles: &[NameOrOther]) -> Option<Witness> {
        let tries = MAX_TRIES.min(self.comparer.left.tries);
        let (found, used) = self.search(candidate, roles, tries);
        self.comparer.left.tries -= used.min(tries);
        found
    }

    fn search(
        &self,
        candidate: &Candidate,
        roles: &[NameOrOther],
        tries: usize,
    ) -> (Option<Witness>, usize) {
        let terms = &self.comparer.shared.terms;
        let stranger = self.comparer.stranger.as_str();
        let principal = self.target.principal.map_or(stranger, |(id, _)| terms.name(id));
        let names = roles.iter().filter_map(|role| match role {
            NameOrOther::Name(role) => Some(terms.name(*role)),
            NameOrOther::Other => None,
        });
        let names: Vec<&str> = [principal, RESOURCE].into_iter().chain(names).collect();
        let pool = Pool::new(terms, &self.compared.conditions, (principal, &names));
        let mut dice = Dice::new(SEED);
        for number in 0..tries {
            let pick = |count| if number == 0 { 0 } else { dice.below(count) };
            let Some(way) = self.compared.diagrams.way(candidate.diagram, pick) else { break };
            let wanted = self.wanted(&way);
            let Some(draft) = pool.draft(&wanted.classes, number % 3 == 2, &mut dice) else {
                continue;
            };
            let Some(request) = self.named(&wanted, roles) else { continue };
            if self.shows(&request, &draft, candidate.change) {
                let draft = self.shortest(&request, draft, candidate.change);
                let witness = self.witness(&request, &draft, candidate.change);
                return (witness, number + 1);
            }
        }
        (None, tries)
    }

    fn wanted(&self, way: &Way) -> Wanted {
        let mut wanted = Wanted::default();
        for (variable, class) in way {
            let Some(variable) = self.compared.variables.get(*variable) else { continue };
            let Some(class) = variable.classes.get(*class).copied() else { continue };
            let is_met = class == Class::True;
            match variable.subject {
                Subject::Term(term) => wanted.classes.push((term, class)),
                Subject::Action(pattern) => wanted.action.push((pattern, is_met)),
                Subject::Role(pattern) => wanted.role.push((pattern, is_met)),
                Subject::Kind(pattern) => wanted.kind.push((pattern, is_met)),
            }
        }
        wanted
    }

    /// Returns a request with all names, and without attributes.
    fn named(&self, wanted: &Wanted, roles: &[NameOrOther]) -> Option<Request> {
        let terms = &self.comparer.shared.terms;
        let text = |id: TextId| terms.name(id).to_owned();
        let mut request = Request::default();
        request.resource.kind = self.name(self.target.kind, "other", &wanted.kind)?;
        request.resource.id = RESOURCE.to_owned();
        request.resource.scope = text(self.target.scope);
        let version = terms.name(self.target.version);
        let is_default =
            self.comparer.sides.iter().all(|side| side.table.default_version() == version);
        if !is_default {
            request.resource.policy_version = version.to_owned();
            request.principal.policy_version = version.to_owned();
        }
        request.principal.id = match self.target.principal {
            Some((principal, scope)) => {
                request.principal.scope = text(scope);
                text(principal)
            }
            None => self.comparer.stranger.clone(),
        };
        for role in roles {
            request.principal.roles.push(self.name(*role, "other", &wanted.role)?);
        }
        request.actions.push(self.name(self.action, "other", &wanted.action)?);
        Some(request)
    }

    /// Returns a name; one that is left open matches exactly the patterns that it should.
    fn name(&self, asked: NameOrOther, other: &str, wanted: &[(TextId, bool)]) -> Option<String> {
        let terms = &self.comparer.shared.terms;
        if let NameOrOther::Name(name) = asked {
            return Some(terms.name(name).to_owned());
        }
        let is_known = |name: &str| {
            self.comparer.sides.iter().any(|side| side.table.string_id(name).is_some())
        };
        let fits = |name: &str| {
            let mut patterns = wanted.iter();
            patterns.all(|(pattern, met)| glob::matches(terms.name(*pattern), name) == *met)
                && !is_known(name)
        };
        let met = wanted.iter().filter(|(_, met)| *met).map(|(pattern, _)| terms.name(*pattern));
        let mut names = vec![other.to_owned(), "zz".to_owned()];
        for pattern in met {
            for filler in ["other", "zz", "o", "other:zz"] {
                names.push(instance(pattern, filler));
            }
        }
        names.into_iter().find(|name| fits(name))
    }

    /// Returns true if the tables decide a request as the change says.
    fn shows(&self, request: &Request, draft: &Draft, change: Change) -> bool {
        let request = self.complete(request, draft);
        let Some(action) = request.actions.first() else { return false };
        let now = self.comparer.now;
        let sides = self.comparer.sides.each_ref();
        let [old, new] = sides.map(|side| side.table.is_allowed(&request, action, now));
        [old, new] == [change == Change::Less, change == Change::More]
    }

    fn complete(&self, request: &Request, draft: &Draft) -> Request {
        let mut request = request.clone();
        draft.write(&self.comparer.shared.terms, &mut request);
        if let Some((principal, _)) = self.target.principal {
            request.principal.id = self.comparer.shared.terms.name(principal).to_owned();
        }
        request
    }

    /// Leaves out what the difference does not need.
    fn shortest(&self, request: &Request, mut draft: Draft, change: Change) -> Draft {
        for key in draft.values.keys().cloned().collect::<Vec<_>>() {
            let mut shorter = draft.clone();
            shorter.values.remove(&key);
            if self.shows(request, &shorter, change) {
                draft = shorter;
            }
        }
        draft
    }

    /// Returns the request with both decisions, if these are as the change says when hosts make them: they have
    /// outputs and a limit that the short form does not have.
    fn witness(&self, request: &Request, draft: &Draft, change: Change) -> Option<Witness> {
        let request = self.complete(request, draft);
        let now = self.comparer.now;
        let sides = self.comparer.sides.each_ref();
        let [old, new] = sides.map(|side| Decided::of(&side.table.explain(&request, now)));
        let is_shown =
            [old.is_allowed, new.is_allowed] == [change == Change::Less, change == Change::More];
        is_shown.then_some(Witness { request, now, old, new })
    }
}

/// Returns a text that a pattern of plain parts matches.
fn instance(pattern: &str, filler: &str) -> String {
    let mut text = String::new();
    let mut open = pattern.chars().peekable();
    while let Some(c) = open.next() {
        match c {
            '*' => {
                while open.next_if_eq(&'*').is_some() {}
                text.push_str(filler);
            }
            '?' => text.push('z'),
            '[' => {
                text.extend(open.next().filter(|c| *c != '!'));
                while open.next().is_some_and(|c| c != ']') {}
            }
            '{' => {
                let inner: String = std::iter::from_fn(|| open.next_if(|c| *c != '}')).collect();
                open.next();
                text.push_str(&instance(inner.split(',').next().unwrap_or(""), filler));
            }
            '\\' => text.extend(open.next()),
            c => text.push(c),
        }
    }
    text
}

/// The seed of the search: it is the same in every comparison.
const SEED: u64 = 23;
