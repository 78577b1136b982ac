//! Ranges that points fitted on one host have cut.
//!
//! A cut says what those points leave of a range, so it holds for the part that was measured. A row of the table names the values by which a machine
//! has that part. Any other machine keeps the range that its files state, as does one whose files state another range than the row was cut from.

use super::parameter::Parameter;

/// Its columns are those of [`Row`], and which machine's points it was.
const TABLE: &str = include_str!("../../../../validation/ranges.csv");

/// What separates the values of a part.
const AND: &str = " and ";

/// A range, and what fitted points left of it.
struct Row {
    path: &'static str,
    /// The values of the part that it holds for, as `path=value`.
    holds_where: &'static str,
    before: [&'static str; 2],
    cut: [&'static str; 2],
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',');
        let mut next = || cells.next();
        let (path, _machine) = (next()?, next()?);
        Some(Row { path, holds_where: next()?, before: [next()?, next()?], cut: [next()?, next()?] })
    })
}

impl Row {
    fn holds_for(&self, parameters: &[Parameter]) -> bool {
        let is = |(path, value): (&str, &str)| parameters.iter().any(|one| one.path == path && one.value == value);
        self.holds_where.split(AND).all(|value| value.split_once('=').is_some_and(is))
    }
}

/// Cuts the ranges of a machine that has the parts of the table.
pub(super) fn cut(parameters: &mut [Parameter]) {
    for row in rows() {
        let stated = |one: &Parameter| {
            let ends = [&one.provenance.low, &one.provenance.high];
            one.path == row.path && ends.map(Option::as_deref) == row.before.map(Some)
        };
        let Some(place) = parameters.iter().position(stated) else { continue };
        if row.holds_for(parameters) {
            let provenance = &mut parameters[place].provenance;
            [provenance.low, provenance.high] = row.cut.map(|end| Some(end.to_owned()));
            provenance.source.push_str("; cut by fitted points (validation/ranges.csv)");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layers, Resolved, Role, Shipped};
    use super::*;

    fn range<'r>(resolved: &'r Resolved, path: &str) -> [Option<&'r str>; 2] {
        let provenance = &resolved.parameter(path).unwrap().provenance;
        [provenance.low.as_deref(), provenance.high.as_deref()]
    }

    #[test]
    fn a_cut_holds_for_the_part_that_was_measured_and_for_no_other() {
        let mut held = 0;
        for machine in Shipped::names(Role::Machine) {
            let resolved = Layers::new(machine).resolve().unwrap();
            for row in rows() {
                let own = range(&resolved, row.path);
                let holds = row.holds_for(&resolved.parameters);
                held += usize::from(holds && own == row.cut.map(Some));
                assert!(holds || own != row.cut.map(Some), "{machine}: {}", row.path);
                assert!(machine != "h100-nvl-tdx" || own == row.cut.map(Some) || !holds, "{}", row.path);
            }
        }
        assert!(held > rows().count(), "{held}");
    }

    #[test]
    fn another_host_keeps_what_was_assumed_and_the_same_board_what_was_cut_there() {
        let [own, same, host, board] =
            [&[][..], &["cpu.clock=2100 MHz"], &["cpu.clock=3 GHz"], &["hbm.read_rate=1908B/cycle"]].map(Layers::h100);
        let call = [Some("500 cycles"), Some("4300 cycles")];
        assert_eq!(range(&same, "driver.call"), range(&own, "driver.call"));
        assert_eq!((range(&host, "driver.call"), range(&board, "driver.call")), (call, range(&own, "driver.call")));
        assert_eq!(range(&host, "hbm.read_latency"), range(&own, "hbm.read_latency"));
        assert_eq!(range(&board, "hbm.read_latency"), [Some("200 cycles"), Some("1200 cycles")]);
        // A value of a user's own has no range, and a manifest's is as it was.
        assert_eq!(range(&Layers::h100(&["driver.call=2000 cycles"]), "driver.call"), [None, None]);
        assert_eq!(Resolved::from_value(&own.to_value()).unwrap().parameters, own.parameters);
    }
}
