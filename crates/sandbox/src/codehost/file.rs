//! Entries of a repository's tree, as the contents endpoint shows them.

use bytes::Bytes;

/// One entry of a tree. Directories above a file need no entry of their own.
#[derive(Clone, Debug)]
pub struct File(pub(crate) Node);

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Blob(Bytes),
    Directory,
    Symlink(String),
    Submodule(String),
}

impl File {
    /// A text file.
    pub fn text(content: impl Into<String>) -> Self {
        Self(Node::Blob(Bytes::from(content.into())))
    }

    /// A file of any bytes.
    pub fn bytes(content: impl Into<Vec<u8>>) -> Self {
        Self(Node::Blob(Bytes::from(content.into())))
    }

    /// A directory in place of a file. It holds a `.gitkeep`, since git keeps no empty ones.
    pub fn directory() -> Self {
        Self(Node::Directory)
    }

    /// A symbolic link. A link to a file of the repository appears as that file, any other as a link.
    pub fn symlink(target: impl Into<String>) -> Self {
        Self(Node::Symlink(target.into()))
    }

    /// A submodule: another repository at this path.
    pub fn submodule(git_url: impl Into<String>) -> Self {
        Self(Node::Submodule(git_url.into()))
    }
}
