//! Linux and macOS.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _,
    PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};
use tempfile::NamedTempFile;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::terms::{Access, Readers, Stop, not_a_file, posix_word};

pub(crate) const HAS_MODES: bool = true;

pub(crate) fn access(metadata: &Metadata) -> Option<Access> {
    Some(Access { owner: metadata.uid(), mode: metadata.mode() & 0o7777 })
}

pub(crate) fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    file.write_at(bytes, offset)
}

pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Sets the permissions of a new file.
pub(crate) fn mode(options: &mut OpenOptions, readers: Readers) -> &mut OpenOptions {
    options.mode(match readers {
        Readers::Owner => 0o600,
        Readers::Everyone => 0o644,
    })
}

pub(crate) fn make_private(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(0o600))
}

pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The identity of a file under every name: device and inode.
pub(crate) fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

pub(crate) fn identity_of_name(path: &Path) -> io::Result<(u64, u64)> {
    path.symlink_metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

pub(crate) fn names(file: &File) -> io::Result<u64> {
    file.metadata().map(|metadata| metadata.nlink())
}

pub(crate) fn replace<T>(new: NamedTempFile, path: &Path, replaced: T) -> io::Result<File> {
    let file = new.persist(path).map_err(|error| error.error)?;
    drop(replaced);
    Ok(file)
}

pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

pub(crate) fn open_input(path: &Path) -> io::Result<File> {
    // NONBLOCK: a FIFO opens without a writer. NOCTTY: a terminal does not become this process's own.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        // The error for a socket, or for a device without a driver.
        Err(Errno::NXIO) => return Err(not_a_file(io::ErrorKind::InvalidInput, "a socket or a device")),
        Err(error) => return Err(error.into()),
    };
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(not_a_file(io::ErrorKind::IsADirectory, "a directory"))
    } else if kind.is_fifo() {
        Err(not_a_file(io::ErrorKind::InvalidInput, "a FIFO"))
    } else {
        Err(not_a_file(io::ErrorKind::InvalidInput, "a device"))
    }
}

pub(crate) fn caches(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, &'static str> {
    variable("HOME").map(|home| home.join(".cache")).ok_or("neither XDG_CACHE_HOME nor HOME is set")
}

pub(crate) fn keep_memory_private() -> io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    // The limit alone has no effect if the kernel pipes core dumps to a program.
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

pub(crate) fn shell_word(text: &str) -> String {
    posix_word(text)
}

pub(crate) struct Signals {
    interrupted: Signal,
    terminated: Signal,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Signals> {
        let (interrupted, terminated) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Signals { interrupted, terminated })
    }

    pub(crate) async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.interrupted.recv() => Stop::Interrupted,
            _ = self.terminated.recv() => Stop::Terminated,
        }
    }
}
