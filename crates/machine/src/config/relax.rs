//! Which numbers can only help a copy if they change one way, as their fields declare (`relaxes`), and what each is then changed to.

use super::shape::Shape;
use serde::Deserialize;

/// The way in which a number can only help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relaxes {
    /// More: a rate, a depth, a number of units.
    Up,
    /// Less: a cost, a latency, an interval.
    Down,
    /// Less, which nobody can build: a time of flight.
    Physics,
}

/// What the field at a path declares; none of what may help or harm: clocks, which hold for much at once, and the sizes that things are cut into.
pub fn relaxes(path: &str) -> Option<Relaxes> {
    Shape::machine().along(path)?.last()?.0.relaxes
}

/// Less strict amounts of a number, as [`Parameter`](super::Parameter) has them: twice or half, or what comes next. The first that goes with all
/// other parameters is to be taken. None if it cannot be less strict.
pub fn relaxed_amounts(relaxes: Relaxes, unit: &str, amount: u64) -> Vec<u64> {
    let amounts = match relaxes {
        _ if amount == 0 => vec![],
        Relaxes::Down | Relaxes::Physics => vec![Some(amount / 2)],
        // Legal counts are often some powers of two, or one of a few.
        Relaxes::Up if unit == "count" => {
            let times = |factor| amount.checked_mul(factor);
            vec![times(2), times(3), times(8), amount.checked_add(amount / 2), amount.checked_add(1)]
        }
        Relaxes::Up => vec![amount.checked_mul(2)],
    };
    amounts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::{
        Relaxes::{Down, Physics, Up},
        *,
    };

    #[test]
    fn fields_declare_the_way_in_which_they_help() {
        for (path, way) in [
            ("driver.in_flight.h2d", Some(Up)),
            ("engine.ghash.unit.multiplier.product", Some(Down)),
            ("switch[1].credits.completion_data", Some(Up)),
            ("link.flight", Some(Physics)),
            ("copy_engine.clock", None),
            ("driver.pinned.message", None),
            ("nothing.of.the.kind", None),
        ] {
            assert_eq!(relaxes(path), way, "{path}");
        }
    }

    #[test]
    fn times_and_numbers_of_cycles_relax_downwards_and_rates_upwards() {
        for path in Shape::machine().paths() {
            let (Some(way), Some(Shape::Quantity(kind))) = (relaxes(&path), Shape::machine().at(&path)) else {
                continue;
            };
            let time = ["number of cycles", "time"].iter().any(|of| kind.what.ends_with(of));
            assert_eq!(way == Up, !time, "{path}");
        }
    }
}
