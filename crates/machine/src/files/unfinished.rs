//! Files and folders that go with the process, also where it ends in the middle of its work.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

static NOTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes a file or folder that is of use to this process only, and whose name is no other's. Whoever makes it removes it; that it has gone does no harm.
pub fn note_unfinished(path: &Path) {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// Removes all that is noted, for a process that ends now. What cannot be removed stays.
pub fn remove_unfinished() {
    for path in NOTED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
}
