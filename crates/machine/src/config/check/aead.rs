//! What an engine of another AEAD excludes in a machine.

use super::MachineSpec;
use crate::aead::spec::AeadSpec;
use crate::gcm::spec::GhashSpec;
use crate::gpu::sm::spec::CryptoPlace;
use crate::gpu::spec::{Common, Sharing, TagPlacement};

/// Why the machine is refused, if it is.
pub(super) fn broken(aead: &AeadSpec, machine: &MachineSpec) -> Option<String> {
    let engine = || aead.model().check().err().map(|error| error.to_string());
    engine().or_else(|| elsewhere(aead, machine)).or_else(|| of_gcm(machine)).or_else(|| odd_pieces(aead, machine))
}

/// What would have to be sealed or opened other than whole, by a copy engine.
fn elsewhere(aead: &AeadSpec, machine: &MachineSpec) -> Option<String> {
    let name = aead.model().scheme()?.name();
    match (machine.copy_engine.sharing, machine.copy_engine.common()) {
        (Some(Sharing::Split), _) => {
            return Some(format!(
                "messages cannot be split with {name}: neither its state nor its tag is a sum over parts, as GHASH is"
            ));
        }
        (_, Some(Common::Engine | Common::Ghash)) => {
            return Some(format!("{name} is in each PCE: the engine that PCEs share is AES-GCM's"));
        }
        _ => {}
    }
    if machine.gpu_crypto.as_ref().is_some_and(|crypto| crypto.place == CryptoPlace::Sm) {
        return Some(format!("{name} is in the copy engines: the kernels on SMs have AES-GCM"));
    }
    if machine.link.ide.is_some() {
        return Some(format!("{name} has no place on a link with IDE, which is AES-GCM by its standard"));
    }
    let inline = machine.tag_queue.placement == Some(TagPlacement::Inline);
    (inline && aead.model().opens_by_tag())
        .then(|| format!("{name} is opened with its tag, and an inline tag comes behind the text"))
}

/// What describes an AES-GCM engine and would have no effect.
fn of_gcm(machine: &MachineSpec) -> Option<String> {
    let without = |path: &str| format!("{path} belongs to AES-GCM, and aead stands in its engine's place");
    let family = match machine.engine.ghash {
        GhashSpec::Segmented { .. } => Some("segmented"),
        GhashSpec::MessageParallel { .. } => Some("message_parallel"),
        GhashSpec::SubChains { .. } => Some("sub_chains"),
        _ => None,
    };
    let open = machine.copy_engine.open_ghash.as_ref().map(|_| without("copy_engine.open_ghash"));
    open.or_else(|| family.map(|family| without(&format!("engine.ghash = {family}"))))
}

/// Pieces that end within a block of a wide state, such as that of AEGIS-256X4, so that nothing of them can be passed on.
fn odd_pieces(aead: &AeadSpec, machine: &MachineSpec) -> Option<String> {
    let width = aead.model().block_bytes();
    let driver = &machine.driver;
    let whole = |bytes: u64| bytes.is_multiple_of(width);
    let messages = [driver.pinned.message, driver.pageable.message];
    if let Some(message) = messages.into_iter().find(|message| width > 32 && !whole(message.0)) {
        return Some(format!("messages of {message} do not begin at its blocks of {width} B"));
    }
    if machine.copy_engine.burst.0 < width {
        return Some(format!("a burst of {} is less than its blocks of {width} B", machine.copy_engine.burst));
    }
    (width > 32 && machine.tag_queue.placement == Some(TagPlacement::Inline))
        .then(|| format!("behind inline tags messages do not begin at its blocks of {width} B"))
}
