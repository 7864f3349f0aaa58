use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::limits::MAX_SIGNATURES;
use crate::merkle::{Frontier, Subtrees};
use crate::signer::LogSigner;

// The example of C2SP, tlog-witness.
const REQUEST: &str = "old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=
";

#[test]
fn a_request_is_written_as_it_was_read() {
    let request = AddCheckpoint::read(REQUEST.as_bytes()).unwrap();
    assert_eq!((request.old, request.proof.len()), (20_852_014, 4));
    assert_eq!(request.note.signatures.len(), 2);
    assert_eq!(request.to_string(), REQUEST);
    let none = REQUEST.split_once("\n\n").unwrap().1;
    let first = format!("old 0\n\n{none}");
    assert_eq!(AddCheckpoint::read(first.as_bytes()).unwrap().to_string(), first);
}

#[test]
fn other_bytes_are_no_requests() {
    let check = |text: &str| assert_eq!(AddCheckpoint::read(text.as_bytes()), None, "{text}");
    check("");
    check("old 0\n\n");
    check(&REQUEST.replace("old 2", "old 02"));
    check(&REQUEST.replace("old 2", "old -2"));
    check(&REQUEST.replace("old 2", "old  2"));
    check(&REQUEST.replace("old 2", "new 2"));
    check(&REQUEST.replace("\nPlRN", "\nPlR"));
    check(&REQUEST.replace("\nPlRN", "\nPlRNPlRN"));
    check(&REQUEST.replace("Kj/0=\n\n", "Kj/0=\n"));
    check(&REQUEST[..REQUEST.len() - 1]);
    let line = "PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n";
    let lines = |count: usize| REQUEST.replacen(line, &line.repeat(count), 1);
    assert!(AddCheckpoint::read(lines(60).as_bytes()).is_some());
    check(&lines(61));
    check(&format!("{}{REQUEST}", " ".repeat(MAX_ADD_CHECKPOINT_BYTES)));
}

/// A log of so many leaves, and what is known of each complete subtree.
struct Log {
    tree: Frontier,
    complete: Vec<(u32, u64, Digest)>,
}

impl Log {
    fn new(leaves: u64, mark: u8) -> Self {
        let mut log = Self { tree: Frontier::default(), complete: Vec::new() };
        for leaf in 0..leaves {
            let entry = [leaf.to_be_bytes().as_slice(), &[mark]].concat();
            let Self { tree, complete } = &mut log;
            tree.append(merkle::leaf(&entry), |level, digest| {
                complete.push((level, leaf >> level, digest));
            });
        }
        log
    }

    fn request(&self, old: u64, signer: &LogSigner) -> AddCheckpoint {
        let proof = merkle::consistency(old, self.tree.size(), self).unwrap();
        let note = signer.sign(self.tree.head(), 5, &[0; 32]).unwrap();
        AddCheckpoint { old, proof, note }
    }
}

impl Subtrees for Log {
    fn subtree(&self, level: u32, index: u64) -> Option<Digest> {
        let found = self.complete.iter().find(|one| (one.0, one.1) == (level, index));
        found.map(|one| one.2)
    }
}

fn signer(name: &str, seed: u8) -> LogSigner {
    LogSigner::new(name, &[seed; 32]).unwrap()
}

fn key(signer: &LogSigner) -> LogKey {
    LogKey::read(&signer.verifier().to_string()).unwrap()
}

#[test]
fn only_a_known_log_with_a_right_signature_is_cosigned() {
    let (log, other) = (signer("log.example/a", 1), signer("log.example/b", 2));
    let request = Log::new(3, 0).request(0, &log);
    let check = |request: &AddCheckpoint, keys: &[&LogSigner], expected: Option<Refusal>| {
        let keys: Vec<LogKey> = keys.iter().map(|one| key(one)).collect();
        assert_eq!(request.signed(&keys).err(), expected);
    };
    check(&request, &[&log], None);
    check(&request, &[&other, &log], None);
    check(&request, &[&other], Some(Refusal::UnknownLog));
    // A log may have two keys while one replaces the other, in any order.
    let next = signer("log.example/a", 3);
    check(&request, &[&next, &log], None);
    check(&request, &[&log, &next], None);
    check(&request, &[&next], Some(Refusal::Unsigned));
    let mut forged = request.clone();
    forged.note.signatures[0].bytes[20] ^= 1;
    check(&forged, &[&log], Some(Refusal::Unsigned));
    check(&forged, &[&log, &next], Some(Refusal::Unsigned));
    // A key cannot speak for the log of another one.
    let mut foreign = request.clone();
    foreign.note.text = foreign.note.text.replace("/a", "/b");
    check(&foreign, &[&log, &other], Some(Refusal::Unsigned));
    let mut none = request;
    none.note.text = "log.example/a\n".to_owned();
    check(&none, &[&log], Some(Refusal::Malformed));
}

#[test]
fn a_log_is_cosigned_where_it_goes_on() {
    let log = signer("log.example/a", 1);
    let (small, large) = (Log::new(5, 0), Log::new(13, 0));
    let (seen, new) = (small.tree.head(), large.tree.head());
    let follows = |old: u64, latest: Option<Head>| large.request(old, &log).follows(new, latest);
    assert_eq!(follows(0, None), Ok(()));
    assert_eq!(follows(5, Some(seen)), Ok(()));
    assert_eq!(follows(13, Some(new)), Ok(()));
    assert_eq!(follows(0, Some(seen)), Err(Refusal::Conflict { size: 5 }));
    assert_eq!(follows(4, Some(seen)), Err(Refusal::Conflict { size: 5 }));
    assert_eq!(follows(5, None), Err(Refusal::Conflict { size: 0 }));
    // The log was set back to an older state.
    let back = small.request(5, &log);
    assert_eq!(back.follows(seen, Some(new)), Err(Refusal::Conflict { size: 13 }));
    let back = AddCheckpoint { old: 13, ..back };
    assert_eq!(back.follows(seen, Some(new)), Err(Refusal::Malformed));
}

#[test]
fn another_past_is_never_cosigned() {
    let log = signer("log.example/a", 1);
    let (seen, fork) = (Log::new(5, 0).tree.head(), Log::new(13, 1));
    let check = |request: &AddCheckpoint, new: Head, latest: Option<Head>| {
        assert_eq!(request.follows(new, latest), Err(Refusal::Inconsistent));
    };
    check(&fork.request(5, &log), fork.tree.head(), Some(seen));
    let fork = Log::new(5, 1);
    check(&fork.request(5, &log), fork.tree.head(), Some(seen));
    // A proof where there must be none.
    let mut request = Log::new(13, 0).request(0, &log);
    request.proof = vec![[0; 32]];
    check(&request, Log::new(13, 0).tree.head(), None);
    request.old = 13;
    check(&request, Log::new(13, 0).tree.head(), Some(Log::new(13, 0).tree.head()));
    // A log without leaves has one root.
    let empty = Log::new(0, 0).request(0, &log);
    assert_eq!(empty.follows(Head { size: 0, root: merkle::empty() }, None), Ok(()));
    check(&empty, Head { size: 0, root: [1; 32] }, None);
}

#[test]
fn refusals_have_the_statuses_and_bodies_of_the_specification() {
    let check = |refusal: Refusal, status| assert_eq!(refusal.status(), status);
    check(Refusal::Malformed, 400);
    check(Refusal::Unsigned, 403);
    check(Refusal::UnknownLog, 404);
    check(Refusal::Inconsistent, 422);
    let conflict = Refusal::Conflict { size: 20_852_014 };
    check(conflict, 409);
    assert_eq!(conflict.to_string(), "20852014\n");
    assert_eq!(conflict_size(b"20852014\n"), Some(20_852_014));
    for other in ["20852014", "", "\n", "-1\n", "01\n", "1\n1\n", "18446744073709551616\n"] {
        assert_eq!(conflict_size(other.as_bytes()), None, "{other:?}");
    }
}

#[test]
fn an_answer_is_lines_of_signatures_and_nothing_else() {
    let (log, witness) = (signer("log.example/a", 1), signer("w.example/1", 2));
    let note = Log::new(3, 0).request(0, &log).note;
    let checkpoint = Checkpoint::read(&note.text).unwrap();
    let line = format!("{}\n", witness.cosign(&checkpoint, 7, &[0; 32]).unwrap());
    let answer = cosigned(&note.text, line.as_bytes()).unwrap();
    assert_eq!(key(&witness).open_note(&answer).unwrap().seconds, 7);
    let all = merged(&note, &answer);
    assert_eq!(key(&log).open_note(&all).unwrap().checkpoint, checkpoint);
    assert_eq!(key(&witness).open_note(&all).unwrap().checkpoint, checkpoint);
    assert_eq!(merged(&all, &answer), all);
    let check = |body: &str| assert!(cosigned(&note.text, body.as_bytes()).is_err(), "{body}");
    check("");
    check("\n");
    check("5\n");
    check(line.trim_end());
    check(&format!("another text\n\n{line}"));
    check(&format!("\n{line}"));
    check(&line.repeat(MAX_SIGNATURES + 1));
}
