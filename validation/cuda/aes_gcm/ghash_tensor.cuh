// GHASH as a product of matrices over GF(2) on the tensor cores' single bits: multiplication by a power of H is a 128 x 128 matrix, the
// sum over blocks lengthens the inner products, and of the counts that AND and POPC give only the lowest bit is kept.
//
// A chunk is a block a lane. Lane 4g + t's block is in column g, so a column has four blocks of each chunk, and the lane's words 0 and 1,
// then 2 and 3, are its operand of the instruction as they come: rows 32t and 128 + 32t on. TENSOR_CHUNKS chunks, each with matrices of
// its own, are summed into eight tiles of 16 x 8 counts. Their bits, 4 a tile and lane, are put together into words 32 bits at a time and
// fold into the next chunks through eight more tiles, those of the power of H that lies between. TENSOR_SETS such sets of columns use
// each tile that is read from shared memory.
#pragma once

#include "key.h"

struct HashTensor {
    static constexpr bool WORKS = true;
    static constexpr u32 CHUNKS = TENSOR_CHUNKS * TENSOR_SETS;
    static constexpr size_t SHARED = sizeof(Block) * TENSOR_TILES * LANES;

    u32 tiles;  // this lane's, in shared memory
    u32 hash[TENSOR_SETS];  // word t of column g

    DEVICE void prepare(u32 at, const Key& key) {
        for (u32 i = thread(); i < TENSOR_TILES * LANES; i += threads()) shared_at<Block>(at + 16 * i) = key.tiles[i];
        tiles = at + 16 * lane();
        UNROLL
        for (u32 set = 0; set < TENSOR_SETS; ++set) hash[set] = 0;
    }

    DEVICE Block tile(u32 number) const { return shared_at<Block>(tiles + number * 16 * LANES); }

    DEVICE void absorb(const Block* chunks) {
        warp_barrier();  // lanes part at the ends of a message, and the instruction is for whole warps
        u32 bits[TENSOR_SETS] = {};  // those of column 2t below, of column 2t + 1 above
        UNROLL
        for (u32 i = 0; i < 8; ++i) {
            int sum[TENSOR_SETS][4] = {};
            const Block fold = tile(TENSOR_CHUNKS * 16 + i);
            UNROLL
            for (u32 set = 0; set < TENSOR_SETS; ++set) count_common(sum[set], fold, hash[set], 0);
            UNROLL
            for (u32 k = 0; k < TENSOR_CHUNKS * 2; ++k) {
                const Block matrix = tile(k * 8 + i);
                UNROLL
                for (u32 set = 0; set < TENSOR_SETS; ++set) {
                    const u32* const words = chunks[set * TENSOR_CHUNKS + k / 2].word + k % 2 * 2;
                    count_common(sum[set], matrix, words[0], words[1]);
                }
            }
            UNROLL
            for (u32 set = 0; set < TENSOR_SETS; ++set)
                UNROLL
                for (u32 k = 0; k < 4; ++k) bits[set] |= (static_cast<u32>(sum[set][k]) & 1) << (2 * i + k / 2 + k % 2 * 16);
        }
        // The halves of word t of column g are with lanes 8t + g / 2 and 8t + 4 + g / 2.
        const u32 group = lane() / 4, from = lane() % 4 * 8 + group / 2;
        UNROLL
        for (u32 set = 0; set < TENSOR_SETS; ++set)
            hash[set] = halves(shuffle(bits[set], from), shuffle(bits[set], from + 4), group % 2);
    }

    // Lane 4g + s takes column g of set s.
    DEVICE Block finish(const Key& key) const {
        Block mine = {};
        UNROLL
        for (u32 set = 0; set < TENSOR_SETS; ++set)
            UNROLL
            for (u32 w = 0; w < 4; ++w) {
                const u32 word = shuffle(hash[set], lane() / 4 * 4 + w);
                if (lane() % 4 == set) mine.word[w] = word;
            }
        return sum_of_warp(multiply(swapped(mine), key.tensor_powers[lane()]));
    }
};
