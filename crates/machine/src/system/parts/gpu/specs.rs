//! From a machine's specs to those of a GPU's units.

use crate::{
    aead::spec::EngineSpec,
    config::MachineSpec,
    gpu::{
        front_end::FrontEndSpec,
        mapping::{Lce, SYSMEM_WRITE},
        pce::{PceSpec, Place},
        spec::{Common, Opens},
    },
    host::map,
    pcie::split::MaxSize,
    system::{
        clocks::{Clocks, build},
        outcome::RunError,
        parts::link::first_tag,
    },
};

/// Cycles of the copy engine in which bytes go to device memory and come back.
fn stored(machine: &MachineSpec, clocks: &Clocks) -> Option<u64> {
    let there_and_back = machine.hbm.write_latency.0 + machine.hbm.read_latency.0;
    let cycles = || clocks.copy_engine.first_from(clocks.hbm.edge(there_and_back));
    // Where SMs open, a message is there before they begin in any case.
    (machine.copy_engine.opens == Opens::Arrived && machine.sealing_sms().is_none()).then(cycles)
}

/// Cycles of the copy engine until a write to device memory is visible, if it waits for no other.
fn visible(machine: &MachineSpec, clocks: &Clocks) -> u64 {
    // The next edge of the memory, a cycle or more of service, and the latency.
    clocks.copy_engine.first_from(clocks.hbm.edge(machine.hbm.write_latency.0 + 2))
}

/// Cycles between a PCE and the engine that PCEs share.
pub fn engine_wire(machine: &MachineSpec) -> u64 {
    machine.copy_engine.engine_wire.map_or(1, |cycles| cycles.0)
}

/// What seals and opens in the PCE at `place` among those of a GPU, of which `readers` read host memory; none where nothing does.
pub fn engine(machine: &MachineSpec, place: usize, readers: usize) -> Option<EngineSpec> {
    let engine = if place < readers { machine.opening() } else { machine.sealing() };
    (machine.sealed_path() && machine.sealing_sms().is_none()).then_some(engine)
}

/// Of the PCE at `place` among those of a GPU, of which `readers` read host memory.
pub fn pce(machine: &MachineSpec, clocks: &Clocks, place: usize, readers: usize) -> Result<PceSpec, RunError> {
    let tags = (machine.link.read_tags as usize / readers) as u16;
    Ok(PceSpec {
        copy_engine: machine.copy_engine.clone(),
        engine: engine(machine, place, readers),
        shared: (machine.common() != Common::Nothing).then_some(engine_wire(machine)),
        own_aes: machine.common() == Common::Ghash,
        engine_clock: machine.copy_engine.engine_clock.map(|_| clocks.engines),
        max_read_request: build(MaxSize::new(machine.link.max_read_request.0))?,
        max_payload: build(MaxSize::new(machine.link.max_payload.0))?,
        first_tag: first_tag(machine.link.read_tags) + (place % readers) as u16 * tags,
        tags,
        tag_queue: machine.tag_queue.clone(),
        staging: machine.sealing_sms().map(|_| map::DEVICE_STAGING),
        stored: stored(machine, clocks),
        aside: machine
            .tag_queue
            .waits_in_memory()
            .then(|| Place { base: map::DEVICE_STAGING, visible: visible(machine, clocks) }),
    })
}

/// Of the front end of an LCE with so many PCEs.
pub fn front_end(machine: &MachineSpec, lce: Lce, pces: usize) -> FrontEndSpec {
    FrontEndSpec {
        copy_engine: machine.copy_engine.clone(),
        writes_host: lce == SYSMEM_WRITE,
        pces,
        confidential: machine.sealed_path(),
        tag_queue_depth: u64::from(machine.tag_queue.depth),
        tag_every: machine.tag_queue.tag_every.map(|bytes| bytes.0),
        common_quarantine: machine.common_quarantine(),
        ahead: machine.tag_queue.ahead(),
        release: machine.tag_queue.release,
        device: map::DEVICE_BASE..u64::MAX,
        error_semaphore: map::ERROR,
        channel_error: lce.channel_error(),
    }
}
