use super::*;
use proptest::prelude::*;

fn user(name: &str) -> Owner {
    Owner::User(name.to_string())
}

fn team(organization: &str, team: &str) -> Owner {
    Owner::Team { organization: organization.to_string(), team: team.to_string() }
}

fn email(address: &str) -> Owner {
    Owner::Email(address.to_string())
}

/// The rule in one line, or why it is skipped.
fn read(line: &str) -> Result<Option<(String, Vec<Owner>)>, InvalidReason> {
    let file = CodeOwners::parse(line.as_bytes());
    match (file.rules.as_slice(), file.invalid.as_slice()) {
        ([], []) => Ok(None),
        ([rule], []) => Ok(Some((rule.pattern.clone(), rule.owners.clone()))),
        ([], [invalid]) => Err(invalid.why),
        other => panic!("more than one line in {line:?}: {other:?}"),
    }
}

#[test]
fn lines_without_a_rule() {
    for line in
        ["", " ", "\t \t", "#", "# * @org/team", "   # comment", "#* @org/team", "\u{feff}", "\u{feff}# x"]
    {
        assert_eq!(read(line), Ok(None), "{line:?}");
    }
}

#[test]
fn lines_with_a_rule() {
    let everyone = || vec![team("org", "everyone")];
    let table: Vec<(&str, &str, Vec<Owner>)> = vec![
        ("* @org/everyone", "*", everyone()),
        ("  \t* \t @org/everyone \t ", "*", everyone()),
        ("* @org/everyone\r", "*", everyone()),
        ("\u{feff}* @org/everyone", "*", everyone()),
        ("*.js @js-owner #This is an inline comment.", "*.js", vec![user("js-owner")]),
        ("*.js @js-owner#comment", "*.js", vec![user("js-owner")]),
        ("*.js #@nobody", "*.js", vec![]),
        ("*#@nobody", "*", vec![]),
        ("*.go docs@example.com", "*.go", vec![email("docs@example.com")]),
        (
            "*.go a.b+c%d_e-f@sub-1.example.photography",
            "*.go",
            vec![email("a.b+c%d_e-f@sub-1.example.photography")],
        ),
        ("/build/logs/ @doctocat @octocat", "/build/logs/", vec![user("doctocat"), user("octocat")]),
        (
            "apps/ @octocat @org/team-1_a x@y.io",
            "apps/",
            vec![user("octocat"), team("org", "team-1_a"), email("x@y.io")],
        ),
        ("/apps/github", "/apps/github", vec![]),
        ("apps @user_company", "apps", vec![user("user_company")]),
        ("docs/My\\ File.md @octocat", "docs/My\\ File.md", vec![user("octocat")]),
        ("docs/a\\\tb @octocat", "docs/a\\\tb", vec![user("octocat")]),
        ("\\!important @octocat", "\\!important", vec![user("octocat")]),
        ("a\\\\ @octocat", "a\\\\", vec![user("octocat")]),
        ("a\\[b @octocat", "a\\[b", vec![user("octocat")]),
        ("**/logs @octocat", "**/logs", vec![user("octocat")]),
        ("*/**/* @octocat", "*/**/*", vec![user("octocat")]),
        ("a**\\*b @octocat", "a**\\*b", vec![user("octocat")]),
        ("x?.{a,b}|(c):@+~^_- @octocat", "x?.{a,b}|(c):@+~^_-", vec![user("octocat")]),
        ("größe/日本 @octocat", "größe/日本", vec![user("octocat")]),
        // The first word is always the pattern, even if it looks like an owner.
        ("@octocat @octocat", "@octocat", vec![user("octocat")]),
    ];
    for (line, pattern, owners) in table {
        assert_eq!(read(line), Ok(Some((pattern.to_string(), owners))), "{line:?}");
    }
}

#[test]
fn lines_that_are_skipped() {
    use InvalidReason::*;
    let table = [
        ("!docs/ @octocat", Negation),
        ("  ! @octocat", Negation),
        ("[Documentation]", Section),
        ("[Documentation][2] @octocat", Section),
        ("^[Optional] @octocat", Section),
        ("*.[ch] @octocat", Range),
        ("a] @octocat", Range),
        ("\\#file @octocat", EscapedHash),
        ("file\\#1 @octocat", EscapedHash),
        ("***/*.rb @octocat", TripleAsterisk),
        ("*** @octocat", TripleAsterisk),
        ("a/**** @octocat", TripleAsterisk),
        ("/ @octocat", NeverMatches),
        ("/", NeverMatches),
        ("docs\\", BrokenEscape),
        ("do\u{0}cs @octocat", ControlCharacter),
        ("do\\\u{1}cs @octocat", ControlCharacter),
        ("a\u{c}b @octocat", ControlCharacter),
        ("* octocat", Owner),
        ("* @", Owner),
        ("* @@octocat", Owner),
        ("* @org/", Owner),
        ("* @/team", Owner),
        ("* @org/team/sub", Owner),
        ("* @octo.cat", Owner),
        ("* @octocat,", Owner),
        ("* @octo\u{a0}cat", Owner),
        ("* \\@octocat", Owner),
        ("* name@host", Owner),
        ("* name@host.c", Owner),
        ("* name@.com", Owner),
        ("* @example.com", Owner),
        ("* a@b@example.com", Owner),
        ("* <x@example.com>", Owner),
    ];
    for (line, why) in table {
        assert_eq!(read(line), Err(why), "{line:?}");
        assert!(!why.to_string().is_empty());
    }
}

#[test]
fn a_malformed_owner_costs_only_itself() {
    for (line, owners, malformed) in [
        ("* @octocat, @hubot", vec![user("hubot")], 1),
        ("* a b@example.com", vec![email("b@example.com")], 1),
        ("* @octocat hubot", vec![user("octocat")], 1),
        ("* @octocat @{team} @ @org/team", vec![user("octocat"), team("org", "team")], 2),
        ("* @octocat # hubot", vec![user("octocat")], 0),
    ] {
        let file = CodeOwners::parse(line.as_bytes());
        assert_eq!((&file.rules[0].owners, file.rules[0].malformed), (&owners, malformed), "{line}");
        assert!(file.invalid.is_empty(), "{line}");
    }
}

#[test]
fn owners_are_set_aside_and_lines_without_one_found() {
    let mut file = CodeOwners::parse(b"/a\n* @x @o/t\n/b @o/t\n/c\n/d\n/d @x\n/d2 # nobody\n");
    assert_eq!(file.partition(|line, owner| line == 2 || *owner == user("x")), [(3, team("o", "t"))]);
    let unowned = |line| file.unowned_after(line).iter().map(|rule| rule.line).collect::<Vec<_>>();
    assert_eq!(unowned(2), [3, 4, 7]);
    // Line 2 gives the paths of line 1 an owner again.
    assert_eq!(unowned(0), [3, 4, 7]);
    assert!(unowned(7).is_empty());
}

#[test]
fn line_numbers_and_line_ends() {
    let file = CodeOwners::parse(b"\xef\xbb\xbf# owners\r\n\r\n* @a\r\n!x @b\r\n[S]\n/docs @c d@e.org");
    let lines: Vec<usize> = file.rules.iter().map(|rule| rule.line).collect();
    assert_eq!(lines, [3, 6]);
    let invalid: Vec<usize> = file.invalid.iter().map(|invalid| invalid.line).collect();
    assert_eq!(invalid, [4, 5]);
    assert_eq!(file.owner_count(), 3);
}

#[test]
fn bytes_that_are_not_utf8_spoil_only_their_line() {
    let file = CodeOwners::parse(b"caf\xe9/ @a\n* @b\xff\n* @c\n");
    assert_eq!(file.rules.len(), 2);
    assert_eq!(file.invalid, [InvalidLine { line: 2, why: InvalidReason::Owner }]);
    assert_eq!(file.default_rule(), DefaultRule::Covers { line: 3, owners: 1 });
}

#[test]
fn a_file_in_utf16_has_no_rules() {
    let content: Vec<u8> = "* @octocat\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let file = CodeOwners::parse(&content);
    assert_eq!((file.rules.len(), file.owner_count()), (0, 0));
    assert!(!file.invalid.is_empty());
}

#[test]
fn owners_are_counted_once() {
    let file = CodeOwners::parse(b"a @Org/Team @x\nb @org/team @X x@Example.com\nc X@example.COM\nd\n");
    assert_eq!(file.owner_count(), 3);
    assert_eq!(CodeOwners::parse(b"a\nb\n").owner_count(), 0);
}

#[test]
fn which_patterns_cover_everything() {
    let covers = ["*", "**", "/**", "**/*", "/**/*"];
    let less = [
        "/*", "*.*", "*/**", "*/", "/", "***", "*/*", "**/", "/**/", ".", "\\*", "**.md", "/**/**/x", "?*",
        "# *",
    ];
    for pattern in covers {
        let file = CodeOwners::parse(format!("{pattern} @a @org/b").as_bytes());
        assert_eq!(file.default_rule(), DefaultRule::Covers { line: 1, owners: 2 }, "{pattern}");
    }
    for pattern in less {
        let file = CodeOwners::parse(format!("{pattern} @a").as_bytes());
        assert_eq!(file.default_rule(), DefaultRule::Missing, "{pattern}");
    }
}

#[test]
fn the_last_line_that_covers_everything_decides() {
    let covers = |line, owners| DefaultRule::Covers { line, owners };
    let table = [
        ("", DefaultRule::Missing),
        ("#* @a", DefaultRule::Missing),
        ("# comment\n* @a", covers(2, 1)),
        ("docs/ @b\n* @a", covers(2, 1)),
        ("* @a\ndocs/ @b", covers(1, 1)),
        ("*", DefaultRule::Missing),
        ("* # @a", DefaultRule::Missing),
        ("* a@example.com", covers(1, 1)),
        ("* @a\n* @b @c", covers(2, 2)),
        ("* @a\n** @b @c", covers(2, 2)),
        ("* @a\n*", DefaultRule::CancelledBy { line: 1, by: 2 }),
        ("* @a\n\n/**", DefaultRule::CancelledBy { line: 1, by: 3 }),
        ("* @a\n* @b\n**/*\n**", DefaultRule::CancelledBy { line: 2, by: 4 }),
        ("* @a\n*\n* @b", covers(3, 1)),
        ("*\n*", DefaultRule::Missing),
        // A narrower line removes some files, not everything.
        ("* @a\n/*\n*.*\ndocs/", covers(1, 1)),
        // A skipped line neither covers nor cancels.
        ("* a", DefaultRule::Missing),
        ("* @a\n* b", covers(1, 1)),
        ("* @a\n***", covers(1, 1)),
        ("* @a\n!*", covers(1, 1)),
        ("* @a\r\n", covers(1, 1)),
    ];
    for (content, expected) in table {
        assert_eq!(CodeOwners::parse(content.as_bytes()).default_rule(), expected, "{content:?}");
    }
}

#[test]
fn the_size_the_host_loads() {
    assert!(!is_too_large(0));
    assert!(!is_too_large(3_145_727));
    assert!(is_too_large(3_145_728));
}

/// Worst-case content: a quadratic algorithm would take minutes for any of these.
#[test]
fn hostile_files_take_linear_time() {
    let size = MAXIMUM_SIZE as usize / 8;
    let samples = [
        "*",
        "\\ ",
        "\\",
        "a",
        " ",
        "#",
        "@",
        "* ",
        "@a ",
        "* @a ",
        "/**",
        "**/",
        "*a",
        "\n",
        "*\n",
        "!\n",
        "* @a\n",
        "\r\n",
        "[",
        "é",
        "\u{0}",
        "a@",
        "a.",
        "a@b.",
        "* a@b.cc ",
        "@a/",
    ];
    for sample in samples {
        let unit = sample.len();
        for prefix in ["", "* ", "* @a "] {
            let file = CodeOwners::parse(format!("{prefix}{}", sample.repeat(size / unit)).as_bytes());
            file.default_rule();
            file.owner_count();
            file.unowned_after(0);
        }
    }
}

fn any_owner() -> impl Strategy<Value = Owner> {
    prop_oneof![
        "[A-Za-z0-9][A-Za-z0-9_-]{0,10}".prop_map(Owner::User),
        ("[A-Za-z0-9][A-Za-z0-9-]{0,10}", "[a-z0-9_-]{1,10}")
            .prop_map(|(organization, team)| Owner::Team { organization, team }),
        "[A-Za-z0-9._%+-]{1,10}@[a-z0-9-]{1,8}(\\.[a-z0-9-]{1,8})?\\.[A-Za-z]{2,12}".prop_map(Owner::Email),
    ]
}

fn any_rule() -> impl Strategy<Value = (String, Vec<Owner>)> {
    let pattern = prop_oneof![
        3 => "[a-z./?*_+:@(){}|~é-]{1,3}(\\\\[ a-z*\\\\\\[]|[a-z./_*]){0,6}",
        1 => proptest::sample::select(EVERYTHING.to_vec()).prop_map(str::to_string),
    ];
    let pattern =
        pattern.prop_filter("a valid pattern", |pattern| !pattern.contains("***") && pattern != "/");
    (pattern, proptest::collection::vec(any_owner(), 0..4))
}

proptest! {
    #[test]
    fn a_printed_file_reads_back(
        rules in proptest::collection::vec((any_rule(), "[ \t]{0,3}", "[ \t]{1,3}", "( *#.{0,10})?"), 0..12),
        line_end in proptest::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut text = String::new();
        for ((pattern, owners), indent, between, comment) in &rules {
            text.push_str(indent);
            text.push_str(pattern);
            for owner in owners {
                text.push_str(between);
                text.push_str(&owner.to_string());
            }
            text.push_str(comment);
            text.push_str(line_end);
        }
        let file = CodeOwners::parse(text.as_bytes());
        prop_assert_eq!(&file.invalid, &[]);
        let read: Vec<_> = file.rules.into_iter().map(|rule| (rule.pattern, rule.owners)).collect();
        let written: Vec<_> = rules.into_iter().map(|(rule, ..)| rule).collect();
        prop_assert_eq!(read, written);
    }

    #[test]
    fn never_panics_on_bytes(content in proptest::collection::vec(any::<u8>(), 0..300)) {
        let file = CodeOwners::parse(&content);
        file.default_rule();
        file.owner_count();
    }

    #[test]
    fn every_line_is_read_or_reported_once(content in "([*/a @.#!\\[\\]\\\\\t\r]|\n|@o/t|a@b\\.cc){0,80}") {
        let file = CodeOwners::parse(content.as_bytes());
        let mut lines: Vec<usize> = file.rules.iter().map(|rule| rule.line).collect();
        lines.extend(file.invalid.iter().map(|invalid| invalid.line));
        let count = lines.len();
        lines.sort_unstable();
        lines.dedup();
        prop_assert_eq!(lines.len(), count);
        for (number, line) in (1..).zip(content.split('\n')) {
            let line = line.strip_suffix('\r').unwrap_or(line).trim_matches([' ', '\t']);
            prop_assert_eq!(lines.contains(&number), !line.is_empty() && !line.starts_with('#'), "{}", number);
        }
        if let DefaultRule::Covers { line, owners } = file.default_rule() {
            prop_assert!(owners > 0 && file.rules.iter().any(|rule| rule.line == line));
        }
    }
}
