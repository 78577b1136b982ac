//! The rules, applied to a decoded launch.

use super::{
    ADDRESS_BITS, Aperture, IV_BYTES, Launch, LaunchError, Location, Operation, Protection, Rule, Side, Space,
    TAG_BYTES, Transfer,
};

/// Largest secure copy that need not be aligned, and the sector that must then hold it.
const SECTOR: u64 = 32;

/// Alignment of tag and IV pointers.
const POINTER_ALIGNMENT: u64 = 16;

pub(super) fn launch(launch: &Launch, confidential: bool, protection: &Protection) -> Result<(), LaunchError> {
    if let Some(semaphore) = &launch.semaphore {
        let (address, size) = (semaphore.address, semaphore.bytes());
        let found = || format!("semaphore of {size} bytes at {address:#x}");
        Rule::SemaphoreAlignment.require(address % size == 0, found)?;
        range("semaphore", address, u128::from(size))?;
    }
    let Some(transfer) = &launch.transfer else { return Ok(()) };
    let count = transfer.lines.map_or(1, |lines| lines.count);
    Rule::SizeZero
        .require(transfer.line_bytes > 0 && count > 0, || format!("{count} lines of {} bytes", transfer.line_bytes))?;
    ranges(transfer)?;
    if transfer.is_secure() {
        Rule::NotConfidential.require(confidential, || "COPY_TYPE is SECURE".into())?;
        alignment(transfer)?;
        pointers(transfer)?;
    }
    if confidential {
        no_peers(transfer)?;
        apertures(transfer)?;
        sides(transfer, protection)?;
    }
    Ok(())
}

fn range(what: &str, address: u64, bytes: u128) -> Result<(), LaunchError> {
    let found = || format!("{what} of {bytes} bytes at {address:#x}");
    Rule::AddressRange.require(u128::from(address) + bytes <= 1 << ADDRESS_BITS, found)
}

fn ranges(transfer: &Transfer) -> Result<(), LaunchError> {
    let (count, pitch_in, pitch_out) = transfer.lines.map_or((1, 0, 0), |l| (l.count, l.pitch_in, l.pitch_out));
    let extent = |pitch| u128::from(count - 1) * u128::from(pitch) + u128::from(transfer.line_bytes);
    if let Some(source) = transfer.source() {
        range("source", source.address, extent(pitch_in))?;
    }
    range("destination", transfer.destination.address, extent(pitch_out))
}

fn alignment(transfer: &Transfer) -> Result<(), LaunchError> {
    let bytes = transfer.line_bytes;
    let ends = [("source", transfer.source()), ("destination", Some(transfer.destination))];
    for (end, address) in ends.iter().filter_map(|(end, at)| at.map(|at| (end, at.address))) {
        let found = || format!("{end} of {bytes} bytes at {address:#x}");
        if bytes > SECTOR {
            Rule::DataAlignment.require(address % SECTOR == 0, found)?;
        } else {
            Rule::OneSector.require(address % SECTOR + bytes <= SECTOR, found)?;
        }
    }
    Ok(())
}

fn pointers(transfer: &Transfer) -> Result<(), LaunchError> {
    let of =
        [(Rule::TagAlignment, "tag", transfer.tag(), TAG_BYTES), (Rule::IvAlignment, "IV", transfer.iv(), IV_BYTES)];
    for (rule, what, at, bytes) in of {
        let Some(at) = at else { continue };
        rule.require(at.address % POINTER_ALIGNMENT == 0, || format!("{what} pointer {:#x}", at.address))?;
        range(what, at.address, u128::from(bytes))?;
    }
    Ok(())
}

fn ends(transfer: &Transfer) -> impl Iterator<Item = Location> {
    transfer.source().into_iter().chain([transfer.destination])
}

fn no_peers(transfer: &Transfer) -> Result<(), LaunchError> {
    let peer = |at: &Location| matches!(at.space, Space::Physical(Aperture::Peer(_)));
    match ends(transfer).find(peer) {
        Some(at) => Rule::PeerMemory.broken(format!("{:?}", at.space)),
        None => Ok(()),
    }
}

fn apertures(transfer: &Transfer) -> Result<(), LaunchError> {
    let is = |at: Location, sysmem: bool| match at.space {
        Space::Virtual => true,
        Space::Physical(aperture) => aperture.is_sysmem() == sysmem,
    };
    let (rule, holds) = match transfer.operation {
        Operation::Encrypt { source, .. } => {
            (Rule::EncryptAperture, is(source, false) && is(transfer.destination, true))
        }
        Operation::Decrypt { source, .. } => {
            (Rule::DecryptAperture, is(source, true) && is(transfer.destination, false))
        }
        _ => (Rule::PlainAperture, ends(transfer).all(|at| is(at, false))),
    };
    rule.require(holds, || format!("from {:?} to {:?}", transfer.source(), transfer.destination))
}

fn sides(transfer: &Transfer, protection: &Protection) -> Result<(), LaunchError> {
    let expect = |what: &str, at: Option<Location>, side: Side| {
        let found = at.and_then(protection);
        let wrong = || format!("{what} at {at:x?} is {found:?}");
        Rule::SecureSides.require(found.is_none_or(|found| found == side), wrong)
    };
    let destination = Some(transfer.destination);
    match transfer.operation {
        Operation::Encrypt { source, .. } => {
            expect("plaintext", Some(source), Side::Protected)?;
            expect("ciphertext", destination, Side::Unprotected)?;
            expect("tag", transfer.tag(), Side::Unprotected)?;
            expect("IV", transfer.iv(), Side::Unprotected)
        }
        Operation::Decrypt { source, .. } => {
            expect("ciphertext", Some(source), Side::Unprotected)?;
            expect("tag", transfer.tag(), Side::Unprotected)?;
            expect("plaintext", destination, Side::Protected)
        }
        Operation::Copy { side, .. } | Operation::Fill { side, .. } => plain_sides(transfer, side, protection),
    }
}

fn plain_sides(transfer: &Transfer, named: Side, protection: &Protection) -> Result<(), LaunchError> {
    let from = transfer.source().and_then(protection);
    let to = protection(transfer.destination);
    if let (Some(from), Some(to)) = (from, to) {
        Rule::MixedProtection.require(from == to, || format!("from {from:?} to {to:?}"))?;
    }
    let found = || format!("COPY_TYPE names {named:?}; the source is {from:?}, the destination {to:?}");
    Rule::CopyType.require([from, to].iter().flatten().all(|side| *side == named), found)
}
