//! Rates that are written per second, in the place of rates per cycle.
//!
//! A unit moves so many bytes in a cycle; data sheets say bytes per second. `hbm.read_rate = "3.35 TB/s"` is divided by the clock of the
//! table that it is in, or, on the host, by that of the CPU, and rounded to a thousandth of a byte per cycle.

use super::shape::Shape;
use super::tree::{Node, Table, Value};
use crate::units::{ByteRate, BytesPerCycle, Frequency};

/// The field of a table that says its clock.
const CLOCK: &str = "clock";
/// The table whose clock counts where a table has none.
const HOST: &str = "cpu";

/// Turns every rate per second into one per cycle. What is no rate, or has no clock that can be read, stays as it is: it is refused with
/// its place when the values are examined.
pub(super) fn settle(values: &mut Node) {
    let Value::Table(tables) = &mut values.value else { return };
    settle_tables(tables, None);
}

pub(super) fn is_per_second(text: &str) -> bool {
    text.trim_end().ends_with("/s")
}

pub(super) fn any_per_second(values: &Node) -> bool {
    match &values.value {
        Value::Text(text) => is_per_second(text),
        Value::Array(items) => items.iter().any(any_per_second),
        Value::Table(table) => table.values().any(|entry| any_per_second(&entry.node)),
        _ => false,
    }
}

/// The tables of a machine, or of one of its GPUs, whose host clock is `host`.
fn settle_tables(tables: &mut Table, host: Option<Frequency>) {
    let host = tables.get(HOST).and_then(|entry| clock(&entry.node)).or(host);
    for (name, entry) in tables.iter_mut() {
        if let Value::Array(items) = &mut entry.node.value {
            for item in items {
                if let Value::Table(tables) = &mut item.value {
                    settle_tables(tables, host);
                }
            }
            continue;
        }
        let (own, shape) = (clock(&entry.node), Shape::machine().field(name, None));
        if let (Some(clock), Some(shape)) = (own.or(host), shape) {
            settle_fields(&mut entry.node, shape, clock);
        }
    }
}

/// The clock that a table says.
pub(super) fn clock(table: &Node) -> Option<Frequency> {
    let text = table.table()?.get(CLOCK)?.node.text()?;
    text.parse().ok().filter(|clock| *clock > Frequency(0))
}

fn settle_fields(node: &mut Node, shape: &Shape, clock: Frequency) {
    match (&mut node.value, shape) {
        (Value::Table(fields), shape) => {
            for (name, entry) in fields {
                if let Some(shape) = shape.field(name, None) {
                    settle_fields(&mut entry.node, shape, clock);
                }
            }
        }
        (Value::Text(text), Shape::Quantity(kind)) if kind.what == BytesPerCycle::KIND.what && is_per_second(text) => {
            if let Some(rate) = text.parse().ok().and_then(|rate| per_cycle(rate, clock)) {
                *text = rate.to_string();
            }
        }
        _ => {}
    }
}

/// A rate at a clock; none if it is less than half a thousandth of a byte per cycle.
fn per_cycle(ByteRate(rate): ByteRate, Frequency(clock): Frequency) -> Option<BytesPerCycle> {
    let (rate, clock) = (u128::from(rate) * 1000, u128::from(clock));
    let thousandths = u64::try_from((rate + clock / 2) / clock).ok()?;
    (thousandths > 0).then_some(BytesPerCycle(thousandths))
}

#[cfg(test)]
mod tests {
    use super::super::{Layers, quantity};
    use super::*;
    use proptest::prelude::*;

    /// Every rate per cycle of a machine.
    fn rates() -> Vec<String> {
        let is_rate = |path: &String| quantity(path).is_some_and(|kind| kind.what == BytesPerCycle::KIND.what);
        Shape::machine().paths().into_iter().filter(is_rate).collect()
    }

    #[test]
    fn every_rate_has_the_clock_that_its_unit_counts_in() {
        let mut held = 0;
        for path in rates() {
            let table = path.split('.').next().unwrap();
            let clock = if ["hbm", "compute", "fabric"].contains(&table) { table } else { HOST };
            let machine = if table == "fabric" { "hgx-h100-8gpu" } else { "h100-nvl-tdx" };
            let layers = Layers::new(machine).set(format!("{clock}.clock=2 GHz"));
            let Ok(resolved) = layers.clone().set(format!("{path}=24 GB/s")).resolve() else { continue };
            let value = resolved.parameter(&path).unwrap().value.clone();
            assert_eq!(value, "12 B/cycle", "{path}");
            held += 1;
        }
        assert!(held >= 12, "{held}");
    }

    #[test]
    fn a_rate_follows_the_clock_that_lies_above_it() {
        let set = |settings: &[&str]| Layers::h100(settings).machine.cipher.seal_rate;
        assert_eq!(set(&["cipher.seal_rate=4.2 GB/s", "cpu.clock=2.1 GHz"]), BytesPerCycle(2000));
        assert_eq!(set(&["cpu.clock=4.2 GHz", "cipher.seal_rate=4.2GB/s"]), BytesPerCycle(1000));
        let base = Layers::new("h100-nvl-tdx").set("cipher.seal_rate=4.2 GB/s").base().unwrap();
        let varied = |settings: &[&str]| {
            let settings: Vec<_> = settings.iter().map(ToString::to_string).collect();
            base.varied(&settings).unwrap().machine.cipher.seal_rate
        };
        assert_eq!(varied(&["cpu.clock=4.2 GHz"]), BytesPerCycle(1000));
        assert_eq!(varied(&["cpu.clock=4.2 GHz", "cipher.seal_rate=8.4 GB/s"]), BytesPerCycle(2000));
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for bad in [
            "hbm.read_rate=GB/s",
            "hbm.read_rate=-1 GB/s",
            "hbm.read_rate=1 B/s",
            "cpu.clock=3 GB/s",
            "hbm.read_latency=1 GB/s",
        ] {
            assert!(Layers::new("h100-nvl-tdx").set(bad).resolve().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_rate_is_right_to_a_thousandth_of_a_byte(rate in 1_000_000_u64..10_000_000_000_000, clock in 1_000_000_u64..10_000_000_000) {
            let exact = rate as f64 / clock as f64 * 1000.0;
            let known = per_cycle(ByteRate(rate), Frequency(clock)).map_or(0, |rate| rate.0);
            prop_assert!((known as f64 - exact).abs() <= 0.5 + exact * 1e-12);
        }
    }
}
