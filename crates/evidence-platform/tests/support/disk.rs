//! A small file system that a test fills and frees.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Unmounted on drop, unless it existed before.
pub struct SmallDisk {
    path: PathBuf,
    mounted: Option<TempDir>,
}

impl SmallDisk {
    /// A file system of this many megabytes; `None` if mounting is not permitted.
    pub fn mount(megabytes: u32) -> Option<SmallDisk> {
        let directory = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m,mode=0755");
        let mut mount = Command::new("mount");
        let done = mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(directory.path()).output();
        if done.is_ok_and(|output| output.status.success()) {
            Some(SmallDisk { path: directory.path().to_owned(), mounted: Some(directory) })
        } else {
            super::loudly("SKIPPED: a full disk; mounting a tmpfs needs root");
            None
        }
    }

    /// An existing file system.
    pub fn given(path: &Path) -> SmallDisk {
        SmallDisk { path: path.to_owned(), mounted: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fills it completely.
    pub fn fill(&self) {
        let filler = File::options().create(true).append(true).open(self.filler()).unwrap();
        // In decreasing pieces, or the last page stays free.
        for size in [1 << 20, 4 << 10, 1] {
            let piece = vec![0x5a_u8; size];
            while (&filler).write_all(&piece).is_ok() {}
        }
    }

    pub fn free(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.path.join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.filler());
        if let Some(directory) = &self.mounted {
            // Lazily: a connection may still be closing.
            let _ = Command::new("umount").arg("-l").arg(directory.path()).status();
        }
    }
}
