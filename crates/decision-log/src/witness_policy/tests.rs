use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::cosigner::no_ed25519;
use crate::merkle::Head;
use crate::signer::LogSigner;

fn signer(name: &str, seed: u8) -> LogSigner {
    LogSigner::new(name, &[seed; 32]).unwrap()
}

/// Returns the key of a witness, by its number.
fn witness(seed: u8) -> LogSigner {
    signer(&format!("w.example/{seed}"), seed)
}

/// The example of the specification, with `K1` to `K6` for keys of witnesses and `L` for that of a log.
const EXAMPLE: &str = "# trusted\nlog L\n\nwitness X1 K1\nwitness X2 K2\n  witness\tX3 K3\nwitness Y1 K4 https://y.example/w\nwitness Y2 K5\nwitness Y3 K6\ngroup X-witnesses 2 X1 X2 X3\ngroup Y-witnesses any Y1 Y2 Y3\n\t# both\ngroup X-and-Y all X-witnesses Y-witnesses\nquorum X-and-Y\n";

/// Returns a text with keys in the place of their names.
fn filled(text: &str) -> String {
    let mut text = text.replace("log L", &format!("log {}", signer("log.example/a", 9).verifier()));
    for seed in 1..=6 {
        text = text.replace(&format!(" K{seed}"), &format!(" {}", witness(seed).verifier()));
    }
    text
}

fn read(text: &str) -> Result<WitnessPolicy, PolicyError> {
    WitnessPolicy::read(filled(text).as_bytes())
}

#[test]
fn a_policy_says_which_witnesses_are_enough() {
    let policy = read(EXAMPLE).unwrap();
    assert_eq!((policy.logs().len(), policy.witnesses().len()), (1, 6));
    assert_eq!(policy.witnesses()[3].url.as_deref(), Some("https://y.example/w"));
    let check = |witnesses: &[usize], expected| {
        assert_eq!(policy.is_enough(|at| witnesses.contains(&at)), expected, "{witnesses:?}");
    };
    check(&[], false);
    check(&[0, 1], false);
    check(&[0, 1, 2], false);
    check(&[3, 4, 5], false);
    check(&[0, 3, 4, 5], false);
    check(&[0, 2, 4], true);
    check(&[0, 1, 2, 3, 4, 5], true);
    assert!(read("quorum none\n").unwrap().is_enough(|_| false));
    let one = read("witness A K1\nwitness none-2 K2\nquorum A\n").unwrap();
    assert!(one.is_enough(|at| at == 0) && !one.is_enough(|at| at == 1));
    assert!(policy.is_about(&signer("log.example/a", 9).verifier()));
    assert!(!policy.is_about(&signer("log.example/a", 8).verifier()));
    assert!(one.is_about(&signer("log.example/a", 8).verifier()));
}

#[test]
fn other_texts_are_no_policies() {
    let check = |text: &str, line, fault| {
        assert_eq!(read(text).err(), Some(PolicyError { line, fault }), "{text}");
    };
    check("", 1, PolicyFault::NoQuorum);
    check("witness A K1\n", 2, PolicyFault::NoQuorum);
    check("quorum none", 1, PolicyFault::Cut);
    check("quorum none\n\nquorum none\n", 3, PolicyFault::DuplicateQuorum);
    check("quorum A\nwitness A K1\n", 1, PolicyFault::UnknownName);
    check("quorum\n", 1, PolicyFault::Form);
    check("quorum none none\n", 1, PolicyFault::Form);
    check("Quorum none\n", 1, PolicyFault::Form);
    check("quorum none\r\n", 1, PolicyFault::Characters);
    check("# \u{7f}\n", 1, PolicyFault::Characters);
    check("witness A K1\nwitness A K2\n", 2, PolicyFault::DuplicateName);
    check("witness none K1\n", 1, PolicyFault::DuplicateName);
    check("witness A K1\nwitness B K1\n", 2, PolicyFault::DuplicateKey);
    check("log L\nlog L https://log.example\n", 2, PolicyFault::DuplicateKey);
    check("log K\n", 1, PolicyFault::LogKey);
    check("witness A L\n", 1, PolicyFault::WitnessKey);
    check("witness A K1\ngroup G 0 A\n", 2, PolicyFault::Threshold);
    check("witness A K1\ngroup G 2 A\n", 2, PolicyFault::Threshold);
    check("witness A K1\ngroup G 01 A\n", 2, PolicyFault::Threshold);
    check("witness A K1\ngroup G most A\n", 2, PolicyFault::Threshold);
    check("witness A K1\ngroup G all\n", 2, PolicyFault::Form);
    check("witness A K1\ngroup G all A A\n", 2, PolicyFault::DuplicateMember);
    check("witness A K1\ngroup G all A\ngroup H all A\n", 3, PolicyFault::DuplicateMember);
    check("witness A K1\ngroup G all B\nwitness B K2\n", 2, PolicyFault::UnknownName);
    check("witness A K1\ngroup G all none\n", 2, PolicyFault::UnknownName);
    check("witness A K1\ngroup A all A\n", 2, PolicyFault::DuplicateName);
    check("group G all G\n", 1, PolicyFault::UnknownName);
    let long = "#".repeat(MAX_POLICY_BYTES);
    check(&long, 1, PolicyFault::Cut);
    check(&format!("{long}\n"), 1, PolicyFault::Long);
}

#[test]
fn names_are_bytes_and_their_number_is_bounded() {
    // The letter K and the sign of Kelvin, which looks alike, and one that is no UTF-8.
    let names = read("witness K K1\nwitness \u{212a} K2\nquorum K\n").unwrap();
    assert_eq!(names.witnesses().len(), 2);
    let mut bytes = filled("witness A K1\nquorum A\n").replace(" A", " \u{1}").into_bytes();
    bytes.iter_mut().filter(|byte| **byte == 1).for_each(|byte| *byte = 0xff);
    assert_eq!(WitnessPolicy::read(&bytes).unwrap().witnesses()[0].name, "\u{fffd}");

    let mut text = "witness A K1\ngroup G0 all A\n".to_string();
    for number in 1..MAX_POLICY_LINES {
        text.push_str(&format!("group G{number} all G{}\n", number - 1));
    }
    let last = MAX_POLICY_LINES - 1;
    let deep = read(&format!("{text}quorum G{last}\n")).unwrap();
    assert!(deep.is_enough(|_| true) && !deep.is_enough(|_| false));
    let more = read(&format!("{text}group more all G{last}\n"));
    assert_eq!(more.err().map(|error| error.fault), Some(PolicyFault::Long));
}

#[test]
fn a_checkpoint_needs_enough_right_cosignatures() {
    let policy = read("witness A K1\nwitness B K2\nwitness C K3\ngroup G 2 A B C\nquorum G\n");
    let policy = policy.unwrap();
    let note = signer("log.example/a", 9).sign(Head { size: 3, root: [9; 32] }, 5, &[0; 32]);
    let note = note.unwrap();
    let checkpoint = Checkpoint::read(&note.text).unwrap();
    let cosigned = |seeds: &[u8]| {
        let mut note = note.clone();
        for seed in seeds {
            let cosignature = witness(*seed).cosign(&checkpoint, 70 + u64::from(*seed), &[0; 32]);
            note.signatures.push(cosignature.unwrap());
        }
        note
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
    let few = |seeds: &[u8], expected: &[&str]| {
        let refused = policy.verify(&cosigned(seeds), no_ed25519);
        assert_eq!(refused, Err(Unwitnessed::Quorum(names(expected))), "{seeds:?}");
    };
    few(&[], &[]);
    few(&[1], &["A"]);
    few(&[3, 4, 5], &["C"]);
    // One witness counts once.
    few(&[1, 1], &["A"]);
    let found = policy.verify(&cosigned(&[3, 1]), no_ed25519).unwrap();
    let one = |witness, seconds| Cosignature { witness, seconds };
    assert_eq!(found, vec![one("A", 71), one("C", 73)]);
    // A cosignature of another checkpoint is wrong, also where the others suffice.
    let mut wrong = cosigned(&[1, 2, 3]);
    wrong.text = wrong.text.replace("\n3\n", "\n4\n");
    let forged = Err(Unwitnessed::Checkpoint(CheckpointError::Forged));
    assert_eq!(policy.verify(&wrong, no_ed25519), forged);
    let mut wrong = cosigned(&[1, 2, 3]);
    wrong.signatures[1].bytes[9] ^= 1;
    assert_eq!(policy.verify(&wrong, no_ed25519), forged);
}
