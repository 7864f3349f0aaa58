use alloc::vec;

use proptest::prelude::*;

use super::*;

fn text(text: &str) -> ShortText {
    ShortText::new(text).unwrap()
}

fn decision() -> Decision {
    Decision {
        micros: 1_790_000_000_000_000,
        policies: 3,
        outcomes: vec![
            Outcome { target: 7, effect: Effect::Allowed },
            Outcome { target: (1 << 30) - 1, effect: Effect::Denied },
            Outcome { target: 0, effect: Effect::Limited },
        ],
        principal: Identity::Clear(text("ada")),
        resource: Identity::Commitment([9; 32]),
        trace: Some([1; 16]),
        request: Some(text("call-1")),
        is_general: true,
        is_cut: true,
        evidence: Evidence::Read(vec![1, 2, 3]),
    }
}

fn small() -> Decision {
    Decision {
        outcomes: vec![Outcome { target: 7, effect: Effect::Allowed }],
        principal: Identity::Commitment([8; 32]),
        trace: None,
        request: None,
        is_general: false,
        is_cut: false,
        evidence: Evidence::None,
        ..decision()
    }
}

fn bodies() -> Vec<Body> {
    let micros = -5;
    vec![
        Body::Decision(decision()),
        Body::Decision(small()),
        Body::Decision(Decision { evidence: Evidence::Digest([5; 32]), ..decision() }),
        Body::Decision(Decision { evidence: Evidence::CommittedRead([6; 32]), ..small() }),
        Body::Decision(Decision { evidence: Evidence::CommittedRequest([7; 32]), ..small() }),
        Body::Decision(Decision { evidence: Evidence::CommittedDigest([8; 32]), ..small() }),
        Body::Policies(Policies {
            micros,
            number: 1,
            revision: 9,
            root: [4; 32],
            name: text("shop"),
        }),
        Body::Target(Target {
            policies: 1,
            number: 7,
            kind: text("album"),
            version: text("default"),
            scope: text(""),
            action: text("view"),
        }),
        Body::Lost(Lost { micros, stream: 2, first: 9, count: 1 << 40, reason: text("full") }),
        Body::Clock(Clock { before: 9, now: 8 }),
        Body::Process(Process {
            micros,
            event: ProcessEvent::Stopped,
            instance: [5; 16],
            version: text("0.1.0"),
        }),
        Body::Erasure(Erasure { micros, keys: 1 }),
        Body::Settings(Settings { micros, text: Text::cut("evidence = \"none\"") }),
        Body::Search(Search { micros, policies: 1, target: 2, asked: 1000, allowed: 3 }),
        Body::Loss(Loss { micros, frames: 9, found: 8, reason: text("the disk broke") }),
    ]
}

fn records() -> Vec<Record> {
    let numbered = bodies().into_iter().zip(0..);
    numbered.map(|(body, sequence)| Record { stream: 1, caller: 2, sequence, body }).collect()
}

#[test]
fn records_are_read_as_they_were_written() {
    for record in records() {
        assert_eq!(Record::read(&record.to_bytes()).as_ref(), Some(&record));
    }
}

#[test]
fn a_usual_record_is_small() {
    let record = Record { stream: 0, caller: 0, sequence: 0, body: Body::Decision(small()) };
    assert_eq!(record.to_bytes().len(), 95);
}

#[test]
fn no_record_is_read_in_part_or_with_more() {
    for record in records() {
        let bytes = record.to_bytes();
        for length in 0..bytes.len() {
            assert_eq!(Record::read(&bytes[..length]), None, "{record:?}");
        }
        assert_eq!(Record::read(&[bytes, vec![0]].concat()), None, "{record:?}");
    }
}

#[test]
fn a_record_is_written_in_one_way_only() {
    for record in records() {
        let bytes = record.to_bytes();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let read = Record::read(&changed);
                assert!(read.is_none_or(|read| read.to_bytes() == changed), "{record:?}");
            }
        }
    }
}

#[test]
fn long_texts_are_cut_between_characters() {
    let long = "é".repeat(MAX_TEXT_BYTES);
    assert_eq!(ShortText::new(&long), None);
    assert_eq!(ShortText::cut(&long).as_str(), "é".repeat(MAX_TEXT_BYTES / 2));
    assert_eq!(ShortText::cut(&alloc::format!("x{long}")).as_str().len(), MAX_TEXT_BYTES - 1);
    assert_eq!(ShortText::cut("short").as_str(), "short");
}

#[test]
fn the_largest_record_is_within_the_bound() {
    let longest = text(&"x".repeat(MAX_TEXT_BYTES));
    let body = Body::Decision(Decision {
        outcomes: vec![Outcome { target: 1, effect: Effect::Denied }; 300],
        principal: Identity::Clear(longest.clone()),
        resource: Identity::Clear(longest.clone()),
        request: Some(longest),
        evidence: Evidence::Request(vec![0; crate::limits::MAX_EVIDENCE_BYTES]),
        ..decision()
    });
    let bytes = Record { stream: 0, caller: 0, sequence: 0, body }.to_bytes();
    let Some(Record { body: Body::Decision(read), .. }) = Record::read(&bytes) else {
        panic!("{} bytes", bytes.len())
    };
    assert_eq!(read.outcomes.len(), 255);
}

#[test]
fn records_split_where_they_end() {
    let all = records();
    let bytes: Vec<u8> = all.iter().flat_map(Record::to_bytes).collect();
    let split: Option<Vec<&[u8]>> = Records::new(&bytes).collect();
    let read: Option<Vec<Record>> = split.unwrap().into_iter().map(Record::read).collect();
    assert_eq!(read, Some(all));
    let cut: Option<Vec<&[u8]>> = Records::new(&bytes[..bytes.len() - 1]).collect();
    assert_eq!(cut, None);
    // A length of nothing would never end.
    assert_eq!(Records::new(&[0; 64]).collect::<Vec<_>>(), [None]);
}

proptest! {
    #[test]
    fn whatever_is_read_is_written_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 0_u8..12) {
        let mut bytes = bytes;
        let length = u16::try_from(bytes.len()).unwrap().to_le_bytes();
        for (at, byte) in [(0, kind), (2, length[0]), (3, length[1])] {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        if let Some(record) = Record::read(&bytes) {
            prop_assert_eq!(record.to_bytes(), bytes);
        }
    }
}
