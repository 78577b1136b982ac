//! What is varied: numbers with a stated range, in each machine that has them. The others are said not to be.

use super::variant::Variant;
use crate::config::{Kind, Parameter};
use crate::units::KINDS;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Range {
    pub path: String,
    pub kind: Kind,
    pub value: String,
    pub low: String,
    pub high: String,
    /// The machines that it is varied in, where these are not all: a design's name, or that of the machine itself.
    pub of: Vec<String>,
    /// By variant: whether it has the parameter with this value and range. One whose design sets the parameter has not.
    #[serde(skip)]
    pub(in crate::explore) applies: Vec<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    NoRange,
    /// It states one, of which no other value makes a machine with all the others as they are.
    NoOtherValue,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fixed {
    pub path: String,
    pub kind: Kind,
    pub value: String,
    /// The machines that have it with this value, where these are not all.
    pub of: Vec<String>,
    pub why: Why,
    #[serde(skip)]
    pub(super) applies: Vec<bool>,
}

impl Range {
    /// Whether it is varied in the machine itself, or in designs over it alone.
    pub fn is_of_machine(&self) -> bool {
        self.applies[0]
    }

    /// As one of which no other value makes a machine.
    pub(super) fn stuck(self) -> Fixed {
        let Self { path, kind, value, of, applies, .. } = self;
        Fixed { path, kind, value, of, why: Why::NoOtherValue, applies }
    }

    /// In how many machines it is varied.
    pub(super) fn machines(&self) -> usize {
        self.applies.iter().filter(|applies| **applies).count()
    }

    fn is(&self, one: &Parameter) -> bool {
        let bounds = (one.provenance.low.as_ref(), one.provenance.high.as_ref());
        self.path == one.path && self.value == one.value && bounds == (Some(&self.low), Some(&self.high))
    }

    /// Its value and its bounds, as numbers of base units.
    pub(super) fn amounts(&self) -> Option<(u64, u64, u64)> {
        Some((amount(&self.value)?.0, amount(&self.low)?.0, amount(&self.high)?.0))
    }

    /// A number of base units as its setting.
    pub(super) fn written(&self, number: u64) -> String {
        amount(&self.low).and_then(|(_, kind)| kind).map_or_else(|| number.to_string(), |kind| kind.print(number))
    }
}

/// The range that a parameter states, if it does and there is something in it.
fn stated(one: &Parameter) -> Option<(&String, &String)> {
    one.provenance.low.as_ref().zip(one.provenance.high.as_ref()).filter(|(low, high)| low != high)
}

/// What states a range in any variant, and numbers that state none.
pub(super) fn ranges(variants: &[Variant]) -> (Vec<Range>, Vec<Fixed>) {
    let (mut ranges, mut fixed): (Vec<Range>, Vec<Fixed>) = (Vec::new(), Vec::new());
    let none = || vec![false; variants.len()];
    for (place, variant) in variants.iter().enumerate() {
        let all = || variant.base.resolved().parameters.clone();
        let parameters = if variant.pins_designs { variant.base.of_machine() } else { all() };
        for one in parameters.iter().filter(|one| one.amount.is_some()) {
            let (path, kind, value, of) = (one.path.clone(), one.provenance.kind, one.value.clone(), Vec::new());
            let applies = match stated(one) {
                Some((low, high)) => {
                    let known = ranges.iter().position(|range| range.is(one)).unwrap_or_else(|| {
                        let (low, high) = (low.clone(), high.clone());
                        ranges.push(Range { path, kind, value, low, high, of, applies: none() });
                        ranges.len() - 1
                    });
                    &mut ranges[known].applies
                }
                None => {
                    let is = |known: &Fixed| (&known.path, known.kind, &known.value) == (&path, kind, &value);
                    let known = fixed.iter().position(is).unwrap_or_else(|| {
                        fixed.push(Fixed { path, kind, value, of, why: Why::NoRange, applies: none() });
                        fixed.len() - 1
                    });
                    &mut fixed[known].applies
                }
            };
            applies[place] = true;
        }
    }
    ranges.iter_mut().for_each(|range| range.of = named(variants, &range.applies));
    fixed.iter_mut().for_each(|one| one.of = named(variants, &one.applies));
    (ranges, fixed)
}

/// The names of those variants that something applies to; none where it applies to all.
fn named(variants: &[Variant], applies: &[bool]) -> Vec<String> {
    if applies.iter().all(|&applies| applies) {
        return Vec::new();
    }
    variants.iter().zip(applies).filter(|(_, applies)| **applies).map(|(variant, _)| variant.name.clone()).collect()
}

/// A value in base units, and what it is of unless it is a count.
fn amount(text: &str) -> Option<(u64, Option<&'static crate::units::Kind>)> {
    if let Ok(number) = text.parse() {
        return Some((number, None));
    }
    let mut kinds = KINDS.iter().map(|(_, kind)| *kind).filter(|kind| kind.has_unit_of(text));
    kinds.find_map(|kind| Some((kind.parse(text).ok()?, Some(kind))))
}

#[cfg(test)]
mod tests {
    use super::super::variant::variants;
    use super::*;
    use crate::config::Layers;
    use crate::system::Memory;

    fn of(designs: &[&str]) -> Vec<Variant> {
        let designs: Vec<_> = designs.iter().map(|&name| name.to_owned()).collect();
        variants(&Layers::new("h100-nvl-tdx"), &designs, Memory::Pinned).unwrap()
    }

    #[test]
    fn a_design_brings_its_own_parameters_and_keeps_the_others_of_the_machine() {
        let (ranges, _) = ranges(&of(&["overlap", "sm"]));
        let find = |path: &str, of: &[&str]| ranges.iter().find(|range| range.path == path && range.of == of).unwrap();
        assert_eq!(find("tag_queue.depth", &["h100-nvl-tdx", "sm"]).applies, [true, false, true]);
        assert_eq!(find("tag_queue.depth", &["overlap"]).applies, [false, true, false]);
        assert_eq!(find("sm.warps", &["sm"]).applies, [false, false, true]);
        assert_eq!(find("link.flight", &[]).applies, [true, true, true]);
    }

    #[test]
    fn what_is_set_without_a_range_is_said_not_to_be_varied() {
        let machine = Layers::new("h100-nvl-tdx").set("link.flight=70 cycles");
        let (ranges, fixed) = ranges(&variants(&machine, &[], Memory::Pinned).unwrap());
        assert!(ranges.iter().all(|range| range.path != "link.flight"));
        let set = fixed.iter().find(|one| one.path == "link.flight").unwrap();
        assert_eq!((set.kind, set.value.as_str(), set.of.len()), (Kind::User, "70 cycles", 0));
        assert!(fixed.iter().any(|one| one.path == "link.lanes" && one.kind == Kind::Documented));
    }

    #[test]
    fn an_amount_is_written_as_it_is_read() {
        for text in ["12", "4 KiB", "14 cycles", "1.755 GHz", "1.6 B/cycle"] {
            let (number, kind) = amount(text).unwrap();
            assert_eq!(kind.map_or_else(|| number.to_string(), |kind| kind.print(number)), text);
        }
        assert!(amount("in_order").is_none());
    }
}
