// The kernel that all measured kernels are: a cipher, a hash, or both over a message that is spread over the warps of the grid, each
// with one run of it. And the kernel behind it that makes the tag of the warps' hashes.
#pragma once

#include "aes_bitsliced.cuh"
#include "aes_tables.cuh"
#include "ghash_tables.cuh"
#include "ghash_tensor.cuh"
#include "tensor_rate.cuh"

struct Job {
    const Key* key;
    const u8* in;
    u8* out;
    u64 bytes;
    Block iv;  // three words
    Block* hashes;  // one for each warp
    Span* spans;    // one for each block of threads
};

// Who has which blocks. The message is filled up in front, not behind, to whole groups of chunks: zero blocks in front leave GHASH alone.
struct Runs {
    u64 text_blocks, groups;
    u32 group_blocks, warps;

    BOTH Runs(u64 bytes, u32 chunks, u32 all_warps)
        : text_blocks((bytes + 15) / 16), groups((text_blocks + chunks * LANES - 1) / (chunks * LANES)), group_blocks(chunks * LANES),
          warps(all_warps) {}
    BOTH u64 first_group(u32 warp) const { return groups * warp / warps; }
    BOTH i64 first_block(u64 group) const { return static_cast<i64>(text_blocks) - static_cast<i64>((groups - group) * group_blocks); }
    BOTH u64 blocks_behind(u32 warp) const { return (groups - first_group(warp + 1)) * group_blocks; }
};

DEVICE u32 bytes_of(const Job& job, i64 index) {
    const i64 left = static_cast<i64>(job.bytes) - index * 16;
    return index < 0 || left <= 0 ? 0 : left < 16 ? static_cast<u32>(left) : 16;
}

DEVICE Block load(const Job& job, i64 index) {
    Block loaded = {};
    const u32 count = bytes_of(job, index);
    if (count == 16) return reinterpret_cast<const Block*>(job.in)[index];
    UNROLL
    for (u32 i = 0; i < 16; ++i)
        if (i < count) loaded.word[i / 4] |= static_cast<u32>(job.in[index * 16 + i]) << i % 4 * 8;
    return loaded;
}

// Stores what belongs to the message, and gives the block with nothing but that in it.
DEVICE Block store(const Job& job, i64 index, const Block& value) {
    Block stored = {};
    const u32 count = bytes_of(job, index);
    if (count == 16) return reinterpret_cast<Block*>(job.out)[index] = value;
    UNROLL
    for (u32 i = 0; i < 16; ++i)
        if (i < count) {
            const u32 byte = value.word[i / 4] >> i % 4 * 8 & 0xff;
            job.out[index * 16 + i] = static_cast<u8>(byte);
            stored.word[i / 4] |= byte << i % 4 * 8;
        }
    return stored;
}

template <class Cipher, class Hash> constexpr u32 CHUNKS_OF = Cipher::CHUNKS > Hash::CHUNKS ? Cipher::CHUNKS : Hash::CHUNKS;

template <class Cipher, class Hash, u32 THREADS> KERNEL(THREADS) seal(Job job) {
    constexpr u32 CHUNKS = CHUNKS_OF<Cipher, Hash>;
    Cipher cipher;
    Hash hash;
    cipher.prepare(*job.key, job.iv);
    hash.prepare(Cipher::SHARED, *job.key);
    block_barrier();
    const u64 start = clock_now();
    const Runs runs(job.bytes, CHUNKS, blocks() * threads() / LANES);
    const u32 warp = (block() * threads() + thread()) / LANES;
    for (u64 group = runs.first_group(warp); group < runs.first_group(warp + 1); ++group) {
        const i64 first = runs.first_block(group), mine = first + lane();
        Block chunks[CHUNKS];
        cipher.stream(first, chunks);
        UNROLL
        for (u32 i = 0; i < CHUNKS; ++i) {
            const Block text = load(job, mine + i * LANES);
            chunks[i] = Cipher::WORKS ? store(job, mine + i * LANES, text ^ chunks[i]) : text;
            if ((i + 1) % Hash::CHUNKS == 0) hash.absorb(chunks + (i + 1 - Hash::CHUNKS));
        }
    }
    block_barrier();
    const u64 stop = clock_now();
    const Block hashed = hash.finish(*job.key);
    if (Hash::WORKS && lane() == 0) job.hashes[warp] = hashed;
    block_barrier();
    if (thread() == 0) job.spans[block()] = {stop - start, clock_now() - stop, sm_id()};
}

struct Closing {
    const Key* key;
    const u8* aad;
    u64 aad_bytes, bytes;
    u32 chunks, warps;
    Block iv;
    const Block* hashes;
    Block* tag;
};

constexpr u32 CLOSING_THREADS = 256;
constexpr size_t CLOSING_SHARED = CipherTables::SHARED + sizeof(Block) * CLOSING_THREADS / LANES;

// By the first lane: the hash of the associated data, its last block times one.
DEVICE Block hash_of_aad(const Closing& job) {
    Block hash = {};
    for (u64 at = 0; at < job.aad_bytes; at += 16) {
        Block next = {};
        for (u64 i = at; i < job.aad_bytes && i < at + 16; ++i) next.word[(i - at) / 4] |= static_cast<u32>(job.aad[i]) << i % 4 * 8;
        hash = multiply(hash, job.key->h) ^ swapped(next);
    }
    return hash;
}

DEVICE Block& sum_at(u32 warp) { return shared_at<Block>(CipherTables::SHARED + sizeof(Block) * warp); }

// One block of threads: the hash of each run times the power of H that lies behind it, the associated data, the lengths, and E(K, J0).
KERNEL(CLOSING_THREADS) make_tag(Closing job) {
    CipherTables cipher;
    cipher.prepare(*job.key, job.iv);
    block_barrier();
    const Runs runs(job.bytes, job.chunks, job.warps);
    Block sum = {};
    for (u32 warp = thread(); warp < job.warps; warp += threads())
        sum = sum ^ multiply(job.hashes[warp], power(job.key->h, runs.blocks_behind(warp) + 2));
    sum = sum_of_warp(sum);
    if (lane() == 0) sum_at(thread() / LANES) = sum;
    block_barrier();
    if (thread() != 0) return;
    for (u32 i = 1; i < threads() / LANES; ++i) sum = sum ^ sum_at(i);
    sum = sum ^ multiply(hash_of_aad(job), power(job.key->h, runs.text_blocks + 2));
    const u64 aad = job.aad_bytes * 8, text = job.bytes * 8;
    const Block lengths = {{static_cast<u32>(aad >> 32), static_cast<u32>(aad), static_cast<u32>(text >> 32), static_cast<u32>(text)}};
    sum = sum ^ multiply(lengths, job.key->h);
    Block j0 = job.iv;
    j0.word[3] = byte_swap(1);
    *job.tag = swapped(sum) ^ cipher.encrypt(j0);
}
