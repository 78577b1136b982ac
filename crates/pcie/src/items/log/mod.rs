//! Header logs as a Linux kernel prints them after an error, and as `lspci -vv` shows them.
//!
//! ```text
//! pcieport 0000:00:1c.0: AER:   TLP Header: 40000001 0000000f fee00000 00000000
//! pcieport 0000:00:1c.0: AER:   TLP Header: 0x60000001 0x0000000f 0x00000001 0x00000000 E-E Prefixes: 0x91000001
//! pcieport 0000:00:1c.0: AER:   TLP Header (Flit): 0x20000010 ... up to 14 words
//! pcieport 0000:00:1c.0: TLP Prefix Header: dw0, 0x91000001
//! 01:00.0 Non-Volatile memory controller: ...
//!         HeaderLog: 40000001 0000000f fee00000 00000000
//! ```
//!
//! A word is a register of the log, so its most significant byte was sent first. Without flit mode four words are printed, whatever the
//! header's length (`drivers/pci/pcie/tlp.c`); older kernels print prefixes only after a DPC error, on lines of their own
//! (`drivers/pci/pcie/dpc.c`). Logs that firmware reports begin with `aer_tlp_header:` (`drivers/pci/pcie/aer.c`). `lspci` prints the register
//! of every device, zeros where nothing was logged; those are skipped. A line that is cut, wrapped or otherwise unreadable is none.

use sealsim_units::excerpt;
use std::{borrow::Cow, ops::RangeInclusive};
use thiserror::Error;

const MARKERS: [&str; 3] = ["TLP Header", "aer_tlp_header", LSPCI];
const LSPCI: &str = "HeaderLog";
const FLIT: &str = " (Flit)";
/// What is before the word of a prefix on a line of its own.
const PREFIX_LINE: &str = "TLP Prefix Header:";
/// What is before the prefixes of a log, as words.
const PREFIXES: [&str; 2] = ["E-E", "Prefixes:"];
/// Words of a log without flit mode, three where they are all and the header has no more, and with it.
const PLAIN_WORDS: RangeInclusive<usize> = 4..=4;
const THREE_WORDS: RangeInclusive<usize> = 3..=3;
const FLIT_WORDS: RangeInclusive<usize> = 4..=14;
/// Prefixes that the kernel's record has room for.
const PREFIX_WORDS: RangeInclusive<usize> = 1..=10;

/// A word of the log: four bytes as they were sent.
pub(super) type Word = [u8; 4];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Log {
    pub(super) place: String,
    /// The device that logged it, for example `0000:00:1c.0`, if the line names one.
    pub(super) device: Option<String>,
    pub(super) flit: bool,
    pub(super) header: Vec<Word>,
    pub(super) prefixes: Vec<Word>,
    /// Prefixes on lines of their own; in the end, how often one was printed, by a kernel that reads the first register for each.
    pub(super) repeated: usize,
}

/// Why a line is no log.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {fault}")]
pub struct LogError {
    place: String,
    fault: LogFault,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
enum LogFault {
    #[error("behind `{0}` a `:` is due")]
    Colon(&'static str),
    #[error("{word:?} is no word of a header log: that has 8 hexadecimal digits", word = excerpt(.0, 20))]
    Word(String),
    #[error("{have} {what}, but {} are due", due(.need))]
    Count { what: &'static str, have: usize, need: RangeInclusive<usize> },
    #[error("a prefix without the `TLP Header:` line of its device before it")]
    Alone,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) logs: Vec<Log>,
    /// Lines that look like logs and are none.
    pub(super) skipped: Vec<LogError>,
}

fn due(need: &RangeInclusive<usize>) -> String {
    if need.start() == need.end() { need.start().to_string() } else { format!("{} to {}", need.start(), need.end()) }
}

/// All logs in `text`, which messages call `name`. Lines of other kinds are passed over.
pub(super) fn parse(text: &str, name: &str) -> Read {
    let (mut read, mut heading) = (Read::default(), None);
    for (index, line) in text.lines().enumerate() {
        let line = of_journal(line);
        let line = &*uncoloured(&line);
        let place = format!("{name}, line {}", index + 1);
        heading = lspci_device(line).or(heading);
        if let Err(fault) = take(line, &place, heading.as_deref(), &mut read.logs) {
            read.skipped.push(LogError { place, fault });
        }
    }
    read.logs.iter_mut().for_each(Log::unrepeat);
    read
}

impl Log {
    /// Takes words that are all the same for one prefix. A TLP has no prefix twice, and kernels before "PCI/DPC: Fix RP PIO TLP prefix log reading" print the
    /// first register once for each.
    fn unrepeat(&mut self) {
        let same = self.prefixes.windows(2).all(|pair| pair[0] == pair[1]);
        match self.repeated {
            2.. if same => self.prefixes.truncate(1),
            _ => self.repeated = 0,
        }
    }
}

/// The message of a journal in JSON that has escape sequences, which it writes as numbers or with its own escapes; other lines as they are.
fn of_journal(line: &str) -> Cow<'_, str> {
    let message = line.split_once("\"MESSAGE\"").map(|(_, rest)| rest.trim_start_matches([' ', ':']));
    let Some(numbers) = message.and_then(|message| message.strip_prefix('[')) else {
        return if line.contains("\\u001b") { line.replace("\\u001b", "\x1b").into() } else { line.into() };
    };
    let numbers = numbers.split(']').next().unwrap_or_default().split(',');
    let bytes: Vec<u8> = numbers.filter_map(|number| number.trim().parse().ok()).collect();
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// A line without the escape sequences of a terminal.
fn uncoloured(line: &str) -> Cow<'_, str> {
    let mut parts = line.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    let behind = |part: &str| {
        part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').chars().skip(1).collect::<String>()
    };
    let rest: Vec<_> = parts.map(behind).collect();
    if rest.is_empty() { Cow::Borrowed(line) } else { Cow::Owned(first.to_owned() + &rest.concat()) }
}

/// Takes what a line has: a log, or a prefix of the last one.
fn take(line: &str, place: &str, heading: Option<&str>, logs: &mut Vec<Log>) -> Result<(), LogFault> {
    if let Some((before, after)) = line.split_once(PREFIX_LINE) {
        let log = logs.last_mut().filter(|log| !log.flit && log.device == device(before)).ok_or(LogFault::Alone)?;
        let prefix = prefix_line(after)?;
        log.repeated += usize::from(prefix.is_some());
        log.prefixes.extend(prefix);
        return Ok(());
    }
    let Some(Split { marker, before, flit, after }) = split(line)? else { return Ok(()) };
    let (header, prefixes) = words(after, flit, marker.is_empty())?;
    let lspci = marker == LSPCI;
    if lspci && header.iter().all(|word| *word == Word::default()) {
        return Ok(());
    }
    let device = if lspci { heading.map(str::to_owned) } else { device(before) };
    logs.push(Log { place: place.to_owned(), device, flit, header, prefixes, repeated: 0 });
    Ok(())
}

struct Split<'l> {
    marker: &'static str,
    before: &'l str,
    flit: bool,
    after: &'l str,
}

/// What is before and behind the marker, and whether it names flit mode. A line may also be the words alone.
fn split(line: &str) -> Result<Option<Split<'_>>, LogFault> {
    let Some((marker, at)) = MARKERS.iter().find_map(|marker| Some((*marker, line.find(marker)?))) else {
        let words = line.split_whitespace().next().is_some_and(|first| word(first).is_ok());
        return Ok(words.then_some(Split { marker: "", before: "", flit: false, after: line }));
    };
    let (before, after) = (&line[..at], &line[at + marker.len()..]);
    let (flit, after) = after.strip_prefix(FLIT).map_or((false, after), |after| (true, after));
    let after = after.strip_prefix(':').ok_or(LogFault::Colon(marker))?;
    // A journal in JSON has the line in quotes, and other fields behind it.
    let after = after.split('"').next().unwrap_or_default();
    Ok(Some(Split { marker, before, flit, after }))
}

/// Header and prefixes. What is behind enough words and is none is a remark of whoever passed the line on.
fn words(text: &str, flit: bool, alone: bool) -> Result<(Vec<Word>, Vec<Word>), LogFault> {
    let tokens: Vec<_> = text.split_whitespace().collect();
    let prefixes_at = if flit { None } else { tokens.windows(2).position(|pair| pair == PREFIXES) };
    let (header, prefixes) = match prefixes_at {
        Some(at) => (&tokens[..at], Some(&tokens[at + PREFIXES.len()..])),
        None => (&tokens[..], None),
    };
    let three_dw = header.len() == 3 && word(header[0]).is_ok_and(|first| first[0] & 0x20 == 0);
    let need = match flit {
        true => FLIT_WORDS,
        false if three_dw && !alone => THREE_WORDS,
        false => PLAIN_WORDS,
    };
    let header = counted("words", header, need)?;
    let prefixes = prefixes.map(|prefixes| counted("prefixes", prefixes, PREFIX_WORDS)).transpose()?;
    Ok((header, prefixes.unwrap_or_default()))
}

fn counted(what: &'static str, tokens: &[&str], need: RangeInclusive<usize>) -> Result<Vec<Word>, LogFault> {
    let end = tokens.iter().position(|token| word(token).is_err()).filter(|end| end >= need.start());
    let words = tokens[..end.unwrap_or(tokens.len())].iter().map(|token| word(token));
    let words = words.collect::<Result<Vec<_>, _>>()?;
    let have = words.len();
    if need.contains(&have) { Ok(words) } else { Err(LogFault::Count { what, have, need }) }
}

fn word(token: &str) -> Result<Word, LogFault> {
    let digits = token.strip_prefix("0x").unwrap_or(token);
    let mut word = Word::default();
    hex::decode_to_slice(digits, &mut word).map_err(|_| LogFault::Word(token.to_owned()))?;
    Ok(word)
}

/// The prefix of `dw0, 0x91000001`; none if the register is 0, as it is without a prefix.
fn prefix_line(text: &str) -> Result<Option<Word>, LogFault> {
    let tokens: Vec<_> = text.split_whitespace().collect();
    match tokens[..] {
        [_, register] => Ok(Some(word(register)?).filter(|word| *word != Word::default())),
        _ => Err(LogFault::Count { what: "words behind `TLP Prefix Header:`", have: tokens.len(), need: 2..=2 }),
    }
}

/// The last domain, bus, device and function before the marker.
fn device(before: &str) -> Option<String> {
    let mut tokens = before.split_whitespace().map(|token| token.trim_end_matches(':'));
    tokens.rfind(|token| is_device(token)).map(str::to_owned)
}

/// The device whose description by `lspci` begins with this line.
fn lspci_device(line: &str) -> Option<String> {
    let first = line.split(' ').next()?;
    (is_device(first) || is_device(&format!("0000:{first}"))).then(|| first.to_owned())
}

fn is_device(token: &str) -> bool {
    let number = |text: &str, digits: RangeInclusive<usize>| {
        digits.contains(&text.len()) && text.chars().all(|digit| digit.is_ascii_hexdigit())
    };
    let parts: Vec<_> = token.split([':', '.']).collect();
    let [domain, bus, device, function] = parts[..] else { return false };
    number(domain, 4..=8) && number(bus, 2..=2) && number(device, 2..=2) && number(function, 1..=1)
}

#[cfg(test)]
mod tests;
