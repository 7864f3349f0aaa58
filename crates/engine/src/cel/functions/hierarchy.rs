//! Cerbos's hierarchies: paths such as `company.team.project`, compared segment by segment.

use alloc::rc::Rc;

use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{List, Str, Value};
use crate::limits::MAX_ELEMENTS;
use crate::text;

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Value as V;
    match (function, args) {
        (Function::Hierarchy, _) => build(args, context),
        (_, [V::Hierarchy(left), V::Hierarchy(right)]) => {
            context.charge(left.len().min(right.len()))?;
            let bytes: usize = left.iter().map(|segment| segment.len()).sum();
            context.charge_bytes(bytes)?;
            relate(function, left, right)
        }
        _ => Err(Error::NoSuchOverload),
    }
}

fn build<'a>(args: &[Value<'a>], context: &Context<'a, '_>) -> Answer<'a> {
    match args {
        [Value::String(text)] => split(text, ".", context),
        [Value::String(text), Value::String(delimiter)] => split(text, delimiter, context),
        [Value::List(list)] => Ok(Value::Hierarchy(strings(list, context)?.into())),
        _ => Err(Error::NoSuchOverload),
    }
}

fn split<'a>(text: &Str<'a>, delimiter: &str, context: &Context<'a, '_>) -> Answer<'a> {
    context.charge_bytes(text.len())?;
    let mut segments = alloc::vec::Vec::new();
    let mut start = 0;
    // An empty delimiter is between any two characters, but not around the text.
    let cuts = text::positions(text, delimiter)
        .filter(|at| !delimiter.is_empty() || (1..text.len()).contains(at))
        .take(MAX_ELEMENTS);
    for at in cuts {
        segments.extend(text.part(start..at));
        start = at.saturating_add(delimiter.len());
    }
    segments
        .extend(text.part(start..text.len()).filter(|_| !text.is_empty() || !delimiter.is_empty()));
    context.charge_list(segments.len())?;
    Ok(Value::Hierarchy(segments.into()))
}

fn relate<'a>(function: Function, left: &Rc<[Str<'a>]>, right: &Rc<[Str<'a>]>) -> Answer<'a> {
    use Function as F;
    Ok(Value::Bool(match function {
        F::HierarchyAncestorOf => is_ancestor(left, right),
        F::HierarchyDescendentOf => is_ancestor(right, left),
        F::HierarchyImmediateParentOf => is_parent(left, right),
        F::HierarchyImmediateChildOf => is_parent(right, left),
        F::HierarchyOverlaps => left.starts_with(right) || right.starts_with(left),
        F::HierarchySiblingOf => {
            left.len() == right.len() && common(left, right) >= left.len().saturating_sub(1)
        }
        F::HierarchyCommonAncestors => return Ok(common_ancestors(left, right)),
        _ => return Err(Error::NoSuchOverload),
    }))
}

fn is_ancestor(left: &[Str<'_>], right: &[Str<'_>]) -> bool {
    left.len() < right.len() && right.starts_with(left)
}

fn is_parent(left: &[Str<'_>], right: &[Str<'_>]) -> bool {
    left.len().checked_add(1) == Some(right.len()) && right.starts_with(left)
}

/// Returns the common prefix of both paths. Of two paths of one length the last segments do not
/// count, even if they are equal: a path is not its own ancestor.
fn common_ancestors<'a>(left: &Rc<[Str<'a>]>, right: &Rc<[Str<'a>]>) -> Value<'a> {
    let shorter = left.len().min(right.len());
    let most = if left.len() == right.len() { shorter.saturating_sub(1) } else { shorter };
    let count = common(left, right).min(most);
    Value::Hierarchy(left.iter().take(count).cloned().collect())
}

/// Counts the segments that the paths share from the start.
fn common(left: &[Str<'_>], right: &[Str<'_>]) -> usize {
    left.iter().zip(right).take_while(|(a, b)| a == b).count()
}

/// Returns the elements of a list as texts; an error if one is not text.
pub(super) fn strings<'a>(
    list: &List<'a>,
    context: &Context<'a, '_>,
) -> Result<alloc::vec::Vec<Str<'a>>, Error<'a>> {
    context.charge_list(list.len())?;
    list.iter().map(|element| string(element)).collect()
}

fn string(value: Value<'_>) -> Result<Str<'_>, Error<'_>> {
    match value {
        Value::String(text) | Value::SpiffeId(text) | Value::SpiffeTrustDomain(text) => Ok(text),
        other => Err(Error::text(format_args!(
            "failed to convert list to string slice: unsupported type conversion from '{}' to string",
            other.type_name()
        ))),
    }
}

#[cfg(test)]
mod tests;
