//! Cerbos's functions over SPIFFE ids.

pub(in crate::cel) mod id;

use alloc::format;
use alloc::rc::Rc;

use super::hierarchy::strings;
use crate::cel::context::Context;
use crate::cel::error::{Answer, Error};
use crate::cel::function::Function;
use crate::cel::value::{List, SpiffeMatcher, Str, Value};

pub(super) fn call<'a>(
    function: Function,
    args: &[Value<'a>],
    context: &Context<'a, '_>,
) -> Answer<'a> {
    use Function as F;
    use Value as V;
    for arg in args {
        if let V::String(text) | V::SpiffeId(text) | V::SpiffeTrustDomain(text) = arg {
            context.charge_bytes(text.len())?;
        }
    }
    match (function, args) {
        (F::SpiffeId, [V::String(text)]) => parse(text, FAILED).map(V::SpiffeId),
        (F::SpiffeIdIsMemberOf, [V::SpiffeId(id), V::SpiffeTrustDomain(domain)]) => {
            Ok(V::Bool(split(id).0 == &**domain))
        }
        (F::SpiffeIdPath, [V::SpiffeId(id)]) => {
            let start = id.len().saturating_sub(split(id).1.len());
            part(id, start..id.len()).map(V::String)
        }
        (F::SpiffeIdTrustDomain, [V::SpiffeId(id)]) => domain_of(id).map(V::SpiffeTrustDomain),
        (F::SpiffeTrustDomain, [V::String(text)]) => parse_domain(text).map(V::SpiffeTrustDomain),
        (F::SpiffeTrustDomainId, [V::SpiffeTrustDomain(name)]) => {
            Ok(V::string(format!("{}{name}", id::SCHEME)))
        }
        (F::SpiffeTrustDomainName, [V::SpiffeTrustDomain(name)]) => Ok(V::String(name.clone())),
        (F::SpiffeMatcherMatchesId, [V::SpiffeMatcher(matcher), id]) => {
            matches(matcher, id, context)
        }
        _ => matcher(function, args, context),
    }
}

fn matcher<'a>(function: Function, args: &[Value<'a>], context: &Context<'a, '_>) -> Answer<'a> {
    use Function as F;
    use Value as V;
    let matcher = match (function, args) {
        (F::SpiffeMatchAny, []) => SpiffeMatcher::Any,
        (F::SpiffeMatchExact, [V::SpiffeId(id)]) => SpiffeMatcher::Exact(id.clone()),
        (F::SpiffeMatchExact, [V::String(text)]) => SpiffeMatcher::Exact(parse(text, FAILED)?),
        (F::SpiffeMatchOneOf, [V::List(ids)]) => SpiffeMatcher::OneOf(parse_all(ids, context)?),
        (F::SpiffeMatchTrustDomain, [V::SpiffeTrustDomain(name)]) => {
            SpiffeMatcher::TrustDomain(name.clone())
        }
        (F::SpiffeMatchTrustDomain, [V::String(text)]) => {
            SpiffeMatcher::TrustDomain(parse_domain(text)?)
        }
        _ => return Err(Error::NoSuchOverload),
    };
    Ok(Value::SpiffeMatcher(Rc::new(matcher)))
}

fn matches<'a>(
    matcher: &SpiffeMatcher<'a>,
    id: &Value<'a>,
    context: &Context<'a, '_>,
) -> Answer<'a> {
    let id = match id {
        Value::SpiffeId(id) => id.clone(),
        Value::String(text) => parse(text, "invalid SPIFFE ID")?,
        _ => return Err(Error::NoSuchOverload),
    };
    Ok(Value::Bool(match matcher {
        SpiffeMatcher::Any => true,
        SpiffeMatcher::Exact(expected) => id == *expected,
        SpiffeMatcher::OneOf(expected) => {
            context.charge(expected.len().saturating_mul(3 + id.len() / 16))?;
            expected.contains(&id)
        }
        SpiffeMatcher::TrustDomain(name) => split(&id).0 == &**name,
    }))
}

fn parse<'a>(text: &Str<'a>, failure: &str) -> Result<Str<'a>, Error<'a>> {
    match id::parse(text) {
        Ok(_) => Ok(text.clone()),
        Err(rule) => Err(Error::text(format_args!("{failure}: {rule}"))),
    }
}

fn parse_all<'a>(ids: &List<'a>, context: &Context<'a, '_>) -> Result<Rc<[Str<'a>]>, Error<'a>> {
    // For any fault in the list, Cerbos reports that there is no such function for it.
    let ids = strings(ids, context).map_err(|error| match error {
        Error::Limit => Error::Limit,
        _ => Error::NoSuchOverload,
    })?;
    context.charge_bytes(ids.iter().map(|id| id.len()).sum())?;
    if ids.iter().any(|id| id::parse(id).is_err()) {
        return Err(Error::NoSuchOverload);
    }
    Ok(ids.into())
}

fn parse_domain<'a>(text: &Str<'a>) -> Result<Str<'a>, Error<'a>> {
    match id::parse_domain(text) {
        Ok(name) if name.len() == text.len() => Ok(text.clone()),
        Ok(_) => domain_of(text),
        Err(rule) => Err(Error::text(format_args!("failed to parse SPIFFE trust domain: {rule}"))),
    }
}

/// Returns the trust domain of a valid id.
fn domain_of<'a>(id: &Str<'a>) -> Result<Str<'a>, Error<'a>> {
    let start = id::SCHEME.len();
    part(id, start..start.saturating_add(split(id).0.len()))
}

/// Splits a valid id into trust domain and path.
fn split<'t>(id: &'t Str<'_>) -> (&'t str, &'t str) {
    id::parse(id).unwrap_or_default()
}

fn part<'a>(text: &Str<'a>, range: core::ops::Range<usize>) -> Result<Str<'a>, Error<'a>> {
    text.part(range).ok_or(Error::NoSuchOverload)
}

const FAILED: &str = "failed to parse SPIFFE ID";

#[cfg(test)]
mod tests;
