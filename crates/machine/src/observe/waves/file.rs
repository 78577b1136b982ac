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

/// Changes in memory after which they are written.
const RUN: usize = 16 << 20;

/// What values are written to.
pub(super) struct Values {
    body: FstBodyWriter<BufWriter<WholeFile>>,
    ids: Vec<FstSignalId>,
    /// The last instant that was written.
    at: Option<u64>,
}

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

/// Writes the hierarchy; gives what values are written to.
pub(super) fn describe(mut header: Header, signals: &[Signal]) -> Result<Values, FstWriteError> {
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
    Ok(Values { body: header.finish()?, ids: ids.into_iter().flatten().collect(), at: None })
}

impl Values {
    /// Writes the values that all signals have where the waves begin, unless they have begun.
    pub fn begin(&mut self, signals: &[Signal], at: u64) -> Result<(), FstWriteError> {
        if self.at.is_some() {
            return Ok(());
        }
        self.body.time_change(at)?;
        self.at = Some(at);
        signals.iter().enumerate().try_for_each(|(place, signal)| self.put(place, signal))
    }

    fn put(&mut self, place: usize, signal: &Signal) -> Result<(), FstWriteError> {
        self.body.signal_change(self.ids[place], &bits(signal.value, signal.bits))
    }

    /// Writes what a signal has become. Times do not fall.
    pub fn write(&mut self, place: usize, signal: &Signal, at: u64) -> Result<(), FstWriteError> {
        if self.at < Some(at) {
            // Nothing of an instant may follow what is flushed.
            if self.body.size() > RUN {
                self.body.flush()?;
            }
            self.reach(at)?;
        }
        self.put(place, signal)
    }

    /// Lets the waves, if they have begun, reach to a time.
    pub fn reach(&mut self, at: u64) -> Result<(), FstWriteError> {
        if self.at.is_none_or(|last| last >= at) {
            return Ok(());
        }
        self.at = Some(at);
        self.body.time_change(at)
    }

    pub fn finish(self, path: &Path) -> io::Result<()> {
        self.body.finish().map_err(|error| named(path, error)).and_then(WholeFile::keep_buffered)
    }
}

fn bits(value: Option<u128>, width: u32) -> Vec<u8> {
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
