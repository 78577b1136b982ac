//! The registers of a logical copy engine (LCE), and how LAUNCH_DMA reads them.

use super::{
    ADDRESS_BITS, IV_BYTES, MethodError, Rule, SEMAPHORE_BYTES, SUBCHANNEL, TAG_BYTES,
    rule::Broken,
    table::{
        Field, LAUNCH_DMA as L, LINE_LENGTH_IN, METHODS, OFFSET_IN_UPPER, OFFSET_OUT_UPPER, ROWS,
        SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER, SET_ENCRYPT_AUTH_TAG_ADDR_UPPER, SET_ENCRYPT_IV_ADDR_UPPER,
        SET_SECURE_COPY_MODE, SET_SEMAPHORE_A, SET_SEMAPHORE_PAYLOAD, find,
    },
};
use crate::stream::{Launch, LaunchKind, Semaphore};
use std::ops::Range;

/// Largest secure copy that need not be aligned, and the sector that must then hold it.
const SECTOR: u64 = 32;

/// Alignment of tag and IV pointers.
const POINTER_ALIGNMENT: u64 = 16;

const METHOD: Field = Field { high: 11, low: 0 };
const COUNT: Field = Field { high: 28, low: 16 };

/// Bits of a header that are the same in all: opcode, subchannel and the reserved one.
const OPCODE_AND_SUBCHANNEL: u32 = !(METHOD.mask() | COUNT.mask());

/// What of LAUNCH_DMA a run drives; all other fields are zero.
const DRIVEN: [Field; 6] = [
    L::DATA_TRANSFER_TYPE,
    L::FLUSH_ENABLE,
    L::SEMAPHORE_TYPE,
    L::SRC_MEMORY_LAYOUT,
    L::DST_MEMORY_LAYOUT,
    L::COPY_TYPE,
];

/// What LAUNCH_DMA orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Launch(Launch),
    Release(Semaphore),
}

/// The engine as far as methods reach. Registers keep their values from launch to launch and from push to push.
#[derive(Debug, Clone)]
pub struct Lce {
    confidential: bool,
    /// Device memory, which is protected; all else is the host's that the GPU can reach, which is not.
    device: Range<u64>,
    registers: [Option<u32>; ROWS],
}

impl Lce {
    /// An engine with no register written. `confidential` is whether confidential computing is on.
    pub const fn new(confidential: bool, device: Range<u64>) -> Self {
        Self { confidential, device, registers: [None; ROWS] }
    }

    /// What the words of a push order, each with the place of the word that triggers it.
    ///
    /// # Errors
    /// If a word breaks a [`Rule`]. Registers that were written before it stay written.
    pub fn decode(&mut self, words: &[u32]) -> Result<Vec<(usize, Command)>, MethodError> {
        let mut commands = Vec::new();
        let mut next = 0;
        while let Some(&header) = words.get(next) {
            let wrong = |(rule, found)| MethodError { at: 4 * next, word: header, rule, found };
            let count = COUNT.get(header) as usize;
            let data = data_of(header, &words[next + 1..], count).map_err(wrong)?;
            for (place, &word) in data.iter().enumerate() {
                let (method, at) = (4 * (METHOD.get(header) as usize + place), next + 1 + place);
                let wrong = |(rule, found)| MethodError { at: 4 * at, word, rule, found };
                if let Some(command) = self.write(method, word).map_err(wrong)? {
                    commands.push((at, command));
                }
            }
            next += 1 + count;
        }
        Ok(commands)
    }

    /// Takes one method. LAUNCH_DMA gives what it orders; all other methods are remembered.
    fn write(&mut self, method: usize, word: u32) -> Result<Option<Command>, Broken> {
        let row = u16::try_from(method).ok().and_then(find);
        let row = row.ok_or_else(|| (Rule::KnownMethod, format!("no method at {method:#x}")))?;
        let stray = word & METHODS[row].reserved();
        Rule::KnownMethod
            .require(stray == 0, || format!("{} has no field for bits {stray:#010x}", METHODS[row].name))?;
        if METHODS[row].offset != L::OFFSET {
            self.registers[row] = Some(word);
            return Ok(None);
        }
        let unmodelled = word & DRIVEN.iter().fold(u32::MAX, |bits, field| bits & !field.mask());
        Rule::Unmodelled.require(unmodelled == 0, || format!("LAUNCH_DMA sets bits {unmodelled:#010x}"))?;
        match (L::DATA_TRANSFER_TYPE.get(word), L::SEMAPHORE_TYPE.get(word)) {
            (0, 1) => self.release().map(|semaphore| Some(Command::Release(semaphore))),
            (1 | 2, 0) => self.launch(word).map(|launch| Some(Command::Launch(launch))),
            (transfer, semaphore) => {
                Err((Rule::Unmodelled, format!("DATA_TRANSFER_TYPE is {transfer}, SEMAPHORE_TYPE {semaphore}")))
            }
        }
    }

    fn release(&self) -> Result<Semaphore, Broken> {
        let (address, value) = (self.address(SET_SEMAPHORE_A::OFFSET)?, self.read(SET_SEMAPHORE_PAYLOAD::OFFSET)?);
        Rule::SemaphoreAlignment
            .require(address.is_multiple_of(u64::from(SEMAPHORE_BYTES)), || format!("semaphore at {address:#x}"))?;
        below_the_end("semaphore", address, SEMAPHORE_BYTES.into())?;
        Ok(Semaphore { address, value })
    }

    fn launch(&self, word: u32) -> Result<Launch, Broken> {
        let pitch = L::SRC_MEMORY_LAYOUT.get(word) & L::DST_MEMORY_LAYOUT.get(word) == 1;
        Rule::Unmodelled.require(pitch, || "a block-linear layout".into())?;
        let (source, destination) = (self.address(OFFSET_IN_UPPER::OFFSET)?, self.address(OFFSET_OUT_UPPER::OFFSET)?);
        let bytes = u64::from(self.read(LINE_LENGTH_IN::OFFSET)?);
        let (kind, tag, iv) = match L::COPY_TYPE.get(word) {
            0 => (self.plain(source, destination)?, 0, 0),
            1 => self.secure(source, destination)?,
            other => return Err((Rule::Unmodelled, format!("COPY_TYPE is {other}"))),
        };
        Rule::SizeZero.require(bytes > 0, || "a line of 0 bytes".into())?;
        for (end, address) in [("source", source), ("destination", destination)] {
            below_the_end(end, address, bytes)?;
            if kind.is_secure() {
                aligned(end, address, bytes)?;
            }
        }
        let (pipelined, flush) = (L::DATA_TRANSFER_TYPE.get(word) == 1, L::FLUSH_ENABLE.get(word) == 1);
        Ok(Launch { kind, source, destination, bytes, tag, iv, pipelined, flush })
    }

    fn plain(&self, source: u64, destination: u64) -> Result<LaunchKind, Broken> {
        let kind = match (self.device.contains(&source), self.device.contains(&destination)) {
            (false, true) => LaunchKind::Fetch,
            (true, false) => LaunchKind::Store,
            (true, true) => return Ok(LaunchKind::Local),
            (false, false) => return Err((Rule::Unmodelled, "a copy within host memory".into())),
        };
        Rule::MixedProtection.require(!self.confidential, || format!("from {source:#x} to {destination:#x}"))?;
        Ok(kind)
    }

    /// What a secure launch does, its tag pointer, and its IV pointer or 0.
    fn secure(&self, source: u64, destination: u64) -> Result<(LaunchKind, u64, u64), Broken> {
        Rule::NotConfidential.require(self.confidential, || "COPY_TYPE is SECURE".into())?;
        let seals = self.read(SET_SECURE_COPY_MODE::OFFSET)? == 0;
        let (kind, plaintext, ciphertext) =
            if seals { (LaunchKind::Seal, source, destination) } else { (LaunchKind::Open, destination, source) };
        self.protected("plaintext", plaintext, true)?;
        self.protected("ciphertext", ciphertext, false)?;
        let pointer = |what, method, bytes, rule: Rule| {
            let address = self.address(method)?;
            rule.require(address.is_multiple_of(POINTER_ALIGNMENT), || format!("{what} pointer {address:#x}"))?;
            below_the_end(what, address, bytes)?;
            self.protected(what, address, false)?;
            Ok(address)
        };
        if !seals {
            let method = SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER::OFFSET;
            return Ok((kind, pointer("tag", method, TAG_BYTES, Rule::TagAlignment)?, 0));
        }
        let tag = pointer("tag", SET_ENCRYPT_AUTH_TAG_ADDR_UPPER::OFFSET, TAG_BYTES, Rule::TagAlignment)?;
        let iv = pointer("IV", SET_ENCRYPT_IV_ADDR_UPPER::OFFSET, IV_BYTES, Rule::IvAlignment)?;
        Ok((kind, tag, iv))
    }

    fn protected(&self, what: &str, address: u64, wanted: bool) -> Result<(), Broken> {
        let found = self.device.contains(&address);
        let side = || format!("{what} at {address:#x} is {}", if found { "protected" } else { "unprotected" });
        Rule::SecureSides.require(found == wanted, side)
    }

    /// The address whose upper half is at `upper` and whose lower half follows.
    fn address(&self, upper: u16) -> Result<u64, Broken> {
        Ok(u64::from(self.read(upper)?) << 32 | u64::from(self.read(upper + 4)?))
    }

    fn read(&self, method: u16) -> Result<u32, Broken> {
        let row = find(method);
        row.and_then(|row| self.registers[row]).ok_or_else(|| {
            let name = row.map_or("?", |row| METHODS[row].name);
            (Rule::Written, format!("{name} has not been written"))
        })
    }
}

fn data_of(header: u32, behind: &[u32], count: usize) -> Result<&[u32], Broken> {
    let incrementing = header & OPCODE_AND_SUBCHANNEL == 1 << 29 | SUBCHANNEL << 13;
    Rule::Header.require(incrementing, || "a header of another kind".into())?;
    behind.get(..count).ok_or_else(|| (Rule::Header, format!("{count} data words announced, {} present", behind.len())))
}

fn below_the_end(what: &str, address: u64, bytes: u64) -> Result<(), Broken> {
    let found = || format!("{what} of {bytes} bytes at {address:#x}");
    Rule::AddressRange.require(address + bytes <= 1 << ADDRESS_BITS, found)
}

fn aligned(end: &str, address: u64, bytes: u64) -> Result<(), Broken> {
    let found = || format!("{end} of {bytes} bytes at {address:#x}");
    if bytes > SECTOR {
        Rule::DataAlignment.require(address.is_multiple_of(SECTOR), found)
    } else {
        Rule::OneSector.require(address % SECTOR + bytes <= SECTOR, found)
    }
}
