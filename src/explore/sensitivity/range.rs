//! What may be varied: parameters with a stated range, and which machines they belong to.

use super::variant::Variant;
use crate::config::{Kind, Parameter};
use crate::units::KINDS;
use serde::Serialize;

/// A parameter that is varied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Range {
    /// Its path.
    pub path: String,
    /// `assumed` or `calibrated`.
    pub kind: Kind,
    /// Its value.
    pub value: String,
    /// The least that it may be.
    pub low: String,
    /// The most.
    pub high: String,
    /// The designs that bring it, or another value of it; none for a parameter of the machine.
    pub of: Vec<String>,
    /// By variant: whether it has the parameter with this value and range. One whose design sets the parameter has not.
    #[serde(skip)]
    pub(super) applies: Vec<bool>,
}

impl Range {
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
        amount(&self.low).map_or_else(|| number.to_string(), |(_, print)| print(number))
    }
}

/// What may be varied in any variant, and what states no range.
pub(super) fn ranges(variants: &[Variant]) -> (Vec<Range>, Vec<String>) {
    let (mut ranges, mut without): (Vec<Range>, Vec<String>) = (Vec::new(), Vec::new());
    let unsure =
        |one: &&Parameter| matches!(one.provenance.kind, Kind::Assumed | Kind::Calibrated) && one.amount.is_some();
    for (place, variant) in variants.iter().enumerate() {
        for one in variant.base.resolved().parameters.iter().filter(unsure) {
            let (Some(low), Some(high)) = (&one.provenance.low, &one.provenance.high) else {
                let own = variants[0].base.resolved().parameter(&one.path) == Some(one);
                let name = if own { one.path.clone() } else { format!("{} of {}", one.path, variant.name) };
                if !without.contains(&name) {
                    without.push(name);
                }
                continue;
            };
            if low == high {
                continue;
            }
            let known = ranges.iter().position(|range| range.is(one)).unwrap_or_else(|| {
                let (path, kind, value) = (one.path.clone(), one.provenance.kind, one.value.clone());
                let applies = vec![false; variants.len()];
                ranges.push(Range { path, kind, value, low: low.clone(), high: high.clone(), of: Vec::new(), applies });
                ranges.len() - 1
            });
            ranges[known].applies[place] = true;
            if !ranges[known].applies[0] {
                ranges[known].of.push(variant.name.clone());
            }
        }
    }
    (ranges, without)
}

/// How a number of base units is written.
type Print = Box<dyn Fn(u64) -> String>;

/// A value in base units, and how to write one.
pub(super) fn amount(text: &str) -> Option<(u64, Print)> {
    if let Ok(number) = text.parse() {
        return Some((number, Box::new(|number| number.to_string())));
    }
    let read = |(_, kind): &(&str, &'static crate::units::Kind)| Some((kind.parse(text).ok()?, *kind));
    let (number, kind) = KINDS.iter().find_map(read)?;
    Some((number, Box::new(move |number| kind.print(number))))
}

#[cfg(test)]
mod tests {
    use super::super::variant::variants;
    use super::*;
    use crate::config::Layers;
    use crate::system::Memory;

    #[test]
    fn a_design_brings_its_own_parameters_and_keeps_the_others_of_the_machine() {
        let designs = ["overlap".to_owned(), "sm".to_owned()];
        let variants = variants(&Layers::new("h100-nvl-tdx"), &designs, Memory::Pinned).unwrap();
        let (ranges, _) = ranges(&variants);
        let find = |path: &str, of: &[&str]| ranges.iter().find(|range| range.path == path && range.of == of);
        let depth = (find("tag_queue.depth", &[]).unwrap(), find("tag_queue.depth", &["overlap"]).unwrap());
        assert_eq!(
            (&depth.0.applies[..3], &depth.1.applies[..3]),
            (&[true, false, true][..], &[false, true, false][..])
        );
        assert_eq!(find("sm.warps", &["sm"]).unwrap().applies[..3], [false, false, true]);
        assert_eq!(find("link.flight", &[]).unwrap().applies[..3], [true, true, true]);
        assert!(find("sm.warps", &[]).is_none());
    }

    #[test]
    fn an_amount_is_written_as_it_is_read() {
        for text in ["12", "4 KiB", "14 cycles", "1.755 GHz", "1.6 B/cycle"] {
            let (number, print) = amount(text).unwrap();
            assert_eq!(print(number), text);
        }
        assert!(amount("in_order").is_none());
    }
}
