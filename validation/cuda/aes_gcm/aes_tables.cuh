// AES-256 in counter mode by tables in shared memory, a block a lane. T0 has 1 KB; it is there 32 times, entry n of copy c at word
// 32n + c, so that each lane reads a bank of its own whatever it looks up. The last round reads the S-box, of which there are 8 copies:
// four lanes share eight banks and may collide.
#pragma once

#include "key.h"

struct CipherTables {
    static constexpr bool WORKS = true;
    static constexpr u32 CHUNKS = 1;  // least chunks at a time
    static constexpr u32 COPIES = 32, SBOX_COPIES = 8;
    static constexpr u32 SBOX = 256 * 4 * COPIES, ROUND = SBOX + 256 * 4 * SBOX_COPIES;  // in bytes, behind the columns
    static constexpr size_t SHARED = ROUND + sizeof(Block) * (ROUNDS + 1);

    u32 copy, sbox_copy;  // where this lane's begin
    Block counter;

    // Its tables are the first in shared memory.
    DEVICE void prepare(const Key& key, const Block& iv) {
        for (u32 i = thread(); i < 256 * COPIES; i += threads()) shared_at<u32>(4 * i) = key.columns[i / COPIES];
        for (u32 i = thread(); i < 256 * SBOX_COPIES; i += threads()) shared_at<u32>(SBOX + 4 * i) = key.sbox[i / SBOX_COPIES];
        for (u32 i = thread(); i <= ROUNDS; i += threads()) shared_at<Block>(ROUND + 16 * i) = key.round[i];
        copy = shared_address(lane() % COPIES * 4);
        sbox_copy = shared_address(SBOX + lane() % SBOX_COPIES * 4);
        counter = iv;
    }

    DEVICE u32 column(u32 word, u32 row) const { return look_up_word(copy + byte_of(word, row) * (4 * COPIES)); }
    DEVICE u32 last(u32 word, u32 row) const { return look_up_word(sbox_copy + byte_of(word, row) * (4 * SBOX_COPIES)) & 0xffu << 8 * row; }
    DEVICE Block round(u32 r) const { return shared_at<Block>(ROUND + 16 * r); }

    DEVICE Block encrypt(Block state) const {
        state = state ^ round(0);
        for (u32 r = 1; r < ROUNDS; ++r) {
            const Block key = round(r), s = state;
            UNROLL
            for (u32 c = 0; c < 4; ++c)
                state.word[c] = key.word[c] ^ column(s.word[c], 0) ^ rotate(column(s.word[(c + 1) % 4], 1), 8) ^
                                rotate(column(s.word[(c + 2) % 4], 2), 16) ^ rotate(column(s.word[(c + 3) % 4], 3), 24);
        }
        const Block key = round(ROUNDS), s = state;
        UNROLL
        for (u32 c = 0; c < 4; ++c)
            state.word[c] = key.word[c] ^ (last(s.word[c], 0) | last(s.word[(c + 1) % 4], 1) | last(s.word[(c + 2) % 4], 2) |
                                           last(s.word[(c + 3) % 4], 3));
        return state;
    }

    // The key stream of `COUNT` chunks whose first block is number `first` of the message, from 0.
    template <u32 COUNT> DEVICE void stream(i64 first, Block (&out)[COUNT]) const {
        UNROLL
        for (u32 i = 0; i < COUNT; ++i) {
            Block one = counter;
            one.word[3] = byte_swap(static_cast<u32>(first) + i * LANES + lane() + 2);
            out[i] = encrypt(one);
        }
    }
};

struct NoCipher {
    static constexpr bool WORKS = false;
    static constexpr u32 CHUNKS = 1;
    static constexpr size_t SHARED = 0;
    DEVICE void prepare(const Key&, const Block&) {}
    template <u32 COUNT> DEVICE void stream(i64, Block (&)[COUNT]) const {}
};
