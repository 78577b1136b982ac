//! Rules of the copy engines, their AEAD and the tag queue.

use super::{Rule, aead, host::longest_message, rule};
use crate::{
    gcm::bulk::chains::ChainFormat,
    gpu::{
        release::Release,
        spec::{Common, QuarantineIn, Sharing, TagFetch, TagPlacement, TurnPolicy},
    },
    units::Bytes,
};

const SEALING_SMS: &str = "SMs seal and open here, so that the PCEs have no engine to share";

/// Why the first of these that is broken is so.
fn first_of<const N: usize>(rules: [(bool, &str); N]) -> Option<String> {
    rules.into_iter().find_map(|(broken, why)| broken.then(|| why.to_owned()))
}

pub(super) const RULES: &[Rule] = &[
    rule("engine", "see the fields' own descriptions: `sealsim schema`", |m| {
        m.engine.check().err().map(|error| error.to_string())
    }),
    rule("engine.ghash.chains", "write fewer chains, or larger link.max_payload and link.max_read_request", |m| {
        let (tags, room) =
            (ChainFormat::of(&m.engine.ghash).tag_bytes(), m.link.max_payload.min(m.link.max_read_request));
        (tags > room.0).then(|| format!("the {tags} B of a message's tags do not fit one TLP of {room}"))
    }),
    rule(
        "copy_engine.open_ghash",
        "write the same chains and chunk in both, or another family in both; with a shared GHASH leave it out",
        |m| {
            let open = m.copy_engine.open_ghash.as_ref()?;
            if let Err(error) = open.check() {
                return Some(error.to_string());
            }
            let other = ChainFormat::of(open) != ChainFormat::of(&m.engine.ghash);
            let shared =
                matches!(m.copy_engine.common(), Some(Common::Engine | Common::Ghash)) && *open != m.engine.ghash;
            first_of([
                (other, "it expects other tags than engine.ghash, whose format the CPU seals in"),
                (shared, "PCEs that seal and open share the GHASH engine.ghash, and this is another one"),
            ])
        },
    ),
    rule(
        "engine.control",
        "remove it: a machine's engine makes its keystream ahead, with `engine.aes.keystream_blocks`",
        |m| {
            let alone =
                || "an engine with a control of its own runs standalone, in `sealsim engine` and `verify`".to_owned();
            m.engine.control.is_some().then(alone)
        },
    ),
    rule(
        "aead",
        "see the fields' own descriptions, `sealsim schema`, and what an AEAD excludes in docs/engine.md; or leave the design with this AEAD out",
        |m| m.aead.as_ref().and_then(|aead| aead::broken(aead, m)),
    ),
    rule("tag_queue.fetch", "write tag_queue.fetch = \"before_data\"", |m| {
        // An inline tag is late whatever stands here: see `aead`.
        let inline = m.tag_queue.placement == Some(TagPlacement::Inline);
        let late = m.sealing().model().opens_by_tag() && m.tag_queue.fetch == TagFetch::AfterData && !inline;
        late.then(|| "the tag seeds the keystream with which AES-GCM-SIV opens, and has to come before the text".into())
    }),
    rule("copy_engine.read_buffer", "write at least link.max_read_request and copy_engine.burst", |m| {
        let (room, request) = (m.copy_engine.read_buffer, m.link.max_read_request.max(m.copy_engine.burst));
        (room < request).then(|| format!("{room} has no room for one read of {request}"))
    }),
    rule("copy_engine.stripe", "write a multiple of copy_engine.burst", |m| {
        let (stripe, burst) = (m.copy_engine.stripe, m.copy_engine.burst);
        let whole = burst.0 != 0 && stripe.0.is_multiple_of(burst.0);
        (!whole).then(|| format!("{stripe} is not a multiple of copy_engine.burst, {burst}"))
    }),
    rule("copy_engine.burst", "memory is written in sectors of 32 B: write 32 B, 64 B, 128 B, ...", |m| {
        let burst = m.copy_engine.burst;
        let fits = burst.0.is_power_of_two() && burst.0.is_multiple_of(32);
        (!fits).then(|| format!("{burst} is not a power of two of at least 32 B"))
    }),
    rule(
        "tag_queue.quarantine",
        "write at least the longest message (driver.*.message), or its piece (tag_queue.tag_every), less what may go ahead (tag_queue.skid), or release = \"withhold_completion\"",
        |m| {
            let (release, room) = (m.tag_queue.release, m.tag_queue.quarantine);
            let (path, message) = match (longest_message(m), m.tag_queue.tag_every) {
                ((_, message), Some(every)) if every < message => ("tag_queue.tag_every", every),
                (longest, _) => longest,
            };
            let ahead = m.tag_queue.ahead();
            (release.quarantines() && room.0.saturating_add(ahead) < message.0).then(|| {
                let but = if ahead > 0 { format!(" but for {}", Bytes(ahead)) } else { String::new() };
                let release = release.name();
                format!(
                    "under `{release}` it must hold one message of {message}{but}, and has {room} ({path} = {message})"
                )
            })
        },
    ),
    rule(
        "copy_engine.sharing",
        "write sharing = \"per_pce\", another design of engine.ghash, or gpu_crypto.place = \"copy_engine\"",
        |m| {
            let is = |sharing| m.copy_engine.sharing == Some(sharing);
            let (split, shared, sms) = (is(Sharing::Split), is(Sharing::Shared), m.sealing_sms().is_some());
            let many = split && ChainFormat::of(&m.engine.ghash) != ChainFormat::GCM;
            first_of([
                (many, "parts of a message have shares of one tag, and sub-chains have several"),
                (split && sms, "messages in parts are sealed and opened in the PCEs, and here SMs do that"),
                (shared && sms, SEALING_SMS),
            ])
        },
    ),
    rule("cipher.text_crc", "leave it out", |m| {
        m.cipher.text_crc?;
        let split = m.copy_engine.sharing == Some(Sharing::Split);
        first_of([
            (m.aead.is_some(), "only AES-GCM has a CRC of the text in its tag"),
            (split, "the CRC of a text is not the sum of its parts' CRCs"),
            (m.sealing_sms().is_some(), "the kernels make no CRC of the text"),
        ])
    }),
    rule(
        "copy_engine.pools",
        "write pools = { ghash = \"gpu\" } alone, both rows \"gpu\", or neither; and no sharing beside them",
        |m| {
            let why = match m.copy_engine.sharing {
                Some(Sharing::Split) => {
                    "parts of a message are hashed beside each other, in the GHASH units of their PCEs"
                }
                Some(Sharing::Shared) => "sharing = \"shared\" is one engine for all PCEs, its AES lanes and its GHASH",
                _ => "AES lanes that PCEs share have no way to a GHASH of each PCE",
            };
            let common = m.copy_engine.common();
            let sms = m.copy_engine.pools.is_some() && m.sealing_sms().is_some() && common != Some(Common::Nothing);
            first_of([(common.is_none(), why), (sms, SEALING_SMS)])
        },
    ),
    rule(
        "copy_engine.pools.turns",
        "write copy_engine.engine_turn with \"bytes\", and leave it out with \"message\"",
        |m| {
            let (turns, bytes) = (m.copy_engine.pools.as_ref()?.turns?, m.copy_engine.engine_turn);
            match (turns, bytes) {
                (TurnPolicy::Bytes, None) => Some("nothing says after how many bytes".to_owned()),
                (TurnPolicy::Message, Some(bytes)) => Some(format!("copy_engine.engine_turn ends turns after {bytes}")),
                _ => None,
            }
        },
    ),
    rule("copy_engine.engine_wire", "write 1 cycle or more", |m| {
        let none = m.copy_engine.engine_wire.is_some_and(|wire| wire.0 == 0);
        none.then(|| "what crosses from one unit to another takes a cycle at least".to_owned())
    }),
    rule(
        "copy_engine.engine_turn",
        "write a multiple of 16 B that leaves room in copy_engine.read_buffer, or leave it out: then a message keeps the engine until its end",
        |m| {
            let (turn, room) = (m.copy_engine.engine_turn?, m.copy_engine.read_buffer);
            let beyond = m.link.max_read_request.max(m.copy_engine.burst);
            if !turn.0.is_multiple_of(16) {
                return Some(format!("{turn} is no number of whole AES blocks"));
            }
            (turn.0 + beyond.0 > room.0).then(|| {
                format!(
                    "a turn of {turn} and the request that reaches beyond it ({beyond}) do not fit a PCE's read buffer of {room}"
                )
            })
        },
    ),
    rule("tag_queue.quarantine_in", "write tag_queue.release = \"hold\", or quarantine_in = \"copy_engine\"", |m| {
        let memory = m.tag_queue.quarantine_in == Some(QuarantineIn::DeviceMemory);
        let ahead = memory && m.tag_queue.release == Release::Skid;
        ahead.then(|| {
            "what goes ahead of its verdict leaves a copy engine in order, and would have to come back there".into()
        })
    }),
    rule(
        "tag_queue.tag_every",
        "write a multiple of 32 B, for whole messages of AES-GCM in copy engines whose engine.ghash has one tag, with separate tags and no cipher.text_crc; or leave it out",
        |m| {
            let every = m.tag_queue.tag_every?;
            first_of([
                (!every.0.is_multiple_of(32), "pieces start at multiples of 32 B, as messages do"),
                (ChainFormat::of(&m.engine.ghash) != ChainFormat::GCM, "sub-chains have tags of their own"),
                (m.aead.is_some(), "only AES-GCM has several tags"),
                (m.copy_engine.sharing == Some(Sharing::Split), "parts of a message have shares of one tag"),
                (m.sealing_sms().is_some(), "the kernels on SMs make one tag for a message"),
                (m.tag_queue.placement == Some(TagPlacement::Inline), "tags of pieces do not follow these in memory"),
                (
                    m.cipher.text_crc.is_some(),
                    "the CRC of a text is of the whole message, and so known after its pieces",
                ),
            ])
        },
    ),
    rule("tag_queue.placement", "write tag_queue.fetch = \"after_data\", or placement = \"separate\"", |m| {
        let inline = m.tag_queue.placement == Some(TagPlacement::Inline);
        let early = inline && m.tag_queue.fetch == TagFetch::BeforeData;
        early.then(|| "an inline tag follows its message and cannot be fetched before it".into())
    }),
];
