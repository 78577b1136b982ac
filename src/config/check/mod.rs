//! What is invalid although its type allows it: limits by unit, and rules between fields.

use super::error::{ConfigError, Wrong};
use super::gpu::MOST_GPUS;
use super::machine::MachineSpec;
use super::parameter::Parameter;
use super::tree::Node;
use crate::gcm::bulk::chains::ChainFormat;
use crate::gpu::release::Release;
use crate::gpu::sm::spec::{CryptoPlace, REGISTERS_PER_THREAD, SmSpec};
use crate::gpu::spec::{Common, QuarantineIn, Sharing, TagFetch, TagPlacement, TurnPolicy};
use crate::host::map;
use crate::host::spec::PathSpec;
use crate::pcie::rate::{FLIT_MODE, GENERATIONS, WIDTHS};
use crate::pcie::spec::CreditSpec;
use crate::units::Bytes;
use limits::beyond_limits;
pub(super) use limits::within_limits;

mod aead;
mod ahead;
mod clock;
mod fabric;
mod limits;
mod topology;

/// Flits of 10^9 that may be lost: one in a hundred.
const MOST_FLIT_ERRORS: u32 = 10_000_000;

/// SMs of a machine: a step of a kernel is timed with the text of all of them.
const MOST_SMS: u32 = 1024;

/// A label of several lines could pass for other lines of a report.
fn lines(label: &str) -> Option<String> {
    label.contains(['\n', '\r']).then(|| "it has several lines".to_owned())
}

/// A condition between fields.
struct Rule {
    /// The field that the message points at.
    path: &'static str,
    /// Why the machine is refused, if it is.
    broken: fn(&MachineSpec) -> Option<String>,
    /// What to do.
    remedy: &'static str,
}

const RULES: &[Rule] = &[
    Rule { path: "name", broken: |m| lines(&m.name), remedy: "write it in one line" },
    Rule { path: "summary", broken: |m| lines(&m.summary), remedy: "write it in one line" },
    Rule { path: "cpu.core", broken: |m| lines(m.cpu.core.as_ref()?), remedy: "write it in one line" },
    Rule { path: "cipher.library", broken: |m| lines(m.cipher.library.as_ref()?), remedy: "write it in one line" },
    Rule {
        path: "gpu",
        broken: |m| (m.gpus() > MOST_GPUS).then(|| format!("{} GPUs are more than any machine has", m.gpus())),
        remedy: "write at most 64",
    },
    Rule {
        path: "gpu",
        broken: |m| {
            let crosses = |gpu: usize| {
                let nodes = m.nodes(gpu);
                nodes.port != nodes.session || nodes.session != nodes.buffers
            };
            let gpu = (0..m.gpus()).find(|gpu| m.numa.is_none() && crosses(*gpu))?;
            Some(format!("GPU {gpu} reaches memory of another socket, and nothing says what that costs"))
        },
        remedy: "add numa = { latency = \"70 cycles\", rate = \"40 B/cycle\" }, or leave out session_node and buffer_node",
    },
    Rule {
        path: "link.generation",
        broken: |m| {
            let unknown = !GENERATIONS.contains(&m.link.generation);
            unknown.then(|| format!("PCIe generation {} is not modelled", m.link.generation))
        },
        remedy: "write 3, 4, 5 or 6",
    },
    Rule {
        path: "link.lanes",
        broken: |m| (!WIDTHS.contains(&m.link.lanes)).then(|| format!("no link has {} lanes", m.link.lanes)),
        remedy: "write 1, 2, 4, 8 or 16",
    },
    Rule {
        path: "link.max_payload",
        broken: |m| not_a_pcie_size(m.link.max_payload),
        remedy: "PCIe knows 128 B, 256 B, 512 B, 1 KiB, 2 KiB and 4 KiB",
    },
    Rule {
        path: "link.max_read_request",
        broken: |m| not_a_pcie_size(m.link.max_read_request),
        remedy: "PCIe knows 128 B, 256 B, 512 B, 1 KiB, 2 KiB and 4 KiB",
    },
    Rule {
        path: "link.read_completion_boundary",
        broken: |m| {
            let boundary = m.link.read_completion_boundary;
            (![64, 128].contains(&boundary.0)).then(|| format!("{boundary} is not a read completion boundary"))
        },
        remedy: "a root complex has 64 B or 128 B",
    },
    Rule {
        path: "link.read_tags",
        broken: |m| {
            let tags = m.link.read_tags;
            (![32, 256, 768].contains(&tags)).then(|| format!("no tag width gives {tags} tags"))
        },
        remedy: "5-bit tags give 32, 8-bit tags 256, 10-bit tags 768",
    },
    Rule {
        path: "link.replay_tlps",
        broken: |m| (m.link.replay_tlps > 2048).then(|| "a 12-bit sequence number allows 2048 TLPs without Ack".into()),
        remedy: "write 2048 or less",
    },
    Rule {
        path: "link.replay_timer",
        broken: |m| {
            let link = &m.link;
            let one_way = link.flight.0 + link.retimer.map_or(0, |latency| latency.0);
            let round_trip = 2 * one_way + link.ack_latency.0;
            (link.replay_timer.0 <= round_trip).then(|| {
                let timer = link.replay_timer;
                format!("{timer} end before an Ack can be back ({round_trip} cycles: two flights and the Ack latency)")
            })
        },
        remedy: "PCIe 4.0 and later allow 6000 cycles to 7750 cycles",
    },
    Rule {
        path: "link.host_credits",
        broken: |m| too_few_credits(&m.link.host_credits, m.link.max_payload),
        remedy: "advertise at least one maximum payload (a data credit is 16 B), or 0 for infinite",
    },
    Rule {
        path: "link.gpu_credits",
        broken: |m| too_few_credits(&m.link.gpu_credits, m.link.max_payload),
        remedy: "advertise at least one maximum payload (a data credit is 16 B), or 0 for infinite",
    },
    Rule {
        path: "link.ide",
        broken: |m| {
            let missing = m.link.ide.is_some() && !m.link.ide_capable;
            missing.then(|| "the ports of this link have no IDE (link.ide_capable = false)".into())
        },
        remedy: "the H100 has none: write link.ide_capable = true for a link that does, as --design ide does",
    },
    Rule {
        path: "link.flit_errors",
        broken: |m| {
            let (flits, errors) = (m.link.generation == FLIT_MODE, m.link.flit_errors.unwrap_or(0));
            let many = || format!("of 10^9 flits {errors} are lost, more than any link can bear");
            let none = || "only a link of generation 6 has flits".to_owned();
            (errors > 0 && !flits).then(none).or_else(|| (errors > MOST_FLIT_ERRORS).then(many))
        },
        remedy: "write link.generation = 6, and at most 10000000",
    },
    Rule {
        path: "link.generation",
        broken: |m| {
            let both = m.link.generation == FLIT_MODE && m.link.ide.is_some();
            both.then(|| "IDE on a link in flit mode is not modelled".into())
        },
        remedy: "leave out link.ide (the designs ide and ide-8), or write link.generation = 5",
    },
    Rule {
        path: "link.ide.aggregation",
        broken: |m| {
            let count = m.link.ide.as_ref().map_or(1, |ide| ide.aggregation);
            (![1, 2, 4, 8].contains(&count)).then(|| format!("no MAC covers {count} TLPs"))
        },
        remedy: "IDE knows aggregates of 1, 2, 4 and 8 TLPs",
    },
    Rule {
        path: "link.ecrc",
        broken: |m| {
            let both = m.link.ecrc && m.link.ide.is_some();
            both.then(|| "ECRC and IDE exclude each other: the MAC stands where the digest would".into())
        },
        remedy: "write link.ecrc = false; link.ide.pcrc = true adds a CRC of the data under the MAC",
    },
    Rule {
        path: "root_complex.completion_payload",
        broken: |m| {
            let (size, boundary) = (m.root_complex.completion_payload, m.link.read_completion_boundary);
            let whole = boundary.0 != 0 && size.0.is_multiple_of(boundary.0);
            let odd = || format!("{size} is not a multiple of the read completion boundary, {boundary}");
            let large = || format!("{size} is more than the maximum payload, {}", m.link.max_payload);
            (!whole).then(odd).or_else(|| (size > m.link.max_payload).then(large))
        },
        remedy: "write a multiple of link.read_completion_boundary up to link.max_payload",
    },
    Rule {
        path: "engine",
        broken: |m| m.engine.check().err().map(|error| error.to_string()),
        remedy: "see the fields' own descriptions: `sealsim schema`",
    },
    Rule {
        path: "engine.ghash.chains",
        broken: |m| {
            let (tags, room) =
                (ChainFormat::of(&m.engine.ghash).tag_bytes(), m.link.max_payload.min(m.link.max_read_request));
            (tags > room.0).then(|| format!("the {tags} B of a message's tags do not fit one TLP of {room}"))
        },
        remedy: "write fewer chains, or larger link.max_payload and link.max_read_request",
    },
    Rule {
        path: "copy_engine.open_ghash",
        broken: |m| {
            let open = m.copy_engine.open_ghash.as_ref()?;
            let other = || {
                let differs = ChainFormat::of(open) != ChainFormat::of(&m.engine.ghash);
                differs.then(|| "it expects other tags than engine.ghash, whose format the CPU seals in".to_owned())
            };
            let shared = || {
                let common = matches!(m.copy_engine.common(), Some(Common::Engine | Common::Ghash));
                (common && *open != m.engine.ghash)
                    .then(|| "PCEs that seal and open share the GHASH engine.ghash, and this is another one".to_owned())
            };
            open.check().err().map(|error| error.to_string()).or_else(other).or_else(shared)
        },
        remedy: "write the same chains and chunk in both, or another family in both; with a shared GHASH leave it out",
    },
    Rule {
        path: "engine.control",
        broken: |m| {
            let alone =
                || "an engine with a control of its own runs standalone, in `sealsim engine` and `verify`".to_owned();
            m.engine.control.is_some().then(alone)
        },
        remedy: "remove it: a machine's engine makes its keystream ahead, with `engine.aes.keystream_blocks`",
    },
    Rule {
        path: "aead",
        broken: |m| m.aead.as_ref().and_then(|aead| aead::broken(aead, m)),
        remedy: "see the fields' own descriptions, `sealsim schema`, and what an AEAD excludes in docs/engine.md; or leave the design with this AEAD out",
    },
    Rule {
        path: "tag_queue.fetch",
        broken: |m| {
            // An inline tag is late whatever stands here: see `aead`.
            let inline = m.tag_queue.placement == Some(TagPlacement::Inline);
            let late = m.sealing().opens_by_tag() && m.tag_queue.fetch == TagFetch::AfterData && !inline;
            late.then(|| {
                "the tag seeds the keystream with which AES-GCM-SIV opens, and has to come before the text".into()
            })
        },
        remedy: "write tag_queue.fetch = \"before_data\"",
    },
    Rule {
        path: "copy_engine.read_buffer",
        broken: |m| {
            let (room, request) = (m.copy_engine.read_buffer, m.link.max_read_request.max(m.copy_engine.burst));
            (room < request).then(|| format!("{room} has no room for one read of {request}"))
        },
        remedy: "write at least link.max_read_request and copy_engine.burst",
    },
    Rule {
        path: "copy_engine.stripe",
        broken: |m| {
            let (stripe, burst) = (m.copy_engine.stripe, m.copy_engine.burst);
            let whole = burst.0 != 0 && stripe.0.is_multiple_of(burst.0);
            (!whole).then(|| format!("{stripe} is not a multiple of copy_engine.burst, {burst}"))
        },
        remedy: "write a multiple of copy_engine.burst",
    },
    Rule {
        path: "copy_engine.burst",
        broken: |m| {
            let burst = m.copy_engine.burst;
            let fits = burst.0.is_power_of_two() && burst.0.is_multiple_of(32);
            (!fits).then(|| format!("{burst} is not a power of two of at least 32 B"))
        },
        remedy: "memory is written in sectors of 32 B: write 32 B, 64 B, 128 B, ...",
    },
    Rule {
        path: "tag_queue.quarantine",
        broken: |m| {
            let (release, room) = (m.tag_queue.release, m.tag_queue.quarantine);
            let (path, message) = longest_message(m);
            let ahead = m.tag_queue.ahead();
            (release.quarantines() && room.0.saturating_add(ahead) < message.0).then(|| {
                let but = if ahead > 0 { format!(" but for {}", Bytes(ahead)) } else { String::new() };
                let release = release.name();
                format!(
                    "under `{release}` it must hold one message of {message}{but}, and has {room} ({path} = {message})"
                )
            })
        },
        remedy: "write at least the longest message (driver.*.message), less what may go ahead (tag_queue.skid), or release = \"withhold_completion\"",
    },
    Rule {
        path: "copy_engine.sharing",
        broken: |m| {
            let is = |sharing| m.copy_engine.sharing == Some(sharing);
            let (split, shared, sms) = (is(Sharing::Split), is(Sharing::Shared), m.sealing_sms().is_some());
            let many = split && ChainFormat::of(&m.engine.ghash) != ChainFormat::GCM;
            [
                (many, "parts of a message have shares of one tag, and sub-chains have several"),
                (split && sms, "messages in parts are sealed and opened in the PCEs, and here SMs do that"),
                (shared && sms, "SMs seal and open here, so that the PCEs have no engine to share"),
            ]
            .into_iter()
            .find_map(|(broken, why)| broken.then(|| why.to_owned()))
        },
        remedy: "write sharing = \"per_pce\", another design of engine.ghash, or gpu_crypto.place = \"copy_engine\"",
    },
    Rule {
        path: "cipher.text_crc",
        broken: |m| {
            m.cipher.text_crc?;
            let split = m.copy_engine.sharing == Some(Sharing::Split);
            [
                (m.aead.is_some(), "only AES-GCM has a CRC of the text in its tag"),
                (split, "the CRC of a text is not the sum of its parts' CRCs"),
                (m.sealing_sms().is_some(), "the kernels make no CRC of the text"),
            ]
            .into_iter()
            .find_map(|(broken, why)| broken.then(|| why.to_owned()))
        },
        remedy: "leave it out",
    },
    Rule {
        path: "copy_engine.pools",
        broken: |m| {
            let why = match m.copy_engine.sharing {
                Some(Sharing::Split) => {
                    "parts of a message are hashed beside each other, in the GHASH units of their PCEs"
                }
                Some(Sharing::Shared) => "sharing = \"shared\" is one engine for all PCEs, its AES lanes and its GHASH",
                _ => "AES lanes that PCEs share have no way to a GHASH of each PCE",
            };
            let sms = m.copy_engine.pools.is_some()
                && m.sealing_sms().is_some()
                && m.copy_engine.common() != Some(Common::Nothing);
            let sms = sms.then(|| "SMs seal and open here, so that the PCEs have no engine to share".to_owned());
            m.copy_engine.common().is_none().then(|| why.to_owned()).or(sms)
        },
        remedy: "write pools = { ghash = \"gpu\" } alone, both rows \"gpu\", or neither; and no sharing beside them",
    },
    Rule {
        path: "copy_engine.pools.turns",
        broken: |m| {
            let (turns, bytes) = (m.copy_engine.pools.as_ref()?.turns?, m.copy_engine.engine_turn);
            let many = ChainFormat::of(&m.engine.ghash) != ChainFormat::GCM;
            match (turns, bytes) {
                (TurnPolicy::Need, _) if many => {
                    Some("a message's place has one accumulator, and sub-chains have several".to_owned())
                }
                (TurnPolicy::Bytes, None) => Some("nothing says after how many bytes".to_owned()),
                (TurnPolicy::Message, Some(bytes)) => Some(format!("copy_engine.engine_turn ends turns after {bytes}")),
                _ => None,
            }
        },
        remedy: "write copy_engine.engine_turn with \"bytes\", and leave it out with \"message\"",
    },
    Rule {
        path: "copy_engine.engine_wire",
        broken: |m| {
            let none = m.copy_engine.engine_wire.is_some_and(|wire| wire.0 == 0);
            none.then(|| "what crosses from one unit to another takes a cycle at least".to_owned())
        },
        remedy: "write 1 cycle or more",
    },
    Rule {
        path: "copy_engine.engine_turn",
        broken: |m| {
            let (turn, room) = (m.copy_engine.engine_turn?, m.copy_engine.read_buffer);
            let beyond = m.link.max_read_request.max(m.copy_engine.burst);
            let odd = !turn.0.is_multiple_of(16);
            let large = turn.0 + beyond.0 > room.0;
            let common = matches!(m.copy_engine.common(), Some(Common::Engine | Common::Ghash));
            let many = common && ChainFormat::of(&m.engine.ghash) != ChainFormat::GCM;
            let blocks = || format!("{turn} is no number of whole AES blocks");
            let full = || {
                format!(
                    "a turn of {turn} and the request that reaches beyond it ({beyond}) do not fit a PCE's read buffer of {room}"
                )
            };
            let chains =
                || "a message's place in the engine has one accumulator, and sub-chains have several".to_owned();
            odd.then(blocks).or_else(|| large.then(full)).or_else(|| many.then(chains))
        },
        remedy: "write a multiple of 16 B that leaves room in copy_engine.read_buffer, or leave it out: then a message keeps the engine until its end",
    },
    Rule {
        path: "tag_queue.quarantine_in",
        broken: |m| {
            let memory = m.tag_queue.quarantine_in == Some(QuarantineIn::DeviceMemory);
            let ahead = memory && m.tag_queue.release == Release::Skid;
            ahead.then(|| {
                "what goes ahead of its verdict leaves a copy engine in order, and would have to come back there".into()
            })
        },
        remedy: "write tag_queue.release = \"hold\", or quarantine_in = \"copy_engine\"",
    },
    Rule {
        path: "tag_queue.placement",
        broken: |m| {
            let inline = m.tag_queue.placement == Some(TagPlacement::Inline);
            let early = inline && m.tag_queue.fetch == TagFetch::BeforeData;
            early.then(|| "an inline tag follows its message and cannot be fetched before it".into())
        },
        remedy: "write tag_queue.fetch = \"after_data\", or placement = \"separate\"",
    },
    Rule {
        path: "staging.buffer",
        broken: |m| {
            let (buffer, (path, message)) = (m.staging.buffer, longest_message(m));
            let inline = m.tag_queue.placement == Some(TagPlacement::Inline);
            let tagged = inline && buffer.0 < message.0 + m.sealing().format().tag_bytes();
            let why = if tagged { " and the tag behind it" } else { "" };
            (buffer < message || tagged)
                .then(|| format!("{buffer} cannot hold one message of {message}{why} ({path} = {message})"))
        },
        remedy: "write at least the longest message (driver.*.message), and 16 B for each inline tag",
    },
    Rule {
        path: "staging.buffers",
        broken: |m| m.staging.check().err().map(|error| error.to_string()),
        remedy: "write fewer or smaller buffers, of a multiple of 4 KiB",
    },
    Rule {
        path: "driver.pinned.message",
        broken: |m| odd_message(&m.driver.pinned, m),
        remedy: "secure copies above 32 B start at multiples of 32 B: write for example 1 MiB, 4 KiB or 256 B",
    },
    Rule {
        path: "driver.pageable.message",
        broken: |m| odd_message(&m.driver.pageable, m),
        remedy: "secure copies above 32 B start at multiples of 32 B: write for example 1 MiB, 4 KiB or 256 B",
    },
    Rule {
        path: "cipher.on_caller",
        broken: |m| {
            let (many, threads) = (m.cipher.on_caller && m.cipher.threads != 1, m.cipher.threads);
            many.then(|| format!("the caller is one thread, but cipher.threads = {threads}"))
        },
        remedy: "write cipher.threads = 1, or cipher.on_caller = false for threads beside the caller",
    },
    Rule {
        path: "driver.pageable_plain.push",
        broken: |m| odd_push(&m.driver.pageable_plain, m),
        remedy: "write at least driver.pageable_plain.message and at most staging.buffer x staging.buffers",
    },
    Rule {
        path: "driver.pinned.push",
        broken: |m| odd_push(&m.driver.pinned, m),
        remedy: "write at least driver.pinned.message and at most staging.buffer x staging.buffers",
    },
    Rule {
        path: "driver.pageable.push",
        broken: |m| odd_push(&m.driver.pageable, m),
        remedy: "write at least driver.pageable.message and at most staging.buffer x staging.buffers",
    },
    Rule {
        path: "gpu_crypto.place",
        broken: |m| {
            let on_sms = m.gpu_crypto.as_ref().is_some_and(|crypto| crypto.place == CryptoPlace::Sm);
            let without = || m.sm.is_none().then(|| "no SMs are described".to_owned());
            let holds = m.tag_queue.release.quarantines();
            let held = || holds.then(|| "SMs write plaintext to device memory, where nothing holds it".to_owned());
            let tags = ChainFormat::of(&m.engine.ghash).chains > 1;
            let several =
                || tags.then(|| "the kernels make one tag per message, and engine.ghash asks for several".to_owned());
            on_sms.then(|| without().or_else(held).or_else(several)).flatten()
        },
        remedy: "lay the design `sm` over the machine, or write a table [sm]; tag_queue.release = \"withhold_completion\" or \"eager\"; and no sub_chains",
    },
    Rule {
        path: "sm.count",
        broken: |m| {
            let count = m.sm.as_ref()?.count;
            (count > MOST_SMS).then(|| format!("{count} SMs: a kernel over so many cannot be timed"))
        },
        remedy: "write at most 1024: no GPU has more",
    },
    Rule {
        path: "sm.used",
        broken: |m| {
            let sm = m.sm.as_ref()?;
            (sm.used > sm.count).then(|| format!("the kernel takes {} SMs, but the GPU has {}", sm.used, sm.count))
        },
        remedy: "write at most sm.count",
    },
    Rule {
        path: "sm.lanes",
        broken: |m| {
            let sm = m.sm.as_ref()?;
            let (lanes, cores) = (u64::from(sm.lanes), u64::from(sm.sub_cores));
            let whole = cores <= 16 && lanes.is_multiple_of(cores) && (32 * cores).is_multiple_of(lanes);
            (!whole)
                .then(|| format!("{lanes} lanes do not serve the 32 threads of a warp on each of {cores} sub-cores"))
        },
        remedy: "write 1, 2, 4, ... or 32 times sm.sub_cores, which is at most 16",
    },
    Rule {
        path: "sm.warps",
        broken: |m| {
            let (warps, cores) = m.sm.as_ref().map(|sm| (sm.warps, sm.sub_cores))?;
            let fits = warps.is_power_of_two() && warps <= 64 && warps.is_multiple_of(cores);
            (!fits)
                .then(|| format!("{warps} warps are not a power of two up to 64 that {cores} sub-cores share equally"))
        },
        remedy: "write 4, 8, 16, 32 or 64",
    },
    Rule {
        path: "sm.registers",
        broken: |m| {
            let sm = m.sm.as_ref()?;
            let need = 32 * REGISTERS_PER_THREAD * u64::from(sm.warps);
            (need > sm.registers.into())
                .then(|| format!("{} warps need {need} registers, an SM has {}", sm.warps, sm.registers))
        },
        remedy: "write fewer sm.warps",
    },
    Rule {
        path: "sm.banks",
        broken: |m| {
            let banks = m.sm.as_ref()?.banks;
            (!banks.is_power_of_two() || !(8..=64).contains(&banks)).then(|| format!("{banks} banks are not modelled"))
        },
        remedy: "write 8, 16, 32 or 64",
    },
    Rule {
        path: "sm.shared_memory",
        broken: |m| {
            let sm = m.sm.as_ref()?;
            let need = Bytes(sm.shared_memory_needed());
            (need > sm.shared_memory)
                .then(|| format!("the kernel's tables take {need}, but an SM has {}", sm.shared_memory))
        },
        remedy: "write another sm.ghash, or fewer sm.warps",
    },
    Rule {
        path: "sm.ghash",
        broken: |m| m.sm.as_ref().filter(|sm| sm.misses_tensor_rate()).map(SmSpec::tensor_rate_missing),
        remedy: "write sm.tensor_products",
    },
    Rule {
        path: "compute.slots",
        broken: |m| {
            (m.compute.slots > 128).then(|| format!("{} kernels at once are more than a GPU runs", m.compute.slots))
        },
        remedy: "compute capability 9.0 runs at most 128 grids at once",
    },
    Rule {
        path: "compute.stretch",
        broken: |m| {
            let stretch = m.compute.stretch;
            (!(1000..=100_000).contains(&stretch)).then(|| format!("{stretch} thousandths are not 1 to 100 times"))
        },
        remedy: "a kernel lasts 1000 thousandths of its own time, or more",
    },
    Rule {
        path: "compute.copy_rate_l2",
        broken: |m| {
            let (l2, hbm) = (m.compute.copy_rate_l2, m.compute.copy_rate_hbm);
            (l2 < hbm).then(|| format!("{l2} within the cache is slower than {hbm} outside"))
        },
        remedy: "write at least compute.copy_rate_hbm",
    },
];

/// Refuses a machine that cannot be, with every reason.
pub(super) fn check(machine: &MachineSpec, parameters: &[Parameter], values: &Node) -> Result<(), ConfigError> {
    let fault = |path: &str, reason: String, remedy: String| {
        let place = values.at(path).and_then(|node| node.place.as_ref());
        ConfigError::new(Wrong::Senseless { path: path.to_owned(), reason }).at(place).remedy(remedy)
    };
    let limits = parameters.iter().filter_map(|parameter| {
        let (reason, remedy) = beyond_limits(parameter)?;
        Some(fault(&parameter.path, reason, remedy))
    });
    // The rules compute with the values, so they come second.
    ConfigError::all(limits.collect())?;
    let broken = broken(machine).into_iter();
    ConfigError::all(broken.map(|(path, reason, remedy)| fault(&path, reason, remedy.to_owned())).collect())
}

/// The rules that a machine breaks: where, why, and what to do. Those that each GPU breaks are reported once.
fn broken(machine: &MachineSpec) -> Vec<(String, String, &'static str)> {
    let of = |machine: &MachineSpec, prefix: &str| -> Vec<_> {
        let broken = RULES
            .iter()
            .chain(ahead::RULES)
            .chain(clock::RULES)
            .chain(topology::RULES)
            .chain(fabric::RULES)
            .filter_map(|rule| Some((rule, (rule.broken)(machine)?)));
        broken.map(|(rule, reason)| (format!("{prefix}{}", rule.path), reason, rule.remedy)).collect()
    };
    let mut all = of(machine, "");
    if all.is_empty() {
        let mut first = 0;
        for (place, alike) in machine.gpu.iter().enumerate() {
            all.extend(of(&machine.of_gpu(first), &format!("gpu[{place}].")));
            first += alike.count as usize;
        }
        for (place, switch) in machine.switch.iter().enumerate() {
            let link = switch.link.as_ref().unwrap_or(&machine.link).clone();
            let below = of(&MachineSpec { link, ..machine.of_gpu(0) }, &format!("switch[{place}]."));
            all.extend(below.into_iter().filter(|(path, ..)| path.contains("].link.")));
        }
    }
    all
}

/// Whether a machine, each of whose values is within its limits, can be.
pub(super) fn can_be(machine: &MachineSpec) -> bool {
    broken(machine).is_empty()
}

fn not_a_pcie_size(size: Bytes) -> Option<String> {
    let fits = size.0.is_power_of_two() && (128..=4096).contains(&size.0);
    (!fits).then(|| format!("{size} is not a size that PCIe knows"))
}

fn too_few_credits(credits: &CreditSpec, payload: Bytes) -> Option<String> {
    let least = payload.0.div_ceil(16);
    let data = [("posted_data", credits.posted_data), ("completion_data", credits.completion_data)];
    let few = data.into_iter().find(|(_, data)| *data != 0 && u64::from(*data) < least);
    few.map(|(name, data)| format!("{name} = {data} cannot take one maximum payload of {payload}, {least} credits"))
}

/// The longest message, and the parameter that makes it so long.
fn longest_message(machine: &MachineSpec) -> (&'static str, Bytes) {
    let (pinned, pageable) = (machine.driver.pinned.message, machine.driver.pageable.message);
    if pageable > pinned { ("driver.pageable.message", pageable) } else { ("driver.pinned.message", pinned) }
}

/// The most bytes that GCM enciphers under one IV: 2^32 - 2 blocks.
const LONGEST_TEXT: Bytes = Bytes((1 << 36) - 32);

fn odd_message(path: &PathSpec, machine: &MachineSpec) -> Option<String> {
    let tag = machine.aead.as_ref().map_or(map::TAG_BYTES, |_| machine.sealing().format().tag_bytes());
    let message = path.message;
    if message.0 < tag {
        return Some(format!("a tag of {tag} B is longer than a message of {message}"));
    }
    if message > LONGEST_TEXT {
        return Some(format!("{message} is more than GCM enciphers under one IV, 2^36 - 32 B"));
    }
    (!path.message.0.is_multiple_of(32)).then(|| format!("{} is not a multiple of 32 B", path.message))
}

fn odd_push(path: &PathSpec, machine: &MachineSpec) -> Option<String> {
    let pool = Bytes(machine.staging.buffer.0.saturating_mul(machine.staging.buffers.into()));
    let short = || format!("a push of {} does not hold one message of {}", path.push, path.message);
    let long = || format!("a push of {} does not fit the staging pool of {pool}", path.push);
    (path.push < path.message).then(short).or_else(|| (path.push > pool).then(long))
}

#[cfg(test)]
mod tests;
