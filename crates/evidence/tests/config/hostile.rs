//! Invalid and hostile files: the decoder rejects each with a specific message, quickly, and without a panic.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use evidence::config::{Config, ConfigFile, MAX_FILE_BYTES, MAX_PROBLEMS};
use proptest::prelude::*;

use super::{MINIMAL, accept, env, fixtures, load, refuse, with_host_line};

/// The time limit for a refusal. It is generous because the machine may be busy; unbounded work would take minutes.
const QUICKLY: Duration = Duration::from_secs(30);

/// The message of a file that has a single problem without a line.
fn whole_file(text: impl AsRef<[u8]>) -> String {
    let error = refuse(text);
    assert_eq!(error.problems.len(), 1, "{error:?}");
    assert_eq!(error.problems[0].line, None);
    error.problems[0].message.clone()
}

fn load_path(path: &Path) -> String {
    let error =
        Config::load(ConfigFile::Named(path), &env()).expect_err("accepted, although it must be refused");
    let rendered = error.render(false);
    assert!(rendered.contains(&path.display().to_string()), "{rendered}");
    error.problems[0].message.clone()
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("evidence.yaml");
    assert_eq!(load_path(&path), "no such file");
    assert_eq!(load_path(directory.path()), "this is a directory, not a file");
    fs::write(&path, MINIMAL).unwrap();
    assert!(Config::load(ConfigFile::Named(&path), &env()).is_ok());
    assert_eq!(load_path(&path.join("below")), "a part of this path is a file, not a directory");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("evidence.yaml");
    fs::write(&path, MINIMAL).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(&path).is_ok() {
        return; // root reads everything
    }
    assert_eq!(load_path(&path), "permission denied");
}

#[test]
fn a_huge_file_is_refused_by_its_size() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("evidence.yaml");
    File::create(&path).unwrap().set_len(100_000_000).unwrap();
    let start = Instant::now();
    assert!(load_path(&path).contains("exceeds 1024 KiB"));
    assert!(start.elapsed() < QUICKLY);

    // A comment can fill the file up to the last allowed byte, but no further.
    let limit = usize::try_from(MAX_FILE_BYTES).unwrap();
    let filled = |bytes: usize| format!("{MINIMAL}#{}", "x".repeat(bytes - MINIMAL.len() - 1));
    fs::write(&path, filled(limit)).unwrap();
    assert!(Config::load(ConfigFile::Named(&path), &env()).is_ok());
    fs::write(&path, filled(limit + 1)).unwrap();
    assert!(load_path(&path).contains("exceeds"));
}

#[cfg(unix)]
#[test]
fn a_device_that_never_ends_is_refused() {
    let start = Instant::now();
    assert!(load_path(Path::new("/dev/zero")).contains("it is a device, not a file"));
    assert!(start.elapsed() < QUICKLY);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert_eq!(whole_file(""), "the file is empty");
    assert_eq!(whole_file(" \n\n  \r\n"), "the file is empty");
    assert_eq!(whole_file("\u{feff}"), "the file is empty");
    assert_eq!(whole_file("# nothing\n"), "the file has no settings");
    assert_eq!(whole_file("---\n...\n"), "the file has no settings");
    assert_eq!(whole_file("null\n"), "the file has no settings");
    assert_eq!(whole_file(b"framework: x\n\0\0"), "the file is binary: it has a NUL byte on line 2");
    assert_eq!(whole_file(b"\x7fELF\x02\x01\x01\0\0"), "the file is binary: it has a NUL byte on line 1");
    assert_eq!(whole_file(b"a: b\nc: \xff\xff\n"), "the file is not UTF-8 text: line 2 has an invalid byte");
    assert_eq!(whole_file(b"\xff\xfef\0r\0"), "the file is UTF-16 text");
    assert_eq!(whole_file(b"\xfe\xff\0f\0r"), "the file is UTF-16 text");
}

#[test]
fn line_ends_and_byte_order_marks_of_other_systems_are_accepted() {
    accept(MINIMAL.replace('\n', "\r\n"));
    accept(format!("\u{feff}{MINIMAL}"));
    accept(format!("---\n{MINIMAL}...\n"));
    accept(format!("%YAML 1.2\n---\n{MINIMAL}"));
    // The column does not count the byte order mark, and the message does not show the carriage return.
    let error = refuse(format!("\u{feff}{}", MINIMAL.replace("acme", "123").replace('\n', "\r\n")));
    assert_eq!((error.problems[0].line, error.problems[0].column), (Some(6), Some(10)));
    assert!(!error.render(false).contains('\r'));
}

#[test]
fn a_column_counts_characters() {
    let error = refuse(MINIMAL.replace("mode: token", "{\"mödé\": 1, mode: token"));
    assert_eq!(error.problems[0].line, Some(5));
    let error = refuse("framework: soc2_type1\n\"é\": 1\n\"ü\": {\"é\": \"é\", b: *x}\n");
    let alias = error.problems.iter().find(|problem| problem.message.contains("alias")).unwrap();
    assert_eq!((alias.line, alias.column), (Some(3), Some(20)));
}

/// U+009B begins an escape sequence, like the two characters ESC and [.
#[test]
fn a_line_is_shown_without_what_a_terminal_obeys() {
    for character in ['\u{1b}', '\u{8a}', '\u{9b}', '\u{7f}', '\u{200b}', '\u{202e}'] {
        for text in [
            format!("*{character}31m\n"),
            format!("framework: *{character}\n"),
            format!("frame: \"{character}\" # {character}\n"),
        ] {
            let rendered = refuse(&text).render(false);
            assert!(!rendered.contains(character), "{rendered:?}");
        }
    }
}

#[test]
fn an_alias_bomb_is_refused_before_it_is_built() {
    let mut bomb = String::from("a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..40 {
        let (name, below) =
            (format!("a{level}"), if level == 1 { "a".to_owned() } else { format!("a{}", level - 1) });
        let aliases = vec![format!("*{below}"); 9].join(", ");
        bomb.push_str(&format!("{name}: &{name} [{aliases}]\n"));
    }
    let start = Instant::now();
    let error = refuse(&bomb);
    let took = start.elapsed();
    println!("an alias bomb took {took:?}");
    assert!(took < QUICKLY);
    assert!(error.problems[0].message.contains("expand to more than"), "{error:?}");

    // One long text, repeated many times.
    let quadratic = format!("a: &a {}\nb: [{}]\n", "x".repeat(400_000), vec!["*a"; 100_000].join(", "));
    let start = Instant::now();
    assert!(refuse(&quadratic).problems[0].message.contains("expand to more than"));
    assert!(start.elapsed() < QUICKLY);

    // The same through merges.
    let mut merges = String::from("m0: &m0 {k0: v}\n");
    for level in 1..2_000 {
        merges.push_str(&format!("m{level}: &m{level} {{<<: *m{}, k{level}: v}}\n", level - 1));
    }
    let start = Instant::now();
    assert!(refuse(&merges).problems.iter().any(|problem| problem.message.contains("expand to more than")));
    assert!(start.elapsed() < QUICKLY);
}

#[test]
fn deep_nesting_is_refused() {
    for deep in [
        "[".repeat(10_000),
        "{a: ".repeat(10_000),
        format!("{}x{}", "[".repeat(10_000), "]".repeat(10_000)),
        (0..10_000).map(|depth| format!("{}a:\n", " ".repeat(depth % 400 + depth / 400))).collect::<String>(),
        "- ".repeat(10_000),
        "? ".repeat(10_000),
    ] {
        let start = Instant::now();
        let error = refuse(&deep);
        assert!(start.elapsed() < QUICKLY, "{}", deep.chars().take(20).collect::<String>());
        assert_eq!(error.problems.len(), 1);
    }
    let message = refuse("[".repeat(10_000)).problems[0].message.clone();
    assert_eq!(message, "lists and mappings nest deeper than 64 levels");
}

#[test]
fn long_lines_are_shown_in_part() {
    let long = "x".repeat(500_000);
    for text in [
        format!("{MINIMAL}{long}: 1\n"),
        format!("{MINIMAL}upload: {{organization_id: \"{long}\", api_url: 5}}\n"),
        with_host_line(&format!("branch: {long}")),
        format!("{MINIMAL}# {long}\nx: 1 # {long}\n"),
        MINIMAL.replace("\"*\"", &format!("[{}]", vec!["acme/x"; 100_000].join(", "))),
    ] {
        let start = Instant::now();
        let rendered = refuse(&text).render(false);
        assert!(start.elapsed() < QUICKLY);
        assert!(rendered.lines().all(|line| line.chars().count() < 400), "a line is too long");
    }
}

#[test]
fn what_is_left_out_of_a_long_list_is_counted() {
    let text: String = (0..50_000).map(|index| format!("k{index}: 1\n")).collect();
    let start = Instant::now();
    let error = refuse(&text);
    let rendered = error.render(false);
    assert!(start.elapsed() < QUICKLY);
    assert_eq!(error.problems.len(), MAX_PROBLEMS);
    assert_eq!(error.count(), 50_000 + 4);
    assert!(rendered.ends_with("50004 problems in evidence.yaml; the first 100 are shown\n"));
}

#[test]
fn nothing_in_a_file_can_move_the_cursor() {
    for text in [
        format!("{MINIMAL}\"\\e[2J\\a\\u202e\": 1\n"),
        with_host_line("branch: \"a\\e[31mb\""),
        MINIMAL.replace("soc2_type1", "\"\\u009b2Jx\\u202e\""),
    ] {
        let rendered = refuse(&text).render(false);
        assert!(
            rendered
                .chars()
                .all(|character| character == '\n' || !character.is_control() && character != '\u{202e}'),
            "{rendered:?}"
        );
    }
}

/// Secrets as people paste them.
const SECRETS: &[&str] = &[
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789",
    "sk-0123456789abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
];

#[test]
fn a_pasted_secret_is_never_shown() {
    for secret in SECRETS {
        for text in [
            with_host_line(&format!("token_env: {secret}")),
            with_host_line(&format!("token_env: \"{secret}\" # {secret}")),
            with_host_line(&format!("token_env: [{secret}]")),
            with_host_line(&format!("token_env: {{a: {secret}}}")),
            with_host_line(&format!("token: {secret}")),
            with_host_line(&format!("{secret}: 1")),
            with_host_line(&format!("? [{secret}]\n    : 1")),
            with_host_line(&format!("branch: *{secret}")),
            with_host_line(&format!("branch: !{secret} a")),
            with_host_line(&format!("timeout_seconds: {secret}")),
            with_host_line(&format!("rate_limit_pause: {secret}")),
            with_host_line(&format!("api_url: https://{secret}@code.example.com")),
            with_host_line(&format!("api_url: https://code.example.com?{secret}")),
            with_host_line(&format!("api_url: {secret}")),
            with_host_line(&format!("controls: {secret}")),
            with_host_line(&format!("controls: [{secret}]")),
            with_host_line(&format!("ca_file: ~{secret}")),
            with_host_line(&format!("token_env: \"{secret}")),
            with_host_line(&format!("token_env: {secret}: x")),
            MINIMAL.replace("\"*\"", &format!("[{secret}, {secret}/{secret}, a/{secret}]")),
            MINIMAL.replace("acme", secret),
            MINIMAL.replace("mode: token", &format!("mode: {secret}")),
            MINIMAL.replace("soc2_type1", secret),
            MINIMAL.replace("sources:", secret),
            MINIMAL.replace("  codehost:", &format!("  {secret}:")),
            format!("{MINIMAL}upload: {secret}\n"),
            format!("{MINIMAL}upload: {{api_key_env: {secret}, tags: {{{secret}: 1}}}}\n"),
            (*secret).to_owned(),
        ] {
            let error = refuse(&text);
            for shown in [error.render(false), error.render(true), error.to_string(), format!("{error:?}")] {
                assert!(!shown.contains(secret), "{text}\n{shown}");
            }
        }
    }
}

#[test]
fn a_pasted_password_is_never_shown() {
    let secret = "correct-horse";
    for text in [
        with_host_line("token_env: correct-horse"),
        with_host_line("password: correct-horse"),
        with_host_line("client-secret: {a: [correct-horse]}"),
        with_host_line("token_env: correct-horse").replace("org: acme", "org: 5"),
        MINIMAL.replace(
            "sources:\n  codehost:\n    mode: token\n    org: acme\n    repos: \"*\"\n",
            "sources: {codehost: {mode: app, token_env: correct-horse, org: 5, repos: \"*\"}}\n",
        ),
        with_host_line("api_url: https://me:correct-horse@code.example.com"),
        with_host_line("api_url: \"https://me:correct-horse@code example\""),
        format!("{MINIMAL}upload: {{api_url: \"https://x.example\", api_key_env: correct-horse}}\n"),
        format!("{MINIMAL}upload: {{api_url: \"https://x.example\", api_key: correct-horse}}\n"),
    ] {
        let error = refuse(&text);
        for shown in [error.render(false), error.to_string(), format!("{error:?}")] {
            assert!(!shown.contains(secret), "{text}\n{shown}");
        }
    }
}

#[test]
fn a_pasted_private_key_is_never_shown() {
    let body = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v1VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";
    let pem = |indent: &str| {
        format!("-----BEGIN PRIVATE KEY-----\n{indent}{body}\n{indent}-----END PRIVATE KEY-----")
    };
    for value in [
        format!("|\n      {}", pem("      ")),
        pem("      "),
        pem(""),
        format!("\"{}\"", pem("      ")),
        format!("|\n      -----BEGIN PRIVATE KEY-----\n      {body}"),
        format!("|\n      {body}"),
        body.to_owned(),
    ] {
        for key in ["private_key_env", "private_key", "passphrase_env", "pem"] {
            let text = MINIMAL.replace("private_key_path: signing-key.pem", &format!("{key}: {value}"));
            let error = refuse(&text);
            for shown in [error.render(false), error.to_string(), format!("{error:?}")] {
                assert!(!shown.contains(body), "{text}\n{shown}");
            }
        }
    }
}

/// YAML syntax, and parts of a configuration.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(vec![
            "\n",
            "\r\n",
            "  ",
            "    ",
            "\t",
            ": ",
            "- ",
            "? ",
            "[",
            "]",
            "{",
            "}",
            ", ",
            "*",
            "&a ",
            "*a",
            "<<: ",
            "!!str ",
            "!x ",
            "|\n",
            ">-\n",
            "\"",
            "'",
            "#",
            " # x\n",
            "---\n",
            "...\n",
            "%YAML 1.2\n",
            "\\",
            "~",
            "null",
            "true",
            "1",
            "1e999",
            "0x",
            ".nan",
            "é",
            "\u{feff}",
            "\u{85}",
            "\u{2028}",
            "@",
            "`",
            "framework",
            "soc2_type1",
            "controls",
            "CC6.1",
            "sources",
            "codehost",
            "mode: token",
            "org: acme",
            "repos: ",
            "bundle:\n",
            "  signing:\n",
            "private_key_path: a",
            "token_env: ",
            "upload",
            "api_url: https://",
            "tags: ",
            "cloud",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,8}",
        "\\PC{0,4}",
    ]
}

/// The decoder accepts or rejects any input, and can render every rejection.
fn survives(bytes: &[u8]) {
    let start = Instant::now();
    if let Err(error) = load(bytes) {
        assert!(!error.problems.is_empty());
        let _ = error.to_string();
        let rendered = error.render(false);
        assert!(rendered.ends_with(" in evidence.yaml\n"), "{rendered}");
        let _ = error.render(true);
        let lines = std::str::from_utf8(bytes).map_or(0, |text| text.split('\n').count());
        assert!(
            error.problems.iter().all(|problem| problem.line.is_none_or(|line| (1..=lines).contains(&line)))
        );
    }
    assert!(start.elapsed() < QUICKLY);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survives(&bytes);
    }

    #[test]
    fn any_text_that_looks_like_yaml_is_survived(fragments in proptest::collection::vec(fragment(), 0..40)) {
        survives(fragments.concat().as_bytes());
    }

    #[test]
    fn a_good_file_with_a_random_change_is_survived(
        at in any::<proptest::sample::Index>(), length in 0..20_usize, put in fragment(),
    ) {
        let text = include_str!("valid/complete.yaml");
        let start = at.index(text.len());
        let mut bytes = text.as_bytes().to_vec();
        bytes.splice(start..(start + length).min(text.len()), put.into_bytes());
        survives(&bytes);
    }

    #[test]
    fn a_secret_put_anywhere_is_never_shown(
        at in any::<proptest::sample::Index>(), tail in "[A-Za-z0-9]{36}", also in fragment(),
    ) {
        let text = include_str!("everything-wrong.yaml");
        let secret = format!("ghp_{tail}");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = at.index(lines.len());
        let changed = &mut lines[line];
        // In place of the value, like a paste.
        let value_at = changed.find(": ").map_or(changed.len(), |colon| colon + 2);
        changed.truncate(value_at);
        changed.push_str(&secret);
        changed.push(' ');
        changed.push_str(&also);
        let error = refuse(lines.join("\n"));
        prop_assert!(!error.render(false).contains(&secret));
        let debug = format!("{error:?}");
        prop_assert!(!debug.contains(&secret));
    }
}

#[test]
fn every_fixture_can_be_cut_anywhere() {
    for (_, bytes) in fixtures("valid") {
        for end in 0..bytes.len() {
            survives(bytes.get(..end).unwrap());
        }
    }
}
