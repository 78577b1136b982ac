//! The file of waves: its head, its hierarchy, its values.

use crate::files::WholeFile;
use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType, FstVarDirection,
    FstVarType, FstWriteError,
};
use std::{
    io::{self, BufWriter},
    path::Path,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signal {
    /// The path of its scope, and its name there.
    pub scope: String,
    pub name: String,
    pub bits: u32,
    /// Nothing where it is not known.
    pub value: Option<u128>,
}

pub(super) type Header = FstHeaderWriter<BufWriter<WholeFile>>;
pub(super) type Body = FstBodyWriter<BufWriter<WholeFile>>;

/// Makes a file whose time unit is 10^`exponent` s.
pub(super) fn create(path: &Path, exponent: i8) -> io::Result<Header> {
    let info = FstInfo {
        start_time: 0,
        timescale_exponent: exponent,
        version: concat!("sealsim ", env!("CARGO_PKG_VERSION")).to_owned(),
        date: String::new(),
        file_type: FstFileType::Verilog,
    };
    let file = BufWriter::new(WholeFile::create_or_open(path)?);
    Header::new(file, &info).map_err(|error| named(path, error))
}

/// Writes the hierarchy; gives what values are written to, and the signals there.
pub(super) fn describe(mut header: Header, signals: &[Signal]) -> Result<(Body, Vec<FstSignalId>), FstWriteError> {
    let mut order: Vec<_> = (0..signals.len()).collect();
    order.sort_by_key(|signal| (signals[*signal].scope.split('.').map(str::to_owned).collect::<Vec<_>>(), *signal));
    let mut ids = vec![None; signals.len()];
    let mut open: Vec<String> = Vec::new();
    for place in order {
        let Signal { scope, name, bits, .. } = &signals[place];
        let parts: Vec<_> = scope.split('.').map(str::to_owned).collect();
        let same = open.iter().zip(&parts).take_while(|(one, other)| one == other).count();
        while open.len() > same {
            header.up_scope()?;
            open.pop();
        }
        for part in &parts[same..] {
            header.scope(part, "", FstScopeType::Module)?;
            open.push(part.clone());
        }
        let kind = FstSignalType::bit_vec(*bits);
        ids[place] = Some(header.var(name, kind, FstVarType::Wire, FstVarDirection::Implicit, None)?);
    }
    for _ in open {
        header.up_scope()?;
    }
    Ok((header.finish()?, ids.into_iter().flatten().collect()))
}

pub(super) fn finish(body: Body, path: &Path) -> io::Result<()> {
    body.finish().map_err(|error| named(path, error)).and_then(WholeFile::keep_buffered)
}

pub(super) fn bits(value: Option<u128>, width: u32) -> Vec<u8> {
    let Some(value) = value else { return vec![b'x'; width as usize] };
    (0..width).rev().map(|bit| b'0' + (value >> bit & 1) as u8).collect()
}

pub(super) fn named(path: &Path, error: FstWriteError) -> io::Error {
    match error {
        // The file has named it.
        FstWriteError::Io(error) => error,
        error => io::Error::other(format!("{}: {error}", path.display())),
    }
}
