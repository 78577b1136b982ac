//! Machines and designs.

use super::draw;
use sealsim::config::{Layers, Resolved};
use std::{cell::RefCell, fs};
use tempfile::TempDir;

thread_local! {
    /// Where files are, of which some are read by their path alone.
    static FOLDER: RefCell<TempDir> = RefCell::new(tempfile::tempdir().unwrap());
}

fn file(name: &str, text: &[u8]) -> String {
    FOLDER.with_borrow(|folder| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    })
}

/// What resolves is the same machine when it is written as one file.
fn same(resolved: &Resolved) {
    let written = file("written.toml", resolved.to_toml().unwrap().as_bytes());
    let again = Layers::new(written).resolve().unwrap();
    assert_eq!((&again.digest, &again.machine.link), (&resolved.digest, &resolved.machine.link));
    assert_eq!(Resolved::from_value(&resolved.to_value()).unwrap().digest, resolved.digest);
}

fn held(layers: &Layers) {
    match layers.resolve() {
        Ok(resolved) => same(&resolved),
        Err(error) => draw(error),
    }
}

pub fn machine(input: &[u8]) {
    let layers = Layers::new(file("in.toml", input));
    held(&layers);
    if let Err(error) = layers.resolve_standalone() {
        draw(error);
    }
}

pub fn design(input: &[u8]) {
    held(&Layers::new("h100-nvl-tdx").overlay(file("in.toml", input)));
    // The first line as a setting, too.
    if let Some(line) = super::text(input).and_then(|text| text.lines().next()) {
        held(&Layers::new("h100-nvl-tdx").set(line));
    }
}
