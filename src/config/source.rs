//! From a name on the command line or behind `extends` to a text.

use super::error::{ConfigError, Wrong};
use super::nearest::nearest;
use super::place::{Origin, Place, Source};
use super::shipped::{Role, SHIPPED, Shipped};
use std::{fs, io::Read, path::Path, sync::Arc};

/// The longest file that is read, in bytes. Ten times what a machine with its provenance takes would still fit.
const LONGEST: u64 = 1 << 20;

/// Finds what the command line calls `name`: a file, else a shipped configuration.
pub(super) fn find(role: Role, name: &str) -> Result<Arc<Source>, ConfigError> {
    let path = Path::new(name);
    if path.is_file() {
        return read(path, name);
    }
    match Shipped::find(role, name) {
        Some(shipped) => Ok(from_shipped(shipped)),
        None if path.exists() => read(path, name),
        None => Err(ConfigError::new(Wrong::NotFound { name: name.to_owned() }).remedy(missing_remedy(role, name))),
    }
}

/// Finds what `extends = "name"` in `from` means: a file beside it, else a shipped machine or design.
pub(super) fn find_beside(from: &Source, name: &str, place: Option<&Place>) -> Result<Arc<Source>, ConfigError> {
    let folder = match &from.origin {
        Origin::File(path) => path.parent(),
        Origin::Shipped(path) => {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let wanted = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.path == wanted) {
                return Ok(from_shipped(shipped));
            }
            None
        }
        Origin::CommandLine => None,
    };
    if let Some(path) = folder.map(|folder| folder.join(name)).filter(|path| path.exists()) {
        return read(&path, &path.display().to_string()).map_err(|error| error.at(place));
    }
    let shipped = Shipped::find(Role::Machine, name).or_else(|| Shipped::find(Role::Design, name));
    shipped.map(from_shipped).ok_or_else(|| {
        let remedy = format!(
            "`extends` is a path relative to the file that says it, or one of the shipped {}",
            Shipped::names(Role::Machine).collect::<Vec<_>>().join(", ")
        );
        ConfigError::new(Wrong::NotFound { name: name.to_owned() }).at(place).remedy(remedy)
    })
}

fn from_shipped(shipped: &Shipped) -> Arc<Source> {
    Arc::new(Source {
        name: format!("{} (shipped)", shipped.path),
        text: shipped.text.to_owned(),
        origin: Origin::Shipped(shipped.path),
    })
}

/// Reads a file that `shown` names.
fn read(path: &Path, shown: &str) -> Result<Arc<Source>, ConfigError> {
    let refused = |what: &str| ConfigError::new(Wrong::NotAFile { path: shown.to_owned(), what: what.to_owned() });
    let unreadable = |error| ConfigError::new(Wrong::Unreadable { path: shown.to_owned(), error });
    if path.is_dir() {
        return Err(refused("a directory").remedy("name a .toml file in it"));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LONGEST {
        return Err(refused("longer than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count() + 1;
        refused(&format!("not UTF-8 (line {line}, byte {good})")).remedy("a configuration is TOML, which is UTF-8 text")
    })?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(refused("empty").remedy("see `sealsim list` for configurations to start from"));
    }
    // A pipe has no canonical path, but then nothing extends it either.
    let origin = Origin::File(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    Ok(Arc::new(Source { name: shown.to_owned(), text, origin }))
}

fn missing_remedy(role: Role, name: &str) -> String {
    let (other, hint) = match role {
        Role::Machine => (Role::Design, "a design: put a machine first and add"),
        Role::Design => (Role::Machine, "a machine, which comes without"),
        Role::Engine | Role::Aead => {
            (Role::Design, "a design, which has no engine of its own; it goes over a machine with")
        }
    };
    if Shipped::find(other, name).is_some() {
        return format!("`{name}` is {hint} `--design`");
    }
    let what = match role {
        Role::Machine => "machines",
        Role::Design => "designs",
        Role::Engine | Role::Aead => "engines",
    };
    let others = (role == Role::Engine).then_some(Role::Aead);
    let known = [Some(role), others].into_iter().flatten().flat_map(Shipped::names).collect::<Vec<_>>();
    let guess = nearest(name, known.iter().copied()).map_or(String::new(), |name| format!("did you mean `{name}`? "));
    format!("{guess}shipped {what}: {}", known.join(", "))
}
