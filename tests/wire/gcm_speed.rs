//! Host speed of the bulk bytes against another implementation, in the same run:
//! `cargo test --release --test wire gcm_speed -- --ignored --nocapture`.

use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
use sealsim::gcm::bulk::{Key, Stream};
use sealsim::gcm::message::SealOpen;
use std::{hint::black_box, time::Instant};

/// The best of some runs, in nanoseconds: other work on the machine only ever adds.
fn best(rounds: u32, mut work: impl FnMut()) -> f64 {
    let run = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos() as f64
    };
    (0..rounds).map(|_| run(&mut work)).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a measurement, meaningful only on a quiet machine"]
fn sealing_is_no_slower_than_aes_gcm() {
    let key = Key::new(&[7; 32]).expect("a key of 32 bytes");
    let other = Aes256Gcm::new(&[7; 32].into());
    let iv = [9; 12];
    for length in [256, 4 << 10, 64 << 10, 1 << 20] {
        let mut text = vec![1; length];
        let rounds = (200_000_000 / length as u32).clamp(100, 20_000);
        let ours = best(rounds, || {
            let _ = black_box(key.seal(&iv, &[2; 16], black_box(&mut text)));
        });
        let theirs = best(rounds, || {
            let _ = black_box(other.encrypt_inout_detached(&iv.into(), &[2; 16], black_box(&mut text[..]).into()));
        });
        let bursts = best(rounds, || {
            let mut stream = Stream::new(&key, &iv, &[2; 16], SealOpen::Seal).expect("an IV");
            for burst in text.chunks_mut(256) {
                stream.update(&key, burst);
            }
            black_box(stream.tag(&key));
        });
        let rate = |nanos: f64| length as f64 / nanos;
        println!(
            "{length:>8} B: {:.2} GB/s, in bursts of 256 B {:.2}, aes-gcm {:.2}; ratio {:.2}",
            rate(ours),
            rate(bursts),
            rate(theirs),
            theirs / ours
        );
        assert!(length < 1 << 20 || theirs / ours > 0.9, "slower than aes-gcm by more than noise");
    }
}
