//! A tag prefetcher in a whole machine: it stands between a copy engine and the link, and reads later messages' tags with the one that is asked for.
//! `cargo run --release --example tag_prefetcher`

use sealsim::{
    config::{Layers, MachineSpec},
    gpu::{pce, work::LaunchKind, work::PceWork},
    pcie::packet::{Kind, Payload, Tlp},
    ports,
    sim::{Activity, Control, In, Kernel, Netlist, Now, Out, Stall, Unit, Wake},
    system::{Machine, Outcome, Request},
};
use std::{collections::BTreeMap, collections::BTreeSet, error::Error, mem::replace};

ports! {
    struct Ports { work: (In<PceWork>, Out<PceWork>), requests: (In<Tlp>, Out<Tlp>), completions: (In<Tlp>, Out<Tlp>), }
}

#[derive(Default)]
struct Prefetcher {
    /// Tags that the copy engine will ask for: their messages have been sealed, since their work is here.
    coming: BTreeSet<u64>,
    /// Reads of tags on their way, by their PCIe tags: bytes of each tag, and how many tags.
    reads: BTreeMap<u16, (u32, u64)>,
    /// Tags that were read ahead by their addresses, as far as they have come, and reads that wait for them.
    ahead: BTreeMap<u64, Option<Payload>>,
    waiting: Vec<Tlp>,
}

impl Prefetcher {
    /// Makes a read one of all tags behind it that are coming and in its line of 64 bytes, which one completion carries.
    fn widen(&mut self, read: &mut Tlp) {
        let (bytes, mut next) = (u64::from(read.bytes), read.address + u64::from(read.bytes));
        while next % 64 != 0 && self.coming.remove(&next) {
            self.ahead.insert(next, None);
            next += bytes;
        }
        self.reads.insert(read.tag, (read.bytes, (next - read.address) / bytes));
        read.bytes = (next - read.address) as u32;
    }

    /// Cuts what has come: the first tag goes to the copy engine, the others are kept.
    fn cut(&mut self, completion: Tlp, bytes: u32, tags: u64) -> Tlp {
        let Tlp { address, payload, .. } = &completion;
        let tag = |n: u64| Some(payload.bytes()?.chunks(bytes as usize).nth(n as usize)?.to_vec());
        let tag = |n| tag(n).map_or_else(Payload::none, Payload::of);
        self.ahead.extend((1..tags).map(|n| (address + n * u64::from(bytes), Some(tag(n)))));
        Tlp { bytes, byte_count: bytes, payload: tag(0), ..completion }
    }
}

impl Unit for Prefetcher {
    type Ports = Ports;

    fn tick(&mut self, now: Now, Ports { work, requests, completions }: &mut Ports) -> Wake {
        while let Some(job) = work.0.pop(now.time) {
            if let PceWork::Transfer(job) = &job {
                self.coming.extend((job.kind == LaunchKind::Open).then_some(job.tag));
            }
            work.1.push(now.time, job);
        }
        while let Some(tlp) = completions.0.pop(now.time) {
            let read = self.reads.remove(&tlp.tag).filter(|_| tlp.kind == Kind::Completion);
            completions.1.push(now.time, if let Some((bytes, tags)) = read { self.cut(tlp, bytes, tags) } else { tlp });
        }
        while requests.1.has_room(now.time) {
            let Some(mut tlp) = requests.0.pop(now.time) else { break };
            if tlp.kind == Kind::Read && self.ahead.contains_key(&tlp.address) {
                self.waiting.push(tlp);
                continue;
            } else if self.coming.remove(&tlp.address) {
                self.widen(&mut tlp);
            }
            requests.1.push(now.time, tlp);
        }
        self.waiting.retain(|read| {
            let Some(payload) = self.ahead.get_mut(&read.address).and_then(Option::take) else { return true };
            self.ahead.remove(&read.address);
            completions
                .1
                .push(now.time, Tlp { kind: Kind::Completion, byte_count: read.bytes, payload, ..read.clone() });
            false
        });
        Wake::on_port(if self.waiting.is_empty() { Activity::Idle } else { Activity::Stall(Stall::ReadData) })
    }
}

/// A copy on the machine, with a prefetcher or without.
fn copy(spec: &MachineSpec, kernel: Kernel, prefetches: bool) -> Result<Outcome, Box<dyn Error>> {
    let mut machine = Machine::new(spec, Request { kernel, ..Request::h2d(1 << 20) })?;
    let insert = |net: &mut Netlist, clock, ports: &mut pce::Ports| {
        let (work, to_pce) = net.queue("gpu.prefetcher.work", 1024);
        let (from_pce, requests) = net.queue("gpu.prefetcher.requests", 16);
        let (completions, came) = net.queue("gpu.prefetcher.completions", 1 << 16);
        let work = (replace(&mut ports.work, to_pce), work);
        let requests = (requests, replace(&mut ports.requests, from_pce));
        // The link lets a copy engine sleep until a read has come whole; who passes on each piece looks at each.
        net.signals("gpu.prefetcher").defer_nothing();
        let link = ports.completions.replace(came).expect("it reads host memory");
        let ports = Ports { work, requests, completions: (link, completions) };
        net.add("gpu.prefetcher", clock, Prefetcher::default(), ports);
    };
    if prefetches {
        machine.rewire("gpu.pce0", insert)?;
    }
    Ok(machine.run(&mut |_| Control::Continue)?)
}

/// Shows what it does with messages of a page, eight of them in flight.
pub fn main() -> Result<(), Box<dyn Error>> {
    let spec =
        Layers::new("h100-nvl-tdx").overlay("by-page").set("copy_engine.messages_in_flight=8").resolve()?.machine;
    for prefetches in [false, true] {
        let [skip, every] = [Kernel::Skip, Kernel::EveryCycle].map(|kernel| copy(&spec, kernel, prefetches));
        let (skip, every) = (skip?, every?);
        assert!(skip.copies[0].delivered && skip.event_digest == every.event_digest && skip.end == every.end);
        let (rate, packets) = (skip.copies[0].gb_per_s(), skip.gpus[0].link.d2h.tlps);
        println!("prefetcher: {prefetches:5}, {rate:.3} GB/s, {packets} packets to the host");
    }
    Ok(())
}
