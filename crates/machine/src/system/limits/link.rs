//! What the link and the root complex may limit.

use super::{Direction, Finder, finder::time};
use crate::{sim::Stall, system::machine::Placed};

pub(super) fn find(finder: &mut Finder<'_>) {
    if finder.subject.direction == Direction::D2d {
        return;
    }
    wire(finder);
    credits(finder);
    replay(finder);
    ide(finder);
    root_complex(finder);
    if let Some(above) = finder.switch() {
        switch(finder, above);
    }
}

/// The rate of the wire, and what its TLPs carry in addition to data.
fn wire(finder: &mut Finder<'_>) {
    let ports = [finder.busy("link.host_port"), finder.busy("link.gpu_port")];
    // Reads are asked for the other way.
    let busy = if finder.subject.direction == Direction::D2h { ports[1] } else { finder.most(ports) };
    finder.rate("link.mac_clock", busy);
    // A tenth of a TLP of 256 bytes is not data.
    let overhead = 0.1 * busy.fraction;
    match finder.subject.direction {
        Direction::D2h => finder.remedy("link.max_payload", busy, busy.fraction, overhead),
        _ => finder.remedy("root_complex.completion_payload", busy, busy.fraction, overhead),
    }
    let window = finder.window();
    let bound = window.fraction.max(busy.fraction);
    finder.remedy("link.max_read_request", window, bound, window.fraction * 0.5);
    let flight = time(finder.machine.link.flight, finder.machine.link.mac_clock);
    finder.latency("link.flight", window, flight);
}

/// What the receiver promises to keep.
fn credits(finder: &mut Finder<'_>) {
    let from_gpu = finder.stalled("link.gpu_port", Stall::Credit);
    let from_host = finder.stalled("link.host_port", Stall::Credit);
    let posted = ["posted_headers", "posted_data"];
    let outward = finder.subject.direction == Direction::D2h;
    let of_host = if outward { posted } else { ["non_posted_headers", "non_posted_data"] };
    let of_gpu = if outward { posted } else { ["completion_headers", "completion_data"] };
    let upper = finder.switch().map_or_else(|| "link.host_credits".to_owned(), |switch| switch.path("credits"));
    of_host.iter().for_each(|pool| finder.depth(&format!("{upper}.{pool}"), from_gpu));
    of_gpu.iter().for_each(|pool| finder.depth(&format!("link.gpu_credits.{pool}"), from_host));
    let either = finder.most([from_gpu, from_host]);
    let update = time(finder.machine.link.credit_update, finder.machine.link.mac_clock);
    if either.fraction > 0.0 {
        finder.latency("link.credit_update", either, update);
    }
}

/// The switch between root port and GPU, and the link above it.
fn switch(finder: &mut Finder<'_>, above: &Placed) {
    let outward = finder.subject.direction == Direction::D2h;
    let (down, up) = ("switch.link.host_port", "switch.link.switch_port");
    let own = |field: &str| match &above.spec.link {
        Some(_) => above.path(&format!("link.{field}")),
        None => format!("link.{field}"),
    };
    let busy = if outward { finder.busy(up) } else { finder.most([finder.busy(down), finder.busy(up)]) };
    finder.rate(&own("mac_clock"), busy);
    let (pools, full) = if outward {
        (
            ["posted_headers", "posted_data"].map(|pool| own(&format!("host_credits.{pool}"))),
            finder.stalled(up, Stall::Credit),
        )
    } else {
        let pools = ["completion_headers", "completion_data"];
        (pools.map(|pool| above.path(&format!("credits.{pool}"))), finder.stalled(down, Stall::Credit))
    };
    pools.iter().for_each(|pool| finder.depth(pool, full));
    let window = finder.most([finder.window(), full]);
    finder.latency(&above.path("latency"), window, above.spec.latency);
}

/// What the sender keeps until it is acknowledged.
fn replay(finder: &mut Finder<'_>) {
    let ports = ["link.host_port", "link.gpu_port"];
    let full = finder.most(ports.map(|port| finder.stalled(port, Stall::ReplayFull)));
    finder.depth("link.replay_tlps", full);
    if full.fraction > 0.0 {
        finder.latency("link.ack_latency", full, time(finder.machine.link.ack_latency, finder.machine.link.mac_clock));
    }
    let recovery = finder.most(ports.map(|port| finder.stalled(port, Stall::Recovery)));
    finder.may("link.recovery", recovery, recovery.fraction, recovery.fraction);
}

/// The engines of ports with IDE.
fn ide(finder: &mut Finder<'_>) {
    let stalls = [Stall::AesBusy, Stall::GhashBusy, Stall::Aggregate];
    for (port, name) in [("link.host_port", "host"), ("link.gpu_port", "gpu")] {
        let [aes, ghash, aggregate] = stalls.map(|stall| finder.stalled(port, stall));
        let either = finder.most([aes, ghash, aggregate]);
        for path in finder.numbers(&format!("link.ide.{name}.")) {
            let own = if path.ends_with("multipliers") { ghash } else { aes };
            let bound = if path.ends_with("latency") { 1.0 } else { either.fraction };
            finder.may(path, either, bound, own.fraction);
        }
        for path in ["link.ide.aggregation", "link.ide.flush"] {
            if !finder.numbers(path).is_empty() {
                finder.remedy(path, aggregate, aggregate.fraction.max(0.1), aggregate.fraction);
            }
        }
    }
}

fn root_complex(finder: &mut Finder<'_>) {
    let (spec, secure) = (&finder.machine.root_complex, finder.machine.sealed_path());
    let reads = "host.root_complex.reads";
    let (busy, full) = (finder.busy(reads), finder.stalled(reads, Stall::ReadsInService));
    finder.rate("root_complex.read_interval", busy);
    finder.depth("root_complex.reads_in_service", full);
    let window = finder.most([finder.window(), full]);
    finder.latency("root_complex.read_latency", window, time(spec.read_latency, spec.clock));
    finder.latency("root_complex.read_spread", window, time(spec.read_spread, spec.clock));
    if secure {
        finder.latency("root_complex.secure_read_latency", window, time(spec.secure_read_latency, spec.clock));
    }
    let full = finder.stalled("host.root_complex.writes", Stall::WritesInService);
    finder.depth("root_complex.writes_in_service", full);
    finder.latency("root_complex.write_latency", full, time(spec.write_latency, spec.clock));
}
