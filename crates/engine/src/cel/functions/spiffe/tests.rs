use super::super::testing::{call, i, l, s, show, strings};
use crate::cel::function::Function::*;
use crate::cel::value::Value;

const ID: &str = "spiffe://cerbos.dev/ns/x";

fn id() -> Value<'static> {
    call(SpiffeId, &[s(ID)])
}

#[test]
fn an_id_has_parts() {
    assert_eq!(show(SpiffeIdPath, &[id()]), "'/ns/x'");
    assert_eq!(show(SpiffeIdTrustDomain, &[id()]), "cerbos.dev");
    assert_eq!(show(SpiffeId, &[s(ID)]), ID);
    assert_eq!(
        show(SpiffeId, &[s("cerbos.dev")]),
        "error: failed to parse SPIFFE ID: scheme is missing or invalid"
    );
    assert_eq!(show(SpiffeId, &[i(1)]), "error: no such overload");
}

#[test]
fn a_trust_domain_is_named_by_itself_or_by_an_id() {
    for named in [s("cerbos.dev"), s(ID)] {
        let domain = call(SpiffeTrustDomain, &[named]);
        assert_eq!(show(SpiffeTrustDomainName, core::slice::from_ref(&domain)), "'cerbos.dev'");
        assert_eq!(
            show(SpiffeTrustDomainId, core::slice::from_ref(&domain)),
            "'spiffe://cerbos.dev'"
        );
        assert_eq!(show(SpiffeIdIsMemberOf, &[id(), domain]), "true");
    }
    let other = call(SpiffeTrustDomain, &[s("cerbos")]);
    assert_eq!(show(SpiffeIdIsMemberOf, &[id(), other]), "false");
    assert_eq!(
        show(SpiffeTrustDomain, &[s("")]),
        "error: failed to parse SPIFFE trust domain: trust domain is missing"
    );
}

#[test]
fn matchers_take_ids_and_texts() {
    let other = "spiffe://example.com/y";
    let cases = [
        (call(SpiffeMatchAny, &[]), true, true),
        (call(SpiffeMatchExact, &[id()]), true, false),
        (call(SpiffeMatchExact, &[s(other)]), false, true),
        (call(SpiffeMatchOneOf, &[l([id(), s(other)])]), true, true),
        (call(SpiffeMatchOneOf, &[strings(&[])]), false, false),
        (call(SpiffeMatchTrustDomain, &[s("spiffe://example.com")]), false, true),
    ];
    for (matcher, first, second) in cases {
        for (text, expected) in [(ID, first), (other, second)] {
            let args = [matcher.clone(), s(text)];
            assert_eq!(show(SpiffeMatcherMatchesId, &args), alloc::format!("{expected}"));
        }
        let args = [matcher.clone(), id()];
        assert_eq!(show(SpiffeMatcherMatchesId, &args), alloc::format!("{first}"));
    }
    let bad = [call(SpiffeMatchAny, &[]), s("x")];
    assert!(show(SpiffeMatcherMatchesId, &bad).starts_with("error: invalid SPIFFE ID: "));
    assert_eq!(show(SpiffeMatchOneOf, &[strings(&["x"])]), "error: no such overload");
}

#[test]
fn a_text_equals_the_id_on_its_left() {
    let domain = call(SpiffeTrustDomain, &[s(ID)]);
    assert!(id() == s(ID) && domain == s(ID) && domain == s("cerbos.dev"));
    assert!(s(ID) != id() && domain != s("") && id() != i(1));
    assert!(call(SpiffeMatchAny, &[]) != call(SpiffeMatchAny, &[]));
}
