//! From a name on the command line or behind `extends` to a text.

use super::error::{Wrong, refusal};
use super::shipped::{Role, SHIPPED, Shipped};
use crate::files::{Origin, Place, ReadError, Refusal, Source, read_text};
use crate::units::{Bytes, nearest};
use std::{path::Path, sync::Arc};

/// The longest file that is read. Ten times what a machine with its provenance takes would still fit.
pub(super) const LONGEST: Bytes = Bytes(1 << 20);

/// Finds what the command line calls `name`: a file, else a shipped configuration.
pub(super) fn find(role: Role, name: &str) -> Result<Arc<Source>, Refusal> {
    let path = Path::new(name);
    if path.is_file() {
        return read(path, name);
    }
    match Shipped::find(role, name) {
        Some(shipped) => Ok(from_shipped(shipped)),
        None if path.exists() => read(path, name),
        None => Err(refusal(&Wrong::NotFound { name: name.to_owned() }).remedy(missing_remedy(role, name))),
    }
}

/// Finds what `extends = "name"` in `from` means: a file next to it, else a shipped machine or design.
pub(super) fn find_beside(from: &Source, name: &str, place: Option<&Place>) -> Result<Arc<Source>, Refusal> {
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
        Origin::Given => None,
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
        refusal(&Wrong::NotFound { name: name.to_owned() }).at(place).remedy(remedy)
    })
}

fn from_shipped(shipped: &Shipped) -> Arc<Source> {
    Arc::new(Source {
        name: format!("{} (shipped)", shipped.path),
        text: shipped.text.to_owned(),
        origin: Origin::Shipped(shipped.path),
        line: 1,
    })
}

/// Reads a file that `shown` names.
fn read(path: &Path, shown: &str) -> Result<Arc<Source>, Refusal> {
    let text = read_text(path, LONGEST).map_err(|error| {
        let remedy = match error {
            ReadError::NoFile { .. } => "name a .toml file",
            ReadError::NotText { .. } => "a configuration is TOML, which is UTF-8 text",
            ReadError::TooLong { .. } => "a machine with all its provenance takes a tenth of that",
            ReadError::Unreadable { .. } | ReadError::ByteOrderMark { .. } => "",
        };
        let error = refusal(&Wrong::Unreadable(error));
        if remedy.is_empty() { error } else { error.remedy(remedy) }
    })?;
    if text.trim().is_empty() {
        let error = refusal(&Wrong::Empty { path: shown.to_owned() });
        return Err(error.remedy("see `sealsim list` for configurations to start from"));
    }
    // A pipe has no canonical path, but then nothing extends it either.
    let origin = Origin::File(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    Ok(Arc::new(Source { name: shown.to_owned(), text, origin, line: 1 }))
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
