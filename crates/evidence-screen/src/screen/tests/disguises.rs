//! Credentials written so that no pattern matches: every disguise is undone, and its look-alikes are clean.

use super::*;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::prelude::*;

const TOKEN: &str = concat!("gh", "p_0123456789abcdefghijABCDEFGHIJ012345");

const INVISIBLE: &[char] =
    &['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{ad}', '\u{200e}', '\u{fe0f}'];

/// Writes every character of the text with `write`.
fn each(text: &str, write: impl Fn(char) -> String) -> String {
    text.chars().map(write).collect()
}

/// Writes every byte of the text with `write`.
fn each_byte(text: &str, write: impl Fn(u8) -> String) -> String {
    text.bytes().map(write).collect()
}

/// The text in two pieces with `between` in the middle.
fn cut(text: &str, between: &str) -> String {
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    format!("{first}{between}{second}")
}

/// RFC 4648, section 6.
fn base32(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let groups = bits.as_bytes().chunks(5).map(|group| String::from_utf8_lossy(group).into_owned());
    let text: String = groups
        .map(|group| char::from(letters[usize::from_str_radix(&format!("{group:0<5}"), 2).unwrap()]))
        .collect();
    let padding = "=".repeat((8 - text.len() % 8) % 8);
    text + &padding
}

fn in_lines(text: &str, width: usize) -> String {
    let lines = text.as_bytes().chunks(width).map(String::from_utf8_lossy);
    lines.collect::<Vec<_>>().join("\n")
}

/// UTF-16 without a byte order mark; the mark is no text.
fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

/// Numbers, entities, wide characters and quotes.
fn spelled_out(secret: &str) -> Vec<(String, String)> {
    let hex = hex::encode(secret);
    let pairs = |between: &str| {
        let pairs = hex.as_bytes().chunks(2).map(String::from_utf8_lossy);
        pairs.collect::<Vec<_>>().join(between)
    };
    let wide = |letter: char| match letter {
        '!'..='~' => char::from_u32(u32::from(letter) + 0xfee0).unwrap_or(letter),
        other => other,
    };
    let (little, big) = (utf16(secret, u16::to_le_bytes), utf16(secret, u16::to_be_bytes));
    let marked = [vec![0xff, 0xfe], little.clone()].concat();
    vec![
        ("hex".into(), hex.clone()),
        ("hex, upper case".into(), hex.to_uppercase()),
        ("hex, spaces".into(), pairs(" ")),
        ("hex, colons".into(), pairs(":")),
        ("hex, 0x".into(), format!("0x{}", pairs(", 0x"))),
        ("hex in lines".into(), in_lines(&hex, 30)),
        ("entities".into(), each(secret, |letter| format!("&#{};", u32::from(letter)))),
        ("entities, hex".into(), each(secret, |letter| format!("&#x{:X};", u32::from(letter)))),
        ("entities, without an end".into(), each(secret, |letter| format!("&#{:03}", u32::from(letter)))),
        ("entities, twice".into(), each(secret, |letter| format!("&amp;#{};", u32::from(letter)))),
        ("one entity".into(), secret.replace('_', "&lowbar;").replace('-', "&hyphen;")),
        ("full width".into(), each(secret, |letter| wide(letter).to_string())),
        ("UTF-16".into(), String::from_utf8_lossy(&little).into_owned()),
        ("UTF-16, big-endian".into(), String::from_utf8_lossy(&big).into_owned()),
        ("UTF-16 in base64".into(), STANDARD.encode(&little)),
        ("UTF-16 with a mark in base64".into(), STANDARD.encode(&marked)),
        ("UTF-16, big-endian, in base64".into(), STANDARD.encode(&big)),
        ("UTF-16 in hex".into(), hex::encode(&little)),
        ("shell, empty quotes".into(), cut(secret, "''")),
        ("shell, two words".into(), format!("'{}'", cut(secret, "''"))),
        ("shell, mixed quotes".into(), format!("'{}\"", cut(secret, "'\""))),
        ("shell, one quote".into(), format!("{}\"", cut(secret, "\""))),
        ("plus".into(), format!("\"{}\"", cut(secret, "\" + \""))),
        ("dot".into(), format!("'{}'", cut(secret, "' . '"))),
        ("two literals".into(), format!("\"{}\"", cut(secret, "\"\n    \""))),
    ]
}

/// The disguises that every credential can have, with their names.
fn disguises(secret: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = vec![
        ("octal".into(), each_byte(secret, |byte| format!("\\{byte:03o}"))),
        ("\\U".into(), each(secret, |letter| format!("\\U{:08x}", u32::from(letter)))),
        ("\\U, upper case".into(), each(secret, |letter| format!("\\U{:08X}", u32::from(letter)))),
        ("%u".into(), each(secret, |letter| format!("%u{:04x}", u32::from(letter)))),
        ("%u, upper case".into(), each(secret, |letter| format!("%u{:04X}", u32::from(letter)))),
        ("quoted-printable".into(), each_byte(secret, |byte| format!("={byte:02X}"))),
        ("quoted-printable, lower case".into(), each_byte(secret, |byte| format!("={byte:02x}"))),
        ("soft line break".into(), cut(secret, "=\n")),
        ("soft line break, CRLF".into(), cut(secret, "=\r\n")),
        ("soft line break, spaces".into(), cut(secret, "= \t\n")),
        ("tab".into(), cut(secret, "\t")),
        ("tabs".into(), cut(secret, "\t\t\t")),
        ("CR".into(), cut(secret, "\r")),
        ("CRLF".into(), cut(secret, "\r\n")),
        ("blank line".into(), cut(secret, "\n\n")),
        ("blank lines".into(), cut(secret, "\n \n\t\n\r\n\n")),
        ("blank line of a comment".into(), cut(secret, "\n#\n# ")),
        ("base32 in lines".into(), in_lines(&base32(format!("the value is {secret}").as_bytes()), 24)),
        ("base64 of octal".into(), STANDARD.encode(each_byte(secret, |byte| format!("\\{byte:03o}")))),
        ("zero width in base64".into(), STANDARD.encode(cut(secret, "\u{200b}"))),
    ];
    all.extend(spelled_out(secret));
    for before in 0..6 {
        let text = format!("{}{secret}, once", "x: y, "[..before].trim_start());
        all.push((format!("base32, offset {before}"), base32(text.as_bytes())));
        all.push((format!("base32, offset {before}, lower case"), base32(text.as_bytes()).to_lowercase()));
    }
    for sign in INVISIBLE {
        let code = u32::from(*sign);
        all.push((format!("one U+{code:04X}"), cut(secret, &sign.to_string())));
        all.push((format!("U+{code:04X} everywhere"), each(secret, |letter| format!("{letter}{sign}"))));
        all.push((format!("U+{code:04X}, escaped"), cut(secret, &format!("\\u{code:04x}"))));
    }
    let in_json: Vec<(String, String)> = all
        .iter()
        .map(|(name, text)| {
            (format!("{name}, as JSON"), serde_json::to_string(&format!("# {text}\n")).unwrap())
        })
        .collect();
    all.extend(in_json);
    let octal = each_byte(secret, |byte| format!("\\{byte:03o}"));
    let twice = serde_json::to_string(&serde_json::to_string(&octal).unwrap()).unwrap();
    all.push(("octal in JSON in JSON".into(), twice));
    all
}

/// The places of a credential in evidence and in output.
fn around(text: &str) -> [String; 3] {
    [
        text.to_string(),
        format!("# owners: {text} and more\n* @org/team\n"),
        format!("{}\"{text}\"", "filler ".repeat(300)),
    ]
}

/// The texts in which `rule` finds nothing, or which still contain a finding after redaction.
fn missed(screen: &Screen, rule: &str, texts: &[(String, String)]) -> Vec<String> {
    let missed = |text: &str| {
        let found = |text: &str| screen.check(text.as_bytes()).iter().any(|finding| finding.rule == rule);
        !found(text) || found(&screen.redact(text))
    };
    let all = texts.iter().flat_map(|(name, text)| around(text).map(|text| (name, text)));
    all.filter(|(_, text)| missed(text)).map(|(name, text)| format!("{name}: {text:?}")).collect()
}

#[test]
fn every_disguise_of_a_token_is_undone() {
    let texts = disguises(TOKEN);
    let missed = missed(screen(), "code-host-token", &texts);
    let all = 3 * texts.len();
    assert!(missed.is_empty(), "{} of {all} missed: {missed:#?}", missed.len());
}

/// One of each kind that a run has: a token, a passphrase of words and one in another script, a secret key, a short
/// password. A signing key is added.
const OWN: &[&str] = &[
    "made-up.Token_0123456789~AbCdEfGh",
    "correct horse battery staple",
    "größe und Maß, 4711",
    "wJalrXUtnFEMI/K7MDENG+bPxRfiCYMADEUPKEY0",
    "s3cr3t-pw",
];

const LINES: [&str; 3] = [
    "bm90IGEga2V5IGF0IGFsbCwgb25seSBhIGxvbmcgdGV4dCBvZiB0aHJlZSBsaW5lcz8+",
    "aW4gYmFzZTY0LCB3aGljaCBsb29rcyBsaWtlIHRoZSBib2R5IG9mIGEgcHJpdmF0ZQ+/",
    "a2V5IG9mIFJTQQ==",
];

fn key() -> String {
    format!(
        "{}\n{}\n{}\n",
        concat!("-----BEGIN ", "PRIVATE KEY-----"),
        LINES.join("\n"),
        concat!("-----END ", "PRIVATE KEY-----")
    )
}

/// The forms in which one of the tool's own secrets is found.
fn forms(secret: &str) -> Vec<(String, String)> {
    let hex = hex::encode(secret);
    let mut all: Vec<(String, String)> = vec![
        ("plain".into(), secret.to_string()),
        ("JSON".into(), serde_json::to_string(secret).unwrap()),
        ("percent".into(), each_byte(secret, |byte| format!("%{byte:02X}"))),
        ("percent, lower case".into(), each_byte(secret, |byte| format!("%{byte:02x}"))),
        ("form".into(), url::form_urlencoded::byte_serialize(secret.as_bytes()).collect()),
        ("\\u".into(), each(secret, |letter| format!("\\u{:04x}", u32::from(letter)))),
        ("\\x".into(), each_byte(secret, |byte| format!("\\x{byte:02x}"))),
        ("hex".into(), hex.clone()),
        ("hex, upper case".into(), hex.to_uppercase()),
        (
            "hex with colons".into(),
            hex.as_bytes().chunks(2).map(String::from_utf8_lossy).collect::<Vec<_>>().join(":"),
        ),
        ("reversed".into(), secret.chars().rev().collect()),
        ("spaces".into(), each(secret, |letter| format!("{letter} "))),
        ("one space".into(), cut(secret, " ")),
        ("comment".into(), cut(secret, "\n# ")),
        ("blank line".into(), cut(secret, "\n//\n// ")),
        ("tab".into(), cut(secret, "\t")),
        ("base64 of base64".into(), STANDARD.encode(STANDARD.encode(format!("my value: {secret}")))),
        ("base64 in short lines".into(), in_lines(&STANDARD.encode(secret), 5).replace('\n', "\n# ")),
        ("quoted-printable".into(), each_byte(secret, |byte| format!("={byte:02X}"))),
    ];
    for sign in INVISIBLE {
        let code = u32::from(*sign);
        all.push((format!("one U+{code:04X}"), cut(secret, &sign.to_string())));
        all.push((format!("U+{code:04X} everywhere"), each(secret, |letter| format!("{letter}{sign}"))));
        all.push((format!("U+{code:04X}, escaped"), cut(secret, &format!("\\u{code:04x}"))));
    }
    for before in 0..4 {
        let text = format!("{}{secret}zz", &"abcd"[..before]);
        all.push((format!("base64, offset {before}"), STANDARD.encode(&text)));
        all.push((format!("base64 for URLs, offset {before}"), URL_SAFE.encode(&text)));
    }
    all
}

#[test]
fn own_secrets_are_found_in_every_form() {
    let key = key();
    let secrets: Vec<&str> = OWN.iter().copied().chain([key.as_str()]).collect();
    let screen = Screen::new(&secrets);
    // Each line of the key, and its body without line breaks.
    let body = LINES.concat();
    let wanted = OWN.iter().copied().chain([LINES[0], LINES[1], body.as_str()]);
    let texts: Vec<(String, String)> = wanted
        .flat_map(|secret| {
            forms(secret).into_iter().map(move |(name, text)| (format!("{name} of {secret:?}"), text))
        })
        .collect();
    let missed = missed(&screen, OWN_CREDENTIAL, &texts);
    let all = 3 * texts.len();
    assert!(missed.is_empty(), "{} of {all} missed: {missed:#?}", missed.len());
}

/// If hardly any letter is left, signs count too; then so do spaces between them, and joiners between letters of
/// another script.
#[test]
fn own_secrets_of_signs_are_found() {
    for secret in ["!$%&/()=?+*#-.;:", "пароль от ключа"] {
        let screen = Screen::new(&[secret]);
        let counts = |name: &str| {
            name.contains("space")
                || ["comment", "blank line", "tab", "form"].contains(&name)
                || (!secret.is_ascii() && name.contains("U+"))
        };
        let texts: Vec<(String, String)> =
            forms(secret).into_iter().filter(|(name, _)| !counts(name)).collect();
        let missed = missed(&screen, OWN_CREDENTIAL, &texts);
        assert!(missed.is_empty(), "{missed:#?}");
    }
}

/// Words, dates and repetitions would occur in ordinary text.
#[test]
fn weak_own_secrets_exclude_nothing() {
    for weak in [
        "",
        "a",
        "test",
        "1234567",
        "evidence",
        "Organization",
        "20261121",
        "2026-11-21",
        "code-review",
        "xxxxxxxxxxxxxxxxxxxx",
    ] {
        let screen = Screen::new(&[weak]);
        for text in [
            weak,
            "evidence of the Organization, 2026-11-21: code-review, test",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ] {
            assert_eq!(screen.check(text.as_bytes()), [], "{weak} in {text}");
        }
    }
}

/// Lines with legitimate uses of a disguise's signs.
const LOOK_ALIKES: &[&str] = &[
    // Zero-width joiners, variation selectors, soft hyphens, byte order marks.
    "/docs/ @acme/docs # \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466} owns this, \u{26a0}\u{fe0f} ask first",
    "* @acme/all # \u{1f3f3}\u{fe0f}\u{200d}\u{1f308} team, \u{1f9d1}\u{200d}\u{1f4bb} and \u{2764}\u{fe0f}\u{200d}\u{1f525}",
    "/fa/ @acme/fa # \u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
    "Donau\u{ad}dampf\u{ad}schiff\u{ad}fahrts\u{ad}gesell\u{ad}schaft2026 @acme/ship",
    "\u{feff}# CODEOWNERS of service-2026",
    // Equals signs.
    "?per_page=10&key=41&page=42&size=5F&color=FF00AA",
    "/config/a=b key=41 @acme/team-7 # SIZE=20 LEVEL=3D",
    "make CC=gcc CFLAGS=-O2 A=61=62=63=64=65=66 @acme/build",
    "x1=\n/services/y2 @acme/two=\n/services/z3",
    "=E2=80=94 see the handbook, =C3=BCber uns =",
    // Capitals and digits of base32.
    "SERVICE_PAYMENTS_GATEWAY_EUROPE_WEST_PRODUCTION",
    "/services/ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 @acme/alphabet",
    "INFRASTRUCTUREPROVISIONINGANDCONFIGURATIONMANAGEMENT7",
    "JBSWY3DPEBLW64TMMQQQ KRUGS4ZANFZSA3TPOQQGCIDTMVRXEZLUEBQXIIDBNRWC4===",
    "supercalifragilisticexpialidociousantidisestablishmentarianism",
    "otpauth://totp/acme (the secret is not here)",
    // Backslashes.
    r"^/services/(\w+)/v\123/(.*)\.rs$ @acme/regex",
    r"C:\Users\User\unicode\u2713\Utils\U0001F600\new\table\100 @acme/windows",
    r"\\server\share\Updates\u00e9t\x20a\060\061",
    r"s/\([0-9]\{3\}\)/\1\2\041/ @acme/sed",
    r"%UserProfile%\AppData %USERNAME% %u %update% %u0026 100%uptime",
    // Tabs, carriage returns, blank lines.
    "/src/app1\t\t@acme/app1\t# area 1\r\r\n\r\n/src/app2\t@acme/app2",
    "id\tname\tdigest\n17\tapi2\tda39a3ee5e6b4b0d3255bfef95601890afd80709\n18\tweb3\te3b0c44298fc1c149afbf4c8996fb92427ae41e4",
    "# area 51\n\n\n7-eleven/ @acme/shop\n\n# v2\n#\n# v3",
];

#[test]
fn what_looks_like_a_disguise_is_clean() {
    let own = key();
    let screen = Screen::new(&[OWN_SECRET, OWN[0], OWN[1], &own]);
    for line in LOOK_ALIKES {
        for text in around(line) {
            assert_eq!(screen.check(text.as_bytes()), [], "{text}");
            let json = serde_json::to_string(&text).unwrap();
            assert_eq!(screen.check(json.as_bytes()), [], "{json}");
            let encoded = STANDARD.encode(&text);
            assert_eq!(screen.check(encoded.as_bytes()), [], "{text} as base64");
        }
    }
    let all = LOOK_ALIKES.join("\n").repeat(20);
    assert_eq!(screen.check(all.as_bytes()), []);
}

/// Any characters except letters and digits between the characters of a secret.
fn splits() -> impl Strategy<Value = Vec<String>> {
    let signs = ["", "", "", " ", "\n", "\n# ", "\u{200b}", "-", "\" + \"", "\r\n\t// ", "\u{ad}", " | "];
    proptest::collection::vec(proptest::sample::select(signs.map(str::to_string).to_vec()), 40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_own_secret_is_found_however_it_is_split(splits in splits(), before in "[ -~]{0,40}", behind in "[ -~]{0,40}") {
        let split: String = OWN_SECRET.chars().zip(splits).map(|(letter, sign)| format!("{letter}{sign}")).collect();
        let text = format!("{before} {split} {behind}");
        prop_assert!(found_by(OWN_CREDENTIAL, &text), "{}", text);
        prop_assert!(!found_by(OWN_CREDENTIAL, &screen().redact(&text)), "{}", text);
    }

    #[test]
    fn base32_is_read(before in "[ -~]{0,9}", behind in "[ -~]{8,20}") {
        let text = base32(format!("{before} {TOKEN} {behind}").as_bytes());
        prop_assert!(found_by("code-host-token", &text), "{}", text);
    }
}
