//! Where two runs part: the first event that is not in both at the same time.

use super::events::{Event, Events};
use rustc_hash::FxHashMap as Map;

/// Events around the parting that are shown, on each side.
pub const AROUND: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub time: u64,
    pub channel: String,
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parting {
    pub event: Seen,
    /// When it is in the one and in the other run, in fs; none where it never is.
    pub times: [Option<u64>; 2],
    /// The last events of both before.
    pub before: Vec<Seen>,
    /// The next events of each.
    pub after: [Vec<Seen>; 2],
    /// Events that are not in both at the same time, of those that are in either.
    pub different: (u64, u64),
}

/// A channel's path, and what passed: what is the same in both runs.
type Known = (u32, super::identity::Identity);

/// The events of a run by what they are about.
struct Side {
    /// By time; channels by their numbers among all paths.
    sorted: Vec<(u64, Known)>,
    by_known: Map<Known, Vec<u64>>,
}

impl Side {
    fn new<'e>(events: &'e Events, paths: &mut Map<&'e str, u32>) -> Self {
        let numbers: Vec<u32> = events
            .channels
            .iter()
            .map(|path| {
                let next = paths.len() as u32;
                *paths.entry(path).or_insert(next)
            })
            .collect();
        let known = |event: &Event| (event.time, (numbers[event.channel as usize], event.identity));
        let mut sorted: Vec<_> = events.events.iter().map(known).collect();
        sorted.sort_unstable();
        let mut by_known: Map<Known, Vec<u64>> = Map::default();
        for (time, known) in &sorted {
            by_known.entry(*known).or_default().push(*time);
        }
        Self { sorted, by_known }
    }

    fn seen((time, (channel, identity)): (u64, Known), names: &[&str]) -> Seen {
        Seen { time, channel: names[channel as usize].to_owned(), event: Event { time, channel, identity } }
    }
}

/// An event of one side and when its counterpart is.
struct Odd {
    time: u64,
    known: Known,
    times: [Option<u64>; 2],
}

/// Where two runs part; none if they do not.
pub fn parting(one: &Events, other: &Events) -> Option<Parting> {
    let mut paths = Map::default();
    let sides = [Side::new(one, &mut paths), Side::new(other, &mut paths)];
    let mut names = vec![""; paths.len()];
    paths.iter().for_each(|(path, number)| names[*number as usize] = path);
    let (mut first, mut odd, mut all) = (None::<Odd>, 0, 0);
    for (place, side) in sides.iter().enumerate() {
        let against = &sides[1 - place];
        for (known, times) in &side.by_known {
            let others = against.by_known.get(known).map_or(&[][..], Vec::as_slice);
            for (number, &time) in times.iter().enumerate() {
                let counterpart = others.get(number).copied();
                // What is in both is counted once.
                let counts = place == 0 || counterpart.is_none();
                all += u64::from(counts);
                if counterpart == Some(time) {
                    continue;
                }
                odd += u64::from(counts);
                let both = [Some(time), counterpart];
                let times = if place == 0 { both } else { [both[1], both[0]] };
                let earlier = |first: &Odd| (time, *known) < (first.time, first.known);
                if first.as_ref().is_none_or(earlier) {
                    first = Some(Odd { time, known: *known, times });
                }
            }
        }
    }
    let Odd { time, known, times } = first?;
    let from = |side: &Side| side.sorted.partition_point(|event| *event < (time, known));
    let show = |side: &Side, range: std::ops::Range<usize>| -> Vec<Seen> {
        side.sorted[range].iter().map(|event| Side::seen(*event, &names)).collect()
    };
    let ahead = |side: &Side| show(side, from(side)..(from(side) + AROUND).min(side.sorted.len()));
    Some(Parting {
        event: Side::seen((time, known), &names),
        times,
        before: show(&sides[0], from(&sides[0]).saturating_sub(AROUND)..from(&sides[0])),
        after: [ahead(&sides[0]), ahead(&sides[1])],
        different: (odd, all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::identity::Identity;
    use proptest::prelude::*;

    fn events(times: &[(u64, u64)]) -> Events {
        let event = |&(time, number): &(u64, u64)| Event {
            time,
            channel: 0,
            identity: Identity { what: "job", number, address: 0 },
        };
        Events { channels: vec!["a".into()], events: times.iter().map(event).collect(), ..Events::default() }
    }

    proptest! {
        #[test]
        fn equal_runs_do_not_part_and_a_change_is_found_where_it_is(
            mut times in prop::collection::vec((0u64..1_000, 0u64..6), 1..60),
            changed in any::<prop::sample::Index>(),
            later in 1u64..50,
        ) {
            times.sort_unstable();
            let one = events(&times);
            let mut shuffled = times.clone();
            shuffled.reverse();
            prop_assert_eq!(parting(&one, &events(&shuffled)), None);
            // An event more, after all others.
            let mut more = times.clone();
            more.push((2_000 + later, 1));
            let parts = parting(&one, &events(&more)).unwrap();
            prop_assert_eq!((parts.event.time, parts.times, parts.different.0), (2_000 + later, [None, Some(2_000 + later)], 1));
            // All from one on come later.
            let from = changed.index(times.len());
            let start = times[from].0;
            let moved: Vec<_> = times.iter().map(|&(time, n)| (if time >= start { time + later } else { time }, n)).collect();
            let parts = parting(&one, &events(&moved)).unwrap();
            prop_assert_eq!(parts.event.time, start);
            prop_assert!(parts.before.iter().all(|seen| seen.time <= start));
        }
    }
}
