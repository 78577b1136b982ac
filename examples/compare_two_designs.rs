//! Lays two designs over one machine and compares what the same copy costs with each.
//!
//! ```text
//! cargo run --release --example compare_two_designs
//! ```
//!
//! Both check every tag. `h100-cc` lets plaintext out before its tag is checked; `hold` keeps it in quarantine until then.

use sealsim::{
    config::Layers,
    sim::Control,
    system::{self, Request},
};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:10} {:>10} {:>8} {:>12} {:>16}", "design", "time", "GB/s", "exposed for", "in quarantine");
    for design in ["h100-cc", "hold"] {
        // A design is a layer over a machine, and single values may be set above it: `.set("link.max_payload=512B")`.
        let machine = Layers::new("h100-nvl-tdx").overlay(design).resolve()?.machine;

        // Only the timing is asked for: it is the same with bytes, which would take longer to simulate.
        let request = Request::h2d(16 << 20).without_data();
        let outcome = system::run(&machine, request, &mut |_| Control::Continue)?;

        let (copy, tags) = (&outcome.copies[0], &outcome.gpus[0].tag_queue);
        println!(
            "{design:10} {:7.1} us {:8.3} {:9.3} us {:14} B",
            copy.time().seconds() * 1e6,
            copy.gb_per_s(),
            tags.longest_exposure.seconds() * 1e6,
            tags.peak_quarantine_bytes,
        );
    }
    Ok(())
}
