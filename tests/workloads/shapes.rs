//! Copies, bytes and kernels of each workload by closed forms of public shapes, and the order of swaps.

use crate::shared::shipped;
use sealsim::{
    explore::kernels,
    system::Direction,
    workload::{SHIPPED_WORKLOADS, Workload, WorkloadStep},
};

const MIB: u64 = 1 << 20;
/// An image of ImageNet in fp32.
const IMAGE: u64 = 3 * 224 * 224 * 4;
/// Channels of VGG-16's conv1_2, in fp32.
const PLANES: u64 = 224 * 224 * 64 * 4;
/// A clip of 32 frames.
const CLIP: u64 = 32 * 224 * 224 * 3;
/// Weights of MobileNetV2 in fp32.
const MOBILENET: u64 = 3_504_872 * 4;
/// Weights of ResNet-50 in fp32.
const RESNET: u64 = 25_557_032 * 4;

/// Name; copies and bytes to the GPU; from it; kernels and microseconds of them.
type Shape = (&'static str, [u64; 2], [u64; 2], [u64; 2]);

/// Weights and biases of AlexNet by layer, in fp32.
fn alexnet() -> u64 {
    let convolution = |inputs: u64, outputs: u64, side: u64| outputs * (inputs * side * side + 1);
    let connected = |inputs: u64, outputs: u64| outputs * (inputs + 1);
    let convolutions = convolution(3, 64, 11)
        + convolution(64, 192, 5)
        + convolution(192, 384, 3)
        + convolution(384, 256, 3)
        + convolution(256, 256, 3);
    4 * (convolutions + connected(9216, 4096) + connected(4096, 4096) + connected(4096, 1000))
}

fn inference() -> Vec<Shape> {
    let token_layer = 2 * 8 * 128 * 2;
    let kv = 4 * 2 * 512 * 4096;
    // KVPR: bytes of KV and of activations for so many tokens.
    let (kv_of, activations) = (|tokens: u64| 4 * 32 * tokens * 4096, |tokens: u64| 2 * 32 * tokens * 4096);
    let split = |tokens: u64| activations(tokens) + kv_of(1024 - tokens);
    vec![
        ("fastrack-inference", [8, 8 * 32 * IMAGE], [8, 8 * 32 * 1000 * 4], [480, 480 * 44]),
        ("fastrack-training", [16, 8 * (32 * IMAGE + 32 * 8)], [8, 8 * 4], [1440, 1440 * 44]),
        ("vllm-kv-swap", [4 * 28, 4 * 28 * 142 * token_layer], [4 * 28, 4 * 28 * 142 * token_layer], [32, 32 * 1200]),
        ("flexgen-weights", [8, 2 * 2 * 2 * 4 * 4096 * 4096 * 2], [0, 0], [4, 7200]),
        ("layerwise-kv", [12, 12 * kv], [12, 12 * kv], [24, 12 * 1540]),
        ("kv-recompute", [5, kv_of(1024) + split(640) + split(992)], [0, 0], [5, 4582 + 7103 + 300]),
        ("vllm-llama3-8b", [8 * 16, 8 * 16 * 3700], [8, 8 * 128], [8 * 528, 8 * 528 * 182 / 10]),
        (
            "vllm-llama3-8b-graph",
            [8 * 16, 8 * 16 * 3700],
            [8, 8 * 128],
            [8 * (1 + 516 + 12), 8 * 528 * 182 / 10 + 8 * 3],
        ),
        ("decode-loop", [64 * 16, 64 * 16 * 3700], [64, 64 * 4], [64, 64 * 5000]),
        ("model-load", [1, 354_823_168 * 2], [0, 0], [0, 0]),
        ("trustzone-inference", [22, IMAGE + alexnet()], [1, 4000], [19, 19 * 50]),
        ("tts-incremental", [32, 32 * 8 * 128 * 8], [32, 32 * 8 * 22_050 / 2 * 4], [960, 96_000]),
        ("action-detection", [16, 16 * CLIP], [16, 16 * 100 * 84 * 4], [16, 128_000]),
        (
            "y-plane",
            [1 + 75 + 14, 2 * PLANES + 9 * PLANES + 14 * 18 * 224 * 64 * 4],
            [1 + 75 + 14, 12 * PLANES],
            [1 + 74 + 14, 370 + 74 * 5 + 14 * 26],
        ),
        // Of a byte for each weight 70 % are left.
        ("quantized-weights", [6, 494_534_656 + 494_534_656 / 4 * 7 / 10 + 1], [0, 0], [9, 3 * 177]),
    ]
}

fn training_and_others() -> Vec<Shape> {
    let nodes = 1024 * 6 * 11 * 16;
    let edges = 1024 * 5 + 1024 * 6 * 10 + 1024 * 6 * 11 * 15;
    let key = 3 * 2 * (1 << 16) * 32 * 8;
    let ciphertext = 2 * (1 << 14) * 8 * 8;
    vec![
        ("embedding-cache", [8, 4 * (50_000 * 128 * 4 + 16_384 * 26 * 8)], [4, 4 * 50_000 * 128 * 4], [4, 20_000]),
        ("gnn-minibatch", [12, 3 * (edges * 16 + nodes / 4 * 100 * 4)], [0, 0], [3, 18_000]),
        ("offload-optimizer", [6, 2 * 3 * 16_000_000 * 4], [6, 2 * 3 * 16_000_000 * 4], [2, 320]),
        ("mig-tenants", [9 + 12, 9 * 16 * MIB + 12 * 65_536], [12, 12 * 65_536], [21, 18_000 + 2400]),
        ("stream-tenants", [9 + 12, 9 * 16 * MIB + 12 * 65_536], [12, 12 * 65_536], [21, 18_000 + 2400]),
        ("transient-servers", [2, 2 * RESNET], [2, 2 * RESNET], [8, 248_000]),
        ("fhe-keys", [4, 3 * key + 24 * MIB], [1, 24 * MIB], [3, 6000]),
        ("collocation", [18, 6 * 32 * 3 * 4 * (32 * 32 + 64 * 64 + 224 * 224)], [18, 18 * 4], [18, 78_000]),
        ("he-mining", [96, 96 * ciphertext], [24, 24 * ciphertext], [12, 12_000]),
        ("federated-edge", [24, 4 * (MOBILENET + 5 * 32 * 3 * 224 * 224)], [4, 4 * MOBILENET], [20, 200_000]),
        ("inr-gradient", [8, 8 * 8192 * 2 * 4], [8, 8 * 8192 * 3 * 7 * 4], [24, 24 * 150]),
        ("exemplar-clustering", [51, 50_000 * 100 * 4 + 50 * 4000], [50, 50 * 4000], [50, 100_000]),
        ("compressed-allreduce", [0, 0], [0, 0], [294, 98 * 160]),
        ("ooo-backprop", [0, 0], [0, 0], [48, 48 * 250]),
        ("geo-pipeline", [8, 8 * MIB / 4], [8, 8 * MIB / 4], [24, 8 * 6600]),
        ("elastic-sgd", [32, 16 * (96 + 64) * IMAGE], [0, 0], [32, 960_000]),
        ("podracer-rl", [2, 2 * 600_000], [22, 20 * 64 + 2 * 600_000], [4000, 120_000]),
    ]
}

fn copied(workload: &Workload, direction: Direction) -> [u64; 2] {
    let copies = workload.copies.iter().filter(|copy| copy.direction == direction);
    copies.fold([0, 0], |[count, bytes], copy| [count + 1, bytes + copy.bytes])
}

#[test]
fn copies_bytes_and_kernels_are_those_of_the_closed_forms() {
    for (name, h2d, d2h, computed) in inference().into_iter().chain(training_and_others()) {
        let (workload, _) = shipped(name);
        let (count, length) = kernels(&workload);
        assert_eq!(copied(&workload, Direction::H2d), h2d, "{name}: to the GPU");
        assert_eq!(copied(&workload, Direction::D2h), d2h, "{name}: from the GPU");
        assert_eq!([count as u64, length.picos() / 1_000_000], computed, "{name}: kernels");
    }
}

#[test]
fn every_workload_of_a_system_has_a_closed_form() {
    let known: Vec<_> = inference().into_iter().chain(training_and_others()).map(|shape| shape.0).collect();
    let known: Vec<_> = known.into_iter().chain(crate::ddp::MODELS.map(|model| model.0)).collect();
    let shown = ["overlap-pipelined", "overlap-sequential", "upload-compute-download", "weight-streaming"];
    for shipped in SHIPPED_WORKLOADS {
        assert!(known.contains(&shipped.name) || shown.contains(&shipped.name), "{}", shipped.name);
    }
}

#[test]
fn a_decode_step_has_sixteen_small_copies_in_and_a_token_out() {
    let (workload, _) = shipped("decode-loop");
    let step = 16 + 9 + 1;
    for copies in workload.copies.chunks(step) {
        let count = |direction| copies.iter().filter(|copy| copy.direction == direction).count();
        assert_eq!([Direction::H2d, Direction::D2d, Direction::D2h].map(count), [16, 9, 1]);
    }
    // 20,894 copies of 73.9 MiB together.
    let mean: f64 = 73.9 * 1_048_576.0 / 20_894.0;
    assert!((mean / 3700.0 - 1.0).abs() < 0.01, "{mean}");
}

/// Buffers of the copies of one direction, in order.
fn buffers(workload: &Workload, direction: Direction) -> Vec<String> {
    let copies = workload.steps.iter().flatten().filter_map(|step| match step {
        WorkloadStep::Copy { buffer, .. } => Some(buffer.clone().unwrap_or_default()),
        _ => None,
    });
    let with = copies.zip(&workload.copies).filter(|(_, copy)| copy.direction == direction);
    with.map(|(buffer, _)| buffer).collect()
}

/// What stands before the point in a name.
fn owners(buffers: &[String]) -> Vec<&str> {
    let mut owners: Vec<_> = buffers.iter().filter_map(|name| name.split('.').next()).collect();
    owners.dedup();
    owners
}

#[test]
fn swaps_of_requests_come_back_last_first_and_those_of_layers_first_first() {
    let (requests, _) = shipped("vllm-kv-swap");
    let (out, back) = (buffers(&requests, Direction::D2h), buffers(&requests, Direction::H2d));
    let mut reversed = owners(&back);
    reversed.reverse();
    assert_eq!(owners(&out), reversed);
    assert_eq!(owners(&out).len(), 4);
    let (layers, _) = shipped("layerwise-kv");
    assert_eq!(buffers(&layers, Direction::D2h), buffers(&layers, Direction::H2d));
    let (weights, _) = shipped("flexgen-weights");
    let streamed = buffers(&weights, Direction::H2d);
    let (first, second) = streamed.split_at(streamed.len() / 2);
    assert_eq!(first, second, "each token streams the same layers in the same order");
}
