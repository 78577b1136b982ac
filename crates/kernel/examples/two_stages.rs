//! A source, a stage that holds each item for five cycles at half the clock, and a sink: how long do ten items take, and where did the time go?
//! `cargo run -p sealsim-kernel --example two_stages`

use sealsim_kernel::units::Frequency;
use sealsim_kernel::{Activity, Clock, Control, In, Kernel, Netlist, Now, Order, Out, Signals, Unit, Wake, ports, run};
use std::error::Error;

const ITEMS: u64 = 10;
const SERVICE: u64 = 5;
/// What a unit waits for that cannot send.
const FULL: u8 = 0;

/// Sends numbers as long as there is room.
struct Source(u64);

impl Unit for Source {
    type Ports = Out<u64>;

    fn tick(&mut self, now: Now, output: &mut Out<u64>) -> Wake {
        while self.0 < ITEMS {
            if !output.has_room(now.time) {
                return Wake::on_port(Activity::Stall(FULL));
            }
            output.push(now.time, self.0);
            self.0 += 1;
        }
        Wake::on_port(Activity::Idle)
    }
}

ports! {
    /// One queue in, one queue out.
    struct StagePorts { input: In<u64>, output: Out<u64>, }
}

/// Holds one item at a time: the cycle in which it is done, and the item.
struct Stage(Option<(u64, u64)>);

impl Unit for Stage {
    type Ports = StagePorts;

    fn tick(&mut self, now: Now, ports: &mut StagePorts) -> Wake {
        if let Some((done, item)) = self.0 {
            if now.cycle < done {
                return Wake::at(done, Activity::Busy);
            }
            if !ports.output.has_room(now.time) {
                return Wake::on_port(Activity::Stall(FULL));
            }
            ports.output.push(now.time, item);
        }
        self.0 = ports.input.pop(now.time).map(|item| (now.cycle + SERVICE, item));
        self.0.map_or(Wake::on_port(Activity::Idle), |(done, _)| Wake::at(done, Activity::Busy))
    }
}

ports! {
    /// A queue in, and the line that ends the run.
    struct SinkPorts { input: In<u64>, signals: Signals, }
}

/// Counts what comes, and ends the run with the last.
struct Sink(u64);

impl Unit for Sink {
    type Ports = SinkPorts;

    fn tick(&mut self, now: Now, ports: &mut SinkPorts) -> Wake {
        while ports.input.pop(now.time).is_some() {
            self.0 += 1;
        }
        if self.0 == ITEMS {
            ports.signals.stop();
        }
        Wake::on_port(Activity::Idle)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for kernel in [Kernel::EveryCycle, Kernel::Skip] {
        let mut net = Netlist::new();
        let (fast, slow) = (Clock::new(Frequency(2_000_000_000))?, Clock::new(Frequency(1_000_000_000))?);
        let (to_stage, from_source) = net.queue("first", 2);
        let (to_sink, from_stage) = net.queue("second", 2);
        net.add("source", fast, Source(0), to_stage);
        net.add("stage", slow, Stage(None), StagePorts { input: from_source, output: to_sink });
        let signals = net.signals("sink");
        net.add("sink", fast, Sink(0), SinkPorts { input: from_stage, signals });

        let run = run(&mut net, kernel, Order::Ascending, &mut |_| Control::Continue)?;
        println!("{kernel:?}: {} after {} ticks", run.end, run.ticks);
        for (unit, account) in net.accounts().iter().zip(&run.accounts) {
            let full: u64 = account.stalls().filter(|stall| stall.0 == FULL).map(|stall| stall.1).sum();
            println!("  {}: busy {}, idle {}, behind a full queue {full}", unit.name, account.busy(), account.idle());
        }
    }
    Ok(())
}
