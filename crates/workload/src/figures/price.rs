//! What a machine's crypto units and buffers cost, and what its tags and keys leave open.
//!
//! ```text
//!   MachineSpec ---> [ price ] ---> Price: area, energy, storage, notes       nothing of it is simulated
//!   messages, TLPs of a copy ---> [ risk ] ---> forgery bound, budgets of IVs and keys
//! ```

use super::protection;
use crate::{
    aead::spec::EngineSpec,
    config::MachineSpec,
    cost::{self, AfterSuccess, EngineCost, Interval, clock::Timing, library::Block},
    gcm::spec::{AesSpec, GcmSpec, GhashSpec},
    gpu::spec::{Common, Sharing},
    pcie::spec::IdeSpec,
    system::Direction,
    units::{Bytes, Cycles, Frequency},
};
use serde::{Deserialize, Serialize};

/// The cost of a design. [`COST`](super::table::COST) describes its figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Price {
    /// Engines on the GPU, those that open and those that seal.
    pub engines: u32,
    /// Area of all of them, kGE.
    pub area: Option<Interval>,
    /// Energy on the GPU per byte to it and from it, pJ.
    pub energies: Option<[Interval; 2]>,
    pub sms_used: Option<u32>,
    /// Room for plaintext that waits for its verdict, of all PCEs.
    pub quarantine_capacity_bytes: u64,
    /// Tags in the tag queue, computed and fetched.
    pub tag_queue_capacity_bytes: u64,
    /// Both as SRAM, over the assumed range, kGE.
    pub storage_sram: Interval,
    /// Both in flip-flops: the bound.
    pub storage_flip_flop_kge: f64,
    /// The quarantine of all PCEs as SRAM, middle of the assumed range.
    pub quarantine_sram_kge: f64,
    pub missing: Option<String>,
    /// What lies outside of the range that a figure was made for.
    pub notes: Vec<String>,
    /// Whether the engines' stages settle within the clock, as `describe` has it.
    pub clock: Option<String>,
    /// If they do not: what they need, and the cycles that close.
    pub does_not_close: Option<String>,
    /// Rows of `rtl/results.toml` that areas of engines are made of.
    pub rows: Vec<Block>,
}

/// Engines of one direction.
struct Engines {
    cost: EngineCost,
    count: u32,
}

impl Engines {
    fn area(&self) -> Interval {
        self.cost.area_kge * f64::from(self.count)
    }

    /// All but their GHASH.
    fn lanes(&self) -> Interval {
        (self.cost.aes_kge + self.cost.control_kge) * f64::from(self.count)
    }
}

pub fn price(machine: &MachineSpec) -> Price {
    let mut price = storage(machine);
    let timing = machine.timing();
    price.does_not_close = timing.as_ref().and_then(Timing::refusal);
    price.clock = timing.map(|timing| timing.verdict().text().to_owned());
    if !machine.confidential_computing {
        price.missing = Some("nothing is sealed".to_owned());
        return price;
    }
    if let Some(sm) = machine.sealing_sms() {
        let cost = cost::sm(sm, machine.engine.rounds().unwrap_or(14));
        price.sms_used = Some(cost.used);
        price.missing = Some(format!("no engines: kernels take {} of {} SMs while they run", cost.used, cost.count));
        price.notes = cost.notes;
        price.energies = Some([cost.pj_per_byte; 2]);
        return price;
    }
    match engines(machine) {
        Ok([open, seal]) => {
            price.engines = open.count + seal.count;
            price.area = Some(match machine.common() {
                // Of what PCEs share, one.
                Common::Ghash => open.lanes() + seal.lanes() + open.cost.ghash_kge,
                Common::Nothing | Common::Engine => open.area() + seal.area(),
            });
            price.energies = Some([open.cost.pj_per_byte, seal.cost.pj_per_byte]);
            price.notes.extend(open.cost.notes);
            if machine.copy_engine.sharing == Some(Sharing::Split) {
                price.notes.push("what weights and sums the shares of a message in parts is not counted".to_owned());
            }
            let common = match machine.common() {
                Common::Nothing => None,
                Common::Ghash => Some("GHASH"),
                Common::Engine => Some("engine"),
            };
            price.notes.extend(common.map(|unit| {
                format!("one {unit} for both ways: its second key's powers and its PCEs' contexts are not counted")
            }));
            if machine.copy_engine.engine_clock.is_some() {
                price.notes.push(
                    "what crosses between the clocks of copy engines and their engines is not counted".to_owned(),
                );
            }
            price.rows = open.cost.rows;
            let rows = seal.cost.rows.into_iter().filter(|row| !price.rows.contains(row)).collect::<Vec<_>>();
            price.rows.extend(rows);
            let others = seal.cost.notes.into_iter().filter(|note| !price.notes.contains(note)).collect::<Vec<_>>();
            price.notes.extend(others);
        }
        Err(reason) => price.missing = Some(reason.to_owned()),
    }
    price.notes.extend(protection::notes(machine));
    price
}

impl Price {
    /// Of engines, quarantine and tag queue, the last two as SRAM.
    pub fn area_total(&self) -> Option<Interval> {
        self.area.map(|engines| engines + self.storage_sram)
    }

    /// Why figures are missing, and notes.
    pub fn cost_notes(&self) -> Option<String> {
        let notes: Vec<_> = self.missing.iter().chain(&self.notes).map(String::as_str).collect();
        (!notes.is_empty()).then(|| notes.join(" | "))
    }

    /// Per byte of copies that go one way.
    pub fn energy(&self, way: Direction) -> Option<Interval> {
        self.energies.map(|[h2d, d2h]| if way == Direction::D2h { d2h } else { h2d })
    }
}

/// The engines that open, and those that seal.
fn engines(machine: &MachineSpec) -> Result<[Engines; 2], &'static str> {
    if let Some(ide) = &machine.link.ide {
        let cost = ide_engine(ide)?;
        return Ok([cost.clone(), cost].map(|cost| Engines { cost, count: 1 }));
    }
    let (clock, count) = (machine.copy_engine.clock_of_engines(), engines_per_way(machine));
    // A shared engine serves the PCEs of both directions.
    let count = |way| if machine.shared_engine() && way == Direction::D2h { 0 } else { count };
    let of = |engine: EngineSpec, way| {
        cost::engine(&engine.model().hardware(), clock).map(|cost| Engines { cost, count: count(way) })
    };
    Ok([of(machine.opening(), Direction::H2d)?, of(machine.sealing(), Direction::D2h)?])
}

/// Engines of the copy engine that a direction uses: each PCE has one, unless all share it.
fn engines_per_way(machine: &MachineSpec) -> u32 {
    if machine.shared_engine() { 1 } else { machine.copy_engine.pces_secure }
}

/// The GPU port's engine of one way. What is not configured of it is taken as in the shipped copy engine.
fn ide_engine(ide: &IdeSpec) -> Result<EngineCost, &'static str> {
    let mut spec = GcmSpec::four_lanes();
    spec.aes = AesSpec { lanes: ide.gpu.lanes, registers_per_round: 1, start_interval: Cycles(1), ..spec.aes };
    let multiplier = spec.ghash.multiplier().clone();
    spec.ghash = GhashSpec::Aggregated { width: ide.gpu.multipliers, groups: 4, multiplier };
    let mut cost = cost::engine(&EngineSpec::Gcm(spec).model().hardware(), Frequency(1_000_000_000))?;
    cost.notes.push(
        "the IDE engine's lanes and multipliers are taken to be built as those of the copy engine, at 1 GHz; headers of TLPs are not counted"
            .to_owned(),
    );
    Ok(cost)
}

/// What waits for verdicts.
fn storage(machine: &MachineSpec) -> Price {
    let sealed = machine.sealed_path();
    let holds = sealed && machine.tag_queue.release.quarantines() && !machine.tag_queue.waits_in_memory();
    let quarantine = match (holds, machine.common_quarantine()) {
        (false, _) => 0,
        (true, None) => machine.charged_quarantine() * u64::from(machine.copy_engine.pces_secure),
        (true, Some(_)) => machine.charged_quarantine(),
    };
    let tags = if sealed { 2 * u64::from(machine.tag_queue.depth) * u64::from(tag_bits(machine) / 8) } else { 0 };
    let cost = cost::storage(quarantine + tags);
    let (stated, usable) = (machine.tag_queue.quarantine, machine.usable_quarantine());
    let unused = (holds && stated.0 > usable).then(|| {
        let messages = "the messages of one push that are under way at once";
        format!(
            "of tag_queue.quarantine = {stated} no more than {} can be used, by {messages}: that is charged",
            Bytes(usable)
        )
    });
    Price {
        notes: unused.into_iter().collect(),
        quarantine_capacity_bytes: quarantine,
        tag_queue_capacity_bytes: tags,
        storage_sram: cost.sram_kge,
        storage_flip_flop_kge: cost.flip_flop_kge,
        quarantine_sram_kge: cost::storage(quarantine).sram_kge.middle(),
        ..Price::default()
    }
}

pub(super) fn tag_bits(machine: &MachineSpec) -> u32 {
    8 * machine.sealing().model().tag_bytes() as u32
}

/// The probability that a forged tag of a copy is taken, and the use of its keys. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Risk {
    /// Bits of a tag or MAC.
    pub tag_bits: Option<u32>,
    /// Bound on the probability that any of the copy's tags is forged with one attempt at each, as log2: of a first forgery.
    pub forgery_log2: Option<f64>,
    /// What is left of the bound under the same key when one has passed.
    pub after_first_success: Option<AfterSuccess>,
    /// Messages of this size under one key until it must be rotated.
    pub key_budget_messages: Option<u64>,
    pub key_budget_bytes: Option<u64>,
    /// Messages under one IV until it must be rotated.
    pub iv_budget_messages: Option<u64>,
    pub iv_budget_bytes: Option<u64>,
}

/// The risk of one message, as long as the driver makes them; with IDE, of one TLP.
pub fn message_risk(machine: &MachineSpec) -> Risk {
    risk(machine, machine.driver.pinned.message.0, 1, 1)
}

/// The last message counter of an IV.
const LAST_MESSAGE: u64 = 0xFFFF_FFFF;

/// The risk of a copy of so many bytes in so many messages; with IDE, in so many TLPs.
pub fn risk(machine: &MachineSpec, bytes: u64, messages: u64, tlps: u64) -> Risk {
    if let Some(ide) = machine.link.ide.as_ref().filter(|_| machine.confidential_computing) {
        return ide_risk(machine, ide, tlps);
    }
    if !machine.sealed_path() || messages == 0 {
        return Risk::default();
    }
    let message = bytes.div_ceil(messages);
    let chains = match (&machine.engine.ghash, machine.tag_queue.tag_every) {
        (GhashSpec::SubChains { chains, .. }, _) => u64::from(*chains),
        (_, every) => every.map_or(1, |every| message.div_ceil(every.0)),
    };
    let (bytes, engine) = (16 * message.div_ceil(16).div_ceil(chains), machine.sealing());
    let key = cost::key_budget(message).filter(|_| machine.aead.is_none());
    Risk {
        tag_bits: Some(tag_bits(machine)),
        forgery_log2: Some(engine.model().forgery_log2(bytes, messages * chains)),
        after_first_success: Some(engine.model().after_success()),
        key_budget_messages: key.map(|key| key.messages),
        key_budget_bytes: key.map(|key| key.bytes),
        iv_budget_messages: Some(LAST_MESSAGE),
        iv_budget_bytes: Some(LAST_MESSAGE.saturating_mul(message)),
    }
}

/// A MAC of 96 bits over so many TLPs, each as long as one may be, headers and prefix included.
fn ide_risk(machine: &MachineSpec, ide: &IdeSpec, tlps: u64) -> Risk {
    const MAC_BITS: u32 = 96;
    const HEADER: u64 = 32;
    let together = u64::from(ide.aggregation.max(1));
    let blocks = ((machine.link.max_payload.0 + HEADER) * together).div_ceil(16) + 1;
    let log2 = cost::forgery_log2(MAC_BITS, blocks, tlps.div_ceil(together));
    let after_first_success = Some(AfterSuccess::Certain);
    Risk { tag_bits: Some(MAC_BITS), forgery_log2: Some(log2), after_first_success, ..Risk::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Layers,
        gpu::spec::{PoolsSpec, Sharers},
    };

    fn machine(designs: &[&str]) -> MachineSpec {
        let layers = designs.iter().fold(Layers::new("h100-nvl-tdx"), |layers, design| layers.overlay(*design));
        layers.resolve().unwrap().machine
    }

    fn most(price: &Price) -> f64 {
        price.area.unwrap().high
    }

    #[test]
    fn every_engine_that_opens_or_seals_is_counted() {
        let (one, two) = (price(&machine(&[])), price(&machine(&["two-pces"])));
        assert_eq!((one.engines, two.engines), (2, 4));
        assert_eq!(two.area, one.area.map(|area| area * 2.0));
        assert_eq!(two.energies, one.energies);
        // Another authenticator where messages are opened, and not where they are sealed.
        let bound = price(&machine(&["verify-bound"]));
        assert!(bound.energies.is_some_and(|[h2d, d2h]| h2d != d2h));
        assert!(most(&bound) < most(&one));
    }

    #[test]
    fn a_design_without_an_engine_says_why_it_has_no_area() {
        for (design, why) in [("off", "nothing is sealed"), ("sm", "42 of 132 SMs")] {
            let price = price(&machine(&[design]));
            assert_eq!(price.area, None, "{design}");
            assert!(price.missing.as_ref().is_some_and(|reason| reason.contains(why)), "{design}: {price:?}");
        }
        let ide = price(&machine(&["ide"]));
        assert!(ide.missing.is_none() && ide.area.is_some());
        assert!(ide.notes.iter().any(|note| note.contains("IDE engine")), "{:?}", ide.notes);
        assert_eq!((ide.quarantine_capacity_bytes, ide.tag_queue_capacity_bytes), (0, 0));
    }

    #[test]
    fn quarantine_costs_only_where_plaintext_waits_in_it() {
        let capacity = |designs: &[&str]| price(&machine(designs)).quarantine_capacity_bytes;
        assert_eq!([capacity(&[]), capacity(&["hold"]), capacity(&["hold", "two-pces"])], [0, 1 << 20, 2 << 20]);
        let mut common = machine(&["hold", "two-pces"]);
        common.copy_engine.pools = Some(PoolsSpec { quarantine: Some(Sharers::Gpu), ..PoolsSpec::default() });
        assert_eq!(price(&common).quarantine_capacity_bytes, 1 << 20, "counted once");
        let hold = price(&machine(&["hold"]));
        assert!(hold.notes[0].contains("2 MiB no more than 1 MiB can be used"), "{:?}", hold.notes);
        let mut two = machine(&["hold"]);
        two.driver.pinned.push = Bytes(8 << 20);
        assert_eq!((price(&two).quarantine_capacity_bytes, price(&two).notes), (2 << 20, Vec::new()));
        let Interval { low, high } = hold.storage_sram;
        assert!(0.0 < low && low < high && high < hold.storage_flip_flop_kge);
    }

    #[test]
    fn a_shared_ghash_costs_one_and_lanes_of_their_own_all() {
        let mut shared = machine(&["two-pces"]);
        let [own, one] = [price(&shared), price(&machine(&[]))].map(|price| price.area.unwrap());
        shared.copy_engine.pools = Some(PoolsSpec { ghash: Some(Sharers::Gpu), ..PoolsSpec::default() });
        let ghash = cost::engine(&shared.sealing().model().hardware(), shared.copy_engine.clock).unwrap().ghash_kge;
        let saved = own.middle() - price(&shared).area.unwrap().middle();
        assert!((saved - 3.0 * ghash.middle()).abs() < 1e-6 && own.middle() == 2.0 * one.middle(), "{saved} {ghash:?}");
    }

    #[test]
    fn engines_have_the_area_and_close_at_their_own_clock_and_the_tag_queue_at_that_of_the_copy_engine() {
        let clocked = |clock, engine_clock: Option<u64>| {
            let mut machine = machine(&[]);
            (machine.copy_engine.clock, machine.copy_engine.engine_clock) =
                (Frequency(clock), engine_clock.map(Frequency));
            price(&machine)
        };
        let (slow, fast) = (1_000_000_000, 3_500_000_000);
        let closes = |clock, engine_clock| clocked(clock, engine_clock).does_not_close.unwrap_or_default();
        assert!(closes(slow, Some(fast)).starts_with("does not close at 3.5 GHz"));
        assert_eq!(closes(2 * slow, Some(slow)), "");
        assert!(closes(9_000_000_000, Some(slow)).starts_with("does not close at 9 GHz"));
        assert_eq!(clocked(fast, Some(slow)).area, clocked(slow, None).area);
    }

    #[test]
    fn a_clock_that_does_not_close_is_told_and_a_marginal_one_is_not() {
        let mut fast = machine(&[]);
        fast.copy_engine.clock = Frequency(3_500_000_000);
        let price_of_fast = price(&fast);
        let says = price_of_fast.does_not_close.unwrap();
        assert!(says.starts_with("does not close at 3.5 GHz (needs "), "{says}");
        assert_eq!(price_of_fast.clock.as_deref(), Some("does not close"));
        let own = price(&machine(&[]));
        assert_eq!((own.does_not_close, own.notes), (None, Vec::new()));
    }

    #[test]
    fn other_aeads_have_their_own_engines_tags_and_bounds() {
        let (gcm, aegis) = (price(&machine(&[])), price(&machine(&["aegis-256"])));
        assert!(aegis.missing.is_none() && aegis.area.unwrap().high < gcm.area.unwrap().low, "{aegis:?}");
        let chacha = price(&machine(&["chacha20-poly1305"]));
        assert!(chacha.area.is_none() && chacha.missing.is_some_and(|why| why.contains("no published figure")));
        let long = Layers::new("h100-nvl-tdx").overlay("aegis-256").set("aead.tag=32 B").resolve().unwrap().machine;
        assert_eq!(risk(&long, 1 << 20, 1, 0).forgery_log2, Some(-256.0));
        assert_eq!(price(&long).tag_queue_capacity_bytes, 2 * gcm.tag_queue_capacity_bytes);
        assert_eq!(risk(&long, 1 << 20, 1, 0).key_budget_messages, None);
    }

    #[test]
    fn pces_that_share_an_engine_pay_for_one() {
        let (alone, shared) = (price(&machine(&[])), price(&machine(&["shared-engine"])));
        assert_eq!((shared.engines, alone.engines), (1, 2));
        assert_eq!(shared.area.map(|area| area * 2.0), alone.area);
    }

    #[test]
    fn forgers_have_an_attempt_at_every_tag() {
        let bound = |designs: &[&str], messages| risk(&machine(designs), 1 << 20, messages, 0).forgery_log2.unwrap();
        // 65,536 blocks and the lengths, and one more: the degree of the polynomial.
        assert!((bound(&[], 1) - (65_538_f64.log2() - 128.0)).abs() < 1e-9);
        assert!((bound(&["parallel-auth"], 1) - ((8.0 * 8194.0_f64).log2() - 128.0)).abs() < 1e-9);
        assert!(bound(&["by-page"], 256) > bound(&[], 1));
        let ide = |design| risk(&machine(&[design]), 1 << 20, 0, 8192);
        let (one, eight) = (ide("ide").forgery_log2.unwrap(), ide("ide-8").forgery_log2.unwrap());
        assert_eq!(ide("ide").tag_bits, Some(96));
        assert!(one > bound(&[], 1) + 20.0 && (one - eight).abs() < 0.3, "{one} {eight}");
        assert_eq!(risk(&machine(&["off"]), 1 << 20, 0, 8192), Risk::default());
    }

    #[test]
    fn the_whole_area_is_engines_and_storage_and_there_is_none_without_engines() {
        let hold = price(&machine(&["hold", "two-pces"]));
        let (all, engines) = (hold.area_total().unwrap(), hold.area.unwrap());
        assert_eq!(all, engines + hold.storage_sram);
        assert!(all.low > engines.high, "a quarantine is more than its engines");
        for design in ["off", "sm", "chacha20-poly1305"] {
            assert_eq!(price(&machine(&[design])).area_total(), None, "{design}");
        }
    }

    #[test]
    fn the_ide_engine_has_the_multipliers_of_its_configuration() {
        let area = |multipliers: u32| {
            let mut machine = machine(&["ide"]);
            machine.link.ide.as_mut().unwrap().gpu.multipliers = multipliers;
            price(&machine).area.unwrap().low
        };
        assert!(area(4) > area(2) && area(2) > area(1));
    }

    #[test]
    fn each_design_says_what_one_forgery_leaves_of_its_bound() {
        let after = |design: &str| message_risk(&machine(&[design])).after_first_success;
        let certain = ["h100-cc", "parallel-auth", "ide", "sm", "by-page"].map(after);
        assert_eq!(certain, [Some(AfterSuccess::Certain); 5]);
        assert_eq!([after("gcm-siv"), after("chacha20-poly1305")], [Some(AfterSuccess::AsBefore); 2]);
        assert_eq!([after("aegis-256"), after("off")], [Some(AfterSuccess::AsClaimed), None]);
    }

    #[test]
    fn short_messages_run_out_of_ivs_first_and_long_ones_of_key() {
        let first = |message: u64| {
            let risk = risk(&machine(&[]), message, 1, 0);
            risk.iv_budget_messages < risk.key_budget_messages
        };
        assert_eq!([first(16), first(4096), first(1 << 20)], [true, false, false]);
    }
}
