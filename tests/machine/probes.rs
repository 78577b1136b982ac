//! What listeners hear of a run is all of it, and listening changes nothing.

use super::threads::{all, asked, blind, cases, difference, trees};
use crate::common::{QUICK, machine, run};
use proptest::{prelude::*, test_runner::TestRunner};
use sealsim::{
    sim::{Activity, ChannelTransfer, Control, Digest, Kernel, Listener, Order, Place, Places, SharedListener, Spell},
    system::{Outcome, run_with_listener},
    units::Femtos,
};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// All that can be heard of a run.
#[derive(Default)]
struct Witness {
    places: Option<Places>,
    /// By channel: the digest of what passed, and how much of it was taken.
    passed: BTreeMap<usize, (Digest, u64, u64)>,
    /// By account: cycles by what it was, and the first cycle that is not told.
    spells: BTreeMap<usize, (BTreeMap<String, u64>, u64)>,
    levels: BTreeMap<usize, Vec<(Femtos, u64)>>,
    /// Queues and gauges are heard in the order of time.
    last: Femtos,
    early: bool,
    gaps: usize,
}

impl Witness {
    fn at(&mut self, time: Femtos) {
        self.early |= time < self.last;
        self.last = time;
    }
}

impl Listener for Witness {
    fn begin(&mut self, places: &Places) {
        self.places = Some(places.clone());
    }
    fn hears(&self, _place: Place<'_>) -> bool {
        true
    }
    fn passed(&mut self, ChannelTransfer { channel, sent, date, key, item }: ChannelTransfer<'_>) {
        let is_queue = self.places.as_ref().is_some_and(|places| places.channels[channel].depth.is_some());
        if is_queue {
            assert_eq!(sent, date);
            self.at(date);
        }
        assert!(sent <= date);
        let (digest, passed, _) = self.passed.entry(channel).or_default();
        digest.add(date.0, key);
        *passed += 1;
        assert!(!item.is::<()>());
    }
    fn taken(&mut self, channel: usize, time: Femtos) {
        self.at(time);
        self.passed.entry(channel).or_default().2 += 1;
    }
    fn spell(&mut self, Spell { account, activity, from, to }: Spell) {
        let (cycles, next) = self.spells.entry(account).or_default();
        self.gaps += usize::from(from != *next || to <= from);
        *next = to;
        *cycles.entry(format!("{activity:?}")).or_default() += to - from;
    }
    fn level(&mut self, gauge: usize, time: Femtos, value: u64) {
        self.at(time);
        self.levels.entry(gauge).or_default().push((time, value));
    }
}

/// What a witness heard of the channels and the accounts, against the outcome.
fn holds(witness: &Witness, outcome: &Outcome) -> Result<(), TestCaseError> {
    let places = witness.places.as_ref().unwrap();
    for (number, channel) in places.channels.iter().enumerate() {
        let (digest, passed, taken) = witness.passed.get(&number).copied().unwrap_or_default();
        let known = outcome.channels.iter().find(|one| one.name == channel.path).unwrap();
        prop_assert_eq!(known.digest, digest.value(), "{}", &channel.path);
        prop_assert!(taken <= passed && (channel.depth.is_some() || taken == 0), "{}", &channel.path);
    }
    for (number, account) in places.accounts.iter().enumerate() {
        let Some(known) = outcome.units.iter().find(|unit| unit.name == account.name) else { continue };
        let (cycles, end) = witness.spells.get(&number).cloned().unwrap_or_default();
        prop_assert_eq!(known.cycles, end, "{}", &account.name);
        let of = |activity: Activity| cycles.get(&format!("{activity:?}")).copied().unwrap_or(0);
        prop_assert_eq!((known.busy, known.idle), (of(Activity::Busy), of(Activity::Idle)), "{}", &account.name);
        for &(stall, cycles) in &known.stalls {
            prop_assert_eq!(cycles, of(Activity::Stall(stall)), "{} {:?}", &account.name, stall);
        }
    }
    prop_assert_eq!((witness.gaps, witness.early), (0, false));
    Ok(())
}

#[test]
fn listening_changes_nothing_and_tells_all() {
    let mut runner = TestRunner::new(cases());
    let machines = (prop::sample::select(trees()), any::<bool>(), any::<bool>());
    let copies = prop::collection::vec(asked(), 1..6);
    let tested = runner.run(&(machines, copies), |((tree, secure, quick), copies)| {
        let settings: Vec<&str> = tree.iter().map(String::as_str).collect();
        let name = if secure { "h100-nvl-tdx" } else { "h100-sxm5-off" };
        let machine = machine(name, &[if quick { QUICK } else { &[] }, &settings].concat());
        let kernels: &[_] = if quick { &[Kernel::Skip, Kernel::EveryCycle] } else { &[Kernel::Skip] };
        let mut heard = Vec::new();
        for &kernel in kernels {
            let plain = run(&machine, blind(&machine, &copies, kernel, Order::Ascending)).unwrap();
            let witness = Rc::new(RefCell::new(Witness::default()));
            let listener: SharedListener = witness.clone();
            let asked = blind(&machine, &copies, kernel, Order::Ascending);
            let told = run_with_listener(&machine, asked, &listener, &mut |_| Control::Continue).unwrap();
            holds(&witness.borrow(), &told)?;
            prop_assert_eq!(difference(&all(Ok(told)), &all(Ok(plain))), None, "{:?}", kernel);
            heard.push(witness.take());
        }
        // Both kernels see gauges change at the same edges.
        for pair in heard.windows(2) {
            let gauges = &pair[0].places.as_ref().unwrap().gauges;
            for (number, (unit, name)) in gauges.iter().enumerate() {
                let told = |one: &Witness| one.levels.get(&number).cloned();
                prop_assert_eq!(told(&pair[0]), told(&pair[1]), "{}.{}", &unit.name, name);
            }
        }
        Ok(())
    });
    tested.unwrap();
}
