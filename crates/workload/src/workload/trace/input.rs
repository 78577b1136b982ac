//! What a trace is read from, and how far its reading has come.

use super::{
    MAX_EVENTS, Place,
    error::{refused, refused_at},
};
use crate::{
    files::{Refusal, no_file},
    sim::Control,
};
use flate2::bufread::MultiGzDecoder;
use std::{
    cell::{Cell, RefCell},
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    rc::Rc,
};

/// Bytes that are held at a time, and that a format is recognised by.
const BUFFER: usize = 1 << 18;

/// What a trace is read from. Nothing is opened before it is read.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A file, compressed by gzip or not.
    Path(&'a Path),
    Bytes {
        /// How messages call it.
        name: &'a str,
        bytes: &'a [u8],
    },
}

impl Input<'_> {
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Bytes { name, .. } => (*name).to_owned(),
        }
    }

    pub(super) fn length(&self) -> Option<u64> {
        match self {
            Self::Path(path) => path.metadata().ok().filter(std::fs::Metadata::is_file).map(|known| known.len()),
            Self::Bytes { bytes, .. } => Some(bytes.len() as u64),
        }
    }
}

/// How much may be kept of a trace, and whether more was there. All that reads the trace shares it.
#[derive(Debug, Default)]
pub(super) struct Room {
    operations: usize,
    full: Cell<Option<Place>>,
}

impl Room {
    /// Takes note that so many operations, and so many events in all, are kept; `place` is that of the last.
    #[inline]
    pub fn holds(&self, operations: usize, events: u64, place: Place) {
        if (operations > self.operations || events > MAX_EVENTS) && self.full.get().is_none() {
            self.full.set(Some(place));
        }
    }

    /// Refuses what was too much.
    pub fn check(&self, file: &str) -> Result<(), Refusal> {
        let Some(place) = self.full.get() else { return Ok(()) };
        let what = match self.operations {
            usize::MAX => format!("more than {MAX_EVENTS} operations, calls and waits"),
            most => format!("more than {most} operations of the GPU, or {MAX_EVENTS} with calls and waits"),
        };
        Err(refused_at("too_many", file, place, what).remedy("profile fewer steps, or cut the trace to a part of it"))
    }
}

/// Whether to go on, asked with the bytes that were read and the bytes that there are.
pub(super) struct Progress<'a> {
    ask: &'a mut dyn FnMut(u64, Option<u64>) -> Control,
    of: Option<u64>,
    /// Bytes of inputs that are done.
    before: u64,
    room: Rc<Room>,
}

impl<'a> Progress<'a> {
    pub fn new(ask: &'a mut dyn FnMut(u64, Option<u64>) -> Control, of: Option<u64>, operations: usize) -> Self {
        Self { ask, of, before: 0, room: Rc::new(Room { operations, full: Cell::new(None) }) }
    }

    /// Asks, with `read` bytes of the present input read.
    pub fn goes_on(&mut self, read: u64) -> bool {
        self.room.full.get().is_none() && (self.ask)(self.before.saturating_add(read), self.of) == Control::Continue
    }

    pub fn next(&mut self, length: Option<u64>) {
        self.before = self.before.saturating_add(length.unwrap_or(0));
    }
}

/// Why a tape ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    Stopped,
    TooLong,
}

/// Where a tape is. It is shared, so that whoever reads values from the tape sees it too.
#[derive(Debug)]
pub(super) struct Meter {
    line: Cell<u64>,
    /// Bytes that the present item may still take, to within a buffer.
    budget: Cell<u64>,
    halt: Cell<Option<Halt>>,
}

impl Meter {
    /// The line, from 1.
    pub fn line(&self) -> u64 {
        self.line.get()
    }

    /// Lets the next item take about this many bytes.
    pub fn allow(&self, bytes: u64) {
        self.budget.set(bytes);
    }
}

/// The content of an input, unpacked, byte by byte.
pub(super) struct Tape<'a> {
    input: Input<'a>,
    name: String,
    source: Box<dyn Read + 'a>,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    /// Bytes of the input, packed if it is.
    raw: Rc<Cell<u64>>,
    packed: bool,
    meter: Rc<Meter>,
    progress: &'a RefCell<Progress<'a>>,
}

struct Counted<R>(R, Rc<Cell<u64>>);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.set(self.1.get() + read as u64);
        Ok(read)
    }
}

impl<'a> Tape<'a> {
    pub fn open(input: Input<'a>, progress: &'a RefCell<Progress<'a>>) -> Result<Self, Refusal> {
        let name = input.name();
        let unreadable = |error: &dyn std::fmt::Display| refused("unreadable", &name, error.to_string());
        let raw = Rc::new(Cell::new(0));
        let content: Box<dyn Read + 'a> = match input {
            Input::Path(path) => match no_file(path) {
                Some(what) => return Err(unreadable(&format_args!("is {what}, not a file"))),
                None => Box::new(File::open(path).map_err(|error| unreadable(&error))?),
            },
            Input::Bytes { bytes, .. } => Box::new(bytes),
        };
        let mut content = BufReader::with_capacity(BUFFER, Counted(content, Rc::clone(&raw)));
        let packed = content.fill_buf().map_err(|error| unreadable(&error))?.starts_with(b"\x1f\x8b");
        let source: Box<dyn Read + 'a> =
            if packed { Box::new(MultiGzDecoder::new(content)) } else { Box::new(content) };
        let meter = Meter { line: Cell::new(1), budget: Cell::new(u64::MAX), halt: Cell::new(None) };
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Ok(Self { input, name, source, buffer, at: 0, end: 0, raw, packed, meter: Rc::new(meter), progress })
    }

    /// The tape of another input, once this one is read.
    pub fn next(&self, input: Input<'a>) -> Result<Self, Refusal> {
        self.progress.borrow_mut().next(self.input.length());
        Self::open(input, self.progress)
    }

    pub fn input(&self) -> Input<'a> {
        self.input
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Asks whether to go on, with so many bytes of the input read.
    pub fn goes_on(&self, read: u64) -> bool {
        self.progress.borrow_mut().goes_on(read)
    }

    pub fn room(&self) -> Rc<Room> {
        Rc::clone(&self.progress.borrow().room)
    }

    pub fn is_packed(&self) -> bool {
        self.packed
    }

    pub fn meter(&self) -> Rc<Meter> {
        Rc::clone(&self.meter)
    }

    /// The first bytes, which stay to be read.
    pub fn head(&mut self) -> Result<&[u8], Refusal> {
        while self.end < self.buffer.len() {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What is read so far shows the format; that it ends in the middle is reported where it ends.
                Err(error) if self.end == 0 => return Err(self.failure(&error)),
                Err(_) => break,
            }
        }
        Ok(&self.buffer[..self.end])
    }

    /// Passes over a byte-order mark.
    pub fn skip_mark(&mut self) {
        if self.buffer[self.at..self.end].starts_with(b"\xef\xbb\xbf") {
            self.at += 3;
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        if !self.goes_on(self.raw.get()) {
            self.meter.halt.set(Some(Halt::Stopped));
            return Err(io::Error::other("stopped"));
        }
        // What is too long is too long by more than a buffer: counting each byte would cost as much as reading it.
        let budget = self.meter.budget.get();
        if budget == 0 {
            self.meter.halt.set(Some(Halt::TooLong));
            return Err(io::Error::other("too long"));
        }
        self.meter.budget.set(budget.saturating_sub(self.end as u64));
        (self.at, self.end) = (0, 0);
        loop {
            match self.source.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map(|read| self.end = read),
            }
        }
    }

    /// What it means that `goes_on` said no.
    pub fn stopped(&self) -> Refusal {
        self.room().check(&self.name).err().unwrap_or_else(|| refused("stopped", &self.name, "stopped"))
    }

    /// What an error of this reader means.
    pub fn failure(&self, error: &io::Error) -> Refusal {
        self.failure_after("", error)
    }

    /// The same with what was still good in a file that ends early.
    pub fn failure_after(&self, good: &str, error: &io::Error) -> Refusal {
        let new = |kind, what: &str| refused(kind, &self.name, what);
        match (self.meter.halt.get(), error.kind()) {
            (Some(Halt::Stopped), _) => self.stopped(),
            (Some(Halt::TooLong), _) => {
                let what = format!("an item near line {} is too long for any trace", self.meter.line());
                new("syntax", &what).remedy("give the file as the profiler wrote it")
            }
            (None, io::ErrorKind::UnexpectedEof) if self.packed => {
                new("truncated", &format!("the compressed file ends in the middle{good}"))
                    .remedy("copy it again, or profile again")
            }
            (None, _) if self.packed => new("unreadable", &format!("damaged or unreadable: {error}")),
            (None, _) => new("unreadable", &error.to_string()),
        }
    }

    /// How many bytes can be taken at once; 0 at the end.
    pub fn available(&mut self) -> Result<usize, Refusal> {
        let available = self.fill_buf().map(<[u8]>::len);
        available.map_err(|error| self.failure(&error))
    }

    /// Reads `length` bytes into `bytes`, or as many as there are.
    pub fn bytes(&mut self, bytes: &mut Vec<u8>, length: u64) -> Result<(), Refusal> {
        bytes.clear();
        self.meter.allow(length);
        while (bytes.len() as u64) < length {
            let missing = usize::try_from(length).unwrap_or(usize::MAX) - bytes.len();
            let part = self.available()?.min(missing);
            if part == 0 {
                break;
            }
            bytes.extend_from_slice(&self.buffer[self.at..self.at + part]);
            self.consume(part);
        }
        Ok(())
    }

    /// Reads a line without its end, of at most `most` bytes, into `line`. `None`: there is none left.
    pub fn line(&mut self, line: &mut Vec<u8>, most: u64) -> Result<Option<()>, Refusal> {
        line.clear();
        self.meter.allow(most);
        let read = self.read_until(b'\n', line).map_err(|error| self.failure(&error))?;
        self.meter.line.set(self.meter.line.get() + 1);
        while line.last().is_some_and(|byte| [b'\n', b'\r'].contains(byte)) {
            line.pop();
        }
        Ok((read > 0).then_some(()))
    }
}

impl BufRead for Tape<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            self.refill()?;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

impl Read for Tape<'_> {
    /// One byte at a time, so that the line is that of the byte.
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(place) = buffer.first_mut() else { return Ok(0) };
        if self.at == self.end {
            self.refill()?;
        }
        let Some(byte) = self.buffer[..self.end].get(self.at) else { return Ok(0) };
        self.at += 1;
        *place = *byte;
        if *byte == b'\n' {
            self.meter.line.set(self.meter.line.get() + 1);
        }
        Ok(1)
    }
}
