use super::{BINARY, CLOSE, End, Fault, Frames, PING, PONG, head};

/// Returns a frame of a client with this first byte, which the mask hides.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [0x37, 0xFA, 0x21, 0x3D];
    let mut bytes = vec![first];
    match payload.len() {
        len @ 0..126 => bytes.push(0x80 | u8::try_from(len).unwrap()),
        len @ 126..65_536 => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(len).unwrap().to_be_bytes());
        }
        len => {
            bytes.push(0x80 | 127);
            bytes.extend(u64::try_from(len).unwrap().to_be_bytes());
        }
    }
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    bytes
}

/// Reads bytes in pieces of this size; returns the payload and the reader.
fn read(bytes: &[u8], size: usize) -> (Vec<u8>, Frames) {
    let mut frames = Frames::new(MOST);
    let mut payload = Vec::new();
    for piece in bytes.chunks(size) {
        let mut piece = piece.to_vec();
        let count = frames.read(&mut piece);
        payload.extend_from_slice(&piece[..count]);
    }
    (payload, frames)
}

/// Checks what is read, however it is cut.
#[track_caller]
fn check(bytes: &[u8], expected: &[u8], end: Option<End>) {
    for size in [1, 2, 3, 5, 7, 16, 64, 1000, bytes.len().max(1)] {
        let (payload, frames) = read(bytes, size);
        assert_eq!((payload.as_slice(), frames.end()), (expected, end), "{size}");
    }
}

const MOST: u64 = 70_000;

#[test]
fn payloads_are_read_whatever_their_frames() {
    check(&frame(0x82, b"packet"), b"packet", None);
    check(&frame(0x82, b""), b"", None);
    let pieces = [frame(0x02, b"pa"), frame(0x00, b""), frame(0x00, b"ck"), frame(0x80, b"et")];
    check(&pieces.concat(), b"packet", None);
    // Control frames come between the pieces of a message.
    let pieces = [
        frame(0x02, b"pa"),
        frame(0x89, b"are you there?"),
        frame(0x80, b"ck"),
        frame(0x8A, b""),
        frame(0x82, b"et"),
    ];
    check(&pieces.concat(), b"packet", None);
    for len in [125, 126, 127, 65_535, 65_536, 70_000] {
        let payload: Vec<u8> =
            (0..len).map(|n: u32| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
        check(
            &[frame(0x82, &payload), frame(0x82, b"x")].concat(),
            &[&payload, &b"x"[..]].concat(),
            None,
        );
    }
}

#[test]
fn the_last_ping_is_answered() {
    let bytes = [frame(0x89, b"one"), frame(0x89, b"two"), frame(0x82, b"x")].concat();
    for size in [1, 4, 100] {
        let (_, mut frames) = read(&bytes, size);
        assert_eq!(frames.take_ping().as_deref(), Some(&b"two"[..]));
        assert_eq!(frames.take_ping(), None);
    }
    let (_, mut frames) = read(&frame(0x89, &[7; 125]), 9);
    assert_eq!(frames.take_ping(), Some(vec![7; 125]));
}

#[test]
fn a_close_ends_what_is_read() {
    let closed = |payload: &[u8], status| {
        let bytes = [frame(0x82, b"x"), frame(0x88, payload), frame(0x82, b"y")].concat();
        check(&bytes, b"x", Some(End::Closed(status)));
    };
    closed(b"", None);
    closed(b"\x03\xE8", Some(1000));
    closed(b"\x03\xE9going away", Some(1001));
    closed(b"\x0F\xA0", Some(4000));
}

#[test]
fn broken_rules_end_what_is_read() {
    let unmasked = [&[0x82, 0x01][..], b"x"].concat();
    let too_long = |len: u64| [&[0x82, 0xFF][..], &len.to_be_bytes(), &[0; 4]].concat();
    for (bytes, fault) in [
        (frame(0x81, b"text"), Fault::Text),
        (frame(0x01, b"te"), Fault::Text),
        (unmasked, Fault::Unmasked),
        (vec![0x89, 0x00], Fault::Unmasked),
        (frame(0xC2, b"x"), Fault::Reserved),
        (frame(0xA2, b"x"), Fault::Reserved),
        (frame(0x92, b"x"), Fault::Reserved),
        (frame(0xC9, b""), Fault::Reserved),
        (frame(0x83, b""), Fault::Reserved),
        (frame(0x87, b""), Fault::Reserved),
        (frame(0x8B, b""), Fault::Reserved),
        (frame(0x8F, b""), Fault::Reserved),
        (frame(0x80, b"x"), Fault::Order),
        (frame(0x00, b"x"), Fault::Order),
        ([frame(0x02, b""), frame(0x82, b"x")].concat(), Fault::Order),
        ([frame(0x02, b""), frame(0x81, b"x")].concat(), Fault::Order),
        (frame(0x09, b""), Fault::Control),
        (frame(0x08, b""), Fault::Control),
        (frame(0x89, &[0; 126]), Fault::Control),
        (frame(0x88, &[0; 70_000]), Fault::Control),
        // 125 and 65,535 in longer forms than they need.
        ([&[0x82, 0xFE, 0, 125][..], &[0; 4]].concat(), Fault::Length),
        (too_long(65_535), Fault::Length),
        (too_long(1 << 63), Fault::Length),
        (too_long(u64::MAX), Fault::Length),
        (too_long(MOST + 1), Fault::TooLong),
        (too_long((1 << 63) - 1), Fault::TooLong),
        (frame(0x88, b"\x03"), Fault::Close),
        (frame(0x88, b"\x03\xE7"), Fault::Close),
        (frame(0x88, b"\x03\xED"), Fault::Close),
        (frame(0x88, b"\x13\x88"), Fault::Close),
        (frame(0x88, b"\x03\xE8\xFF"), Fault::Close),
    ] {
        let all = [frame(0x82, b"before"), bytes, frame(0x82, b"behind")].concat();
        // A message that was begun is there up to the fault.
        check(&all, b"before", Some(End::Fault(fault)));
    }
}

#[test]
fn nothing_of_a_message_is_held() {
    let mut frames = Frames::new(MOST);
    let mut bytes = frame(0x02, &[0; 70_000]);
    assert_eq!(frames.read(&mut bytes), 70_000);
    assert_eq!((frames.control_payload.capacity(), frames.ping.is_none()), (0, true));
}

#[test]
fn heads_of_the_server_have_their_shortest_form() {
    for (opcode, len, expected) in [
        (BINARY, 0, &[0x82, 0][..]),
        (BINARY, 125, &[0x82, 125]),
        (BINARY, 126, &[0x82, 126, 0, 126]),
        (BINARY, u16::MAX, &[0x82, 126, 0xFF, 0xFF]),
        (CLOSE, 2, &[0x88, 2]),
        (PONG, 125, &[0x8A, 125]),
    ] {
        let (bytes, count) = head(opcode, len);
        assert_eq!(&bytes[..count], expected);
    }
    assert_eq!(PING, 9);
}
