//! Checks the path to a signing key: whether another user could replace the key.
//!
//! Every directory, link and file that the system traverses on the way to the key is checked, not only the key.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use evidence_os::access::{self, Access};
use evidence_os::file;
use evidence_os::shell;

/// The maximum number of links that the system follows.
const LINKS: usize = 40;
/// Write permission for the group and for others.
const WRITABLE: u32 = 0o022;
/// In a directory with this bit, only the owner of an entry can remove or rename it.
const STICKY: u32 = 0o1000;

/// A part of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathPart {
    Directory,
    Link,
    /// The key itself.
    File,
}

/// Why other users can replace a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", describe(.place, .path, .fault))]
pub struct Weakness {
    place: PathPart,
    path: PathBuf,
    fault: PathFault,
}

/// The fault of a part of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathFault {
    /// Users other than the owner can write there.
    Mode(u32),
    /// The owner is neither root nor the current user.
    Owner(u32),
}

impl Weakness {
    /// What to do about it.
    pub fn help(&self) -> Vec<String> {
        let path = shell::path(&self.path);
        let first = match (self.fault, self.place) {
            (PathFault::Mode(_), PathPart::File | PathPart::Link) => format!("chmod 600 {path}"),
            (PathFault::Mode(mode), PathPart::Directory) => {
                let who = match mode & WRITABLE {
                    0o020 => "g",
                    0o002 => "o",
                    _ => "go",
                };
                format!("chmod {who}-w {path}")
            }
            (PathFault::Owner(uid), _) => format!("run as user {uid}, or make {path} yours with chown"),
        };
        vec![
            first,
            "or move the key to a directory that only you and root can write to, or pass it in a variable \
             (bundle.signing.private_key_env)"
                .to_string(),
        ]
    }
}

fn describe(place: &PathPart, path: &Path, fault: &PathFault) -> String {
    let place = match place {
        PathPart::Directory => "the directory",
        PathPart::Link => "the link",
        PathPart::File => "the file",
    };
    let path = path.display();
    match fault {
        PathFault::Mode(mode) => {
            let who = match mode & WRITABLE {
                0o020 => "its group",
                0o002 => "every user",
                _ => "its group and every user",
            };
            format!("{who} can write to {place} {path} (mode {mode:o})")
        }
        PathFault::Owner(uid) => format!("{place} {path} belongs to user {uid}"),
    }
}

/// The first weakness on the path to the open file. `None` if only its owner and root can replace it, or if files have
/// neither owner nor mode.
///
/// # Errors
///
/// Fails if the path cannot be followed, or leads to another file than the open one.
pub(super) fn weakness(path: &Path, opened: &File) -> io::Result<Option<Weakness>> {
    let me = access::me();
    let mut at = PathBuf::new();
    let mut links = 0;
    // The remaining parts, the next one last.
    let mut ahead = parts(&std::path::absolute(path)?);
    while let Some(part) = ahead.pop() {
        if part == ".." {
            at.pop();
        } else {
            // An absolute part starts over.
            at.push(part);
        }
        let here = at.symlink_metadata()?;
        let place = match here.file_type() {
            kind if kind.is_symlink() => PathPart::Link,
            kind if kind.is_dir() => PathPart::Directory,
            _ => PathPart::File,
        };
        let Some(Access { owner, mode }) = access::of(&here) else { return Ok(None) };
        if let Some(fault) = judge(place, owner, mode, me) {
            return Ok(Some(Weakness { place, path: at, fault }));
        }
        if place == PathPart::Link {
            links += 1;
            if links > LINKS {
                return Err(io::Error::other("too many symbolic links"));
            }
            ahead.extend(parts(&fs::read_link(&at)?));
            at.pop();
        }
    }
    // Only root and this user can change the path just checked. If it leads to the open file now, it did then.
    if file::is_named(opened, &at)? {
        Ok(None)
    } else {
        Err(io::Error::other("it was replaced while it was read"))
    }
}

/// The parts of a path, in reverse order.
fn parts(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// The fault of one part of the path. The mode of a link does not count: a link cannot be written to.
fn judge(place: PathPart, owner: u32, mode: u32, me: u32) -> Option<PathFault> {
    if owner != 0 && owner != me {
        return Some(PathFault::Owner(owner));
    }
    let open = match place {
        PathPart::Directory => mode & WRITABLE != 0 && mode & STICKY == 0,
        PathPart::File => mode & WRITABLE != 0,
        PathPart::Link => false,
    };
    open.then_some(PathFault::Mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_owner_and_mode() {
        let (me, other) = (1000, 1001);
        for place in [PathPart::Directory, PathPart::Link, PathPart::File] {
            for mode in 0..=0o7777 {
                assert_eq!(
                    judge(place, other, mode, me),
                    Some(PathFault::Owner(other)),
                    "{place:?} {mode:o}"
                );
                let open = mode & WRITABLE != 0;
                let expected = match place {
                    PathPart::Directory => open && mode & STICKY == 0,
                    PathPart::File => open,
                    PathPart::Link => false,
                };
                for owner in [0, me] {
                    let fault = judge(place, owner, mode, me);
                    assert_eq!(
                        fault,
                        expected.then_some(PathFault::Mode(mode)),
                        "{place:?} {owner} {mode:o}"
                    );
                }
            }
        }
        // Root may own its own files; another user's files are a fault.
        assert_eq!(judge(PathPart::File, 0, 0o600, 0), None);
        assert_eq!(judge(PathPart::File, me, 0o600, 0), Some(PathFault::Owner(me)));
    }
}
