//! Every form of the same requests, and their times.

use foldhash::fast::RandomState;
use serde_json::json;
use wardgate_bundle::{Trust, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_native::{AsPrincipal, AsResource, Pdp, Prepared, PreparedPrincipal};

use super::graph::{App, Graph, Request, Store, json};
use super::{Timed, time};
use crate::measure::Side;
use crate::rows::native::NOW;
use crate::workload::lines;

/// A name, its side, and the answer to the request with a number.
type Answering<'f> = (&'static str, Side, &'f dyn Fn(usize) -> bool);

/// The policies of an application, ready to decide.
pub(super) struct Engines {
    pub(super) bundle: Vec<u8>,
    pdp: Pdp,
    #[cfg(feature = "rivals")]
    cedar: super::cedar::Cedar,
}

/// One graph with its requests.
pub(super) struct Forms<A: App> {
    /// With lists, as they come.
    plain: Entities<A>,
    /// With sets, made when the entities were loaded: so has Cedar its own.
    hashed: Entities<A>,
    asked: Vec<Request>,
    texts: Vec<Vec<u8>>,
    prepared: Vec<Prepared<A::User, A::Resource>>,
    pub(super) expected: Vec<bool>,
    #[cfg(feature = "rivals")]
    of_cedar: super::cedar::Inputs,
}

/// The entities of a graph by their ids.
struct Entities<A: App> {
    users: Store<A::User>,
    resources: Store<A::Resource>,
}

impl Engines {
    pub(super) fn new<A: App>() -> Result<Self, String> {
        let files = A::POLICIES.iter();
        let files = files.map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        let compiled = compile_files(&files.collect::<Vec<_>>(), &Options::default());
        let bundle = pack(&compiled.map_err(|errors| lines(&errors))?.parts);
        let pdp = Pdp::open(&bundle, Trust::Unsigned).map_err(|error| error.to_string())?;
        Ok(Self {
            bundle,
            pdp,
            #[cfg(feature = "rivals")]
            cedar: super::cedar::Cedar::new(A::CEDAR)?,
        })
    }
}

impl<A: App> Forms<A> {
    pub(super) fn new(
        engines: &Engines,
        graph: Graph<A::User, A::Resource>,
        asked: Vec<Request>,
    ) -> Result<Self, String> {
        #[cfg(feature = "rivals")]
        let of_cedar = super::cedar::Inputs::new::<A>(&graph, &asked)?;
        let prepare = |(action, kind): &(&str, &str)| engines.pdp.prepare(kind, action);
        let prepared = A::ACTIONS.iter().map(prepare).collect();
        let resources = graph.resources.iter().map(|(_, resource)| resource);
        let hashed = Entities::new(
            graph.users.iter().map(A::hashed_user),
            resources.map(A::hashed_resource),
        );
        let resources = graph.resources.into_iter().map(|(_, resource)| resource);
        let mut forms = Self {
            plain: Entities::new(graph.users.into_iter(), resources),
            hashed,
            asked,
            texts: Vec::new(),
            prepared,
            expected: Vec::new(),
            #[cfg(feature = "rivals")]
            of_cedar,
        };
        (forms.texts, forms.expected) = forms.texts_and_answers()?;
        Ok(forms)
    }

    /// Writes each request as text, and decides by hand.
    fn texts_and_answers(&self) -> Result<(Vec<Vec<u8>>, Vec<bool>), String> {
        let of_one = |asked: &Request| {
            let (action, kind) = A::ACTIONS.get(asked.action).ok_or("no such action")?;
            let (user, resource) = self.plain.of(asked).ok_or("no such entity")?;
            let roles: Vec<&str> = user.roles().collect();
            let request = json!({
                "principal": { "id": user.id(), "roles": roles, "attr": json(user) },
                "action": action,
                "resource": { "kind": kind, "id": resource.id(), "attr": json(resource) },
            });
            Ok((request.to_string().into_bytes(), A::allows(action, user, resource)))
        };
        self.asked.iter().map(of_one).collect()
    }

    fn typed(&self, entities: &Entities<A>, at: usize) -> Option<bool> {
        let asked = self.asked.get(at)?;
        let (user, resource) = entities.of(asked)?;
        Some(self.prepared.get(asked.action)?.is_allowed(user, resource, NOW))
    }

    /// Checks all engines, then times each, in an order that turns from run to run.
    pub(super) fn measure(
        &self,
        engines: &Engines,
        runs: usize,
        graph: u64,
        rows: &mut Vec<Timed>,
    ) -> Result<(), String> {
        let principals = self.principals();
        let prepared = |at: usize| -> Option<bool> {
            let asked = self.asked.get(at)?;
            let resource = self.hashed.resources.get(&asked.resource)?;
            Some(principals.get(&asked.user)?.get(asked.action)?.is_allowed(resource, NOW))
        };
        let text = |at: usize| -> Option<bool> {
            engines.pdp.is_allowed_json(self.texts.get(at)?, NOW).ok()
        };
        let typed = |at: usize| self.typed(&self.hashed, at) == Some(true);
        let lists = |at: usize| self.typed(&self.plain, at) == Some(true);
        let prepared = |at: usize| prepared(at) == Some(true);
        let text = |at: usize| text(at) == Some(true);
        let found = |at: usize| {
            let asked = self.asked.get(at);
            asked.and_then(|asked| self.plain.of(asked)).is_some()
        };
        #[cfg(feature = "rivals")]
        let cedar = |at: usize| engines.cedar.is_allowed(&self.of_cedar, at);
        let answers: &[Answering<'_>] = &[
            ("Wardgate typed struct", Side::Ours, &typed),
            ("Wardgate typed struct, lists instead of sets", Side::Ours, &lists),
            ("Wardgate typed struct, prepared principal", Side::Ours, &prepared),
            ("Wardgate JSON text", Side::Ours, &text),
            #[cfg(feature = "rivals")]
            ("Cedar 4.14.1 is_authorized", Side::Rival, &cedar),
        ];
        for (name, _, decide) in answers {
            self.check(name, *decide).map_err(|message| format!("graph {graph}: {message}"))?;
        }
        let entities: Answering<'_> = ("both entities alone", Side::Floor, &found);
        let all = vec![true; self.expected.len()];
        let expected = |side: Side| if side == Side::Floor { &all } else { &self.expected };
        let mut turns: Vec<_> = answers.iter().chain([&entities]).enumerate().collect();
        rows.resize_with(turns.len(), Timed::default);
        for run in 0..runs {
            for (at, (name, side, decide)) in &turns {
                let Some(timed) = rows.get_mut(*at) else { continue };
                (timed.name, timed.side) = (name, Some(*side));
                time(timed, run, expected(*side), *decide)?;
            }
            turns.reverse();
        }
        Ok(())
    }

    /// Compares all answers with those by hand.
    fn check(&self, name: &str, decide: &dyn Fn(usize) -> bool) -> Result<(), String> {
        let mut expected = self.expected.iter().enumerate();
        let Some((at, expected)) = expected.find(|(at, expected)| decide(*at) != **expected) else {
            return Ok(());
        };
        let text = self.texts.get(at).map(|text| String::from_utf8_lossy(text));
        Err(format!("{name}: not {expected} on {}", text.unwrap_or_default()))
    }

    /// Prepares every principal for every action.
    fn principals(&self) -> Store<Vec<PreparedPrincipal<'_, A::User, A::Resource>>> {
        let mut principals = Store::with_hasher(RandomState::default());
        principals.extend(self.hashed.users.iter().map(|(id, user)| {
            let prepared = self.prepared.iter().map(|prepared| prepared.principal(user));
            (id.clone(), prepared.collect())
        }));
        principals
    }
}

impl<A: App> Entities<A> {
    fn new(
        all_users: impl Iterator<Item = A::User>,
        all_resources: impl Iterator<Item = A::Resource>,
    ) -> Self {
        let mut users = Store::with_hasher(RandomState::default());
        users.extend(all_users.map(|user| (user.id().to_owned(), user)));
        let mut resources = Store::with_hasher(RandomState::default());
        resources.extend(all_resources.map(|resource| (resource.id().to_owned(), resource)));
        Self { users, resources }
    }

    /// Finds the entities of a request by their ids.
    fn of(&self, asked: &Request) -> Option<(&A::User, &A::Resource)> {
        Some((self.users.get(&asked.user)?, self.resources.get(&asked.resource)?))
    }
}
