//! Whether a pattern of CODEOWNERS matches every path that another one matches.
//!
//! The answer is yes only if it certainly does. Patterns are compared segment by segment: a segment of the broader pattern
//! that treats the wildcards of the other as letters, and still matches, matches whatever they stand for.

/// Longer patterns are only compared as a whole.
const LONGEST: usize = 256;

/// The maximum work for one file, in pairs of compared bytes, so that no file can take long.
const WORK: usize = 50_000_000;

/// The remaining work for one file.
pub(super) struct Comparison(usize);

impl Comparison {
    pub(super) fn new() -> Comparison {
        Comparison(WORK)
    }

    /// Whether one of `broad` matches every path that `narrow` matches.
    pub(super) fn any_covers(&mut self, broad: &[&str], narrow: &str) -> bool {
        for one in broad {
            let work = one.len().saturating_mul(narrow.len()).saturating_add(1);
            let Some(left) = self.0.checked_sub(work) else {
                self.0 = 0;
                return false;
            };
            self.0 = left;
            if covers(one, narrow) {
                return true;
            }
        }
        false
    }
}

/// Whether `broad` matches every path that `narrow` matches.
fn covers(broad: &str, narrow: &str) -> bool {
    let comparable = |pattern: &str| pattern.len() <= LONGEST && !pattern.contains('\\');
    broad == narrow
        || (comparable(broad) && comparable(narrow) && contains(&segments(broad), &segments(narrow)))
}

/// A pattern as segments from the root: `**` stands for any number of directories.
fn segments(pattern: &str) -> Vec<&str> {
    let (path, is_directory) = match pattern.strip_suffix('/') {
        Some(path) => (path, true),
        None => (pattern, false),
    };
    let (path, anchored) = match path.strip_prefix('/') {
        Some(path) => (path, true),
        None => (path, path.contains('/')),
    };
    let mut segments: Vec<&str> = if anchored { Vec::new() } else { vec!["**"] };
    segments.extend(path.split('/'));
    match segments.as_slice() {
        // A directory: everything in it, but not a file of this name.
        _ if is_directory => segments.extend(["*", "**"]),
        // Everything in a directory.
        [.., "**"] => {
            segments.pop();
            segments.extend(["*", "**"]);
        }
        // The files of a directory, without those of its directories.
        [.., before, "*"] if *before != "**" || anchored => {}
        // A file, or a directory with everything in it.
        _ => segments.push("**"),
    }
    segments
}

/// Whether the segments of `broad` match all that those of `narrow` do.
fn contains(broad: &[&str], narrow: &[&str]) -> bool {
    // Row by row: whether the segments of `broad` so far match those of `narrow` up to each place.
    let mut row: Vec<bool> = std::iter::once(true).chain(narrow.iter().map(|_| false)).collect();
    for one in broad {
        let mut next = vec![*one == "**" && row.first() == Some(&true)];
        for (place, other) in narrow.iter().enumerate() {
            let before = row.get(place) == Some(&true);
            let above = row.get(place + 1) == Some(&true);
            next.push(match *one {
                "**" => above || next.get(place) == Some(&true) || before,
                one => before && *other != "**" && segment_contains(one.as_bytes(), other.as_bytes()),
            });
        }
        row = next;
    }
    row.last() == Some(&true)
}

/// Whether the segment `broad` matches all that `narrow` does: its `*` takes any letters and wildcards, its `?` one letter.
fn segment_contains(broad: &[u8], narrow: &[u8]) -> bool {
    let mut row: Vec<bool> = std::iter::once(true).chain(narrow.iter().map(|_| false)).collect();
    for one in broad {
        let mut next = vec![*one == b'*' && row.first() == Some(&true)];
        for (place, other) in narrow.iter().enumerate() {
            let before = row.get(place) == Some(&true);
            next.push(match one {
                b'*' => row.get(place + 1) == Some(&true) || next.get(place) == Some(&true),
                b'?' => before && *other != b'*' && other.is_ascii(),
                one => before && one == other && *other != b'*',
            });
        }
        row = next;
    }
    row.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_certainly_covers() {
        for (broad, narrow, expected) in [
            ("/docs", "/docs", true),
            ("/docs", "/docs/", true),
            ("/docs/", "/docs", false),
            ("docs/", "/docs/", true),
            ("docs/", "/lib/docs/", true),
            ("/docs/", "docs/", false),
            ("/docs", "/docs/private", true),
            ("/docs/", "/docs/private/*.md", true),
            ("/docs/", "/docs/**", true),
            ("/docs/**", "/docs/", true),
            ("/docs/**", "/docs", false),
            ("/docs/*", "/docs/", false),
            ("/docs/*", "/docs/*.md", false),
            ("/docs/*", "/docs/*", true),
            ("/docs/private", "/docs", false),
            ("*.md", "/docs/*.md", true),
            ("*.md", "README.md", true),
            ("*.md", "*.rst", false),
            ("*.md", "*.txt.md", true),
            ("*", "anything", true),
            ("*", "/a/b/c/", true),
            ("**", "/a/b/c/", true),
            ("/**/x", "x", true),
            ("**/x", "/a/x", true),
            ("/a/**/x", "/a/x", true),
            ("/a/**/x", "/a/b/c/x", true),
            ("/a/*/x", "/a/**/x", false),
            ("/a/**/x", "/a/*/x", true),
            ("/lib?", "/lib1", true),
            ("/lib?", "/lib*", false),
            ("/lib?", "/lib?", true),
            ("/lib*", "/lib?", true),
            ("/libx", "/lib", false),
            ("/a/b", "/a/bc", false),
            ("/Docs", "/docs", false),
            ("/a\\ b", "/a\\ b/c", false),
        ] {
            assert_eq!(covers(broad, narrow), expected, "{broad} covers {narrow}");
        }
        let long = "x".repeat(LONGEST + 1);
        assert!(covers(&long, &long));
        assert!(!covers("*", &long));
        assert!(Comparison::new().any_covers(&["x", "*.md"], "/docs/*.md"));
        assert!(!Comparison(3).any_covers(&["x", "*.md"], "/docs/*.md"), "there is an end");
    }

    /// Compared with the paths themselves: what is covered must not match a path that the broader pattern leaves out.
    #[test]
    fn a_pattern_that_covers_leaves_no_path_out() {
        let names = ["a", "b", "ab", "a.md", "b.md"];
        let mut paths: Vec<Vec<&str>> = names.iter().map(|name| vec![*name]).collect();
        for first in names {
            paths.extend(names.iter().map(|second| vec![first, *second]));
            for second in names {
                paths.extend(names.iter().map(|third| vec![first, second, *third]));
            }
        }
        let words = ["a", "*", "a*", "*.md", "?", "**", "b"];
        let mut patterns: Vec<String> = Vec::new();
        for one in words {
            for (start, end) in [("", ""), ("/", ""), ("", "/"), ("/", "/")] {
                patterns.push(format!("{start}{one}{end}"));
                patterns.extend(words.iter().map(|two| format!("{start}{one}/{two}{end}")));
            }
        }
        let matched: Vec<Vec<bool>> = patterns
            .iter()
            .map(|pattern| paths.iter().map(|path| contains(&segments(pattern), path)).collect())
            .collect();
        let mut covered = 0;
        for (broad, of_broad) in patterns.iter().zip(&matched) {
            for (narrow, of_narrow) in patterns.iter().zip(&matched) {
                if covers(broad, narrow) {
                    covered += 1;
                    let left_out =
                        of_broad.iter().zip(of_narrow).position(|(broad, narrow)| *narrow && !broad);
                    assert_eq!(left_out.map(|at| &paths[at]), None, "{broad} covers {narrow}");
                }
            }
        }
        assert!(covered > patterns.len(), "{covered}");
    }
}
