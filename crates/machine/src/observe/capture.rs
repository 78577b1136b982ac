//! The packets of links as pcapng, which Wireshark opens.
//!
//! ```text
//!   link.h2d  --+
//!               +--> by arrival --> record header, framing symbols, packet --> pcapng
//!   link.d2h  --+
//! ```
//!
//! Each direction of each link is an interface of link type USER11 (158), with nanoseconds. A packet is the record of a protocol analyser: 20 bytes,
//! little endian, then the packet between the framing symbols of 8b/10b, which distinguish TLPs (0xfb) from DLLPs (0x5c) whatever the link itself uses.
//!
//! A capture from time zero begins with the InitFC DLLPs of both ends, which are exchanged before.
//!
//! | bytes | field |
//! | --- | --- |
//! | 0..4 | number of the record, from 0 |
//! | 4..12 | time of arrival at the receiving port, ns |
//! | 12..14 | LFSR: 0, packets are not scrambled |
//! | 14..16 | bytes of the packet with its symbols; bit 15 set |
//! | 16..20 | bit 28: upstream; 9:8 speed: 1 for 2.5 GT/s, 3 for 5 GT/s, 2 for all above, which the format does not know; 2:0 width: log2 of the lanes |

use super::{
    Window,
    pcapng::{self, APPLICATION, DESCRIPTION, NAME, RESOLUTION},
};
use crate::{
    files::RecordFile,
    pcie::{
        port::{Frame, PacketBytes, initialisation},
        spec::LinkSpec,
    },
    sim::{ChannelTransfer, Listener, Place, Places},
    units::Femtos,
};
use std::{cmp::Reverse, collections::BinaryHeap, io};

/// The link type: reserved for users, and what a public dissector of PCIe captures listens to.
const USER11: u16 = 158;
/// Symbols of 8b/10b that begin a TLP, begin a DLLP, and end either.
const STP: u8 = 0xfb;
const SDP: u8 = 0x5c;
const END: u8 = 0xfd;
/// Packets that wait for those of the other direction that arrive before them: more than there can be in progress.
const WAITING: usize = 1 << 16;

/// Which link a channel of a path belongs to, if any.
pub type Links = Box<dyn Fn(&str) -> Option<LinkSpec>>;

#[derive(Debug)]
struct Interface {
    channel: usize,
    /// What records say of it.
    flags: u32,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    date: Femtos,
    number: u64,
    interface: u32,
    bytes: Vec<u8>,
}

/// A listener that writes the packets of all links.
pub struct Capture {
    file: RecordFile,
    window: Window,
    links: Links,
    interfaces: Vec<Interface>,
    waiting: BinaryHeap<Reverse<Packet>>,
    heard: u64,
    records: u32,
}

impl Capture {
    /// Writes to `file` what arrives in a window.
    pub fn new(file: RecordFile, window: Window, links: Links) -> Self {
        let (interfaces, waiting) = (Vec::new(), BinaryHeap::new());
        Self { file, window, links, interfaces, waiting, heard: 0, records: 0 }
    }

    /// Whether the file cannot be written any more.
    pub const fn in_trouble(&self) -> bool {
        self.file.in_trouble()
    }

    /// Writes what is left; gives the packets written.
    pub fn close(mut self) -> io::Result<u32> {
        while let Some(Reverse(packet)) = self.waiting.pop() {
            self.write(packet);
        }
        self.file.close().map(|()| self.records)
    }

    /// Keeps a packet until those that arrive before it are written.
    fn keep(&mut self, date: Femtos, interface: usize, packet: PacketBytes) {
        self.heard += 1;
        let (number, interface) = (self.heard, interface as u32);
        self.waiting.push(Reverse(Packet { date, number, interface, bytes: framed(packet) }));
        if self.waiting.len() > WAITING
            && let Some(Reverse(packet)) = self.waiting.pop()
        {
            self.write(packet);
        }
    }

    fn write(&mut self, packet: Packet) {
        let data = record(self.records, &packet, self.interfaces[packet.interface as usize].flags);
        self.file.record(|buffer| buffer.extend(pcapng::packet(packet.interface, nanos(packet.date), &data)));
        self.records += 1;
    }
}

/// Ends of paths of channels give the direction.
fn is_upstream(path: &str) -> bool {
    path.contains("d2h")
}

const fn nanos(date: Femtos) -> u64 {
    date.0 / 1_000_000
}

fn flags(upstream: bool, link: &LinkSpec) -> u32 {
    let speed = match link.generation {
        1 => 1,
        2 => 3,
        _ => 2,
    };
    u32::from(upstream) << 28 | speed << 8 | link.lanes.max(1).ilog2() & 7
}

/// A packet behind its record header.
fn record(number: u32, packet: &Packet, flags: u32) -> Vec<u8> {
    let mut data = Vec::with_capacity(20 + packet.bytes.len());
    data.extend(number.to_le_bytes());
    data.extend(nanos(packet.date).to_le_bytes());
    data.extend(0u16.to_le_bytes());
    data.extend((packet.bytes.len() as u16 | 1 << 15).to_le_bytes());
    data.extend(flags.to_le_bytes());
    data.extend(&packet.bytes);
    data
}

/// A packet between its framing symbols.
fn framed(packet: PacketBytes) -> Vec<u8> {
    let (start, bytes) = match packet {
        PacketBytes::Tlp(bytes) => (STP, bytes),
        PacketBytes::Dllp(bytes) => (SDP, bytes.to_vec()),
    };
    let mut framed = Vec::with_capacity(bytes.len() + 2);
    framed.push(start);
    framed.extend(bytes);
    framed.push(END);
    framed
}

impl Listener for Capture {
    fn begin(&mut self, places: &Places) {
        let application = concat!("sealsim ", env!("CARGO_PKG_VERSION"));
        self.file.record(|buffer| buffer.extend(pcapng::section(&[(APPLICATION, application.as_bytes())])));
        for (channel, outline) in places.channels.iter().enumerate() {
            if !self.hears(Place::Channel(outline)) {
                continue;
            }
            let Some(link) = (self.links)(&outline.path) else { continue };
            let upstream = is_upstream(&outline.path);
            let about =
                format!("from {} to {}, generation {} x{}", outline.from, outline.to, link.generation, link.lanes);
            let options = [(NAME, outline.path.as_bytes()), (DESCRIPTION, about.as_bytes()), (RESOLUTION, &[9])];
            self.file.record(|buffer| buffer.extend(pcapng::interface(USER11, &options)));
            self.interfaces.push(Interface { channel, flags: flags(upstream, &link) });
            if self.window.holds(Femtos::ZERO) {
                let own = if upstream { &link.gpu_credits } else { &link.host_credits };
                let dllps = initialisation(own).map(|dllp| PacketBytes::Dllp(dllp.emit_with_crc()));
                dllps.for_each(|dllp| self.keep(Femtos::ZERO, self.interfaces.len() - 1, dllp));
            }
        }
    }

    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(outline) if outline.item == "Frame")
    }

    fn passed(&mut self, transfer: ChannelTransfer<'_>) {
        let interface = self.interfaces.iter().position(|one| one.channel == transfer.channel);
        let packet = transfer.item.downcast_ref::<Frame>().and_then(Frame::packet);
        let (Some(interface), Some(packet)) = (interface, packet) else { return };
        if !self.window.holds(transfer.date) || self.file.in_trouble() {
            return;
        }
        self.keep(transfer.date, interface, packet);
    }
}
