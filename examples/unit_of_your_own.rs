//! A machine of one's own: a root complex, a link, and behind it a reader that is no copy engine. How many reads must be outstanding to fill the link?
//! `cargo run --release --example unit_of_your_own`

use sealsim::{
    config::{Layers, MachineSpec},
    pcie::packet::Tlp,
    pcie::port::{self, Port, RootPorts, Side},
    pcie::root_complex::{self, Domain, NoBytes, RootComplex, RootPort},
    ports,
    sim::{self, Activity, Clock, Control, In, Kernel, Netlist, Now, Order, Out, Signals, Unit, Wake},
    units::Femtos,
};
use std::{cell::RefCell, error::Error, rc::Rc};

const BYTES: u64 = 4 << 20;
const READ: u64 = 512;

ports! {
    struct ReaderPorts { requests: Out<Tlp>, completions: In<Tlp>, signals: Signals, }
}

/// Reads host memory from address 0 on, with at most `window` reads outstanding.
struct Reader {
    window: u64,
    asked: u64,
    came: u64,
}

impl Unit for Reader {
    type Ports = ReaderPorts;

    fn tick(&mut self, now: Now, ports: &mut ReaderPorts) -> Wake {
        while let Some(completion) = ports.completions.pop(now.time) {
            self.came += u64::from(completion.bytes);
        }
        while self.asked < BYTES && self.asked - self.came < self.window * READ && ports.requests.has_room(now.time) {
            ports.requests.push(now.time, Tlp::read((self.asked / READ % 1024) as u16, self.asked, READ as u32));
            self.asked += READ;
        }
        if self.came == BYTES {
            ports.signals.stop();
        }
        Wake::on_port(Activity::Busy)
    }
}

/// GB/s of a reader with so many reads outstanding.
fn rate(machine: &MachineSpec, window: u64) -> Result<f64, Box<dyn Error>> {
    let (link, root, mut net) = (&machine.link, &machine.root_complex, Netlist::new());
    let (mac, root_clock) = (Clock::new(link.mac_clock)?, Clock::new(root.clock)?);
    let (h2d, d2h) = (net.wire("link.h2d", Femtos(1)), net.wire("link.d2h", Femtos(1)));
    let (reads, answers) = (net.wire("root.reads", Femtos(1)), net.wire("root.completions", Femtos(1)));
    let (writes, notices) = (net.queue("root.writes", 64), net.wire("root.notices", Femtos(1)));
    let (requests, completions) = (net.queue("requests", 16), net.queue("completions", 1 << 16));
    let (posted, gpu) = (net.queue("posted", 64), Side::Gpu { first_tag: 0, tags_per_pce: 1024, pces: 1 });
    let (receive, signals) = (vec![writes.0], net.signals("host_port"));
    let root_ports = Some(RootPorts { reads: reads.0, completions: answers.1 });
    let ports = port::Ports { send: vec![], receive, root: root_ports, wire_out: h2d.0, wire_in: d2h.1, signals };
    net.add("host_port", mac, Port::new(link, Side::Host, mac), ports);
    let (receive, signals) = (vec![completions.0, posted.0], net.signals("gpu_port"));
    let ports = port::Ports { send: vec![requests.1], receive, root: None, wire_out: d2h.0, wire_in: h2d.1, signals };
    net.add("gpu_port", mac, Port::new(link, gpu, mac), ports);
    let domains = vec![Domain { memory: Rc::new(RefCell::new(NoBytes)), notices: notices.0 }];
    let root_port = RootPort { reads: reads.1, writes: writes.1, completions: answers.0 };
    let ports = root_complex::Ports { roots: vec![root_port], domains };
    net.add("root", root_clock, RootComplex::new(root, link.read_completion_boundary.0, root_clock)?, ports);
    let ports = ReaderPorts { requests: requests.0, completions: completions.1, signals: net.signals("reader") };
    net.add("reader", mac, Reader { window, asked: 0, came: 0 }, ports);
    net.tie_off("unused", mac, (notices.1, posted.1));
    let run = sim::run(&mut net, Kernel::Skip, Order::Ascending, &mut |_| Control::Continue)?;
    Ok(BYTES as f64 / run.end.seconds() / 1e9)
}

fn main() -> Result<(), Box<dyn Error>> {
    let machine = Layers::new("h100-nvl-tdx").resolve()?.machine;
    for window in [16, 32, 64, 128, 256] {
        println!("{window:4} reads of {READ} B outstanding: {:6.2} GB/s", rate(&machine, window)?);
    }
    Ok(())
}
