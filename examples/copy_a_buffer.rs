//! Copies a buffer to a simulated GPU, sealed on its way, and tells how long it took and what limited it.
//!
//! ```text
//! cargo run --release --example copy_a_buffer
//! ```

use sealsim::{
    config::Layers,
    sim::Control,
    system::{self, Received, Request},
};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    // A shipped machine (`sealsim list` names them); a path to a file of your own is as good.
    let machine = Layers::new("h100-nvl-tdx").resolve()?.machine;

    // The bytes are real: they are sealed, cut into packets, carried, checked and opened.
    let buffer: Vec<u8> = (0..1u32 << 20).map(|place| (place % 251) as u8).collect();

    // What arrives is collected here: one clone goes with the request, the other is read after the run.
    let received = Received::new();
    // The way back is `Request::d2h`.
    let request = Request::h2d(buffer.len() as u64).carrying(buffer.clone()).delivering_to(received.clone());

    // The closure is asked now and then, with the simulated time, whether to go on.
    let outcome = system::run(&machine, request, &mut |_| Control::Continue)?;

    // A copy that is not delivered, because a tag was wrong for example, is no error but an outcome.
    let copy = &outcome.copies[0];
    if let Some(reason) = &copy.reason {
        return Err(format!("not delivered: {reason}").into());
    }
    assert_eq!(received.take(), buffer);

    println!("{} bytes in {:.1} us: {:.3} GB/s", copy.bytes, copy.time().seconds() * 1e6, copy.gb_per_s());
    println!("messages: {}, tags found right: {}", copy.messages, copy.tags_verified);
    println!("busiest meanwhile: {}", copy.busiest);

    // Every cycle of every unit is busy, idle, or waiting for something that has a name.
    for unit in &outcome.units {
        println!("{:24} busy for {:8} of {:8} cycles", unit.name, unit.busy, unit.cycles);
    }
    Ok(())
}
