//! Whether two paths are the same file.

use super::Failure;
use crate::files::destination;
use miette::miette;
use std::path::{Path, PathBuf};

/// A file that may be given, with what the command line calls it.
pub(super) type Named<'a> = (&'a str, Option<&'a Path>);

/// Finds a file that is to be written and is also read, or written twice: both names and the path.
fn clash<'a>(read: &[Named<'a>], written: &[Named<'a>]) -> Option<(&'a str, &'a str, PathBuf)> {
    let placed = |(name, path): &Named<'a>| Some((*name, destination((*path)?).ok()?));
    let mut known: Vec<_> = read.iter().filter_map(placed).collect();
    for (name, place) in written.iter().filter_map(placed) {
        if let Some((other, _)) = known.iter().find(|(_, known)| *known == place) {
            return Some((other, name, place));
        }
        known.push((name, place));
    }
    None
}

pub(super) fn refuse_clash(read: &[Named<'_>], written: &[Named<'_>]) -> Result<(), Failure> {
    let Some((one, other, path)) = clash(read, written) else { return Ok(()) };
    let text = format!("{one} and {other} are the same file, {}", path.display());
    Err(Failure::Usage(miette!(help = "write to another file", "{text}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn one_file_by_two_paths_is_a_clash() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        fs::write(path("a"), "").unwrap();
        let (a, same, new, same_new) = (path("a"), path("sub/../a"), path("b"), path("sub/../b"));
        assert!(clash(&[("p", Some(&a))], &[("o", Some(&same))]).is_some());
        assert!(clash(&[("p", None)], &[("o", Some(&new)), ("m", Some(&same_new))]).is_some());
        assert!(clash(&[("p", Some(&a))], &[("o", Some(&new)), ("m", None)]).is_none());
        assert!(clash(&[("p", Some(&a)), ("c", Some(&a))], &[("o", None)]).is_none());
        #[cfg(unix)]
        {
            let link = path("link");
            std::os::unix::fs::symlink("b", &link).unwrap();
            assert!(clash(&[], &[("o", Some(&link)), ("m", Some(&new))]).is_some());
        }
    }
}
