//! Other units in a finished machine: in the place of one of its own, or in front of one of its ports.

use super::{
    clock::Clock,
    netlist::Netlist,
    unit::{Ends, Place, TiedOff, Unit},
    wake::UnitId,
};
use std::marker::PhantomData;
use thiserror::Error;

/// Why a unit stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExchangeError {
    #[error("there is no unit `{path}` here; there are {}", known.join(", "))]
    Unknown { path: String, known: Vec<String> },
    #[error("the ports of `{path}` are `{has}`, and not `{given}`")]
    Ports { path: String, has: &'static str, given: &'static str },
    #[error("`{path}` can be exchanged before the machine runs and before somebody listens to it, and not later")]
    Begun { path: String },
}

impl Netlist {
    /// Puts `unit` in the place of the one at `path`: it has that one's clock and its ports.
    pub fn replace<U: Unit>(&mut self, path: &str, unit: U) -> Result<(), ExchangeError> {
        let number = self.open::<U::Ports>(path)?;
        let ports = std::mem::replace(&mut self.units[number], nothing()).into_ports();
        let ports = ports.downcast().expect("the type of the ports was looked at");
        self.units[number] = Box::new(Place { unit, ports: *ports });
        Ok(())
    }

    /// Lets `wire` exchange ends among the ports of the unit at `path`, and add what they then lead to: so units get in front of a port. It is given the
    /// unit's clock. An end that neither this unit nor another one then holds is an [open end](super::NetlistError::OpenEnd) when the machine is to run.
    pub fn rewire<P: Ends + 'static>(
        &mut self,
        path: &str,
        wire: impl FnOnce(&mut Self, Clock, &mut P),
    ) -> Result<(), ExchangeError> {
        let number = self.open::<P>(path)?;
        let mut placed = std::mem::replace(&mut self.units[number], nothing());
        let clock = self.units()[number].clock;
        let ports = placed.ports().downcast_mut::<P>().expect("the type of the ports was looked at");
        ports.each_end(&mut |end| end.attach(UnitId::NONE));
        wire(self, clock, ports);
        ports.each_end(&mut |end| end.attach(UnitId(number as u16)));
        self.units[number] = placed;
        Ok(())
    }

    /// The number of the unit at `path`, which has ports of this type and may be exchanged.
    fn open<P: 'static>(&mut self, path: &str) -> Result<usize, ExchangeError> {
        let Some(number) = self.units().iter().position(|unit| unit.name == path) else {
            let known = self.units().iter().map(|unit| unit.name.clone()).collect();
            return Err(ExchangeError::Unknown { path: path.to_owned(), known });
        };
        if self.begun || self.is_heard() {
            return Err(ExchangeError::Begun { path: path.to_owned() });
        }
        let placed = &mut self.units[number];
        if !placed.ports().is::<P>() {
            let (has, given) = (placed.ports_name(), std::any::type_name::<P>());
            return Err(ExchangeError::Ports { path: path.to_owned(), has, given });
        }
        Ok(number)
    }
}

/// What stands in a place for as long as its unit is out of it.
fn nothing() -> Box<Place<TiedOff<()>>> {
    Box::new(Place { unit: TiedOff(PhantomData), ports: () })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Activity, Control, In, Kernel, NetlistError, Now, Order, Out, Signals, SimulationError, Wake, run};
    use crate::{ports, units::Frequency};

    ports! {
        struct Sends { out: Out<u64>, }
    }

    ports! {
        struct Adds { input: In<u64>, out: Out<u64>, }
    }

    ports! {
        struct Ends10 { input: In<u64>, signals: Signals, }
    }

    struct Sender(u64);

    impl Unit for Sender {
        type Ports = Sends;

        fn tick(&mut self, now: Now, ports: &mut Sends) -> Wake {
            if ports.out.has_room(now.time) {
                ports.out.push(now.time, self.0);
            }
            Wake::at(now.cycle + 1, Activity::Busy)
        }
    }

    struct Adder;

    impl Unit for Adder {
        type Ports = Adds;

        fn tick(&mut self, now: Now, ports: &mut Adds) -> Wake {
            while let Some(item) = ports.input.pop(now.time) {
                ports.out.push(now.time, item + 1);
            }
            Wake::on_port(Activity::Busy)
        }
    }

    struct Sink {
        seen: Vec<u64>,
    }

    impl Unit for Sink {
        type Ports = Ends10;

        fn tick(&mut self, now: Now, ports: &mut Ends10) -> Wake {
            while let Some(item) = ports.input.pop(now.time) {
                self.seen.push(item);
            }
            if self.seen.len() >= 10 {
                ports.signals.stop();
            }
            Wake::on_port(Activity::Busy)
        }
    }

    fn machine() -> (Netlist, crate::Key<Sink>) {
        let (mut net, clock) = (Netlist::new(), Clock::new(Frequency(1_000_000_000)).unwrap());
        let (out, input) = net.queue("items", 4);
        net.add("sender", clock, Sender(1), Sends { out });
        let signals = net.signals("sink");
        let sink = net.add("sink", clock, Sink { seen: Vec::new() }, Ends10 { input, signals });
        (net, sink)
    }

    fn seen((mut net, sink): (Netlist, crate::Key<Sink>)) -> Result<Vec<u64>, SimulationError> {
        run(&mut net, Kernel::Skip, Order::Ascending, &mut |_| Control::Continue)?;
        Ok(net.unit(&sink).seen.clone())
    }

    #[test]
    fn another_unit_sends_by_the_same_port() {
        let (mut net, sink) = machine();
        net.replace("sender", Sender(7)).unwrap();
        assert_eq!(seen((net, sink)).unwrap(), [7; 10]);
    }

    #[test]
    fn a_unit_gets_in_front_of_a_port() {
        let (mut net, sink) = machine();
        net.rewire("sink", |net, clock, ports: &mut Ends10| {
            let (out, nearer) = net.queue("added", 4);
            let input = std::mem::replace(&mut ports.input, nearer);
            net.add("adder", clock, Adder, Adds { input, out });
        })
        .unwrap();
        assert_eq!(seen((net, sink)).unwrap(), [2; 10]);
    }

    #[test]
    fn an_end_that_was_dropped_is_open() {
        let (mut net, sink) = machine();
        let drops = |net: &mut Netlist, _, ports: &mut Ends10| ports.input = net.queue("other", 4).1;
        net.rewire("sink", drops).unwrap();
        let Err(SimulationError::Netlist(NetlistError::OpenEnd { path, .. })) = seen((net, sink)) else {
            panic!("an end is open")
        };
        assert_eq!(path, "items");
    }

    #[test]
    fn what_does_not_fit_is_refused_and_changes_nothing() {
        let (mut net, sink) = machine();
        let known = vec!["sender".to_owned(), "sink".to_owned()];
        let unknown = ExchangeError::Unknown { path: "sander".into(), known };
        assert_eq!(unknown.to_string(), "there is no unit `sander` here; there are sender, sink");
        assert_eq!(net.replace("sander", Sender(7)), Err(unknown));
        let other = net.replace("sink", Sender(7)).unwrap_err();
        assert!(matches!(&other, ExchangeError::Ports { path, .. } if path == "sink"), "{other}");
        assert_eq!(net.rewire("sink", |_, _, _: &mut Sends| ()), Err(other));
        run(&mut net, Kernel::Skip, Order::Ascending, &mut |_| Control::Continue).unwrap();
        assert_eq!(net.unit(&sink).seen, [1; 10]);
        assert_eq!(net.replace("sender", Sender(7)), Err(ExchangeError::Begun { path: "sender".into() }));
    }
}
