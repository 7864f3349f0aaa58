//! `wardgate keys`, `sign`, `verify`, `seal`, `unseal` and `delta`.

use serde_json::Value as Json;

use crate::folder::{ANN, Folder, PHOTO};

/// A folder with photos, the keys `a` and `b`, and the sealing key `s`.
fn folder() -> Folder {
    let folder = Folder::with_photos();
    folder.run("keys generate -o a.jwk --public a.pub.jwk --id a").ends_with_code(0);
    folder
        .run("keys generate -o b.jwk --public b.pub.jwk --id b --algorithm ML-DSA-44")
        .ends_with_code(0);
    folder.run("keys generate --for sealing -o s.jwk").ends_with_code(0);
    folder
}

#[test]
fn keys_are_made_for_their_owner_alone_and_never_overwritten() {
    let folder = Folder::new();
    let ran = folder.run("keys generate -o a.jwk --public a.pub.jwk");
    let public: Json = serde_json::from_slice(&folder.read("a.pub.jwk")).unwrap();
    let id = public["kid"].as_str().unwrap();
    assert_eq!(id.len(), 32);
    ran.says(0, &format!("a.jwk: private key, ML-DSA-87, id {id}\na.pub.jwk: its public half\n"));
    let secret = folder.read("a.jwk");
    let private: Json = serde_json::from_slice(&secret).unwrap();
    assert_eq!(private["priv"].as_str().unwrap().len(), 43);
    assert_eq!((&private["pub"], public.get("priv")), (&public["pub"], None));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name| folder.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("a.jwk"), mode("a.pub.jwk") & 0o444), (0o600, 0o444));
    }
    let exists = "holds a secret, and a key is never overwritten: name another file";
    folder.run("keys generate -o a.jwk").complains(4, &format!("`a.jwk` {exists}"));
    folder.run("keys generate --for sealing -o a.jwk").complains(4, &format!("`a.jwk` {exists}"));
    let refusal = "holds a secret, and a key is never overwritten: name another file";
    let read = "`-o` would overwrite `a.jwk`, which is an input: name another file";
    folder.run("keys public a.jwk -o a.jwk").complains(2, read);
    folder
        .run("keys generate -o no.jwk --public a.jwk")
        .complains(4, &format!("`a.jwk` {refusal}"));
    folder
        .run("keys generate -o b.jwk --public b.jwk")
        .complains(2, "`-o` and `--public` both write `b.jwk`: name two files");
    folder
        .run("keys generate -o b.jwk --public ./b.jwk")
        .complains(2, "`-o` and `--public` both write `./b.jwk`: name two files");
    let nowhere = "cannot write `a.jwk/where`: not a directory";
    folder.run("keys generate -o a.jwk/where").complains(4, nowhere);
    folder.run("keys generate -o b.jwk --public a.jwk/where").complains(4, nowhere);
    folder
        .run("keys generate -o b.jwk --public .")
        .complains(4, "cannot write `.`: it is a directory");
    // An older public half is replaced, but not where the new private key cannot be.
    folder
        .run("keys generate -o a.jwk --public a.pub.jwk")
        .complains(4, &format!("`a.jwk` {exists}"));
    assert_eq!(serde_json::from_slice::<Json>(&folder.read("a.pub.jwk")).unwrap(), public);
    assert_eq!(folder.read("a.jwk"), secret);
    assert_eq!(folder.names(), ["a.jwk", "a.pub.jwk"]);
}

#[test]
fn no_command_prints_a_secret() {
    let folder = folder();
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    let [private, sealing] = ["a.jwk", "s.jwk"].map(|name| {
        let key: Json = serde_json::from_slice(&folder.read(name)).unwrap();
        key["priv"].as_str().or(key["k"].as_str()).unwrap().to_owned()
    });
    let damaged = String::from_utf8(folder.read("a.jwk")).unwrap().replace("\"alg\"", "\"alg");
    folder.write("damaged.jwk", damaged);
    for arguments in [
        "keys inspect a.jwk",
        "keys inspect a.jwk --json",
        "keys inspect s.jwk",
        "keys public a.jwk",
        "keys public s.jwk",
        "keys public damaged.jwk",
        "sign p.wardgate --key a.jwk --json",
        "verify p.wardgate --trust a.jwk",
        "verify p.wardgate --trust s.jwk",
        "seal p.wardgate --key s.jwk -o x",
        "seal p.wardgate --key a.jwk -o y",
    ] {
        let ran = folder.run(arguments);
        for secret in [&private, &sealing] {
            assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{arguments}: {ran:?}");
        }
    }
}

#[test]
fn keys_are_described() {
    let folder = folder();
    let key = folder.run("keys inspect b.pub.jwk --json").json()["keys"][0].clone();
    assert_eq!(
        (&key["kind"], &key["algorithm"], &key["id"]),
        (&"public".into(), &"ML-DSA-44".into(), &"b".into())
    );
    let fingerprint = key["fingerprint"].as_str().unwrap();
    let shown = format!("private, ML-DSA-44, id b, fingerprint {fingerprint}\n");
    folder.run("keys inspect b.jwk").says(0, &shown);
    folder.run("keys inspect s.jwk").says(0, "sealing\n");
    let printed = folder.run("keys public b.jwk");
    assert_eq!(printed.out.as_bytes(), folder.read("b.pub.jwk"));
    folder.run("keys public b.pub.jwk -o c.jwk").says(0, "c.jwk: public key, id b\n");
    assert_eq!(folder.read("c.jwk"), folder.read("b.pub.jwk"));
}

#[test]
fn a_key_of_the_wrong_kind_is_one_sentence() {
    let folder = folder();
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    folder.write("empty", "");
    folder.write("text", "hello");
    let check = |arguments: &str, code: i32, sentence: &str| {
        folder.run(arguments).complains(code, sentence);
    };
    check("sign p.wardgate --key nowhere", 4, "cannot read `nowhere`: no such file or directory");
    check("sign p.wardgate --key policies", 4, "cannot read `policies`: it is a directory");
    check("sign p.wardgate --key empty", 1, "`empty` cannot be used as a key: it is empty");
    let neither = "expected a JSON Web Key, or a COSE_Key in definite lengths";
    check("sign p.wardgate --key text", 1, &format!("`text` cannot be used as a key: {neither}"));
    let private = "expected a private key, to sign with";
    check("sign p.wardgate --key a.pub.jwk", 1, &format!("`a.pub.jwk` is a public key; {private}"));
    check("sign p.wardgate --key s.jwk", 1, &format!("`s.jwk` is a key for sealing; {private}"));
    let sealing = "expected a key for sealing";
    check("seal p.wardgate --key a.jwk -o x", 1, &format!("`a.jwk` is a private key; {sealing}"));
    let public = "expected public keys: `wardgate keys public` writes them";
    check("verify p.wardgate --trust a.jwk", 1, &format!("`a.jwk` is a private key; {public}"));
    check("keys public s.jwk", 1, "`s.jwk` is a key for sealing; it has no public half");
    check("verify p.wardgate", 2, "give the key that must have signed: `--trust KEYFILE`");
    let signing = "is for a signing key, not for a sealing key";
    check("keys generate --for sealing -o x --id y", 2, &format!("`--id` {signing}"));
    check("sign empty --key a.jwk", 1, "`empty` is not a bundle: it is empty");
    check("verify text --trust a.pub.jwk", 1, "`text` is not a bundle: it is text");
    assert!(!folder.names().contains(&"x".to_owned()));
}

#[cfg(unix)]
#[test]
fn a_secret_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    for name in ["a.jwk", "s.jwk"] {
        let path = folder.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let advice = |name: &str| {
        format!(
            "`{name}` holds a secret and others can read it (mode 644): \
             make another key, or run `chmod 600 {name}` if no other user has read it"
        )
    };
    folder.run("sign p.wardgate --key a.jwk").complains(1, &advice("a.jwk"));
    folder.run("seal p.wardgate --key s.jwk -o x").complains(1, &advice("s.jwk"));
    let ran = folder.run("keys inspect a.jwk");
    ran.ends_with_code(0);
    let warning = "wardgate: `a.jwk` holds a secret and others can read it (mode 644)\n";
    assert_eq!(ran.err, warning);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_sentence() {
    let folder = folder();
    let full = "cannot write `/dev/full`: no space left on device";
    folder.run("keys public a.jwk -o /dev/full").complains(4, full);
    folder.run("compile policies -o /dev/full --sign a.jwk").complains(4, full);
}

#[test]
fn policies_with_rate_limits_are_signed_and_verified() {
    let folder = folder();
    let limit = "apiVersion: api.cerbos.dev/v1\nwardgateLimit: { name: views, resource: photo, actions: [view], key: [P.id], quota: 9, window: 1m }\n";
    folder.write("policies/views.yaml", limit);
    folder.run("compile policies -o p.wardgate --sign a.jwk --revision 1").ends_with_code(0);
    folder.run("sign p.wardgate --key b.jwk -o q.wardgate").ends_with_code(0);
    folder.run("verify q.wardgate --trust a.pub.jwk --trust b.pub.jwk").ends_with_code(0);
    folder.run("compile policies -o n.wardgate --sign a.jwk --revision 2").ends_with_code(0);
    folder.run("delta make p.wardgate n.wardgate -o n.delta").ends_with_code(0);
    folder.run("delta apply p.wardgate n.delta -o m.wardgate").ends_with_code(0);
    assert_eq!(folder.read("m.wardgate"), folder.read("n.wardgate"));
}

#[test]
fn a_signed_bundle_is_verified_by_the_public_key() {
    let folder = folder();
    let compile = "compile policies -o p.wardgate --sign a.jwk --name photos --revision 7 \
                   --not-before 2024-01-01T00:00:00Z --expires 2025-01-01T00:00:00Z";
    let ran = folder.run(compile);
    assert!(ran.out.ends_with(", signed by a\n"), "{ran:?}");
    let now = "--now 2024-05-06T12:00:00Z";
    let parts = [
        "signed by       a\n",
        "name            photos\n",
        "revision        7\n",
        "not before      2024-01-01T00:00:00Z\n",
        "expires         2025-01-01T00:00:00Z\n",
    ];
    folder.run(&format!("verify p.wardgate --trust a.pub.jwk {now}")).shows(0, &parts);
    folder
        .run("sign p.wardgate --key b.jwk")
        .says(0, "p.wardgate: revision 7, signed by a and b\n");
    let both = "--trust a.pub.jwk --trust b.pub.jwk --at-least 2 --require b";
    let shown = folder.run(&format!("verify p.wardgate {both} {now} --json")).json();
    assert_eq!(shown["signers"], serde_json::json!(["a", "b"]));
    assert_eq!((&shown["accepted"], &shown["revision"]), (&true.into(), &7.into()));
}

#[test]
fn refusals_have_a_reason_and_a_code() {
    let folder = folder();
    folder
        .run("compile policies -o p --sign a.jwk --revision 7 --expires 2025-01-01T00:00:00Z")
        .ends_with_code(0);
    folder.run("compile policies -o u").ends_with_code(0);
    let mut damaged = folder.read("p");
    *damaged.last_mut().unwrap() ^= 1;
    folder.write("damaged", damaged);
    let check = |arguments: &str, code: &str, sentence: &str| {
        let now = if arguments.contains("--now") { "" } else { " --now 2024-05-06T12:00:00Z" };
        folder.run(&format!("verify {arguments}{now}")).complains(1, sentence);
        let shown = folder.run(&format!("verify {arguments}{now} --json")).json();
        assert_eq!((&shown["accepted"], &shown["code"]), (&false.into(), &code.into()));
    };
    let p = "cannot open the bundle `p`";
    let unsigned = "cannot open the bundle `u`: the bundle is not signed";
    check("u --trust a.pub.jwk", "not-signed", unsigned);
    let unknown = format!("{p}: no signature is by a trusted key, it is signed by `a`");
    check("p --trust b.pub.jwk", "unknown-signer", &unknown);
    let both = "p --trust a.pub.jwk --trust b.pub.jwk";
    let few = format!("{p}: expected 2 trusted signers, found 1");
    check(&format!("{both} --at-least 2"), "too-few-signers", &few);
    check(
        &format!("{both} --require b"),
        "missing-signer",
        &format!("{p}: the required signature by `b` is missing"),
    );
    let old = format!("{p}: expected revision 8 or later, found 7");
    check("p --trust a.pub.jwk --min-revision 8", "old-revision", &old);
    let other = "the bundle `p` has no name, expected `photos`";
    check("p --trust a.pub.jwk --expect-name photos", "wrong-name", other);
    let late = "the bundle `p` expired at 2025-01-01T00:00:00Z, and it is 2025-01-01T00:00:00Z";
    check("p --trust a.pub.jwk --now 2025-01-01T00:00:00Z", "expired", late);
    let digest = "cannot open the bundle `damaged`: the digest does not fit the content";
    check("damaged --trust a.pub.jwk", "wrong-digest", digest);
}

#[test]
fn signing_keeps_what_is_signed_and_replaces_nothing_in_vain() {
    let folder = folder();
    folder.run("compile policies -o p --revision 1").ends_with_code(0);
    let sign = "sign p --key a.jwk --deterministic --created 2024-05-06T12:00:00Z";
    folder.run(&format!("{sign} -o one")).ends_with_code(0);
    folder.run(&format!("{sign} -o two")).ends_with_code(0);
    assert_eq!(folder.read("one"), folder.read("two"));
    let before = folder.read("one");
    folder
        .run("sign one --key a.jwk")
        .complains(1, "cannot sign `one`: the bundle is signed by `a` already");
    folder.run("sign one --key b.jwk --revision 2").complains(
        2,
        "`--revision` would change the header that `one` is signed with already: \
         sign the bundle as it was compiled",
    );
    assert_eq!(folder.read("one"), before);
    let backwards = "--not-before 2024-05-06T12:00:00Z --expires 2024-05-06T12:00:00Z";
    folder
        .run(&format!("sign p --key a.jwk {backwards}"))
        .complains(2, "`--expires` must be later than `--not-before`");
    folder
        .run("compile policies -o p --sign a.jwk --expires 1969-01-01T00:00:00Z")
        .complains(2, "`--expires` must not be before 1970");
}

#[test]
fn decisions_need_the_same_signatures() {
    let folder = folder();
    folder.write("ann.json", ANN);
    folder.run("compile policies -o p --sign a.jwk").ends_with_code(0);
    for command in ["check", "explain", "bench --seconds 0.1"] {
        let decide = |trust: &str| folder.run(&format!("{command} p -r ann.json --trust {trust}"));
        decide("a.pub.jwk").ends_with_code(0);
        decide("b.pub.jwk").complains(
            1,
            "cannot open the bundle `p`: no signature is by a trusted key, it is signed by `a`",
        );
    }
    let verified = folder.run("inspect p --trust a.pub.jwk --json").json();
    assert_eq!((&verified["signers"][0], &verified["verified"][0]), (&"a".into(), &"a".into()));
    let looked_at = folder.run("inspect p");
    assert!(looked_at.out.contains("signed by       a, not verified\n"), "{looked_at:?}");
    folder
        .run("check policies -r ann.json --trust a.pub.jwk")
        .complains(2, "`--trust` is for a bundle, and `policies` is a directory");
}

#[test]
fn only_holders_of_the_key_read_what_is_sealed() {
    let folder = folder();
    folder.write("ann.json", ANN);
    folder.run("keys generate --for sealing -o t.jwk").ends_with_code(0);
    folder.run("compile policies -o p --sign a.jwk").ends_with_code(0);
    folder.run("seal p --key s.jwk -o sealed").ends_with_code(0);
    let hint = "is sealed: give the key with `--unseal`, or `wardgate unseal` it";
    folder.run("check sealed -r ann.json").complains(1, &format!("`sealed` {hint}"));
    folder.run("check sealed -r ann.json --unseal s.jwk --trust a.pub.jwk").ends_with_code(0);
    folder.run("check sealed -r ann.json --unseal t.jwk").complains(
        1,
        "cannot open the bundle `sealed`: the sealed bundle was changed, or sealed with another key",
    );
    folder
        .run("check p -r ann.json --unseal s.jwk")
        .complains(1, "cannot open the bundle `p`: the bundle is not sealed");
    folder.run("unseal sealed --key s.jwk -o again").ends_with_code(0);
    assert_eq!(folder.read("again"), folder.read("p"));
    folder.run("seal sealed --key s.jwk -o twice").complains(1, "`sealed` is sealed already");
}

#[test]
fn a_delta_makes_the_bytes_of_the_new_bundle() {
    let folder = folder();
    folder.run("compile policies -o one --sign a.jwk --revision 1").ends_with_code(0);
    folder.write("policies/photo.yaml", PHOTO.replace("edit", "change"));
    folder.run("compile policies -o two --sign a.jwk --revision 2").ends_with_code(0);
    let ran = folder.run("delta make one two -o step");
    let (short, long) = (folder.read("step").len(), folder.read("two").len());
    ran.says(0, &format!("step: from revision 1 to 2, {short} bytes instead of {long}\n"));
    folder
        .run("delta apply one step -o again")
        .says(0, &format!("again: {long} bytes, not verified\n"));
    assert_eq!(folder.read("again"), folder.read("two"));
    folder.run("delta apply two step -o x").complains(
        1,
        "cannot apply `step` to `two`: the delta is for another base: expected revision 1, found 2",
    );
    folder
        .run("delta apply step one -o x")
        .complains(2, "`step` is a delta: its base comes first, and then the delta");
    let is_delta = "`step` is a delta: make a bundle of it with `wardgate delta apply`";
    folder.run("verify step --trust a.pub.jwk").complains(1, is_delta);
    folder.run("delta make step two -o x").complains(1, is_delta);
    folder
        .run("sign step --key a.jwk")
        .complains(1, "`step` is a delta: sign the new bundle, and make the delta of that");
    assert!(!folder.names().contains(&"x".to_owned()));
}
