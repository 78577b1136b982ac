//! Waves of a file, as the reader below the Surfer viewer gives them.

use fst_reader::{FstFilter, FstHierarchyEntry, FstReader, FstSignalValue};
use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::BufReader,
    path::Path,
};

/// By signal and time: its bits from then on.
pub type Waves = BTreeMap<String, BTreeMap<u64, String>>;

pub fn waves(file: &Path) -> Waves {
    let mut reader = FstReader::open(BufReader::new(File::open(file).unwrap())).unwrap();
    let (mut scopes, mut paths, mut waves) = (Vec::new(), HashMap::<_, Vec<String>>::new(), Waves::new());
    let hierarchy = reader.read_hierarchy(|entry| match entry {
        FstHierarchyEntry::Scope { name, .. } => scopes.push(name),
        FstHierarchyEntry::UpScope => drop(scopes.pop()),
        FstHierarchyEntry::Var { name, handle, .. } => {
            let name = name.split(' ').next().unwrap_or_default().to_owned();
            paths.entry(handle.get_index()).or_default().push([&scopes[..], &[name]].concat().join("."));
        }
        _ => {}
    });
    hierarchy.unwrap();
    let read = reader.read_signals(&FstFilter::all(), |time, handle, value| {
        let FstSignalValue::String(bits) = value else { return Ok(()) };
        for path in &paths[&handle.get_index()] {
            let bits = String::from_utf8(bits.to_vec())?;
            waves.entry(path.clone()).or_default().insert(time, bits);
        }
        Ok::<_, std::string::FromUtf8Error>(())
    });
    read.unwrap();
    waves
}
