//! Tests of `sealsim_aead`, in a crate of their own: what they test is optimised, they are not.
#![cfg(test)]

/// AEADs of another code base.
#[cfg(feature = "aws-lc")]
use aws_lc_rs as another;
#[cfg(not(feature = "aws-lc"))]
use ring as another;

mod aead {
    mod aegis;
    pub mod arbitrary;
    mod bytes;
    mod chacha20_poly1305;
    mod flow;
    mod gcm_siv;
    mod gcm_sst;
    mod model;
    mod path;
    mod standalone;
    mod stream;
    mod timing;
}
mod gcm {
    mod aes;
    pub mod arbitrary;
    mod bench;
    mod bulk;
    mod bulk_chains;
    mod counter;
    mod engine;
    mod field;
    mod ghash;
    mod ghash_powers;
    mod ghash_weights;
    mod multiplier;
    mod part;
    mod register;
    mod spec_families;
    mod stages;
    mod standalone;
    mod standalone_cores;
    mod standalone_structures;
    mod structure;
    mod timing;
    mod upset;
}
