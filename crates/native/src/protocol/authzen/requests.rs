//! The requests of many questions, which share the members that they do not name themselves.
//!
//! A shared part is converted once. One question after the other takes it for its request and puts
//! it back, so the work for all of them is proportional to their bytes, however much they share.

use std::mem;
use std::sync::Arc;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{AuxData, Principal, Request, Resource};

use super::convert::{ACTION, Verify, add_tokens, aux_data, claims, principal, resource};
use super::{Action, AuthzenError, Directory, Entity, Evaluation, Result, Shared};

/// Converts questions into requests.
pub struct Requests<'r> {
    directory: &'r dyn Directory,
    verify: Verify<'r>,
    principal: Part<Entity, Principal>,
    resource: Part<Entity, Resource>,
    aux_data: Part<AttrMap, AuxData>,
    claims: Part<Action, Attr>,
}

/// A part of requests: the shared source, and its conversion unless a question has it at the
/// moment.
struct Part<S, T> {
    shared: Option<Arc<S>>,
    converted: Option<Result<T>>,
}

impl<'r> Requests<'r> {
    /// Returns a converter that has converted no part.
    #[must_use]
    pub fn new(shared: &Shared, directory: &'r dyn Directory, verify: Verify<'r>) -> Self {
        Self {
            directory,
            verify,
            principal: Part::new(shared.subject()),
            resource: Part::new(shared.resource()),
            aux_data: Part::new(Some(shared.context())),
            claims: Part::new(shared.action()),
        }
    }

    /// Calls `answer` with the request that a question means. The directory supplies the properties
    /// that the question does not name.
    ///
    /// # Errors
    /// A property that selects roles or policies has a wrong value, or a token is refused.
    pub fn with<R>(
        &mut self,
        question: &Evaluation,
        answer: impl FnOnce(&Request) -> R,
    ) -> Result<R, AuthzenError> {
        let Evaluation { subject, action, resource: object, context } = question;
        let (directory, verify) = (self.directory, self.verify);
        let mut parts = Parts {
            principal: self.principal.take(subject, |subject| principal(subject, directory)),
            resource: self.resource.take(object, |object| resource(object, directory)),
            aux_data: self.aux_data.take(context, |context| circumstances(context, verify)),
            claims: self.claims.take(action, |action| Ok(claims(&action.properties))),
        };
        let answered = parts.with(&action.name, answer);
        self.principal.put_back(subject, parts.principal);
        self.resource.put_back(object, parts.resource);
        self.aux_data.put_back(context, parts.aux_data);
        self.claims.put_back(action, parts.claims);
        answered
    }
}

impl<S, T> Part<S, T> {
    fn new(shared: Option<&Arc<S>>) -> Self {
        Self { shared: shared.cloned(), converted: None }
    }

    /// Returns the conversion of `source`: takes the stored one if it is shared and was converted
    /// before.
    fn take(&mut self, source: &Arc<S>, convert: impl FnOnce(&S) -> Result<T>) -> Result<T> {
        let before = if self.is_shared(source) { self.converted.take() } else { None };
        before.unwrap_or_else(|| convert(source))
    }

    fn put_back(&mut self, source: &Arc<S>, converted: Result<T>) {
        if self.is_shared(source) {
            self.converted = Some(converted);
        }
    }

    fn is_shared(&self, source: &Arc<S>) -> bool {
        self.shared.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, source))
    }
}

/// The parts of one request. A part that cannot be converted is the error of every question that
/// needs it.
struct Parts {
    principal: Result<Principal>,
    resource: Result<Resource>,
    /// Has a free entry for the claims of the action, unless a verified token has their name.
    aux_data: Result<AuxData>,
    claims: Result<Attr>,
}

impl Parts {
    /// Moves the parts into a request, and back after the answer.
    fn with<R>(&mut self, action: &str, answer: impl FnOnce(&Request) -> R) -> Result<R> {
        let principal = self.principal.as_mut().map_err(|error| error.clone())?;
        let resource = self.resource.as_mut().map_err(|error| error.clone())?;
        let aux_data = self.aux_data.as_mut().map_err(|error| error.clone())?;
        let claims = self.claims.as_mut().map_err(|error| error.clone())?;
        exchange(aux_data, claims);
        let request = Request {
            principal: mem::take(principal),
            resource: mem::take(resource),
            actions: vec![action.to_owned()],
            aux_data: mem::take(aux_data),
            ..Request::default()
        };
        let answered = answer(&request);
        (*principal, *resource) = (request.principal, request.resource);
        *aux_data = request.aux_data;
        exchange(aux_data, claims);
        Ok(answered)
    }
}

/// Converts a context, and leaves the entry of the action free.
fn circumstances(context: &AttrMap, verify: Verify<'_>) -> Result<AuxData> {
    let mut converted = aux_data(context, &AttrMap::new());
    if let Some(position) = converted.jwts.get_mut(ACTION) {
        *position = Attr::Null;
    }
    add_tokens(&mut converted, context, verify)?;
    Ok(converted)
}

/// Puts the claims of the action into their entry if it is free, or makes it free again.
fn exchange(aux_data: &mut AuxData, claims: &mut Attr) {
    let position = aux_data.jwts.get_mut(ACTION);
    if let Some(position) =
        position.filter(|position| (**position == Attr::Null) != (*claims == Attr::Null))
    {
        mem::swap(position, claims);
    }
}

#[cfg(test)]
mod tests;
