//! A folder for this user only, whatever the umask is, which goes with the process; and the browser, which gets the address with its token from a file in one:
//! everybody on the computer can read the arguments of a program.

use crate::files::note_unfinished;
use std::{
    fs::{DirBuilder, File},
    io::{self, Write},
    path::PathBuf,
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// Makes the folder.
pub fn folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = builder.prefix("sealsim-lab-").tempdir()?;
    note_unfinished(folder.path());
    Ok(folder)
}

/// Writes a file in it, which may be in one more folder.
pub fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = folder.path().join(name);
    let (mut folders, mut options) = (DirBuilder::new(), File::options());
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    path.parent().filter(|parent| !parent.exists()).map_or(Ok(()), |parent| folders.create(parent))?;
    options.write(true).create(true).truncate(true).open(&path)?.write_all(bytes)?;
    Ok(path)
}

/// Opens an address; the file that leads there goes with the folder that this gives. Where there is no desktop, there is no browser.
pub fn open(address: &str) -> Option<TempDir> {
    let (program, first): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/c", "start", ""]),
        _ if std::env::var_os("DISPLAY").or_else(|| std::env::var_os("WAYLAND_DISPLAY")).is_none() => return None,
        _ => ("xdg-open", &[]),
    };
    let page = format!(
        r#"<!DOCTYPE html><meta charset="utf-8"><title>sealsim lab</title><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">sealsim lab</a>"#
    );
    let folder = folder().ok()?;
    let file = write(&folder, "open.html", page.as_bytes()).ok()?;
    let mut command = Command::new(program);
    command.args(first).arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok().then_some(folder)
}
