use ::base64::Engine as _;
use ::base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::*;

fn views(text: &str) -> Vec<String> {
    of(text.as_bytes()).map(|view| String::from_utf8_lossy(&view.bytes).into_owned()).collect()
}

/// Whether a view shows `hidden`, and its origin in the text.
fn shown<'a>(text: &'a str, hidden: &str) -> Option<&'a str> {
    of(text.as_bytes()).find_map(|view| {
        let at = view.bytes.windows(hidden.len()).position(|window| window == hidden.as_bytes())?;
        let (start, end) = view.back(at, at + hidden.len());
        text.get(start..end)
    })
}

#[test]
fn what_hides_nothing_has_no_view() {
    for text in [
        "",
        "nothing here",
        "100% of it, 5 %, C:\\path",
        "{\n  \"login\": \"acme\",\n  \"size\": 5\n}\n",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "https://host/repos/acme/service/branches/main/protection/required_pull_request_reviews",
        "* @acme/all\n@acme/web\n",
        "\u{201c}quotes\u{201d} \u{b7} \u{fffd}, A=B, x==y, C:\\Users\\9, SERVICE_PAYMENTS_GATEWAY_PRODUCTION",
    ] {
        assert_eq!(views(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn escapes_of_json_and_urls() {
    for (text, hidden, from) in [
        (r"a\u0067hp b", "a", "a"),
        (r"a\u0067hp b", "g", r"\u0067"),
        (r"x \u00e9\/\n", "\u{e9}/\n", r"\u00e9\/\n"),
        ("q=%67%68p", "ghp", "%67%68p"),
        (r"\x67hp", "ghp", r"\x67hp"),
        (r"a\u{a}b\u{67}", "\nbg", r"\u{a}b\u{67}"),
        (r"%5Cu0067", r"\u0067", "%5Cu0067"),
        (r"\147\150p\", "ghp", r"\147\150p"),
        (r"x\U00000067hp", "ghp", r"\U00000067hp"),
        ("%u0067%U0068p", "ghp", "%u0067%U0068p"),
        ("g\u{200b}\u{ad}h\u{feff}p \u{e9}\u{2013}", "ghp", "g\u{200b}\u{ad}h\u{feff}p"),
        ("x \u{e2}\u{2713}\u{200d}%67", "\u{e2}\u{2713}g", "\u{e2}\u{2713}\u{200d}%67"),
        ("=67=68p", "ghp", "=67=68p"),
        ("gh=\r\np=", "ghp", "gh=\r\np"),
        (r"\400 \08 \U0000006 %u006 =6 =zz =0A", "none", ""),
        (r"%zz%2", "none", ""),
    ] {
        assert_eq!(shown(text, hidden).unwrap_or_default(), from, "{text}");
    }
}

/// Distant surroundings are separate parts; words are never cut.
#[test]
fn only_the_surroundings_of_escapes_are_copied() {
    let far = " far".repeat(2_000);
    let word = "w".repeat(3_000);
    let text = format!("{far} one%2Ftwo {far} {word}%2F{word} {far}");
    let view = of(text.as_bytes()).next().unwrap();
    assert!(view.bytes.len() < 6_000 + 4 * 600, "{}", view.bytes.len());
    assert_eq!(shown(&text, "one/two"), Some("one%2Ftwo"));
    assert_eq!(shown(&text, &format!("{word}/{word}")), Some(format!("{word}%2F{word}").as_str()));
}

#[test]
fn a_word_that_is_cut_into_lines() {
    for text in [
        "# one1\n# two2",
        "one1\r\n  two2",
        "one1 \\\ntwo2",
        "// one1\n// two2",
        "> one1\n> two2",
        "x\n\n# one1\n# two2\n\n",
    ] {
        assert!(shown(text, "one1two2").is_some(), "{text}: {:?}", views(text));
    }
    assert_eq!(shown("oneA\n# two2\n# three", "oneAtwo2three"), Some("oneA\n# two2\n# three"));
    // The joints show where each piece begins.
    let text = "one1\n# two2\n# three3\n# four4";
    let view = of(text.as_bytes()).next().unwrap();
    assert_eq!(String::from_utf8_lossy(&view.marked()), "one1\u{fffd}two2\u{fffd}three3\u{fffd}four4");
    let joints = view.places_of_joints();
    for at in 0..=view.bytes.len() {
        assert_eq!(view.unmarked(joints.to_marked(at)), at);
    }
    // The beginning of the second line may be base64 letters, so it is shown with and without it.
    assert_eq!(views("one1234\n//two2\nthree"), ["one1234two2three\"\n\"one1234//two2three"]);
    // Lines without a word are skipped, and tabs end a line; names are not cut words.
    for text in [
        "one1.\n\n# two2",
        "one1.\n \n#\n\r\n# two2",
        "one1.\ttwo2",
        "one1.\rtwo2",
        "x\none1.\t\t//\t two2\ty",
    ] {
        assert!(shown(text, "one1.two2").is_some(), "{text}: {:?}", views(text));
    }
    assert_eq!(views("* @acme/everyone\n/services/payments/ @acme/web\n"), Vec::<String>::new());
}

#[test]
fn base32_wherever_it_begins() {
    // "a plain text of some length", as `base32` of coreutils writes it.
    let encoded = "MEQHA3DBNFXCA5DFPB2CA33GEBZW63LFEBWGK3THORUA====";
    for before in ["", "x", "XY", "XYZ", "KEY", "KEYKEY", "KEY_"] {
        for encoded in [encoded.to_string(), encoded.to_lowercase()] {
            let text = format!("{before}{encoded} and more");
            assert!(shown(&text, "plain text of some leng").is_some(), "{text}: {:?}", views(&text));
        }
    }
    assert_eq!(shown(encoded, "a plain text of some length"), Some(encoded.trim_end_matches('=')));
}

#[test]
fn base64_wherever_it_begins() {
    let text = "a plain text of some length";
    for before in ["", "x", "xy", "xyz", "KEY_", "a/b/c="] {
        for padding in 0..3 {
            for bytes in [text.to_string(), format!("{}{text}\u{e9}\u{e9}", "\u{ff}".repeat(padding))] {
                for encoded in [STANDARD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
                    let whole = format!("{before}{encoded} and more");
                    let from = shown(&whole, text).unwrap_or_else(|| panic!("{whole}: {:?}", views(&whole)));
                    assert!(
                        from.len() >= text.len() * 4 / 3 && from.len() <= text.len() * 4 / 3 + 2,
                        "{from}"
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the text, every byte of a view has an origin in it.
    #[test]
    fn back_stays_inside(text in "(\\PC|[A-Za-z0-9+/%\\\\\n# \"]){0,400}") {
        for view in of(text.as_bytes()) {
            for at in 0..view.bytes.len() {
                let (start, end) = view.back(at, at + 1);
                prop_assert!(start <= end && end <= text.len(), "{} {} {:?}", start, end, view);
            }
        }
    }

    #[test]
    fn percent_encoding_is_read(text in "[ -~]{1,60}") {
        let encoded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        prop_assert_eq!(shown(&encoded, &text), Some(encoded.as_str()));
    }

    #[test]
    fn base64_is_read(text in "[ -~]{15,90}") {
        let encoded = STANDARD.encode(&text);
        prop_assert!(shown(&encoded, &text).is_some());
    }
}
