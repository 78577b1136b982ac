//! Waves as the reader of a viewer sees them: what a listener hears, at its times.

use crate::{
    common::{copy, machine, request},
    shown::{Waves as Shows, waves},
};
use sealsim::{
    observe::{
        Listeners, Window,
        waves::{Closed, Waves},
    },
    sim::{ChannelTransfer, Control, Kernel, Listener, Order, Place, Places},
    system::{DataMode, Direction, Memory, engine_of, run_with_listener},
    units::Femtos,
};
use std::{cell::RefCell, collections::BTreeMap, path::Path, rc::Rc};

/// By signal: values by the time, in ps, from which on they are shown.
type Shown = BTreeMap<String, BTreeMap<u64, u64>>;

/// Counts of queues and values of gauges, as a run tells them.
#[derive(Default)]
struct Counts {
    places: Option<Places>,
    counts: BTreeMap<usize, u64>,
    shown: Shown,
}

impl Counts {
    fn change(&mut self, channel: usize, time: Femtos, change: i64) {
        let count = self.counts.entry(channel).or_default();
        *count = count.checked_add_signed(change).unwrap();
        let path = &self.places.as_ref().unwrap().channels[channel].path;
        self.shown.entry(format!("{path}.count")).or_default().insert(time.picos(), *count);
    }
}

impl Listener for Counts {
    fn begin(&mut self, places: &Places) {
        self.places = Some(places.clone());
    }
    fn hears(&self, place: Place<'_>) -> bool {
        matches!(place, Place::Channel(channel) if channel.depth.is_some()) || matches!(place, Place::Gauge(..))
    }
    fn passed(&mut self, ChannelTransfer { channel, date, .. }: ChannelTransfer<'_>) {
        self.change(channel, date, 1);
    }
    fn taken(&mut self, channel: usize, time: Femtos) {
        self.change(channel, time, -1);
    }
    fn level(&mut self, gauge: usize, time: Femtos, value: u64) {
        let places = self.places.as_ref().unwrap();
        let (unit, name) = &places.gauges[gauge];
        let mut path = format!("{}.{name}", unit.name);
        if places.channels.iter().any(|channel| channel.path == path) {
            path.push_str("_held");
        }
        self.shown.entry(path).or_default().insert(time.picos(), value);
    }
}

/// A run with waves in a file: what a listener heard, and the digest of the waves.
fn waved(file: &Path, (name, sets): (&str, &[&str]), direction: Direction, window: Window) -> (Shown, Closed) {
    let machine = machine(name, sets);
    let spec = machine.clone();
    let engine = move |gpu: usize, pce: &str| engine_of(&spec, gpu, pce);
    let waves = Waves::create(file, window).unwrap().with_engines(Box::new(engine), None);
    let waves = Rc::new(RefCell::new(waves));
    let counts = Rc::new(RefCell::new(Counts::default()));
    let mut listeners = Listeners::default();
    listeners.add(waves.clone());
    listeners.add(counts.clone());
    let asked = request(vec![copy(direction, 70_000, Memory::Pinned)], DataMode::Exact, Kernel::Skip, Order::Ascending);
    run_with_listener(&machine, asked, &listeners.listener(), &mut |_| Control::Continue).unwrap();
    let closed = Rc::try_unwrap(waves).ok().unwrap().into_inner().close().unwrap();
    (counts.take().shown, closed)
}

/// All changes of signals in a file. Before a window nothing is known.
fn read(file: &Path, signals: &[String]) -> Shown {
    let waves = waves(file);
    let known = |(time, bits): (&u64, &String)| Some((*time, u64::from_str_radix(bits, 2).ok()?));
    let shown = |signal: &String| (signal.clone(), waves[signal].iter().filter_map(known).collect());
    signals.iter().map(shown).collect()
}

/// Without values that say again what was there.
fn steps(values: &BTreeMap<u64, u64>, first: u64) -> Vec<(u64, u64)> {
    let mut last = first;
    values.iter().filter(|(_, value)| std::mem::replace(&mut last, **value) != **value).map(|(t, v)| (*t, *v)).collect()
}

#[test]
fn a_viewer_reads_what_the_run_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.fst");
    for (name, direction) in [("h100-nvl-tdx", Direction::H2d), ("h100-sxm5-off", Direction::D2h)] {
        let (told, _) = waved(&file, (name, &[]), direction, Window::ALL);
        let signals: Vec<_> = told.keys().cloned().collect();
        assert!(signals.len() > 20, "{signals:?}");
        let shown = read(&file, &signals);
        for (signal, values) in &told {
            assert_eq!(steps(&shown[signal], 0), steps(values, 0), "{name} {signal}");
        }
    }
}

#[test]
fn a_window_begins_with_the_values_that_were_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.fst");
    // The second quarter of all changes.
    let (all, _) = waved(&file, ("h100-nvl-tdx", &[]), Direction::H2d, Window::ALL);
    let mut times: Vec<_> = all.values().flat_map(BTreeMap::keys).map(|picos| Femtos(picos * 1_000)).collect();
    times.sort_unstable();
    let window = Window { from: times[times.len() / 4], to: times[times.len() / 2] };
    let (told, _) = waved(&file, ("h100-nvl-tdx", &[]), Direction::H2d, window);
    let signals: Vec<_> = told.keys().cloned().collect();
    let shown = read(&file, &signals);
    let (from, to) = (window.from.picos(), window.to.picos());
    let mut inside = 0;
    for (signal, values) in &told {
        let before = values.range(..=from).next_back().map_or(0, |(_, value)| *value);
        let later = values.range(from + 1..to).map(|(time, value)| (*time, *value)).collect();
        let expected = steps(&later, before);
        let found = &shown[signal];
        assert_eq!(found.range(..=from).next_back().map_or(before, |(_, value)| *value), before, "{signal}");
        let found = found.range(from + 1..).map(|(time, value)| (*time, *value)).collect();
        assert_eq!(steps(&found, before), expected, "{signal}");
        inside += expected.len();
    }
    assert!(inside > 100, "{inside}");
}

#[test]
fn both_tags_of_a_message_are_shown_and_agree() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.fst");
    waved(&file, ("h100-nvl-tdx", &[]), Direction::H2d, Window::ALL);
    let waves = waves(&file);
    let [computed, fetched] =
        ["computed", "fetched"].map(|tag| waves[&format!("gpu.pce0.tags.{tag}_tag")].values().next_back().unwrap());
    assert!(computed == fetched && computed.contains('1'), "{computed} {fetched}");
}

/// Digests of the waves of some runs. They change with the timing of what they show.
#[test]
fn waves_are_what_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.fst");
    let scenarios: [(&str, &[&str], Direction, u64); 3] = [
        ("h100-nvl-tdx", &[], Direction::H2d, 0x1bda_4c05_523f_6982),
        (
            "h100-nvl-tdx",
            &["tag_queue.release=\"hold\"", "tag_queue.quarantine=\"2 MiB\""],
            Direction::H2d,
            0x8458_a366_687d_17ba,
        ),
        ("h100-sxm5-off", &[], Direction::D2h, 0x3a94_a6d1_8056_e65f),
    ];
    let digests =
        scenarios.map(|(name, sets, direction, _)| waved(&file, (name, sets), direction, Window::ALL).1.digest);
    assert_eq!(digests, scenarios.map(|(.., digest)| digest), "{digests:#x?}");
}

/// The last known value of each signal of a scope, by name.
fn last_values(waves: &Shows, scope: &str) -> BTreeMap<String, u128> {
    let signals = waves.iter().filter_map(|(path, wave)| Some((path.strip_prefix(scope)?.strip_prefix('.')?, wave)));
    let own = signals.filter(|(name, _)| !name.contains('.'));
    let last = |wave: &BTreeMap<u64, String>| wave.values().rev().find_map(|bits| u128::from_str_radix(bits, 2).ok());
    own.filter_map(|(name, wave)| Some((name.to_owned(), last(wave)?))).collect()
}

#[test]
fn the_mask_and_the_accumulators_of_a_message_make_its_tag() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.fst");
    let (_, closed) = waved(&file, ("h100-nvl-tdx", &[]), Direction::H2d, Window::ALL);
    assert_eq!((closed.followed.len(), closed.unknown.len()), (1, 0));
    let (tag, waves) = (u128::from_be_bytes(closed.followed[0].tag), waves(&file));
    assert_eq!(last_values(&waves, "gpu.pce0.tags")["computed_tag"], tag);
    let ghash = last_values(&waves, "gpu.pce0.engine.ghash0");
    let sums: Vec<_> = ghash.iter().filter(|(name, _)| name.starts_with("accumulator")).map(|(_, sum)| *sum).collect();
    let mask = last_values(&waves, "gpu.pce0.engine.tag.chain0")["mask0"];
    assert!(!sums.is_empty() && mask != 0);
    assert_eq!(sums.iter().fold(mask, |tag, sum| tag ^ sum), tag, "{ghash:x?}");
    let states = last_values(&waves, "gpu.pce0.engine.aes.lane0");
    assert!(states.len() >= 13, "{states:x?}");
}
