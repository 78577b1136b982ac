//! What passes on wires and through engines: published bytes and cycles, and links between units.

mod aead_vectors;
mod dissector;
mod engine_stages;
mod forgery;
mod gcm_vectors;
mod golden_pcie;
mod link;
mod published;
mod rtl_cycles;
mod synthesis;
mod tlp_stream;

/// Whether what takes minutes is done in full: `tests/campaigns` has files of this folder too.
const CAMPAIGN: bool = false;
