//! What `after_first_success` states of each design, with its bytes: whether the difference of ciphertext and tag that has passed under one
//! nonce passes under another.

use sealsim::{
    aead::{path::PathKey, spec::EngineSpec},
    config::Layers,
    cost::AfterSuccess,
};

const NONCES: [[u8; 12]; 2] = [[1; 12], [2; 12]];
const LENGTH: usize = 4096;

fn sealed(key: &PathKey, nonce: usize, mut text: Vec<u8>) -> [Vec<u8>; 2] {
    let tags = key.seal(NONCES[nonce], &mut text);
    [text, tags]
}

fn xor(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter().zip(other).map(|(one, other)| one ^ other).collect()
}

/// Whether the difference of two sealed texts of the first nonce, which passes there, passes under the second.
fn passes_again(engine: &EngineSpec) -> bool {
    let format = engine.format();
    let key_bytes = format.scheme.wire().key_bytes.iter().copied().max().unwrap();
    let key = PathKey::new(format, &vec![7; key_bytes], [9; 20]).unwrap();
    let mut changed = vec![3; LENGTH];
    changed[100] ^= 0x40;
    let (right, forged) = (sealed(&key, 0, vec![3; LENGTH]), sealed(&key, 0, changed));
    let [text, tags] = [0, 1].map(|part| xor(&right[part], &forged[part]));
    let opens = |nonce: usize, plain: u8| {
        let [good, good_tags] = sealed(&key, nonce, vec![plain; LENGTH]);
        let (mut text, tags) = (xor(&good, &text), xor(&good_tags, &tags));
        key.open(NONCES[nonce], &mut text, &tags)
    };
    assert!(opens(0, 3), "the difference passes where it was found");
    opens(1, 5)
}

#[test]
fn a_difference_that_passed_passes_again_where_nonces_share_the_hash_key_and_nowhere_else() {
    for design in [
        "h100-cc",
        "parallel-auth",
        "gcm-siv",
        "gcm-sst",
        "chacha20-poly1305",
        "aegis-256",
        "aegis-256x2",
        "aegis-128l",
    ] {
        let engine = Layers::new("h100-nvl-tdx").overlay(design).resolve().unwrap().machine.sealing();
        let stated = engine.model().after_success();
        assert_eq!(passes_again(&engine), stated == AfterSuccess::Certain, "{design}: {stated:?}");
    }
}
