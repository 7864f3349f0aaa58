//! Questions as text: the general path, which fits every question.

use serde_json::{Map, Number, Value};
use wardgate_native::{Field, Lookup, Question};

use crate::error::{HostError, Result};
use crate::limits::MAX_DEPTH;

/// Writes a question as JSON.
pub(crate) fn json<S: AsRef<str>, P: Lookup + ?Sized, R: Lookup + ?Sized>(
    question: &Question<'_, S, P, R>,
) -> Result<Vec<u8>> {
    let Question { principal, action, resource } = question;
    let roles = principal.roles.iter().map(|role| Value::from(role.as_ref())).collect();
    let asking = [
        ("id", principal.id.into()),
        ("roles", Value::Array(roles)),
        ("attr", object(&principal.attributes)?),
        ("policyVersion", principal.policy_version.into()),
        ("scope", principal.scope.into()),
    ];
    let question = [
        ("kind", resource.kind.into()),
        ("id", resource.id.into()),
        ("attr", object(&resource.attributes)?),
        ("policyVersion", resource.policy_version.into()),
        ("scope", resource.scope.into()),
    ];
    let request =
        of([("principal", of(asking)), ("action", (*action).into()), ("resource", of(question))]);
    serde_json::to_vec(&request).map_err(|error| refused(&error.to_string()))
}

fn of<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

fn object(lookup: &dyn Lookup) -> Result<Value> {
    map(lookup, MAX_DEPTH)
}

fn map(lookup: &dyn Lookup, depth: usize) -> Result<Value> {
    let depth = inside(depth)?;
    let (mut members, mut fault) = (Map::new(), None);
    lookup.each(&mut |name, field| match value(field, depth) {
        Ok(Some(value)) => drop(members.insert(name.to_owned(), value)),
        Ok(None) => {}
        Err(error) => fault = Some(error),
    });
    fault.map_or(Ok(Value::Object(members)), Err)
}

/// Copies a value; returns `None` for a missing one.
fn value(field: Field<'_>, depth: usize) -> Result<Option<Value>> {
    Ok(Some(match field {
        Field::Missing => return Ok(None),
        Field::Null => Value::Null,
        Field::Bool(value) => Value::Bool(value),
        Field::Number(number) => {
            let number = Number::from_f64(number);
            Value::Number(number.ok_or_else(|| refused("a number is not finite"))?)
        }
        Field::Text(text) => text.into(),
        Field::Map(lookup) => map(lookup, depth)?,
        Field::List(items) => {
            let depth = inside(depth)?;
            let (mut list, mut fault) = (Vec::new(), None);
            items.each(&mut |field| match value(field, depth) {
                Ok(value) => list.push(value.unwrap_or(Value::Null)),
                Err(error) => fault = Some(error),
            });
            fault.map_or(Ok(Value::Array(list)), Err)?
        }
    }))
}

fn inside(depth: usize) -> Result<usize> {
    depth.checked_sub(1).ok_or_else(|| refused("attributes nest too deep"))
}

fn refused(message: &str) -> HostError {
    HostError::Refused { code: "invalid-request".to_owned(), message: message.to_owned() }
}
