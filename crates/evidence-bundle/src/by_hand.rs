//! The check of a bundle by hand: the one text of the commands, which every page and every bundle shows.

/// The commands, with [`BUNDLE`] and [`KEY`] in the first line. They need GNU tar, gzip, OpenSSL 3 and coreutils, and
/// any shell.
pub const COMMANDS: &str = include_str!("by_hand.sh");
/// The output of the commands for a valid bundle. Any other output, or none, means that the bundle is refused.
pub const GOOD: &str = "Signature Verified Successfully\nEvery byte is signed\n";
/// The name of the bundle in the commands.
pub const BUNDLE: &str = "BUNDLE.tar.gz";
/// The name of the key in the commands.
pub const KEY: &str = "KEY.pub.pem";

/// The commands for a bundle with this name. A name that a shell might interpret is not inserted.
pub fn commands(bundle: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if bundle.is_empty() || !bundle.bytes().all(plain) {
        return COMMANDS.to_owned();
    }
    COMMANDS.replacen(BUNDLE, bundle, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_files() {
        let first = |commands: &str| commands.lines().next().unwrap().to_owned();
        assert_eq!(first(COMMANDS), format!("bundle={BUNDLE} key={KEY} &&"));
        assert_eq!(first(&commands("a-1.tar.gz")), format!("bundle=a-1.tar.gz key={KEY} &&"));
        for name in ["", "a b", "$(id)", "a;b", "'"] {
            assert_eq!(commands(name), COMMANDS, "{name}");
        }
    }

    /// The README of a bundle indents the commands by two columns.
    #[test]
    fn the_commands_fit_into_a_text_of_80_columns() {
        assert!(COMMANDS.lines().all(|line| line.len() <= 78 && line.is_ascii()));
    }
}
