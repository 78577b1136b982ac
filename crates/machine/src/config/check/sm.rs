//! Rules of SMs and of kernels.

use super::{Rule, rule};
use crate::{
    gcm::bulk::chains::ChainFormat,
    gpu::sm::spec::{CryptoPlace, REGISTERS_PER_THREAD, SmSpec},
    units::Bytes,
};

/// SMs of a machine: a step of a kernel is timed with the text of all of them.
const MOST_SMS: u32 = 1024;

pub(super) const RULES: &[Rule] = &[
    rule(
        "gpu_crypto.place",
        "lay the design `sm` over the machine, or write a table [sm]; tag_queue.release = \"withhold_completion\" or \"eager\"; and no sub_chains",
        |m| {
            let on_sms = m.gpu_crypto.as_ref().is_some_and(|crypto| crypto.place == CryptoPlace::Sm);
            let without = || m.sm.is_none().then(|| "no SMs are described".to_owned());
            let holds = m.tag_queue.release.quarantines();
            let held = || holds.then(|| "SMs write plaintext to device memory, where nothing holds it".to_owned());
            let tags = ChainFormat::of(&m.engine.ghash).chains > 1;
            let several =
                || tags.then(|| "the kernels make one tag per message, and engine.ghash asks for several".to_owned());
            on_sms.then(|| without().or_else(held).or_else(several)).flatten()
        },
    ),
    rule("sm.count", "write at most 1024: no GPU has more", |m| {
        let count = m.sm.as_ref()?.count;
        (count > MOST_SMS).then(|| format!("{count} SMs: a kernel over so many cannot be timed"))
    }),
    rule("sm.used", "write at most sm.count", |m| {
        let sm = m.sm.as_ref()?;
        (sm.used > sm.count).then(|| format!("the kernel takes {} SMs, but the GPU has {}", sm.used, sm.count))
    }),
    rule("sm.lanes", "write 1, 2, 4, ... or 32 times sm.sub_cores, which is at most 16", |m| {
        let sm = m.sm.as_ref()?;
        let (lanes, cores) = (u64::from(sm.lanes), u64::from(sm.sub_cores));
        let whole = cores <= 16 && lanes.is_multiple_of(cores) && (32 * cores).is_multiple_of(lanes);
        (!whole).then(|| format!("{lanes} lanes do not serve the 32 threads of a warp on each of {cores} sub-cores"))
    }),
    rule("sm.warps", "write 4, 8, 16, 32 or 64", |m| {
        let (warps, cores) = m.sm.as_ref().map(|sm| (sm.warps, sm.sub_cores))?;
        let fits = warps.is_power_of_two() && warps <= 64 && warps.is_multiple_of(cores);
        (!fits).then(|| format!("{warps} warps are not a power of two up to 64 that {cores} sub-cores share equally"))
    }),
    rule("sm.registers", "write fewer sm.warps", |m| {
        let sm = m.sm.as_ref()?;
        let need = 32 * REGISTERS_PER_THREAD * u64::from(sm.warps);
        (need > sm.registers.into())
            .then(|| format!("{} warps need {need} registers, an SM has {}", sm.warps, sm.registers))
    }),
    rule("sm.banks", "write 8, 16, 32 or 64", |m| {
        let banks = m.sm.as_ref()?.banks;
        (!banks.is_power_of_two() || !(8..=64).contains(&banks)).then(|| format!("{banks} banks are not modelled"))
    }),
    rule("sm.shared_memory", "write another sm.ghash, or fewer sm.warps", |m| {
        let sm = m.sm.as_ref()?;
        let need = Bytes(sm.shared_memory_needed());
        (need > sm.shared_memory)
            .then(|| format!("the kernel's tables take {need}, but an SM has {}", sm.shared_memory))
    }),
    rule("sm.ghash", "write sm.tensor_products", |m| {
        m.sm.as_ref().filter(|sm| sm.misses_tensor_rate()).map(SmSpec::tensor_rate_missing)
    }),
    rule("compute.slots", "compute capability 9.0 runs at most 128 grids at once", |m| {
        (m.compute.slots > 128).then(|| format!("{} kernels at once are more than a GPU runs", m.compute.slots))
    }),
    rule("compute.stretch", "a kernel lasts 1000 thousandths of its own time, or more", |m| {
        let stretch = m.compute.stretch;
        (!(1000..=100_000).contains(&stretch)).then(|| format!("{stretch} thousandths are not 1 to 100 times"))
    }),
    rule("compute.copy_rate_l2", "write at least compute.copy_rate_hbm", |m| {
        let (l2, hbm) = (m.compute.copy_rate_l2, m.compute.copy_rate_hbm);
        (l2 < hbm).then(|| format!("{l2} within the cache is slower than {hbm} outside"))
    }),
];
