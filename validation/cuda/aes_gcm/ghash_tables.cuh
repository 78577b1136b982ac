// GHASH by Shoup's tables of 4 bits. Each lane hashes every 32nd block of its warp's run with the 16 multiples of H^32, of which shared
// memory holds 8 copies: the eight lanes that read 128 bytes at a time have a copy each. The eight nibbles of a word are taken one after
// the other, those of the four words side by side, so that a product is shifted eight times and reduced once.
#pragma once

#include "key.h"

struct HashTables {
    static constexpr bool WORKS = true;
    static constexpr u32 CHUNKS = 1;
    static constexpr u32 COPIES = 8;
    static constexpr size_t SHARED = sizeof(Block) * 16 * COPIES;

    u32 copy;  // where this lane's begins
    Block hash;

    DEVICE void prepare(u32 at, const Key& key) {
        for (u32 i = thread(); i < 16 * COPIES; i += threads()) shared_at<Block>(at + 16 * i) = key.multiples[i / COPIES];
        copy = shared_address(at + lane() % COPIES * 16);
        hash = {};
    }

    // The multiple for nibble `i` of a word, 0 the highest: entries are 128 bytes apart.
    DEVICE Block multiple(u32 word, u32 i) const {
        const u32 scaled = i < 6 ? word >> (21 - 4 * i) : word << (4 * i - 21);
        return look_up_block(copy + (scaled & 15 << 7));
    }

    DEVICE Block times_h32(const Block& a) const {
        u32 z[8] = {};
        UNROLL
        for (u32 nibble = 8; nibble-- > 0;) {
            UNROLL
            for (u32 w = 7; w > 0; --w) z[w] = z[w] >> 4 | z[w - 1] << 28;
            z[0] >>= 4;
            UNROLL
            for (u32 w = 0; w < 4; ++w) {
                const Block m = multiple(a.word[w], nibble);
                UNROLL
                for (u32 k = 0; k < 4; ++k) z[w + k] ^= m.word[k];
            }
        }
        // x^128 = 1 + x + x^2 + x^7. The degree is 251 at most, so that three terms of x^7 fall out a second time and no others.
        z[4] ^= z[7] << 25;
        Block low = {{z[0], z[1], z[2], z[3]}};
        UNROLL
        for (u32 w = 0; w < 4; ++w) {
            const u32 above = w == 0 ? 0 : z[3 + w], here = z[4 + w];
            low.word[w] ^= here ^ (here >> 1 | above << 31) ^ (here >> 2 | above << 30) ^ (here >> 7 | above << 25);
        }
        return low;
    }

    DEVICE void absorb(const Block* chunk) { hash = times_h32(hash) ^ swapped(*chunk); }

    // Of the warp's whole run, its last block times one.
    DEVICE Block finish(const Key& key) const { return sum_of_warp(multiply(hash, key.lane_powers[lane()])); }
};

struct NoHash {
    static constexpr bool WORKS = false;
    static constexpr u32 CHUNKS = 1;
    static constexpr size_t SHARED = 0;
    DEVICE void prepare(u32, const Key&) {}
    DEVICE void absorb(const Block*) {}
    DEVICE Block finish(const Key&) const { return {}; }
};
