//! A PCE whose engine is another AEAD.

use super::*;
use crate::aead::{
    aegis::AegisSpec,
    bytes,
    chacha20_poly1305::{ChaCha20Poly1305Spec, ChaChaSpec, Poly1305Spec},
    gcm_siv::GcmSivSpec,
    gcm_sst::GcmSstSpec,
    spec::AeadSpec,
};
use crate::gcm::spec::Closing;

fn aegis(lanes: u32, tag: u64) -> AeadSpec {
    AeadSpec::Aegis256(AegisSpec { lanes, round: Cycles(1), tag: Some(Bytes(tag)), compare: Cycles(1) })
}

fn chacha() -> AeadSpec {
    AeadSpec::ChaCha20Poly1305(ChaCha20Poly1305Spec {
        chacha: ChaChaSpec {
            lanes: 1,
            rounds_in_hardware: 20,
            registers_per_round: 1,
            start_interval: Cycles(1),
            keystream_blocks: 32,
        },
        poly1305: Poly1305Spec {
            ways: 8,
            multipliers: 2,
            closing: Closing::LookAhead,
            product: Cycles(3),
            reduction: Cycles(1),
            finish: Cycles(2),
        },
        compare: Cycles(1),
    })
}

/// With room for so many bytes between its passes.
fn siv(buffer: u64) -> AeadSpec {
    AeadSpec::GcmSiv(GcmSivSpec::four_lanes(Bytes(buffer)))
}

/// Every scheme; AES-GCM-SIV with room for 2 KiB between its passes, GCM-SST with tags of 12 bytes.
fn schemes() -> Vec<AeadSpec> {
    vec![
        aegis(1, 16),
        aegis(1, 32),
        aegis(2, 32),
        aegis(4, 16),
        chacha(),
        siv(2048),
        AeadSpec::GcmSst(GcmSstSpec::four_lanes()),
    ]
}

fn with(aead: &AeadSpec) -> PceSpec {
    let mut spec = spec();
    spec.tag_queue.fetch = if aead.model().opens_by_tag() { TagFetch::BeforeData } else { TagFetch::AfterData };
    PceSpec { engine: Some(EngineSpec::Other(aead.clone())), ..spec }
}

/// Ciphertext and tag by the crates.
fn sealed(aead: &AeadSpec, text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let format = aead.model().format().unwrap();
    let nonce = [&NONCE.0[..], &TAIL].concat();
    let mut sealed = text.to_vec();
    let key = bytes::Key::new(format, &KEY).unwrap();
    let tag = key.seal(&nonce[..format.scheme.nonce_bytes()], &[], &mut sealed).unwrap();
    (sealed, tag)
}

fn text(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|n| (n * 31 + n / 256) as u8).collect()
}

/// Bytes written to the host, in the order of their addresses there.
fn written(bench: &Bench, from: u64, to: u64) -> Vec<u8> {
    let mut writes: Vec<_> = bench.sent.iter().filter(|(_, tlp)| (from..to).contains(&tlp.address)).collect();
    writes.sort_by_key(|(_, tlp)| tlp.address);
    writes.iter().flat_map(|(_, tlp)| tlp.payload.bytes().unwrap().to_vec()).collect()
}

#[test]
fn messages_are_opened_and_sealed_as_the_crates_do_with_tags_and_ivs_of_their_own_length() {
    for aead in schemes() {
        for bytes in [1, 31, 64, 512, 2048, 2049, 5000, 70_000] {
            let (plain, what) = (text(bytes), format!("{aead:?}, {bytes} bytes"));
            let (cipher, tag) = sealed(&aead, &plain);
            let mut bench = Bench::new(with(&aead));
            bench.give(PceWork::Transfer(job(LaunchKind::Open, bytes)));
            serve_host(&mut bench, &cipher, &tag, |address| address / 64 % 7, 64);
            let tags: Vec<_> = bench.reported.iter().map(|report| report.tag.clone()).collect();
            assert_eq!(tags, [Some(tag.clone()), Some(tag.clone())], "{what}");
            let (_, payload) = bench.landed.last().and_then(|write| write.deposit.clone()).unwrap();
            assert!(payload.bytes() == Some(&plain[..]), "{what}");

            let mut bench = Bench::new(with(&aead));
            bench.give(PceWork::Transfer(job(LaunchKind::Seal, bytes)));
            serve_device(&mut bench, &plain);
            assert!(written(&bench, SOURCE, TAG_ADDRESS) == cipher, "{what}");
            assert_eq!(written(&bench, TAG_ADDRESS, TAG_ADDRESS + 4096), tag, "{what}");
            let nonce_bytes = aead.model().scheme().unwrap().nonce_bytes();
            let iv = written(&bench, TAG_ADDRESS + 4096, u64::MAX);
            assert!(iv.len() == nonce_bytes && iv.starts_with(&[3; 12]), "{what}");
            assert_eq!(bench.ended(), [Done::Transfer { job: 1, ok: true }], "{what}");
        }
    }
}

#[test]
fn a_wrong_tag_is_reported_beside_the_right_one() {
    for aead in schemes() {
        let (cipher, tag) = sealed(&aead, &text(512));
        let mut forged = tag.clone();
        forged[3] ^= 4;
        let mut bench = Bench::new(with(&aead));
        bench.give(PceWork::Transfer(job(LaunchKind::Open, 512)));
        serve_host(&mut bench, &cipher, &forged, |_| 3, 128);
        let of = |computed| {
            bench.reported.iter().find(|report| report.computed == computed).and_then(|report| report.tag.clone())
        };
        assert_eq!(of(false), Some(forged.clone()));
        // AES-GCM-SIV deciphers with the tag that came: from a wrong one follow another text and another tag.
        let by_tag = aead.model().opens_by_tag();
        assert!(of(true).is_some_and(|computed| computed != forged && (by_tag || computed == tag)), "{aead:?}");
    }
}

/// Reads of device memory for a message of `bytes` that is sealed with room for `kept`, the cycle of the first write, and the last.
fn sealing(bytes: u64, kept: u64, rate: u64) -> (u64, u64, u64) {
    let mut bench = Bench::new(with(&siv(kept)));
    bench.give(PceWork::Transfer(job(LaunchKind::Seal, bytes)));
    let (memory, mut read, mut free) = (text(bytes), 0, 0);
    while bench.ended.is_empty() {
        let time = bench.clock.edge(bench.cycle);
        while let Some(asked) = bench.reads.pop(time) {
            let start = (asked.address - DEVICE) as usize;
            read += u64::from(asked.bytes);
            free = bench.cycle.max(free) + u64::from(asked.bytes) / rate;
            let payload = Payload::of(memory[start..start + asked.bytes as usize].to_vec());
            let data = MemoryData { address: asked.address, bytes: asked.bytes, payload };
            bench.data.send(bench.clock.edge(free + 3), data);
        }
        bench.step();
        assert!(bench.cycle < 100_000);
    }
    (read, bench.sent[0].0, bench.ended[0].0)
}

#[test]
fn a_message_beyond_the_engines_buffer_is_read_twice_and_one_that_fits_once() {
    assert_eq!(sealing(4096, 4096, 512).0, 4096);
    assert_eq!(sealing(4096, 4095, 512).0, 8192);
}

#[test]
fn nothing_of_a_message_that_is_sealed_in_two_passes_leaves_before_all_of_it_was_read() {
    // 16 KiB at 8 B per cycle: 2048 cycles until the last of it is there for the first time, and as many for the second time.
    let (_, first, kept) = sealing(16_384, 1 << 20, 8);
    assert!((2048..2300).contains(&first), "{first}");
    assert!(kept < first + 300, "{kept}");
    let (_, first, twice) = sealing(16_384, 16, 8);
    assert!((2048..2300).contains(&first), "{first}");
    assert!((4096..4400).contains(&twice), "{twice}");
}

#[test]
fn the_keystream_to_open_with_gcm_siv_starts_when_the_tag_has_come() {
    let (cipher, tag) = sealed(&siv(16), &text(512));
    let opened = |late: u64| {
        let mut bench = Bench::new(with(&siv(16)));
        bench.give(PceWork::Transfer(job(LaunchKind::Open, 512)));
        serve_host(&mut bench, &cipher, &tag, |address| if address >= TAG_ADDRESS { late } else { 1 }, 512);
        bench.dates[0]
    };
    assert_eq!(opened(300) - opened(200), 100);
}

#[test]
fn what_was_given_up_in_either_pass_leaves_engine_and_buffers_to_the_next() {
    for kept in [16, 1 << 20] {
        for wrong in [3, 12] {
            let mut spec = with(&siv(kept));
            spec.copy_engine.read_buffer = Bytes(4096);
            let mut bench = Bench::new(spec);
            bench.give(PceWork::Transfer(job(LaunchKind::Seal, 4096)));
            let next = Job { id: 2, source: DEVICE + 8192, destination: SOURCE + 8192, ..job(LaunchKind::Seal, 4096) };
            bench.give(PceWork::Transfer(next));
            let mut answers = 0;
            for _ in 0..3000 {
                let time = bench.clock.edge(bench.cycle);
                while let Some(asked) = bench.reads.pop(time) {
                    answers += 1;
                    let address = if answers == wrong { asked.address ^ 512 } else { asked.address };
                    let payload = Payload::of(vec![answers as u8; 512]);
                    let data = MemoryData { address, bytes: 512, payload };
                    bench.data.send(bench.clock.edge(bench.cycle + 3), data);
                }
                bench.step();
            }
            let ended: Vec<_> = bench.ended();
            let of = |job| ended.contains(&Done::Transfer { job, ok: true });
            // A message that is kept is read in eight bursts: the twelfth is the next one's.
            let (first, second) = if wrong == 12 && kept > 16 { (true, false) } else { (false, true) };
            assert_eq!((of(1), of(2)), (first, second), "{kept} {wrong}: {ended:?}");
            assert_eq!(bench.pce.buffered, 0, "{kept} {wrong}");
        }
    }
}
