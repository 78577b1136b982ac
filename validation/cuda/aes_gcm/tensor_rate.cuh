// How fast the tensor cores count: nothing but the instruction that ghash_tensor.cuh uses, in chains that do not wait for each other.
#pragma once

#include "portable.cuh"

constexpr u32 RATE_THREADS = 512, RATE_CHAINS = 8;
constexpr u32 RATE_BYTES = 32;  // of a message, in ghash_tensor.cuh: 16 instructions for a chunk of 512 bytes

struct Span {
    u64 cycles, hash_cycles;  // over the block's runs; of the products and sums that make one hash of each
    u32 sm;
};

struct RateJob {
    u32 rounds;
    int* sums;  // four for each thread
    Span* spans;
};

// Word `i` of the six that a lane puts in.
BOTH u32 rate_operand(u32 lane, u32 i) {
    const u32 mixed = (lane * 6 + i + 1) * 0x9e3779b9u;
    return mixed ^ mixed >> 15;
}

KERNEL(RATE_THREADS) tensor_rate(RateJob job) {
    const Block a = {{rate_operand(lane(), 0), rate_operand(lane(), 1), rate_operand(lane(), 2), rate_operand(lane(), 3)}};
    const u32 b0 = rate_operand(lane(), 4), b1 = rate_operand(lane(), 5);
    int sums[RATE_CHAINS][4] = {};
    block_barrier();
    const u64 start = clock_now();
    for (u32 round = 0; round < job.rounds; ++round) {
        UNROLL
        for (u32 chain = 0; chain < RATE_CHAINS; ++chain) count_common(sums[chain], a, b0, b1);
    }
    block_barrier();
    const u64 stop = clock_now();
    if (thread() == 0) job.spans[block()] = {stop - start, 0, sm_id()};
    UNROLL
    for (u32 k = 0; k < 4; ++k) {
        int sum = 0;
        UNROLL
        for (u32 chain = 0; chain < RATE_CHAINS; ++chain) sum += sums[chain][k];
        job.sums[(block() * threads() + thread()) * 4 + k] = sum;
    }
}
