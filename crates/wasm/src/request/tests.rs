use alloc::vec;
use alloc::vec::Vec;

use wardgate_engine::attr::Attr;

use super::*;

fn text(content: &str) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&length[..], content.as_bytes()].concat()
}

fn texts(contents: &[&str]) -> Vec<u8> {
    let count = u32::try_from(contents.len()).unwrap().to_le_bytes();
    let all: Vec<u8> = contents.iter().flat_map(|content| text(content)).collect();
    [&count[..], &all].concat()
}

const NO_MEMBERS: [u8; 4] = [0; 4];

fn part(tag: u32, content: &[&[u8]]) -> Vec<u8> {
    [&[u8::try_from(tag).unwrap()][..], &content.concat()].concat()
}

fn principal() -> Vec<u8> {
    let attr = [&[1, 0, 0, 0][..], &text("a"), &[2]].concat();
    part(PRINCIPAL, &[&text("ada"), &text(""), &text("acme"), &texts(&["user", "admin"]), &attr])
}

fn resource(id: &str) -> Vec<u8> {
    part(RESOURCE, &[&text("album"), &text("v1"), &text(id), &text(""), &NO_MEMBERS])
}

fn actions() -> Vec<u8> {
    part(ACTIONS, &[&texts(&["view"])])
}

fn whole() -> Vec<u8> {
    [principal(), resource("a1"), actions()].concat()
}

/// Writes a message into the room, and reads it.
fn read_message(
    message: &[u8],
    shared: Option<&mut Shared>,
    which: u32,
) -> Option<wardgate_engine::request::Request> {
    room::with(|room| *room = message.to_vec());
    read(message.len(), shared, which).ok()
}

#[test]
fn parts_are_read_in_any_order() {
    for message in [whole(), [actions(), resource("a1"), principal()].concat()] {
        let request = read_message(&message, None, 0).unwrap();
        let Principal { id, scope, roles, attr, .. } = &request.principal;
        assert_eq!((&**id, &**scope, roles.len()), ("ada", "acme", 2));
        assert_eq!(attr.get("a"), Some(&Attr::Bool(true)));
        let Resource { kind, policy_version, id, .. } = &request.resource;
        assert_eq!((&**kind, &**policy_version, &**id), ("album", "v1", "a1"));
        assert_eq!((request.actions, request.request_id), (vec![String::from("view")], "".into()));
    }
}

#[test]
fn a_message_without_a_part_is_no_request() {
    assert!(read_message(&[principal(), resource("a1")].concat(), None, 0).is_none());
    assert!(read_message(&[principal(), actions()].concat(), None, 0).is_none());
    assert!(read_message(&[resource("a1"), actions()].concat(), None, 0).is_none());
    assert!(read_message(&[], None, 0).is_none());
}

#[test]
fn malformed_messages_are_no_requests() {
    let whole = whole();
    for length in 0..whole.len() {
        assert!(read_message(&whole[..length], None, 0).is_none(), "{length}");
    }
    assert!(read_message(&[&whole[..], &[3]].concat(), None, 0).is_none());
    room::with(|room| *room = whole.clone());
    assert!(read(whole.len() + 1, None, 0).is_err(), "longer than the room");
}

#[test]
fn shared_parts_move_from_one_request_to_the_next_of_the_same_sharer() {
    let (first, later, other) =
        (1 << SHARER | FIRST | PRINCIPAL, 1 << SHARER | PRINCIPAL, 2 << SHARER | PRINCIPAL);
    let mut parts = Shared::taken(first).unwrap();
    let request = read_message(&whole(), Some(&mut parts), first).unwrap();
    parts.leave(request, first);
    assert_eq!((shared_parts(first), shared_parts(other), shared_parts(later)), (0, 0, PRINCIPAL));
    let rest = [resource("a2"), actions()].concat();
    let mut parts = Shared::taken(later).unwrap();
    let request = read_message(&rest, Some(&mut parts), later).unwrap();
    assert_eq!((&*request.principal.id, &*request.resource.id), ("ada", "a2"));
    parts.leave(request, later);
    let mut parts = Shared::taken(other).unwrap();
    assert!(read_message(&rest, Some(&mut parts), other).is_none());
    assert_eq!(shared_parts(later), 0, "another sharer has taken the place");
    assert!(Shared::taken(0).is_none());
}
