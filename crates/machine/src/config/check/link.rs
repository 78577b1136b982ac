//! Rules of the link and the root complex.

use super::{Rule, rule};
use crate::{
    pcie::{
        rate::{FLIT_MODE, GENERATIONS, WIDTHS},
        spec::CreditSpec,
    },
    units::Bytes,
};

/// Flits of 10^9 that may be lost: one in a hundred.
const MOST_FLIT_ERRORS: u32 = 10_000_000;

const SIZES: &str = "PCIe knows 128 B, 256 B, 512 B, 1 KiB, 2 KiB and 4 KiB";
const FEW_CREDITS: &str = "advertise at least one maximum payload (a data credit is 16 B), or 0 for infinite";

pub(super) const RULES: &[Rule] = &[
    rule("link.generation", "write 3, 4, 5 or 6", |m| {
        let unknown = !GENERATIONS.contains(&m.link.generation);
        unknown.then(|| format!("PCIe generation {} is not modelled", m.link.generation))
    }),
    rule("link.lanes", "write 1, 2, 4, 8 or 16", |m| {
        (!WIDTHS.contains(&m.link.lanes)).then(|| format!("no link has {} lanes", m.link.lanes))
    }),
    rule("link.max_payload", SIZES, |m| not_a_pcie_size(m.link.max_payload)),
    rule("link.max_read_request", SIZES, |m| not_a_pcie_size(m.link.max_read_request)),
    rule("link.read_completion_boundary", "a root complex has 64 B or 128 B", |m| {
        let boundary = m.link.read_completion_boundary;
        (![64, 128].contains(&boundary.0)).then(|| format!("{boundary} is not a read completion boundary"))
    }),
    rule(
        "link.read_tags",
        "5-bit tags give 32, 8-bit tags 256, 10-bit tags 768, 14-bit tags (generation 6) 15360",
        |m| {
            let (tags, flits) = (m.link.read_tags, m.link.generation == FLIT_MODE);
            let known = [32, 256, 768].contains(&tags) || tags == 15_360 && flits;
            (!known).then(|| format!("no tag width of this generation gives {tags} tags"))
        },
    ),
    rule("link.replay_tlps", "write 2048 or less", |m| {
        (m.link.replay_tlps > 2048).then(|| "a 12-bit sequence number allows 2048 TLPs without Ack".into())
    }),
    rule("link.replay_timer", "PCIe 4.0 and later allow 6000 cycles to 7750 cycles", |m| {
        let link = &m.link;
        let one_way = link.flight.0 + link.retimer.map_or(0, |latency| latency.0);
        let round_trip = 2 * one_way + link.ack_latency.0;
        (link.replay_timer.0 <= round_trip).then(|| {
            let timer = link.replay_timer;
            format!("{timer} end before an Ack can be back ({round_trip} cycles: two flights and the Ack latency)")
        })
    }),
    rule("link.host_credits", FEW_CREDITS, |m| too_few_credits(&m.link.host_credits, m.link.max_payload)),
    rule("link.gpu_credits", FEW_CREDITS, |m| too_few_credits(&m.link.gpu_credits, m.link.max_payload)),
    rule(
        "link.ide",
        "the H100 has none: write link.ide_capable = true for a link that does, as --design ide does",
        |m| {
            let missing = m.link.ide.is_some() && !m.link.ide_capable;
            missing.then(|| "the ports of this link have no IDE (link.ide_capable = false)".into())
        },
    ),
    rule("link.flit_errors", "write link.generation = 6, and at most 10000000", |m| {
        let (flits, errors) = (m.link.generation == FLIT_MODE, m.link.flit_errors.unwrap_or(0));
        let many = || format!("of 10^9 flits {errors} are lost, more than any link can bear");
        let none = || "only a link of generation 6 has flits".to_owned();
        (errors > 0 && !flits).then(none).or_else(|| (errors > MOST_FLIT_ERRORS).then(many))
    }),
    rule("link.generation", "leave out link.ide (the designs ide and ide-8), or write link.generation = 5", |m| {
        let both = m.link.generation == FLIT_MODE && m.link.ide.is_some();
        both.then(|| "IDE on a link in flit mode is not modelled".into())
    }),
    rule("link.ide.aggregation", "IDE knows aggregates of 1, 2, 4 and 8 TLPs", |m| {
        let count = m.link.ide.as_ref().map_or(1, |ide| ide.aggregation);
        (![1, 2, 4, 8].contains(&count)).then(|| format!("no MAC covers {count} TLPs"))
    }),
    rule("link.ecrc", "write link.ecrc = false; link.ide.pcrc = true adds a CRC of the data under the MAC", |m| {
        let both = m.link.ecrc && m.link.ide.is_some();
        both.then(|| "ECRC and IDE exclude each other: the MAC stands where the digest would".into())
    }),
    rule(
        "root_complex.completion_payload",
        "write a multiple of link.read_completion_boundary up to link.max_payload",
        |m| {
            let (size, boundary) = (m.root_complex.completion_payload, m.link.read_completion_boundary);
            let whole = boundary.0 != 0 && size.0.is_multiple_of(boundary.0);
            let odd = || format!("{size} is not a multiple of the read completion boundary, {boundary}");
            let large = || format!("{size} is more than the maximum payload, {}", m.link.max_payload);
            (!whole).then(odd).or_else(|| (size > m.link.max_payload).then(large))
        },
    ),
];

fn not_a_pcie_size(size: Bytes) -> Option<String> {
    let fits = size.0.is_power_of_two() && (128..=4096).contains(&size.0);
    (!fits).then(|| format!("{size} is not a size that PCIe knows"))
}

pub(super) fn too_few_credits(credits: &CreditSpec, payload: Bytes) -> Option<String> {
    let least = payload.0.div_ceil(16);
    let data = [("posted_data", credits.posted_data), ("completion_data", credits.completion_data)];
    let few = data.into_iter().find(|(_, data)| *data != 0 && u64::from(*data) < least);
    few.map(|(name, data)| format!("{name} = {data} cannot take one maximum payload of {payload}, {least} credits"))
}
