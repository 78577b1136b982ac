//! Both kernels, any order of ticks and any data mode give the same run, over random machines and workloads.
//!
//! `SEALSIM_CASES` sets the number of random machines.

use crate::{
    CAMPAIGN,
    common::{QUICK, copy, machine, request, run},
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sealsim::{
    config::{Layers, MachineSpec},
    sim::{Control, FaultKind, Injection, Kernel, Order},
    system::{self, DataMode, Direction, Memory, Operation, Outcome, Step, fault_points},
    units::Femtos,
};

const MULTIPLIER: &str = "multiplier={product=\"3 cycles\",reduction=\"1 cycle\",digit_bits=128}";

const ENGINES: &str =
    "host={lanes=4,multipliers=5,latency=\"10 cycles\"},gpu={lanes=3,multipliers=7,latency=\"0 cycles\"}";

/// Each row is one choice: its alternatives, each a list of settings. `MULTIPLIER` stands for a multiplier of four cycles, `ENGINES`
/// for the IDE engines of both ports, `SM` for what all SMs share.
const CHOICES: &[&[&[&str]]] = &[
    &[&["cpu.clock=1 GHz"], &["cpu.clock=3.7 GHz"], &["cpu.clock=333 MHz"]],
    &[&["root_complex.clock=2.5 GHz"], &["root_complex.clock=777 MHz"]],
    &[&["copy_engine.clock=1 GHz"], &["copy_engine.clock=1.98 GHz"], &["copy_engine.clock=611 MHz"]],
    &[&["copy_engine.engine_clock=611 MHz"], &["copy_engine.engine_clock=2.9 GHz"]],
    &[&["hbm.clock=1 GHz"], &["hbm.clock=2.619 GHz"]],
    &[
        &["engine.ghash={design=\"serial\",MULTIPLIER}"],
        &["engine.ghash={design=\"aggregated\",width=4,groups=2,MULTIPLIER}"],
        &["engine.ghash={design=\"interleaved\",ways=3,multipliers=1,closing=\"look_ahead\",MULTIPLIER}"],
        &["engine.ghash={design=\"interleaved\",ways=4,multipliers=4,closing=\"afterwards\",MULTIPLIER}"],
        &[
            "engine.ghash={design=\"segmented\",units=3,segment=64,ports=4,buffer=32,unit={design=\"serial\",MULTIPLIER}}",
        ],
        &["engine.ghash={design=\"message_parallel\",units=3,ports=4,buffer=300,unit={design=\"serial\",MULTIPLIER}}"],
        &[
            "engine.ghash={design=\"sub_chains\",chains=3,chunk=\"1 KiB\",ports=4,buffer=64,unit={design=\"serial\",MULTIPLIER}}",
        ],
        &[
            "engine.ghash={design=\"sub_chains\",chains=8,chunk=\"16 B\",ports=2,buffer=4,unit={design=\"serial\",MULTIPLIER}}",
        ],
    ],
    &[&["engine.aes.lanes=1"], &["engine.aes.lanes=4"], &["engine.aes.lanes=3"]],
    &[&["engine.key_bits=128"], &["engine.key_bits=192"]],
    &[&["engine.aes.keystream_blocks=1"], &["engine.aes.keystream_blocks=500"]],
    &[&["engine.compare=0 cycles"], &["engine.compare=90 cycles"]],
    &[
        &["copy_engine.outstanding_reads=1"],
        &["copy_engine.outstanding_reads=7"],
        &["copy_engine.outstanding_reads=300"],
    ],
    &[&["copy_engine.request_interval=16 cycles"], &["copy_engine.request_interval=3 cycles"]],
    &[&["copy_engine.read_buffer=4 KiB"], &["copy_engine.read_buffer=5000 B"], &["copy_engine.read_buffer=128 KiB"]],
    &[&["copy_engine.stripe=512 B"], &["copy_engine.stripe=64 KiB"]],
    &[&["copy_engine.stripes_in_flight=1"], &["copy_engine.stripes_in_flight=200"]],
    &[&["copy_engine.messages_in_flight=1"], &["copy_engine.messages_in_flight=8"]],
    &[
        &["copy_engine.pces_secure=2", "copy_engine.pces_plain=1"],
        &["copy_engine.pces_secure=3", "copy_engine.pces_plain=3"],
    ],
    &[
        &["copy_engine.sharing=split", "copy_engine.pces_secure=2"],
        &["copy_engine.sharing=split", "copy_engine.pces_secure=5"],
        &["copy_engine.sharing=shared", "copy_engine.pces_secure=2", "copy_engine.engine_turn=1 KiB"],
        &["copy_engine.sharing=shared", "copy_engine.pces_secure=5", "copy_engine.engine_wire=9 cycles"],
        &["copy_engine.sharing=shared", "copy_engine.engine_turn=4 KiB", "copy_engine.engine_wire=2 cycles"],
        &["copy_engine.pools={aes=\"gpu\",ghash=\"gpu\",turns=\"need\"}", "copy_engine.pces_secure=3"],
        &["copy_engine.pools={ghash=\"gpu\",turns=\"need\"}", "copy_engine.pces_secure=3"],
        &["copy_engine.pools={ghash=\"gpu\"}", "copy_engine.pces_secure=2", "copy_engine.engine_wire=9 cycles"],
        &["copy_engine.pools={ghash=\"gpu\",turns=\"bytes\"}", "copy_engine.engine_turn=1 KiB"],
    ],
    &[&["copy_engine.method_word=8 cycles"]],
    &[&["copy_engine.opens=arrived"]],
    &[&["copy_engine.launch=0 cycles"], &["copy_engine.launch=700 cycles"]],
    &[&["copy_engine.fetch=0 cycles"], &["copy_engine.fetch=900 cycles"]],
    &[&["copy_engine.burst=32 B"], &["copy_engine.burst=256 B"]],
    &[&["link.read_tags=32"], &["link.read_tags=256"]],
    &[&["link.max_read_request=128 B"], &["link.max_read_request=256 B"], &["link.max_read_request=4 KiB"]],
    &[&["link.max_payload=128 B", "root_complex.completion_payload=128 B"], &["link.max_payload=512 B"]],
    &[&["link.read_completion_boundary=128 B"]],
    &[&["root_complex.completion_payload=64 B", "link.read_completion_boundary=64 B"]],
    &[&["link.flight=1 cycle"], &["link.flight=300 cycles"]],
    &[&["link.ack_latency=1 cycle"], &["link.ack_latency=150 cycles"]],
    &[&["link.replay_tlps=1"], &["link.replay_tlps=9"]],
    &[&["link.ecrc=true"]],
    &[
        &["link.ide_capable=true", "link.ide={aggregation=1,pcrc=true,flush=\"0 cycles\",ENGINES}"],
        &["link.ide_capable=true", "link.ide={aggregation=2,pcrc=false,flush=\"90 cycles\",ENGINES}"],
        &["link.ide_capable=true", "link.ide={aggregation=8,pcrc=false,flush=\"8 cycles\",ENGINES}"],
    ],
    &[&["link.skp_interval_blocks=37"]],
    &[
        &["link.generation=3"],
        &["link.generation=4", "link.lanes=8"],
        &["link.generation=3", "link.lanes=2"],
        &["link.lanes=1"],
        &["link.lanes=4"],
        &["link.generation=6"],
        &["link.generation=6", "link.lanes=2", "link.flit_errors=10000000"],
    ],
    &[&["link.credit_update=50 cycles"], &["link.credit_update=1000 cycles"]],
    &[
        &["link.host_credits.posted_headers=2"],
        &["link.host_credits.posted_data=32"],
        &["link.host_credits.non_posted_headers=1"],
        &["link.host_credits.non_posted_headers=5"],
        &["link.host_credits.posted_headers=1000", "link.host_credits.posted_data=16000"],
    ],
    &[&["link.gpu_credits.posted_headers=1"]],
    &[&["root_complex.read_spread=200 cycles"], &["root_complex.read_spread=7 cycles"]],
    &[&["root_complex.read_interval=8 cycles"]],
    &[&["root_complex.reads_in_service=1"], &["root_complex.reads_in_service=6"]],
    &[&["root_complex.read_latency=900 cycles"], &["root_complex.read_latency=1 cycle"]],
    &[
        &["driver.pinned={message=\"4 KiB\",push=\"4 KiB\"}", "driver.pageable={message=\"4 KiB\",push=\"64 KiB\"}"],
        &[
            "driver.pinned={message=\"64 KiB\",push=\"64 KiB\"}",
            "driver.pageable={message=\"4128 B\",push=\"20000 B\"}",
        ],
        &["driver.pinned={message=\"32 KiB\",push=\"1 MiB\"}", "driver.pageable={message=\"96 B\",push=\"1000 B\"}"],
        &["driver.pinned={message=\"256 B\",push=\"8 KiB\"}", "driver.pageable={message=\"512 B\",push=\"4 KiB\"}"],
    ],
    &[&["staging={buffer=\"1 MiB\",buffers=1}"], &["staging={buffer=\"1 MiB\",buffers=3}"]],
    &[&["cipher.threads=2"], &["cipher.threads=5"]],
    &[&["cipher.work=reseal"], &["cipher.work=forward"], &["cipher.work=in_place"]],
    &[
        &["cipher.ahead={workers=1,open_workers=1,least=\"1 B\",hit_permille=1000,nops=0,buffer=\"1 MiB\"}"],
        &["cipher.ahead={workers=3,open_workers=2,least=\"4 KiB\",hit_permille=600,nops=2,buffer=\"1 MiB\"}"],
        &["cipher.ahead={workers=5,open_workers=0,least=\"100 B\",hit_permille=300,nops=1,buffer=\"64 MiB\"}"],
    ],
    &[&["cipher.seal_rate=1.6 B/cycle", "cipher.open_rate=1.4 B/cycle"]],
    &[
        &["driver.secure_push=900 cycles"],
        &["driver.call=0 cycles", "driver.push=0 cycles", "driver.secure_push=0 cycles"],
    ],
    &[&["driver.completion=0 cycles", "driver.secure_completion=0 cycles"]],
    &[&["tag_queue.depth=1"], &["tag_queue.depth=2"], &["tag_queue.depth=64"]],
    &[&["tag_queue.comparators=3"]],
    &[&["tag_queue.retirement=out_of_order"]],
    &[
        &["tag_queue.release=hold", "tag_queue.quarantine=1 MiB"],
        &[
            "tag_queue.release=hold",
            "tag_queue.quarantine=1 MiB",
            "copy_engine.pools.quarantine=gpu",
            "copy_engine.pces_secure=3",
        ],
        &["tag_queue={release=\"hold\",quarantine=\"1 MiB\",quarantine_in=\"device_memory\"}"],
        &["tag_queue.release=skid", "tag_queue.quarantine=1 MiB", "tag_queue.skid=3 KiB"],
        &[
            "tag_queue={release=\"skid\",quarantine=\"1 MiB\",skid=\"3 KiB\"}",
            "copy_engine.pools.quarantine=gpu",
            "copy_engine.pces_secure=3",
        ],
        &["tag_queue.release=eager"],
    ],
    &[&["tag_queue.fetch=before_data"], &["tag_queue.placement=inline"], &["tag_queue.placement=inline"]],
    &[&["hbm.write_rate=5 B/cycle"], &["hbm.write_rate=64 B/cycle"]],
    &[&["hbm.read_rate=5 B/cycle"], &["hbm.read_rate=64 B/cycle"]],
    AEADS,
    &[
        &[
            "sm={SM,used=1,warps=4,aes=\"bitsliced\",ghash=\"four_bit_tables\"}",
            "gpu_crypto.place=sm",
            "compute.launch=90 cycles",
        ],
        &["sm={SM,used=7,warps=8,aes=\"t_tables\",ghash=\"shift_and_xor\"}", "gpu_crypto.place=sm", "sm.clock=777 MHz"],
        &[
            "sm={SM,used=42,warps=16,aes=\"t_tables\",ghash=\"tensor_core\",tensor_products=4096}",
            "gpu_crypto.place=sm",
        ],
        &["sm={SM,used=42,warps=16,aes=\"t_tables\",ghash=\"four_bit_tables\"}", "gpu_crypto.place=copy_engine"],
    ],
];

/// Engines of other AEADs in place of AES-GCM. AES-GCM-SIV keeps a message between its passes, or reads it twice.
const AEADS: &[&[&str]] = &[
    &["aead={scheme=\"gcm_sst\",key_bits=256,key_setup=\"14 cycles\",tag=\"12 B\",compare=\"1 cycle\",\
         aes={lanes=3,rounds_in_hardware=7,registers_per_round=1,start_interval=\"1 cycle\",keystream_blocks=40},\
         polyval={design=\"interleaved\",ways=4,multipliers=2,closing=\"look_ahead\",\
         multiplier={product=\"2 cycles\",reduction=\"1 cycle\",digit_bits=128}}}"],
    &["aead={scheme=\"aegis256\",lanes=1,round=\"2 cycles\",tag=\"32 B\",compare=\"3 cycles\"}"],
    &["aead={scheme=\"aegis256\",lanes=2,round=\"1 cycle\",compare=\"1 cycle\"}"],
    &["aead={scheme=\"aegis128l\",lanes=1,round=\"3 cycles\",tag=\"32 B\",compare=\"0 cycles\"}"],
    &["aead={scheme=\"aegis128l\",lanes=2,round=\"1 cycle\",compare=\"2 cycles\"}"],
    &["aead={scheme=\"chacha20_poly1305\",compare=\"0 cycles\",\
         chacha={lanes=1,rounds_in_hardware=5,registers_per_round=1,start_interval=\"1 cycle\",keystream_blocks=9},\
         poly1305={ways=5,multipliers=2,closing=\"look_ahead\",product=\"3 cycles\",reduction=\"1 cycle\",finish=\"2 cycles\"}}"],
    &["aead={SIV,buffer=\"1 MiB\"}", "tag_queue.fetch=before_data"],
    &["aead={SIV,buffer=\"700 B\"}", "tag_queue.fetch=before_data"],
];

/// The row of [`CHOICES`] that is [`AEADS`].
fn aead_row() -> usize {
    CHOICES.iter().position(|row| *row == AEADS).expect("a row of AEADs")
}

const SIV: &str = "scheme=\"gcm_siv\",key_bits=256,key_setup=\"7 cycles\",compare=\"1 cycle\",\
                   aes={lanes=2,rounds_in_hardware=14,registers_per_round=1,start_interval=\"1 cycle\",keystream_blocks=50},\
                   polyval={design=\"aggregated\",width=2,groups=3,MULTIPLIER}";

const SM: &str = "clock=\"1.755 GHz\",count=132,sub_cores=4,lanes=64,banks=32,shared_memory=\"227 KiB\",registers=65536,\
                  integer_latency=\"4 cycles\",shared_latency=\"30 cycles\",load_latency=\"700 cycles\"";

const LINK_FAULTS: [FaultKind; 5] =
    [FaultKind::Flip, FaultKind::FlipToken, FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

/// Looks of the observer after which a run counts as one that does not end.
const GIVE_UP_AFTER: u32 = 3000;

/// A case with more kernels on SMs than these is left out.
const MOST_KERNELS: u64 = 60;

#[derive(Debug, Clone)]
struct Case {
    secure: bool,
    choices: Vec<Option<u8>>,
    copies: Vec<(Direction, u64, Memory)>,
    /// Whether each copy has a buffer of its own.
    apart: bool,
    /// Link faults: whether on the way to the host, kind, transfer.
    faults: Vec<(bool, FaultKind, u64)>,
    /// A fault anywhere: which of all, and at which transfer.
    anywhere: Option<(prop::sample::Index, u64)>,
    seed: u64,
}

impl Case {
    fn settings(&self) -> Vec<String> {
        let chosen = CHOICES
            .iter()
            .zip(&self.choices)
            .filter_map(|(row, choice)| choice.map(|choice| row[usize::from(choice) % row.len()]));
        let all = QUICK.iter().chain(chosen.flatten());
        let expanded = |setting: &str| {
            let setting = setting.replace("SIV,", &format!("{SIV},"));
            let setting = setting.replace("MULTIPLIER", MULTIPLIER).replace("ENGINES", ENGINES);
            setting.replace("SM,", &format!("{SM},"))
        };
        all.map(|setting| expanded(setting)).collect()
    }

    fn fault_anywhere(&self, machine: &MachineSpec) -> Option<Injection> {
        let (which, transfer) = self.anywhere?;
        let points = fault_points(machine).ok()?;
        let all: Vec<_> = points.iter().flat_map(|p| p.kinds.iter().map(|&kind| (p.place.clone(), kind))).collect();
        let (place, kind) = all[which.index(all.len())].clone();
        Some(Injection::nth(place, kind, transfer))
    }

    /// None if there is no such machine. Whether its engines close at their clock is not asked.
    fn machine(&self) -> Option<MachineSpec> {
        let name = if self.secure { "h100-nvl-tdx" } else { "h100-sxm5-off" };
        let layers = self.settings().into_iter().fold(Layers::new(name).set("engine.check=warn"), Layers::set);
        layers.resolve().ok().map(|resolved| resolved.machine).filter(|machine| self.kernels(machine) <= MOST_KERNELS)
    }

    /// Kernels on SMs that the copies take. Each lasts for thousands of cycles, and the reference looks at all of them.
    fn kernels(&self, machine: &MachineSpec) -> u64 {
        let shortest = machine.driver.pinned.message.min(machine.driver.pageable.message).0.max(1);
        let messages = self.copies.iter().map(|(_, bytes, _)| bytes.div_ceil(shortest)).sum();
        machine.sealing_sms().map_or(0, |_| messages)
    }

    fn run(&self, machine: &MachineSpec, data: DataMode, kernel: Kernel, order: Order) -> Result<Outcome, String> {
        let copies = self.copies.iter().map(|&(direction, bytes, memory)| copy(direction, bytes, memory)).collect();
        let mut request = request(copies, data, kernel, order);
        for (number, copy) in (0..).zip(&mut request.copies).filter(|_| self.apart) {
            copy.buffer = number;
        }
        let place = |to_host| if to_host { "link.d2h" } else { "link.h2d" };
        let injection = |&(to_host, kind, transfer)| Injection::nth(place(to_host), kind, transfer);
        request.injections = self.faults.iter().map(injection).collect();
        request.injections.extend(self.fault_anywhere(machine));
        let mut looks = 0;
        let patience = &mut |_| {
            looks += 1;
            if looks > GIVE_UP_AFTER { Control::Stop } else { Control::Continue }
        };
        let result = system::run(machine, request, patience).map_err(|error| error.to_string());
        assert!(
            looks <= GIVE_UP_AFTER,
            "the run does not end: {:?} {:?}",
            self.settings(),
            self.fault_anywhere(machine)
        );
        result
    }
}

fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![
        prop::sample::select(vec![0u64, 1, 3, 15, 16, 17, 31, 32, 33]),
        4088u64..=4104,
        0u64..20_000,
        0u64..300_000,
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let direction = prop::sample::select(vec![Direction::H2d, Direction::D2h, Direction::D2d]);
    let memory = prop::sample::select(vec![Memory::Pinned, Memory::Pageable]);
    let fault = (any::<bool>(), prop::sample::select(LINK_FAULTS.to_vec()), 1u64..200);
    (
        any::<bool>(),
        prop::collection::vec(prop::option::weighted(0.3, any::<u8>()), CHOICES.len()),
        prop::collection::vec((direction, sizes(), memory), 1..=4),
        prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(fault, 1..3)],
        any::<(u64, bool)>(),
    )
        .prop_map(|(secure, choices, copies, faults, (seed, apart))| Case {
            secure,
            choices,
            copies,
            apart,
            faults,
            anywhere: None,
            seed,
        })
}

/// Cases with a fault that need not be mended by the link.
fn broken_cases() -> impl Strategy<Value = Case> {
    (cases(), any::<prop::sample::Index>(), prop_oneof![1u64..5, 1u64..100]).prop_map(|(mut case, which, transfer)| {
        case.faults.clear();
        case.anywhere = Some((which, transfer));
        case
    })
}

/// All of an outcome that both kernels and all orders and data modes must agree on.
fn figures(outcome: &Outcome) -> String {
    let copies = outcome.copies.iter().map(|c| {
        let tags = (c.tags_verified, c.tags_failed);
        let (first, span) = (c.first_verified, (c.start, c.end));
        format!("{span:?} {first:?} {} messages, tags {tags:?}, {} {:?}\n", c.messages, c.delivered, c.reason)
    });
    let units = outcome
        .units
        .iter()
        .map(|u| format!("{} {}: busy {} idle {} {:?}\n", u.name, u.cycles, u.busy, u.idle, u.stalls));
    let rest = (
        &outcome.gpus[0].link.h2d,
        &outcome.gpus[0].link.d2h,
        &outcome.gpus[0].tag_queue,
        &outcome.incidents,
        outcome.faults_struck(),
    );
    let head = format!("end {:?}\n", outcome.end);
    let tail = format!("{rest:?}\ndigest {}", outcome.event_digest);
    [head].into_iter().chain(copies).chain(units).chain([tail]).collect()
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let Some(machine) = case.machine() else { return Err(TestCaseError::reject("no such machine")) };
    let reference = case.run(&machine, DataMode::Exact, Kernel::EveryCycle, Order::Ascending);
    let others = [
        (DataMode::Exact, Kernel::Skip, Order::Ascending),
        (DataMode::None, Kernel::Skip, Order::Shuffled(case.seed)),
        (DataMode::None, Kernel::EveryCycle, Order::Shuffled(case.seed)),
    ];
    let expected = reference.as_ref().map(figures).map_err(String::clone);
    for (data, kernel, order) in others {
        let other = case.run(&machine, data, kernel, order).as_ref().map(figures).map_err(String::clone);
        prop_assert_eq!(&expected, &other, "{:?} {:?} {:?}\n{:?}", data, kernel, order, case.settings());
    }
    let outcome = reference.map_err(TestCaseError::fail)?;
    for unit in &outcome.units {
        let stalls: u64 = unit.stalls.iter().map(|stall| stall.1).sum();
        prop_assert_eq!(unit.busy + stalls + unit.idle, unit.cycles, "{}", unit.name);
    }
    for (asked, copy) in case.copies.iter().zip(&outcome.copies) {
        prop_assert!(copy.delivered, "{:?}: {:?}\n{:?}", asked, copy.reason, case.settings());
    }
    Ok(())
}

/// With a fault anywhere a run may end in any way, but always in the same one.
fn check_broken(case: &Case) -> Result<(), TestCaseError> {
    let Some(mut machine) = case.machine() else { return Err(TestCaseError::reject("no such machine")) };
    machine.copy_engine.completion_timeout = Femtos(3_000_000_000);
    let end = |result: Result<Outcome, String>| match result {
        Ok(mut outcome) => {
            // Without data it is known that bytes are wrong or missing, but not always which.
            outcome.copies.iter_mut().for_each(|copy| copy.reason = None);
            figures(&Outcome { incidents: Vec::new(), ..outcome })
        }
        // The instant at which nothing moves any more is seen later by a kernel that looks at every edge.
        Err(error) => error.split_whitespace().next().unwrap_or_default().to_owned(),
    };
    let expected = end(case.run(&machine, DataMode::Exact, Kernel::EveryCycle, Order::Ascending));
    for (data, kernel, order) in
        [(DataMode::Exact, Kernel::Skip, Order::Shuffled(case.seed)), (DataMode::None, Kernel::Skip, Order::Ascending)]
    {
        let other = end(case.run(&machine, data, kernel, order));
        let fault = case.fault_anywhere(&machine);
        prop_assert_eq!(&expected, &other, "{:?} {:?} {:?}\n{:?}\n{:?}", data, kernel, order, fault, case.settings());
    }
    Ok(())
}

/// So many cases in the campaigns, and a ninth of them otherwise.
fn runner(cases: u32) -> TestRunner {
    let default = if CAMPAIGN { cases } else { cases.div_ceil(9) };
    let cases = std::env::var("SEALSIM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    TestRunner::new(Config { cases, max_global_rejects: 100_000, failure_persistence: None, ..Config::default() })
}

#[test]
fn with_any_fault_a_run_ends_in_one_way() {
    if let Err(error) = runner(100).run(&broken_cases(), |case| check_broken(&case)) {
        panic!("{error}");
    }
}

#[test]
fn both_kernels_any_order_and_any_data_mode_give_the_same_run() {
    if let Err(error) = runner(150).run(&cases(), |case| check(&case)) {
        panic!("{error}");
    }
}

/// Secure cases whose engine is another AEAD, and that leave out what belongs to AES-GCM.
fn cases_of_other_aeads(cases: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    let excluded = ["engine.ghash=", "sm={", "link.ide_capable", "copy_engine.sharing=", "copy_engine.pools={"];
    (cases, any::<u8>()).prop_map(move |(mut case, which)| {
        case.secure = true;
        for (choice, row) in case.choices.iter_mut().zip(CHOICES) {
            let of_gcm = row.iter().flat_map(|settings| settings.iter());
            if of_gcm.into_iter().any(|setting| excluded.iter().any(|start| setting.starts_with(start))) {
                *choice = None;
            }
        }
        case.choices[aead_row()] = Some(which);
        case
    })
}

#[test]
fn machines_of_other_aeads_give_the_same_run_in_any_mode() {
    if let Err(error) = runner(60).run(&cases_of_other_aeads(cases()), |case| check(&case)) {
        panic!("{error}");
    }
}

#[test]
fn with_any_fault_a_machine_of_another_aead_ends_in_one_way() {
    if let Err(error) = runner(50).run(&cases_of_other_aeads(broken_cases()), |case| check_broken(&case)) {
        panic!("{error}");
    }
}

#[test]
fn what_device_memory_was_not_woken_for_counts_when_a_run_ends() {
    // The last reads time out while data of earlier ones are on their way to device memory.
    let slow = ["root_complex.reads_in_service=1", "copy_engine.completion_timeout=3 us"];
    let sets: Vec<_> = QUICK.iter().chain(&slow).copied().collect();
    let machine = machine("h100-sxm5-off", &sets);
    let [every, skip] = [Kernel::EveryCycle, Kernel::Skip].map(|kernel| {
        let copies = vec![copy(Direction::H2d, 25_089, Memory::Pinned)];
        let outcome = run(&machine, request(copies, DataMode::Exact, kernel, Order::Ascending)).unwrap();
        assert!(!outcome.copies[0].delivered);
        figures(&outcome)
    });
    assert_eq!(every, skip);
}

#[test]
fn a_pce_finds_the_room_that_its_port_has_made_meanwhile() {
    // It asks in every cycle and for little, so that far more requests go out in a flight than have room in front of the port.
    for headers in ["host_credits.non_posted_headers=0", "host_credits.non_posted_headers=20"] {
        let eager = ["link.max_read_request=128 B", "copy_engine.outstanding_reads=500", "copy_engine.clock=4 GHz"];
        let credits = format!("link.{headers}");
        let sets: Vec<_> = QUICK.iter().chain(&eager).copied().chain([credits.as_str()]).collect();
        let machine = machine("h100-nvl-tdx", &sets);
        let [every, skip] = [Kernel::EveryCycle, Kernel::Skip].map(|kernel| {
            let copies = vec![copy(Direction::H2d, 100_000, Memory::Pinned)];
            figures(&run(&machine, request(copies, DataMode::None, kernel, Order::Ascending)).unwrap())
        });
        assert_eq!(every, skip, "{credits}");
    }
}

#[test]
fn pces_miss_neither_room_nor_what_comes_at_the_instant_at_which_they_run() {
    let one_by_one = [
        "copy_engine.clock=1 GHz",
        "copy_engine.outstanding_reads=7",
        "copy_engine.pces_secure=2",
        "copy_engine.method_word=8 cycles",
        "link.max_read_request=128 B",
        "link.ecrc=true",
        "link.skp_interval_blocks=37",
        "driver.pinned={message=\"4 KiB\",push=\"4 KiB\"}",
        "driver.pageable={message=\"4 KiB\",push=\"64 KiB\"}",
        "aead={scheme=\"aegis256\",lanes=2,round=\"1 cycle\",compare=\"1 cycle\"}",
    ];
    let far = [
        "link.flight=300 cycles",
        "root_complex.read_latency=900 cycles",
        "aead={scheme=\"aegis256\",lanes=1,round=\"2 cycles\",tag=\"32 B\",compare=\"3 cycles\"}",
    ];
    for (sets, bytes, memory) in [(&one_by_one[..], 65_533, Memory::Pageable), (&far, 26_625, Memory::Pinned)] {
        let sets: Vec<_> = QUICK.iter().chain(sets).copied().collect();
        let machine = machine("h100-nvl-tdx", &sets);
        let [every, skip] = [Kernel::EveryCycle, Kernel::Skip].map(|kernel| {
            let copies = vec![copy(Direction::H2d, bytes, memory)];
            figures(&run(&machine, request(copies, DataMode::None, kernel, Order::Ascending)).unwrap())
        });
        assert_eq!(every, skip, "{bytes}");
    }
}

#[test]
fn a_semaphore_goes_before_what_a_pce_asks_for_at_the_edge_at_which_it_is_told_to_send_it() {
    let sets = [
        "copy_engine.opens=arrived",
        "link.replay_tlps=1",
        "driver.pageable={message=\"512 B\",push=\"4 KiB\"}",
        "tag_queue.release=eager",
        "hbm.write_rate=64 B/cycle",
        "aead={scheme=\"chacha20_poly1305\",compare=\"0 cycles\",chacha={lanes=1,rounds_in_hardware=5,\
         registers_per_round=1,start_interval=\"1 cycle\",keystream_blocks=9},poly1305={ways=5,multipliers=2,\
         closing=\"look_ahead\",product=\"3 cycles\",reduction=\"1 cycle\",finish=\"2 cycles\"}}",
    ];
    let sets: Vec<_> = QUICK.iter().chain(&sets).copied().collect();
    let machine = machine("h100-nvl-tdx", &sets);
    let [every, skip] = [Kernel::EveryCycle, Kernel::Skip].map(|kernel| {
        let copies = vec![copy(Direction::H2d, 4609, Memory::Pageable)];
        figures(&run(&machine, request(copies, DataMode::None, kernel, Order::Ascending)).unwrap())
    });
    assert_eq!(every, skip);
}

/// What both kernels make of copies on a machine, with a fault or none.
fn both(machine: &MachineSpec, copies: &[(Direction, u64)], fault: Option<(&str, FaultKind, u64)>) -> [String; 2] {
    [Kernel::EveryCycle, Kernel::Skip].map(|kernel| {
        let copies = copies.iter().map(|&(direction, bytes)| copy(direction, bytes, Memory::Pinned)).collect();
        let mut request = request(copies, DataMode::None, kernel, Order::Ascending);
        let injection = |(place, kind, transfer): (&str, _, _)| Injection::nth(place, kind, transfer);
        request.injections = fault.map(injection).into_iter().collect();
        figures(&run(machine, request).unwrap())
    })
}

#[test]
fn what_a_lost_completion_does_shows_at_once_though_those_before_it_were_deferred() {
    // Sixteen completions a read: one that leaves more to come is lost on the link, in front of the link, or behind it.
    let sets: Vec<_> = QUICK.iter().copied().chain(["link.max_read_request=4 KiB"]).collect();
    let machine = machine("h100-nvl-tdx", &sets);
    for place in ["link.h2d", "host.completions", "gpu.pce0.completions"] {
        for transfer in [1, 3, 40] {
            let [every, skip] = both(&machine, &[(Direction::H2d, 30_000)], Some((place, FaultKind::Drop, transfer)));
            assert_eq!(every, skip, "{place} {transfer}");
        }
    }
}

#[test]
fn completions_that_come_close_to_a_time_out_count_before_it() {
    // Reads wait longer and longer for their turn, so that some time out in the midst of their completions.
    let slow = ["link.max_read_request=4 KiB", "root_complex.reads_in_service=1", "link.ack_latency=200 cycles"];
    for timeout in 0..12 {
        let timeout = format!("copy_engine.completion_timeout={} ns", 900 + 7 * timeout);
        let sets: Vec<_> = QUICK.iter().copied().chain(slow).chain([timeout.as_str()]).collect();
        let machine = machine("h100-sxm5-off", &sets);
        let [every, skip] = both(&machine, &[(Direction::H2d, 60_000)], None);
        assert!(every.contains("false"), "{timeout}: no read has timed out");
        assert_eq!(every, skip, "{timeout}");
    }
}

#[test]
fn credits_go_back_between_completions_that_go_together() {
    // Writes to the host use up its credits while reads are answered.
    let machine = machine("h100-sxm5-off", &[]);
    let steps = [(0, 0), (1, 1)].map(|(copy, stream)| Step {
        gpu: 0,
        stream,
        operation: Operation::Copy { copy, blocking: false },
    });
    let [every, skip] = [Kernel::EveryCycle, Kernel::Skip].map(|kernel| {
        let copies = [Direction::H2d, Direction::D2h].map(|direction| copy(direction, 512 << 10, Memory::Pinned));
        let mut request = request(copies.into(), DataMode::None, kernel, Order::Ascending);
        request.program = steps.into_iter().chain([Step { gpu: 0, stream: 0, operation: Operation::Sync }]).collect();
        request.program.push(Step { gpu: 0, stream: 1, operation: Operation::Sync });
        figures(&run(&machine, request).unwrap())
    });
    assert_eq!(every, skip);
}
