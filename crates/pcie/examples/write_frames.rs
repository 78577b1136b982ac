//! A write of 600 bytes as frames of a gen5 link, what it costs in credits, and what a receiver makes of a bit that flips.
//! `cargo run -p sealsim-pcie --example write_frames`

use sealsim_pcie::{
    split::{MaxSize, RequestPolicy, RequestSplit},
    wire::{
        frame::{Framed, emit_tlp, read},
        tlp::{Attributes, MemoryOp, TlpRepr, TlpView},
    },
};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (mps, data) = (MaxSize::new(256)?, [0x5a; 600]);
    let (mut stream, mut done) = (Vec::new(), 0);
    for (sequence, piece) in (0..).zip(RequestSplit::new(0x1_0000_0000, 600, mps, RequestPolicy::Greedy)) {
        let header = TlpRepr::memory(MemoryOp::Write, piece, 0x100, 0, Attributes::default());
        let credits = header.credits();
        println!("{} of {} B to {:#x}: {} data credits", header.name(), piece.bytes, piece.address, credits.data);
        let end = done + piece.bytes as usize;
        emit_tlp(&mut stream, sequence, &[header.emit(), &data[done..end]].concat(), false);
        done = end;
    }
    println!("{} B on the link for {done} B of data", stream.len());

    stream[40] ^= 1;
    let mut rest = &stream[..];
    while !rest.is_empty() {
        let (framed, taken) = read(rest)?;
        if let Framed::Tlp(frame) = framed {
            let header = TlpRepr::parse(&TlpView::new_checked(frame.tlp)?)?;
            let verdict = frame.fault().map_or("intact".to_owned(), |fault| fault.to_string());
            println!("frame {}: {} to {:#x}, {verdict}", frame.sequence, header.name(), header.value("address"));
        }
        rest = &rest[taken..];
    }
    Ok(())
}
