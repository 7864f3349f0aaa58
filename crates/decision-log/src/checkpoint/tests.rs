use alloc::string::ToString;
use alloc::vec;

use wardgate_crypto::ml_dsa::SigningKey;

use super::*;
use crate::signer::LogSigner;

const NAME: &str = "log.example/a";

fn secret(seed: u8) -> SigningKey {
    SigningKey::from_seed(Level::MlDsa44, &[seed; 32])
}

fn key(name: &str, secret: &SigningKey) -> LogKey {
    let key = VerifierKey { name: name.into(), kind: ML_DSA_44, key: secret.public_key() };
    LogKey::read(&key.to_string()).unwrap()
}

fn checkpoint() -> Checkpoint {
    Checkpoint { origin: NAME.into(), head: Head { size: 20_852_163, root: [9; 32] } }
}

fn note(checkpoint: &Checkpoint) -> Note {
    let signature = checkpoint.sign((&secret(1), NAME), 1_790_000_000, &[0; 32]).unwrap();
    Note { text: checkpoint.to_string(), signatures: vec![signature] }
}

#[test]
fn a_checkpoint_is_opened_by_the_key_that_signed_it() {
    let bytes = note(&checkpoint()).to_string();
    let opened = key(NAME, &secret(1)).open(bytes.as_bytes()).unwrap();
    assert_eq!((opened.checkpoint, opened.seconds), (checkpoint(), 1_790_000_000));
    let unsigned = Err(CheckpointError::Unsigned);
    assert_eq!(key(NAME, &secret(2)).open(bytes.as_bytes()), unsigned);
    assert_eq!(key("log.example/b", &secret(1)).open(bytes.as_bytes()), unsigned);
}

#[test]
fn nothing_of_a_checkpoint_can_be_changed() {
    let good = note(&checkpoint());
    let key = key(NAME, &secret(1));
    let check = |change: &dyn Fn(&mut Note), error: CheckpointError| {
        let mut note = good.clone();
        change(&mut note);
        assert_eq!(key.open(note.to_string().as_bytes()), Err(error));
    };
    check(&|note| note.text = note.text.replace("20852163", "20852164"), CheckpointError::Forged);
    check(&|note| note.text = note.text.replace("/a", "/c"), CheckpointError::Forged);
    check(&|note| note.text = note.text.replace("CQkJ", "CQkK"), CheckpointError::Forged);
    for at in [0, 7, 8, 2427] {
        check(&|note| note.signatures[0].bytes[at] ^= 1, CheckpointError::Forged);
    }
    check(&|note| note.signatures[0].bytes.truncate(7), CheckpointError::Forged);
    check(&|note| note.signatures[0].id[0] ^= 1, CheckpointError::Unsigned);
    check(&|note| note.signatures.clear(), CheckpointError::Note(NoteError::Form));
    // A wrong signature is refused beside a right one.
    let second = |note: &mut Note| {
        note.signatures.push(note.signatures[0].clone());
        note.signatures[1].bytes[9] ^= 1;
    };
    check(&second, CheckpointError::Forged);
}

#[test]
fn signatures_of_others_are_passed_over() {
    let mut note = note(&checkpoint());
    let other = checkpoint().sign((&secret(2), "witness.example/w"), 5, &[0; 32]).unwrap();
    note.signatures.insert(0, other);
    let bytes = note.to_string();
    assert_eq!(key(NAME, &secret(1)).open(bytes.as_bytes()).unwrap().seconds, 1_790_000_000);
    assert_eq!(key("witness.example/w", &secret(2)).open(bytes.as_bytes()).unwrap().seconds, 5);
}

#[test]
fn other_texts_are_no_tree_heads() {
    let good = checkpoint().to_string();
    assert_eq!(Checkpoint::read(&good), Ok(checkpoint()));
    let check =
        |text: &str| assert_eq!(Checkpoint::read(text), Err(CheckpointError::Form), "{text}");
    check("");
    check(&good[..good.len() - 1]);
    check(&good.replace("20852163", "020852163"));
    check(&good.replace("20852163", "+20852163"));
    check(&good.replace("20852163", "-1"));
    check(&good.replace("20852163", "18446744073709551616"));
    check(&good.replace(NAME, ""));
    check(&good.replace(NAME, "two words"));
    check(&good.replace("CQkJ", ""));
    check(&alloc::format!("{good}\n"));
    assert_eq!(Checkpoint::read(&alloc::format!("{good}extension\n")), Ok(checkpoint()));
}

#[test]
fn only_keys_of_the_level_sign() {
    let other = SigningKey::from_seed(Level::MlDsa87, &[1; 32]);
    assert!(checkpoint().sign((&other, NAME), 1, &[0; 32]).is_err());
    let ed25519 = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
    assert!(LogKey::read(ed25519).is_none());
}

#[test]
fn a_key_of_ed25519_verifies_the_text_of_the_note() {
    fn is_right(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
        *key == [5; 32] && message.starts_with(b"log.example/a\n3\n") && *signature == [6; 64]
    }
    let signer = LogSigner::new(NAME, &[7; 32]).unwrap();
    let verifier = signer.ed25519_verifier([5; 32]);
    let key = LogKey::read_either(&verifier.to_string(), is_right).unwrap();
    let mut note = signer.sign(Head { size: 3, root: [9; 32] }, 5, &[0; 32]).unwrap();
    assert_eq!(key.open_note(&note), Err(CheckpointError::Unsigned));
    let (name, id) = (verifier.name.clone(), verifier.id());
    note.signatures.push(Signature { name, id, bytes: vec![6; 64] });
    let opened = key.open_note(&note).unwrap();
    assert_eq!((opened.checkpoint.head.size, opened.seconds), (3, 0));
    for bytes in [vec![6; 63], vec![7; 64]] {
        note.signatures[1].bytes = bytes;
        assert_eq!(key.open_note(&note), Err(CheckpointError::Forged));
    }
    assert!(LogKey::read(&verifier.to_string()).is_none());
    let own = LogKey::read_either(&signer.verifier().to_string(), is_right).unwrap();
    assert_eq!(own.open_note(&note).unwrap().seconds, 5);
}
