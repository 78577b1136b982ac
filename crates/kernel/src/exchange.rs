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
