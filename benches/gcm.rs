//! The bytes and the timing of the AES-GCM engine. `speed` holds both against another implementation.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sealsim::gcm::bulk::{Key, Stream};
use sealsim::gcm::message::SealOpen;
use sealsim::gcm::spec::GcmSpec;
use sealsim::gcm::timing::Timing;
use std::hint::black_box;

fn bytes(c: &mut Criterion) {
    let key = Key::new(&[7; 32]).unwrap();
    let iv = [9; 12];
    for (name, length) in [("256 B", 256), ("4 KiB", 4 << 10), ("1 MiB", 1 << 20)] {
        let mut group = c.benchmark_group(format!("seal {name}"));
        group.throughput(Throughput::Bytes(length));
        let mut text = vec![1; length as usize];
        group.bench_function("sealsim", |b| b.iter(|| key.seal(&iv, &[2; 16], black_box(&mut text))));
        group.bench_function("sealsim, bursts of 256 B", |b| {
            b.iter(|| {
                let mut stream = Stream::new(&key, &iv, &[2; 16], SealOpen::Seal).unwrap();
                for burst in text.chunks_mut(256) {
                    stream.update(&key, burst);
                }
                stream.tag(&key)
            });
        });
    }
}

fn timing(c: &mut Criterion) {
    const BURSTS: u64 = 4096;
    let mut group = c.benchmark_group("accept 256 B");
    group.throughput(Throughput::Elements(BURSTS));
    for (name, direction, interval) in [
        ("open, keeps up", SealOpen::Open, 5),
        ("seal, keeps up", SealOpen::Seal, 5),
        ("open, saturated", SealOpen::Open, 1),
        ("seal, saturated", SealOpen::Seal, 1),
    ] {
        let mut timing = Timing::new(&GcmSpec::four_lanes()).unwrap();
        let ready = timing.load_key(0);
        timing.start(ready, 16, 256 * BURSTS, direction);
        group.bench_function(name, |b| {
            b.iter_batched_ref(
                || timing.clone(),
                |timing| {
                    let mut last = 0;
                    for burst in 0..BURSTS {
                        last = timing.accept(ready + 40 + interval * burst, 256).consumed;
                    }
                    black_box(last)
                },
                BatchSize::SmallInput,
            );
        });
    }
}

criterion_group!(benches, bytes, timing);
criterion_main!(benches);
