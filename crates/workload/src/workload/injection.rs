//! One fault as the command line writes it.
//!
//! ```text
//!   POINT[@TIME][:SELECTOR[,SELECTOR]...]          POINT is place.kind
//!
//!   gpu.pce0.tags.flip                             the first transfer
//!   link.h2d.drop:200                              the 200th
//!   gpu.pce0.tags.flip@12us                        the first at or after 12 us
//!   gpu.pce0.tags.flip:message=3                   the first of the third message that passes there
//!   link.h2d.flip:tlp=7,field=length,bit=3         the seventh TLP; bit 3 of its length
//!   gpu.pce0.engine.ghash0.accumulator0.flip:message=3,bit=7,cycle=40    a register, 40 cycles after the third message has started
//! ```

use crate::{
    sim::{Aim, FaultKind, Injection, When},
    units::Femtos,
};
use std::{fmt, str::FromStr};
use thiserror::Error;

const KINDS: [FaultKind; 9] = [
    FaultKind::Flip,
    FaultKind::FlipToken,
    FaultKind::IdeFlip,
    FaultKind::Drop,
    FaultKind::Duplicate,
    FaultKind::Reorder,
    FaultKind::Skip,
    FaultKind::Stuck0,
    FaultKind::Stuck1,
];

/// A fault, as `--inject` and manifests write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectionArgument(pub Injection);

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InjectionError {
    #[error("`{text}` names no fault point: write PLACE.KIND, for example link.h2d.flip (`sealsim list --faults`)")]
    NoKind { text: String },
    #[error("`{kind}` in `{text}` is no kind of fault: use one of {}", kinds())]
    Kind { text: String, kind: String },
    #[error(
        "`{transfer}` after `:` is no count of transfers: write a number from 1 on, for example {point}:3, or tlp=, dllp=, message=, field= or bit="
    )]
    Transfer { transfer: String, point: String },
    /// A selector's value is invalid.
    #[error("`{selector}`: {expected}")]
    Value { selector: String, expected: &'static str },
    #[error("`{time}` after `@` is no time: write for example {point}@12us")]
    Time { time: String, point: String },
    #[error("`{text}` says twice {what}: a fault strikes once, at one bit")]
    Twice { text: String, what: &'static str },
}

/// The sorts of items that can be counted apart.
const SORTS: [&str; 2] = ["tlp", "dllp"];

fn kinds() -> String {
    KINDS.map(FaultKind::name).join(", ")
}

impl FromStr for InjectionArgument {
    type Err = InjectionError;

    fn from_str(text: &str) -> Result<Self, InjectionError> {
        let (head, selectors) = text.split_once(':').map_or((text, None), |(head, rest)| (head, Some(rest)));
        let (point, time) = head.split_once('@').map_or((head, None), |(point, time)| (point, Some(time)));
        let (place, kind) = point.rsplit_once('.').unwrap_or_default();
        if place.is_empty() || kind.is_empty() {
            return Err(InjectionError::NoKind { text: point.to_owned() });
        }
        let kind = KINDS
            .into_iter()
            .find(|one| one.name() == kind)
            .ok_or_else(|| InjectionError::Kind { text: point.to_owned(), kind: kind.to_owned() })?;
        let mut reader = Reader { text, point, when: None, aim: Aim::default() };
        if let Some(time) = time {
            reader.set_when(When::At(reader.time(time)?))?;
        }
        selectors.into_iter().flat_map(|selectors| selectors.split(',')).try_for_each(|one| reader.selector(one))?;
        let Reader { when, aim, .. } = reader;
        Ok(Self(Injection { place: place.to_owned(), kind, when: when.unwrap_or(When::Transfer(1)), aim }))
    }
}

struct Reader<'a> {
    text: &'a str,
    point: &'a str,
    when: Option<When>,
    aim: Aim,
}

impl Reader<'_> {
    fn time(&self, time: &str) -> Result<Femtos, InjectionError> {
        let wrong = || InjectionError::Time { time: time.to_owned(), point: self.point.to_owned() };
        time.parse().map_err(|_| wrong())
    }

    fn twice(&self, what: &'static str) -> InjectionError {
        InjectionError::Twice { text: self.text.to_owned(), what }
    }

    fn set_when(&mut self, when: When) -> Result<(), InjectionError> {
        match self.when.replace(when) {
            None => Ok(()),
            Some(_) => Err(self.twice("when it strikes")),
        }
    }

    fn selector(&mut self, selector: &str) -> Result<(), InjectionError> {
        let wrong = |expected| InjectionError::Value { selector: selector.to_owned(), expected };
        let count = |value: &str| {
            let count = value.parse().ok().filter(|&count: &u64| count > 0);
            count.ok_or_else(|| wrong("expected a number from 1 on"))
        };
        match selector.split_once('=') {
            None => {
                let count = selector.parse().ok().filter(|&count: &u64| count > 0);
                let (transfer, point) = (selector.to_owned(), self.point.to_owned());
                self.set_when(When::Transfer(count.ok_or(InjectionError::Transfer { transfer, point })?))
            }
            Some(("message", value)) => self.set_when(When::Message(count(value)?)),
            Some((sort, value)) if SORTS.contains(&sort) => self.set_when(When::Sort(sort.to_owned(), count(value)?)),
            Some(("field", "")) => Err(wrong("expected a name (`sealsim list --faults` has those of each place)")),
            Some(("field", name)) => match self.aim.field.replace(name.to_owned()) {
                None => Ok(()),
                Some(_) => Err(self.twice("which field")),
            },
            Some(("bit", value)) => {
                let bit = value.parse().map_err(|_| wrong("expected a number from 0 on"))?;
                match self.aim.bit.replace(bit) {
                    None => Ok(()),
                    Some(_) => Err(self.twice("which bit")),
                }
            }
            Some((name @ ("cycle" | "cycles"), value)) => {
                let cycles = value.parse().map_err(|_| wrong("expected a number of cycles"))?;
                let slot = if name == "cycle" { &mut self.aim.cycle } else { &mut self.aim.cycles };
                match slot.replace(cycles) {
                    None => Ok(()),
                    Some(_) => Err(self.twice("which cycle")),
                }
            }
            Some(_) => {
                Err(wrong("no selector; use a count, tlp=N, dllp=N, message=N, field=NAME, bit=N, cycle=N or cycles=N"))
            }
        }
    }
}

impl fmt::Display for InjectionArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Injection { place, kind, when, aim } = &self.0;
        write!(f, "{place}.{}", kind.name())?;
        let mut selectors = Vec::new();
        match when {
            When::Transfer(transfer) => selectors.push(transfer.to_string()),
            // Without the space of a quantity, so that a shell takes it as one word.
            When::At(time) => write!(f, "@{}", time.to_string().replace(' ', ""))?,
            When::Sort(sort, number) => selectors.push(format!("{sort}={number}")),
            When::Message(number) => selectors.push(format!("message={number}")),
        }
        selectors.extend(aim.field.iter().map(|field| format!("field={field}")));
        selectors.extend(aim.bit.map(|bit| format!("bit={bit}")));
        selectors.extend(aim.cycle.map(|cycle| format!("cycle={cycle}")));
        selectors.extend(aim.cycles.map(|cycles| format!("cycles={cycles}")));
        if selectors.is_empty() { Ok(()) } else { write!(f, ":{}", selectors.join(",")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_point_without_count_strikes_the_first_time() {
        let read = |text: &str| text.parse::<InjectionArgument>().unwrap().0;
        let wire = |transfer| Injection::nth("link.h2d.wire", FaultKind::FlipToken, transfer);
        assert_eq!(read("link.h2d.wire.flip_token"), wire(1));
        assert_eq!(read("link.h2d.wire.flip_token:12"), wire(12));
    }

    fn any_when() -> impl Strategy<Value = When> {
        prop_oneof![
            (1_u64..).prop_map(When::Transfer),
            any::<u64>().prop_map(|time| When::At(Femtos(time))),
            (prop::sample::select(SORTS.to_vec()), 1_u64..).prop_map(|(sort, n)| When::Sort(sort.to_owned(), n)),
            (1_u64..).prop_map(When::Message),
        ]
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again(
            place in "[a-z][a-z0-9_]{0,6}(\\.[a-z][a-z0-9_]{0,6}){0,3}", kind in prop::sample::select(KINDS.to_vec()),
            when in any_when(), field in prop::option::of("[a-z][a-z_]{0,8}"),
            [bit, cycle, cycles] in std::array::from_fn::<_, 3, _>(|_| prop::option::of(any::<u64>())),
        ) {
            let injection = InjectionArgument(Injection { place, kind, when, aim: Aim { field, bit, cycle, cycles } });
            let text = injection.to_string();
            prop_assert!(!text.contains(' '));
            prop_assert_eq!(text.parse::<InjectionArgument>(), Ok(injection), "{}", text);
        }
    }

    #[test]
    fn every_kind_is_read_and_printed() {
        for kind in KINDS {
            let text = format!("a.{}:7", kind.name());
            assert_eq!(text.parse::<InjectionArgument>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, phrase) in [
            ("", "names no fault point"),
            ("flip", "PLACE.KIND"),
            (".flip", "names no fault point"),
            ("wire.", "names no fault point"),
            ("wire.flop", "flip, flip_token, ide_flip, drop, duplicate, reorder, skip, stuck0, stuck1"),
            ("wire.flip:0", "from 1 on"),
            ("wire.flip:", "`` after `:`"),
            ("wire.flip:-1", "`-1` after `:`"),
            ("wire.flip:1:2", "`1:2` after `:`"),
            ("wire.flip:99999999999999999999", "is no count"),
            ("wire.flip@", "is no time"),
            ("wire.flip@12", "`12` after `@`"),
            ("wire.flip@1us:3", "twice when it strikes"),
            ("wire.flip:3,tlp=4", "twice when it strikes"),
            ("wire.flip:bit=1,bit=2", "twice which bit"),
            ("wire.flip:field=a,field=b", "twice which field"),
            ("wire.flip:field=", "expected a name"),
            ("wire.flip:bit=-1", "from 0 on"),
            ("wire.flip:tlp=0", "from 1 on"),
            ("wire.flip:message=x", "from 1 on"),
            ("wire.flip:colour=3", "no selector"),
            ("wire.flip:3,", "is no count"),
        ] {
            let error = text.parse::<InjectionArgument>().unwrap_err().to_string();
            assert!(error.contains(phrase), "{text}: {error}");
        }
    }
}
