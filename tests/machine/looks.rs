//! An observer that looks at a run changes nothing, however often it looks and whether it lets somebody listen from then on.

use super::threads::{all, asked, blind, cases, difference, trees};
use crate::common::{Delivered, QUICK, copy, machine, request, run};
use proptest::{prelude::*, test_runner::TestRunner};
use sealsim::{
    config::MachineSpec,
    sim::{Account, Control, Kernel, Listener, Observer, Order, Place, Places, SharedListener, Spell, Still},
    system::{DataMode, Direction, Memory, Onlooker, Request, run_observed},
    units::Femtos,
};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// Looks at random instants; at each what it sees must fit what it saw before.
struct Eyes {
    random: u64,
    /// Looks until somebody listens, if somebody is to.
    until_heard: Option<u32>,
    heard: Rc<RefCell<Spells>>,
    looks: u32,
    last: Femtos,
    transfers: Vec<u64>,
    work: u64,
    /// What the accounts were when somebody began to listen, and at the end.
    accounts: [Vec<Account>; 2],
    /// Copies that have begun and ended, with the dates.
    begun: BTreeMap<usize, Femtos>,
    ended: BTreeMap<usize, Femtos>,
}

/// Hears the accounts and queues, and wires too if it is to: by account the first cycle of its first spell and the first behind its last one.
#[derive(Default)]
struct Spells {
    wires: bool,
    from: BTreeMap<usize, u64>,
    to: BTreeMap<usize, u64>,
}

impl Listener for Spells {
    fn begin(&mut self, _places: &Places) {}
    fn hears(&self, place: Place<'_>) -> bool {
        self.wires || !matches!(place, Place::Channel(channel) if channel.depth.is_none())
    }
    fn spell(&mut self, Spell { account, from, to, .. }: Spell) {
        self.from.entry(account).or_insert(from);
        let end = self.to.insert(account, to);
        assert!(end.is_none_or(|end| end == from), "spells of an account adjoin");
    }
}

impl Eyes {
    fn new(seed: u64, until_heard: Option<u32>) -> Self {
        let spells = Spells { wires: seed.is_multiple_of(3), ..Spells::default() };
        let (heard, accounts) = (Rc::new(RefCell::new(spells)), [Vec::new(), Vec::new()]);
        let (begun, ended) = (BTreeMap::new(), BTreeMap::new());
        let (looks, last, transfers, work) = (0, Femtos(0), Vec::new(), 0);
        Self { random: seed | 1, until_heard, heard, looks, last, transfers, work, accounts, begun, ended }
    }

    fn often(&mut self) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        !self.random.is_multiple_of(5)
    }

    fn see(&mut self, still: &mut Still<'_, '_>) -> Vec<Account> {
        assert!(still.time() >= self.last);
        self.last = still.time();
        let accounts = still.accounts();
        let names = still.netlist().accounts();
        assert_eq!(accounts.len(), names.len());
        for (account, unit) in accounts.iter().zip(&names) {
            assert_eq!(account.total(), unit.clock.first_after(still.time()), "{}", unit.name);
        }
        let transfers: Vec<_> = still.netlist().channels().map(|channel| channel.transfers()).collect();
        assert!(self.transfers.iter().zip(&transfers).all(|(before, now)| before <= now));
        for (channel, transfers) in still.netlist().channels().zip(&transfers) {
            let (fill, most) = channel.fill();
            assert!(fill <= most && fill as u64 <= *transfers, "{}", channel.path());
        }
        self.transfers = transfers;
        let work = still.netlist().work_done();
        assert!(work >= std::mem::replace(&mut self.work, work));
        accounts
    }
}

impl Observer for Eyes {
    fn at(&mut self, _time: Femtos) -> Control {
        Control::Look
    }

    fn look(&mut self, still: &mut Still<'_, '_>) -> Control {
        self.looks += 1;
        if self.often() {
            let accounts = self.see(still);
            if self.until_heard.is_some_and(|looks| looks == self.looks) {
                let listener: SharedListener = self.heard.clone();
                assert!(still.listen(&listener));
                assert!(!still.listen(&listener), "one listens already");
                self.accounts[0] = accounts;
            }
        }
        Control::Look
    }

    fn ended(&mut self, still: &mut Still<'_, '_>) {
        self.accounts[1] = self.see(still);
    }
}

impl Onlooker for Eyes {
    fn copy_begun(&mut self, copy: usize, at: Femtos) {
        assert!(at >= self.last);
        assert_eq!(self.begun.insert(copy, at), None);
    }

    fn copy_ended(&mut self, copy: usize, at: Femtos) {
        assert_eq!(self.ended.insert(copy, at), None);
    }
}

/// A run that is looked at against one that is not.
fn compare(machine: &MachineSpec, asked: &dyn Fn() -> Request, seed: u64, until_heard: Option<u32>) {
    let plain = run(machine, asked()).unwrap();
    let mut eyes = Eyes::new(seed, until_heard);
    let seen = run_observed(machine, asked(), None, &mut eyes).unwrap();
    // A run of nothing has no instant before its end.
    let nothing = asked().copies.iter().all(|copy| copy.bytes == 0);
    assert!(eyes.looks > 0 || nothing);
    assert!(eyes.looks == 0 || eyes.last == seen.end);
    for (number, copy) in seen.copies.iter().enumerate() {
        assert_eq!((eyes.begun.get(&number), eyes.ended.get(&number)), (Some(&copy.start), Some(&copy.end)));
    }
    let ends = &eyes.accounts[1];
    assert_eq!(difference(&all(Ok(seen)), &all(Ok(plain))), None);
    let heard = eyes.heard.borrow();
    for (&account, &from) in &heard.from {
        let (begun, ended) = (eyes.accounts[0][account].total(), ends[account].total());
        // The first spell is told whole, though it may have begun before.
        assert!(from <= begun && heard.to[&account] == ended, "{account}: {from} {begun} {ended}");
    }
    if !eyes.accounts[0].is_empty() {
        assert_eq!(heard.from.len(), ends.len(), "each account is heard");
    }
}

#[test]
fn looking_changes_nothing() {
    let mut runner = TestRunner::new(cases());
    let machines = (prop::sample::select(trees()), any::<bool>(), any::<bool>());
    let heard = prop::option::of(1u32..3_000);
    let copies = (prop::collection::vec(asked(), 1..4), any::<u64>(), heard);
    let tested = runner.run(&(machines, copies), |((tree, secure, quick), (mut copies, seed, heard))| {
        // Each instant is looked at.
        copies.iter_mut().for_each(|copy| copy.2 %= 60_000);
        let settings: Vec<&str> = tree.iter().map(String::as_str).collect();
        let name = if secure { "h100-nvl-tdx" } else { "h100-sxm5-off" };
        let machine = machine(name, &[if quick { QUICK } else { &[] }, &settings].concat());
        let kernels: &[_] = if quick { &[Kernel::Skip, Kernel::EveryCycle] } else { &[Kernel::Skip] };
        for &kernel in kernels {
            compare(&machine, &|| blind(&machine, &copies, kernel, Order::Ascending), seed, heard);
        }
        Ok(())
    });
    tested.unwrap();
}

#[test]
fn looking_changes_no_byte() {
    let machine = machine("h100-nvl-tdx", QUICK);
    for (seed, heard) in [(1, None), (2, Some(40)), (3, Some(2_000))] {
        for direction in [Direction::H2d, Direction::D2h] {
            let sink = Delivered::default();
            let asked = || {
                let mut copy = copy(direction, 70_000, Memory::Pinned);
                copy.sink = Some(Box::new(sink.clone()));
                request(vec![copy], DataMode::Exact, Kernel::Skip, Order::Ascending)
            };
            compare(&machine, &asked, seed, heard);
            assert_eq!(sink.bytes(), 2 * 70_000);
            assert!(sink.agrees(&mut crate::common::Pattern(70_000)));
        }
    }
}
