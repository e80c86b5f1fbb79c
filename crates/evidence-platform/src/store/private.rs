//! Keeps the files of a SQLite database private to the user that runs the platform.

use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use crate::error::Error;

const PRIVATE: u32 = 0o600;

/// Creates the database file if it is absent, and removes the access of other users to it, `-wal` and `-shm`. SQLite
/// creates those with the mode of the database.
///
/// Never opens an existing file: closing it would release SQLite's locks on it in this process.
pub(super) fn make_private(database: &Path) -> Result<(), Error> {
    let made = File::options().write(true).create_new(true).mode(PRIVATE).open(database);
    if let Err(error) = made
        && error.kind() != ErrorKind::AlreadyExists
    {
        return Err(error.into());
    }
    for ending in ["", "-wal", "-shm"] {
        let mut path = database.as_os_str().to_owned();
        path.push(ending);
        let open = fs::metadata(&path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0);
        if open && let Err(error) = fs::set_permissions(&path, Permissions::from_mode(PRIVATE)) {
            let path = Path::new(&path).display();
            let what = format!("{path} is open to other users, and its mode cannot be changed");
            return Err(Error::unusable(what, error));
        }
    }
    Ok(())
}
