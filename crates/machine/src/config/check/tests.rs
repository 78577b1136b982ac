//! Each rule refuses what breaks it, and nothing else.

use super::super::Layers;
use super::limits::{GREATEST, MAY_BE_ZERO, NEVER_ZERO, TAKES_TIME};
use super::*;
use crate::files::Explained;
use std::collections::BTreeSet;

const SM: &str = "sm={clock=\"1.755 GHz\",count=132,used=42,sub_cores=4,lanes=64,banks=32,shared_memory=\"227 KiB\",registers=65536,warps=16,\
                  integer_latency=\"4 cycles\",shared_latency=\"30 cycles\",load_latency=\"700 cycles\",aes=\"t_tables\",ghash=\"four_bit_tables\"}";
const IDE: &str = "link.ide={aggregation=1,pcrc=false,flush=\"0 cycles\",host={lanes=4,multipliers=5,latency=\"0 cycles\"},gpu={lanes=4,multipliers=5,latency=\"9 cycles\"}}";

const SWITCH: &str = "switch=[{latency=\"100 ns\",cut_through=true,credits={posted_headers=64,posted_data=512,non_posted_headers=64,\
                      non_posted_data=64,completion_headers=64,completion_data=512}}]";

const AHEAD: &str = "cipher.ahead={workers=1,open_workers=0,least=\"1 B\",hit_permille=0,nops=0,buffer=\"1 MiB\"}";

const AEGIS: &str = "aead={scheme=\"aegis256\",lanes=1,round=\"1 cycle\",tag=\"32 B\",compare=\"1 cycle\"}";
const AEGIS_X4: &str = "aead={scheme=\"aegis256\",lanes=4,round=\"1 cycle\",compare=\"1 cycle\"}";
const GCM_SIV: &str = "aead={scheme=\"gcm_siv\",key_bits=256,key_setup=\"1 cycle\",buffer=\"1 KiB\",compare=\"1 cycle\",\
                       aes={lanes=4,rounds_in_hardware=14,registers_per_round=1,start_interval=\"1 cycle\",keystream_blocks=128},polyval=UNIT}";
const OPEN_GHASH: &str = "copy_engine.open_ghash=UNIT";
const CHAINS: &str = "{design=\"sub_chains\",chains=2,chunk=\"4 KiB\",ports=4,buffer=4,unit=UNIT}";
const UNIT: &str = "{design=\"serial\",multiplier={product=\"1 cycle\",reduction=\"1 cycle\",digit_bits=128}}";

fn laid(settings: &[&str]) -> Layers {
    settings.iter().fold(Layers::new("h100-nvl-tdx"), |layers, setting| {
        layers.set(setting.replace("CHAINS", CHAINS).replace("UNIT", UNIT))
    })
}

/// Settings that break a rule at `path`, and nothing else.
const BROKEN: &[(&str, &[&str])] = &[
    ("cipher.ahead", &[AHEAD, "cipher.work=forward"]),
    ("cipher.ahead.hit_permille", &[AHEAD, "cipher.ahead.hit_permille=1001"]),
    ("cipher.ahead.workers", &[AHEAD, "cipher.ahead.open_workers=1025"]),
    ("cipher.ahead.nops", &[AHEAD, "cipher.ahead.nops=4097"]),
    ("cipher.ahead.buffer", &[AHEAD, "cipher.ahead.buffer=512 KiB"]),
    ("gpu", &["gpu=[{count=64},{}]"]),
    ("gpu", &["gpu=[{},{node=1,session_node=0}]"]),
    ("gpu", &["gpu=[{buffer_node=1}]"]),
    ("gpu", &["gpu=[{root=0},{root=0,root_complex={write_latency=\"9 cycles\"}}]"]),
    ("gpu", &["gpu=[{switch=0}]"]),
    ("switch", &[SWITCH]),
    ("link.generation", &["link.generation=7"]),
    ("link.generation", &["link.generation=6", "link.ide_capable=true", IDE]),
    ("link.flit_errors", &["link.flit_errors=1"]),
    ("link.flit_errors", &["link.generation=6", "link.flit_errors=10000001"]),
    ("link.lanes", &["link.lanes=12"]),
    ("link.max_payload", &["link.max_payload=64 B", "root_complex.completion_payload=64 B"]),
    ("link.max_payload", &["link.max_payload=8 KiB"]),
    ("link.max_read_request", &["link.max_read_request=384 B"]),
    ("link.read_completion_boundary", &["link.read_completion_boundary=32 B"]),
    ("link.read_tags", &["link.read_tags=1024"]),
    ("link.read_tags", &["link.read_tags=15360"]),
    ("link.read_tags", &["link.generation=6", "link.read_tags=16384"]),
    ("link.replay_tlps", &["link.replay_tlps=2049"]),
    ("link.replay_timer", &["link.replay_timer=342 cycles"]),
    ("link.host_credits", &["link.host_credits.posted_data=15"]),
    ("link.gpu_credits", &["link.gpu_credits.completion_data=15"]),
    ("link.ide", &[IDE]),
    ("link.ide.aggregation", &["link.ide_capable=true", IDE, "link.ide.aggregation=3"]),
    ("link.ide.aggregation", &["link.ide_capable=true", IDE, "link.ide.aggregation=16"]),
    ("link.ecrc", &["link.ide_capable=true", IDE, "link.ecrc=true"]),
    ("root_complex.completion_payload", &["root_complex.completion_payload=96 B"]),
    ("root_complex.completion_payload", &["root_complex.completion_payload=512 B"]),
    ("copy_engine.clock", &["copy_engine.clock=3 GHz"]),
    ("engine", &["engine.key_bits=512"]),
    ("engine", &["engine.aes.rounds_in_hardware=15"]),
    ("engine", &["engine.ghash.multiplier.digit_bits=129"]),
    ("engine", &["engine.ghash.multiplier.digit_bits=16"]),
    ("engine", &["engine.ghash.multiplier.product=0 cycles", "engine.ghash.multiplier.reduction=0 cycles"]),
    ("engine", &["engine.ghash={design=\"segmented\",units=65,segment=64,ports=4,buffer=4,unit=UNIT}"]),
    ("engine", &["engine.ghash={design=\"sub_chains\",chains=2,chunk=\"8 B\",ports=4,buffer=4,unit=UNIT}"]),
    (
        "engine.ghash.chains",
        &["engine.ghash={design=\"sub_chains\",chains=17,chunk=\"4 KiB\",ports=4,buffer=4,unit=UNIT}"],
    ),
    (
        "copy_engine.open_ghash",
        &[
            "copy_engine.open_ghash={design=\"serial\",multiplier={product=\"0 cycles\",reduction=\"0 cycles\",digit_bits=128}}",
        ],
    ),
    ("copy_engine.open_ghash", &["copy_engine.open_ghash=CHAINS"]),
    ("engine.control", &["engine.control.tag_at_once=true"]),
    ("copy_engine.burst", &["copy_engine.burst=96 B", "copy_engine.stripe=96 B"]),
    ("copy_engine.burst", &["copy_engine.burst=16 B"]),
    ("aead", &["aead={ scheme=\"aegis256\", lanes=3, round=\"1 cycle\", compare=\"1 cycle\" }"]),
    ("aead", &["aead={ scheme=\"aegis256\", lanes=1, round=\"1 cycle\", tag=\"24 B\", compare=\"1 cycle\" }"]),
    ("aead", &[AEGIS, "copy_engine.sharing=split"]),
    ("aead", &[AEGIS, "copy_engine.sharing=shared"]),
    ("aead", &[AEGIS, SM, "gpu_crypto.place=sm"]),
    ("aead", &[AEGIS, "link.ide_capable=true", IDE]),
    ("aead", &[AEGIS, OPEN_GHASH]),
    ("aead", &[AEGIS, "engine.ghash={design=\"message_parallel\",units=2,ports=4,buffer=4,unit=UNIT}"]),
    ("aead", &[AEGIS, "engine.ghash={design=\"segmented\",units=2,segment=64,ports=4,buffer=4,unit=UNIT}"]),
    ("aead", &[AEGIS, "engine.ghash=CHAINS"]),
    ("aead", &[AEGIS_X4, "driver.pageable.message=96 B"]),
    ("aead", &[AEGIS_X4, "copy_engine.burst=32 B"]),
    ("aead", &[AEGIS_X4, "tag_queue.placement=inline"]),
    ("aead", &[GCM_SIV, "tag_queue.placement=inline"]),
    ("tag_queue.fetch", &[GCM_SIV]),
    ("copy_engine.read_buffer", &["copy_engine.read_buffer=511 B"]),
    ("copy_engine.stripe", &["copy_engine.stripe=1000 B"]),
    ("tag_queue.quarantine", &["tag_queue.release=hold", "tag_queue.quarantine=1023 KiB"]),
    ("copy_engine.pools", &["copy_engine.pools.aes=gpu"]),
    ("copy_engine.pools", &["copy_engine.pools.ghash=gpu", "copy_engine.sharing=split"]),
    ("copy_engine.pools", &["copy_engine.pools.aes=pce", "copy_engine.sharing=shared"]),
    ("copy_engine.pools.turns", &["copy_engine.pools={ghash=\"gpu\",turns=\"bytes\"}"]),
    (
        "copy_engine.pools.turns",
        &["copy_engine.pools={ghash=\"gpu\",turns=\"message\"}", "copy_engine.engine_turn=4 KiB"],
    ),
    ("aead", &[AEGIS, "copy_engine.pools.ghash=gpu"]),
    ("tag_queue.quarantine_in", &["tag_queue={release=\"skid\",quarantine=\"1 MiB\",quarantine_in=\"device_memory\"}"]),
    ("tag_queue.tag_every", &["tag_queue.tag_every=1000 B"]),
    ("tag_queue.tag_every", &["tag_queue.tag_every=4 KiB", "copy_engine.sharing=split"]),
    ("tag_queue.tag_every", &["tag_queue.tag_every=4 KiB", "tag_queue.placement=inline"]),
    ("tag_queue.tag_every", &["tag_queue.tag_every=4 KiB", "cipher.text_crc=8 B/cycle"]),
    ("tag_queue.tag_every", &["tag_queue.tag_every=4 KiB", AEGIS]),
    ("tag_queue.tag_every", &["tag_queue.tag_every=4 KiB", SM, "gpu_crypto.place=sm"]),
    ("tag_queue.tag_every", &["tag_queue.tag_every=4 KiB", "engine.ghash=CHAINS"]),
    ("tag_queue.quarantine", &["tag_queue={release=\"hold\",tag_every=\"64 KiB\",quarantine=\"63 KiB\"}"]),
    ("staging.buffer", &["staging.buffer=512 KiB"]),
    ("staging.buffers", &["staging.buffer=128 GiB"]),
    ("staging.buffers", &["staging.buffer=2047 KiB"]),
    (
        "driver.pinned.message",
        &["driver.pinned.message=128 GiB", "driver.pinned.push=128 GiB", "staging.buffer=128 GiB", "staging.buffers=4"],
    ),
    ("staging.buffer", &["staging.buffer=1 MiB", "tag_queue.placement=inline"]),
    ("copy_engine.sharing", &[SM, "gpu_crypto.place=sm", "copy_engine.sharing=split"]),
    ("copy_engine.sharing", &["copy_engine.sharing=split", "engine.ghash=CHAINS"]),
    ("copy_engine.sharing", &[SM, "gpu_crypto.place=sm", "copy_engine.sharing=shared"]),
    ("copy_engine.open_ghash", &["copy_engine.sharing=shared", "copy_engine.open_ghash=UNIT"]),
    ("copy_engine.open_ghash", &[OPEN_GHASH, "copy_engine.pools.ghash=gpu"]),
    ("copy_engine.pools", &[SM, "gpu_crypto.place=sm", "copy_engine.pools.ghash=gpu"]),
    ("copy_engine.engine_clock", &["copy_engine.engine_clock=3 GHz"]),
    ("copy_engine.engine_clock", &[SM, "gpu_crypto.place=sm", "copy_engine.engine_clock=1 GHz"]),
    ("copy_engine.engine_wire", &["copy_engine.sharing=shared", "copy_engine.engine_wire=0 cycles"]),
    ("copy_engine.engine_turn", &["copy_engine.sharing=shared", "copy_engine.engine_turn=4100 B"]),
    ("copy_engine.engine_turn", &["copy_engine.sharing=shared", "copy_engine.engine_turn=32272 B"]),
    ("tag_queue.placement", &["tag_queue.placement=inline", "tag_queue.fetch=before_data"]),
    ("driver.pinned.message", &["driver.pinned.message=1000 B"]),
    ("driver.pinned.message", &["driver.pinned.message=8 B"]),
    ("driver.pageable.message", &["driver.pageable.message=1000 B"]),
    ("cipher.text_crc", &[AEGIS, "cipher.text_crc=8 B/cycle"]),
    ("cipher.text_crc", &["cipher.text_crc=8 B/cycle", "copy_engine.sharing=split"]),
    ("cipher.text_crc", &["cipher.text_crc=8 B/cycle", SM, "gpu_crypto.place=sm"]),
    ("cipher.on_caller", &["cipher.on_caller=true", "cipher.threads=2"]),
    ("driver.pageable_plain.push", &["driver.pageable_plain.push=65 MiB"]),
    ("driver.pinned.push", &["driver.pinned.push=512 KiB"]),
    ("driver.pageable.push", &["driver.pageable.push=65 MiB"]),
    ("gpu_crypto.place", &["gpu_crypto.place=sm"]),
    ("gpu_crypto.place", &[SM, "gpu_crypto.place=sm", "tag_queue.release=hold", "tag_queue.quarantine=1 MiB"]),
    ("gpu_crypto.place", &[SM, "gpu_crypto.place=sm", "engine.ghash=CHAINS"]),
    ("sm.count", &[SM, "sm.count=1025"]),
    ("sm.used", &[SM, "sm.used=133"]),
    ("sm.lanes", &[SM, "sm.lanes=66"]),
    ("sm.lanes", &[SM, "sm.lanes=256"]),
    ("sm.warps", &[SM, "sm.warps=12"]),
    ("sm.warps", &[SM, "sm.warps=2"]),
    ("sm.registers", &[SM, "sm.warps=32"]),
    ("sm.banks", &[SM, "sm.banks=48"]),
    ("sm.shared_memory", &[SM, "sm.shared_memory=64 KiB"]),
    ("sm.ghash", &[SM, "sm.ghash=tensor_core"]),
    ("compute.slots", &["compute.slots=129"]),
    ("compute.stretch", &["compute.stretch=999"]),
    ("compute.stretch", &["compute.stretch=100001"]),
    ("compute.copy_rate_l2", &["compute.copy_rate_l2=100 B/cycle"]),
    ("name", &["name=\"x\\nverified\""]),
    ("summary", &["summary=\"x\\ry\""]),
    ("cpu.core", &["cpu.core=\"x\\ny\"", "cipher.seal_rate=1 B/cycle", "cipher.open_rate=1 B/cycle"]),
    ("cipher.library", &["cipher={library=\"x\\ny\", seal_rate=\"1 B/cycle\", open_rate=\"1 B/cycle\"}"]),
];

#[test]
fn every_rule_refuses_what_breaks_it_and_says_where() {
    for (path, settings) in BROKEN {
        let error = laid(settings).resolve().expect_err(path);
        let at = error.is("config::senseless") && error.to_string().starts_with(&format!("`{path}`: "));
        assert!(at && error.place().is_some() && error.help().is_some(), "{path} {settings:?}: {error}");
        assert!(error.others.is_empty(), "{path} {settings:?}: {:?}", error.others);
    }
    let tried: BTreeSet<_> = BROKEN.iter().map(|(path, _)| path).collect();
    // The last are those of the fabric, which other machines break.
    let rules = RULES[..RULES.len() - 1].iter().copied().flatten();
    assert_eq!(tried, rules.map(|rule| &rule.path).collect());
}

#[test]
fn rules_accept_their_edges() {
    for settings in [
        &["link.max_payload=128 B", "root_complex.completion_payload=128 B"][..],
        &["link.max_payload=4 KiB", "link.max_read_request=4 KiB", "copy_engine.read_buffer=4 KiB"],
        &["link.read_completion_boundary=128 B", "link.read_tags=32", "link.replay_tlps=2048"],
        &["link.replay_timer=343 cycles", "link.host_credits.posted_data=16"],
        &["link.generation=3", "link.lanes=1"],
        &["engine.key_bits=128", "engine.aes.rounds_in_hardware=1", "engine.ghash.multiplier.product=1 cycle"],
        &["engine.ghash.multiplier.digit_bits=1", "engine.ghash.multiplier.product=128 cycles"],
        &["engine.ghash.groups=8", "copy_engine.burst=32 B"],
        &["link.ide_capable=true", IDE, "link.ide.aggregation=8", "link.ide.pcrc=true"],
        &["tag_queue.release=hold", "tag_queue.quarantine=1 MiB", "staging.buffer=1 MiB"],
        &[SM, "gpu_crypto.place=sm", "sm.used=132", "sm.lanes=128", "tag_queue.release=eager"],
        &[SM, "gpu_crypto.place=copy_engine", "sm.ghash=tensor_core", "sm.tensor_products=1"],
        &[AEGIS, "tag_queue.placement=inline", "driver.pinned.message=32 B", "driver.pinned.push=32 B"],
        &[AEGIS_X4, "copy_engine.burst=64 B", "driver.pageable.message=64 B", "confidential_computing=false"],
        &[GCM_SIV, "tag_queue.fetch=before_data", "copy_engine.opens=arrived"],
        &["driver.pinned.push=64 MiB", "driver.pageable.message=4 KiB", "driver.pageable.push=4 KiB"],
        &["driver.pinned.message=32 B", "driver.pinned.push=32 B"],
        &["copy_engine.sharing=shared", "copy_engine.engine_turn=32256 B", "copy_engine.engine_wire=1 cycle"],
        &["compute.slots=128", "compute.stretch=1000", "compute.copy_rate_l2=810 B/cycle", "compute.schedule=0 cycles"],
    ] {
        // Whether their engines close is asked elsewhere.
        assert!(laid(settings).set("engine.check=warn").resolve().is_ok(), "{settings:?}");
    }
}

#[test]
fn nothing_is_refused_wherever_it_makes_no_sense() {
    let resolved = Layers::new("h100-nvl-tdx").resolve().unwrap();
    let zero = |one: &Parameter| match one.unit {
        "count" => "0".to_owned(),
        _ => format!("0 {}", one.value.rsplit(' ').next().unwrap()),
    };
    for one in resolved.parameters.iter().filter(|one| NEVER_ZERO.contains(&one.unit)) {
        let within = |known: &&str| one.path == *known || one.path.starts_with(&format!("{known}."));
        let allowed = MAY_BE_ZERO.iter().any(within);
        let machine = Layers::new("h100-nvl-tdx").set("engine.check=warn");
        let result = machine.set(format!("{}={}", one.path, zero(one))).resolve();
        assert_eq!(result.is_ok(), allowed, "{}", one.path);
    }
    for path in TAKES_TIME {
        let unit = resolved.parameter(path).unwrap().value.rsplit(' ').next().unwrap();
        let error = Layers::new("h100-nvl-tdx").set(format!("{path}=0 {unit}")).resolve().unwrap_err();
        assert!(error.is("config::senseless"), "{path}: {error}");
    }
}

#[test]
fn each_unit_has_a_greatest_value_and_one_more_is_refused() {
    let resolved = Layers::new("h100-nvl-tdx").resolve().unwrap();
    for one in resolved.parameters.iter().filter(|one| one.amount.is_some()) {
        let (_, greatest, text) = GREATEST.iter().find(|(unit, ..)| *unit == one.unit).expect(&one.path);
        let beyond = match text.split_once(' ') {
            Some((number, unit)) => format!("{} {unit}", number.parse::<u64>().unwrap() + 1),
            None => (greatest + 1).to_string(),
        };
        let error = Layers::new("h100-nvl-tdx").set(format!("{}={beyond}", one.path)).resolve().unwrap_err();
        assert!(error.to_string().contains("more than any machine has"), "{}: {error}", one.path);
    }
}
