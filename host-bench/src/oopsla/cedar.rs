//! Cedar on a graph: policies parsed, closures computed and requests built beforehand.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::str::FromStr;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, EntityId, EntityTypeName, EntityUid, PolicySet,
    Request as Question, RestrictedExpression,
};

use super::graph::{App, Entity, Graph, Request, Value};

/// Policies in Cedar's language, ready to decide.
pub(super) struct Cedar {
    authorizer: Authorizer,
    policies: PolicySet,
}

/// A graph and requests about it.
pub(super) struct Inputs {
    entities: Entities,
    requests: Vec<Question>,
}

impl Cedar {
    pub(super) fn new(policies: &str) -> Result<Self, String> {
        let policies = PolicySet::from_str(policies).map_err(message)?;
        Ok(Self { authorizer: Authorizer::new(), policies })
    }

    /// Decides about one of the requests.
    pub(super) fn is_allowed(&self, inputs: &Inputs, at: usize) -> bool {
        let Self { authorizer, policies } = self;
        inputs.requests.get(at).is_some_and(|request| {
            let answer = authorizer.is_authorized(request, policies, &inputs.entities);
            answer.decision() == Decision::Allow
        })
    }
}

impl Inputs {
    pub(super) fn new<A: App>(
        graph: &Graph<A::User, A::Resource>,
        asked: &[Request],
    ) -> Result<Self, String> {
        let actions = A::ACTIONS.iter().map(|(name, _)| {
            let parents = A::GROUPED.iter().filter(|(action, _)| action == name);
            let parents = parents.map(|(_, parent)| action_id(parent)).collect();
            Entity::new(action_id(name), parents)
        });
        let actions: Vec<Entity> = actions.collect();
        let entities = graph.entities.iter().chain(&actions).map(entity);
        let entities = entities.collect::<Result<Vec<_>, _>>()?;
        let request = |asked: &Request| {
            let (action, _) = A::ACTIONS.get(asked.action).ok_or("no such action")?;
            let uids = [&asked.user, &action_id(action), &asked.resource].map(|id| uid(id));
            let [principal, action, resource] = uids;
            Question::new(principal?, action?, resource?, Context::empty(), None).map_err(message)
        };
        let requests = asked.iter().map(request).collect::<Result<_, String>>()?;
        let entities = Entities::from_entities(entities, None).map_err(message)?;
        Ok(Self { entities, requests })
    }
}

fn action_id(name: &str) -> String {
    format!("Action::{name}")
}

fn entity(entity: &Entity) -> Result<cedar_policy::Entity, String> {
    let attributes = entity.attributes.iter().map(|(name, value)| {
        let value = match value {
            Value::Bool(value) => RestrictedExpression::new_bool(*value),
            Value::Text(text) => RestrictedExpression::new_string(text.clone()),
            Value::Texts(texts) => RestrictedExpression::new_set(
                texts.iter().map(|text| RestrictedExpression::new_string(text.clone())),
            ),
            Value::Entity(id) => RestrictedExpression::new_entity_uid(uid(id)?),
            Value::Entities(ids) => {
                let ids = ids.iter().map(|id| uid(id)).collect::<Result<Vec<_>, _>>()?;
                RestrictedExpression::new_set(
                    ids.into_iter().map(RestrictedExpression::new_entity_uid),
                )
            }
        };
        Ok(((*name).to_owned(), value))
    });
    let attributes = attributes.collect::<Result<HashMap<_, _>, String>>()?;
    let parents = entity.parents.iter().map(|parent| uid(parent));
    let parents = parents.collect::<Result<HashSet<_>, _>>()?;
    cedar_policy::Entity::new(uid(&entity.uid)?, attributes, parents).map_err(message)
}

/// Returns the id of an entity, of which the type ends at `::`.
fn uid(id: &str) -> Result<EntityUid, String> {
    let (kind, id) = id.split_once("::").ok_or_else(|| format!("`{id}` has no type"))?;
    let kind = EntityTypeName::from_str(kind).map_err(message)?;
    Ok(EntityUid::from_type_name_and_id(kind, EntityId::new(id)))
}

fn message(error: impl Display) -> String {
    format!("cedar: {error}")
}
