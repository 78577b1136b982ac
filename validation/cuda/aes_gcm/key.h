// What is made of a key before the first message: round keys, tables and powers of H. All of it is made on the host.
#pragma once

#include "field.cuh"

constexpr u32 ROUNDS = 14;
constexpr u32 TENSOR_CHUNKS = 4;  // chunks of a set between two foldings
constexpr u32 TENSOR_SETS = 2;    // sets of eight columns that share each matrix tile that is read
constexpr u32 TENSOR_TILES = TENSOR_CHUNKS * 16 + 8;

struct Key {
    Block round[ROUNDS + 1];
    u32 columns[256];  // T0: a substituted byte times 2, 1, 1, 3, lowest byte first
    u32 sbox[256];     // a substituted byte, four times
    Block h;           // as a field element
    Block multiples[16];                     // of H^32, by the polynomial of degree 3 in their number, highest bit first
    Block lane_powers[LANES];                // lane l's share of a chunk is times H^(31 - l)
    Block tiles[TENSOR_TILES * LANES];       // ghash_tensor.cuh
    Block tensor_powers[LANES];
};

namespace key_setup {

inline u8 doubled(u8 a) { return static_cast<u8>(a << 1 ^ (a >> 7) * 0x1b); }

// Every byte but 0 is a power of 3, and 3^(255 - i) is the inverse of 3^i.
inline void fill_sbox(Key& key) {
    u8 powers[256] = {1};
    for (u32 i = 1; i < 256; ++i) powers[i] = powers[i - 1] ^ doubled(powers[i - 1]);
    const auto enter = [&](u32 at, u32 inverse) {
        u32 s = 0x63;
        for (u32 i = 0; i < 5; ++i) s ^= (inverse << i | inverse >> (8 - i)) & 0xff;
        key.sbox[at] = s * 0x01010101;
        const u32 twice = doubled(static_cast<u8>(s));
        key.columns[at] = twice | s << 8 | s << 16 | (twice ^ s) << 24;
    };
    enter(0, 0);
    for (u32 i = 0; i < 255; ++i) enter(powers[i], powers[255 - i]);
}

inline void expand(Key& key, const u8* bytes) {
    const auto word = [&](u32 i) -> u32& { return key.round[i / 4].word[i % 4]; };
    const auto substituted = [&](u32 w) {
        return (key.sbox[w & 0xff] & 0xff) | (key.sbox[w >> 8 & 0xff] & 0xff00) | (key.sbox[w >> 16 & 0xff] & 0xff0000) |
               (key.sbox[w >> 24] & 0xff000000);
    };
    for (u32 i = 0; i < 8; ++i)
        word(i) = bytes[4 * i] | u32{bytes[4 * i + 1]} << 8 | u32{bytes[4 * i + 2]} << 16 | u32{bytes[4 * i + 3]} << 24;
    for (u32 i = 8, constant = 1; i < 4 * (ROUNDS + 1); ++i) {
        u32 next = word(i - 1);
        if (i % 8 == 0) {
            next = substituted(next >> 8 | next << 24) ^ constant;
            constant <<= 1;
        } else if (i % 8 == 4) {
            next = substituted(next);
        }
        word(i) = word(i - 8) ^ next;
    }
}

// One block by the S-box alone.
inline Block encrypt(const Key& key, Block state) {
    state = state ^ key.round[0];
    for (u32 round = 1; round <= ROUNDS; ++round) {
        Block next = key.round[round];
        for (u32 c = 0; c < 4; ++c)
            for (u32 r = 0; r < 4; ++r) {
                const u32 byte = state.word[(c + r) % 4] >> 8 * r & 0xff, by = 8 * r;
                const u32 column = round < ROUNDS ? key.columns[byte] : key.sbox[byte] & 0xff;
                next.word[c] ^= by == 0 ? column : column << by | column >> (32 - by);
            }
        state = next;
    }
    return state;
}

inline void fill_multiples(Key& key) {
    Block one = power(key.h, LANES);
    for (u32 bit = 8; bit > 0; bit /= 2, one = times_x(one))
        for (u32 n = 0; n < 16; ++n)
            if (n & bit) key.multiples[n] = key.multiples[n] ^ one;
    for (u32 l = 0; l < LANES; ++l) key.lane_powers[l] = power(key.h, LANES - 1 - l);
}

// The 32 columns that one word of a block is multiplied with: what each of its bits, as they lie in memory, makes of `by`.
struct Columns {
    Block of_bit[32];
};

inline Columns columns(u32 word, const Block& by) {
    Columns made;
    for (u32 bit = 0; bit < 32; ++bit) {
        Block one = {};
        one.word[word] = byte_swap(1u << bit);
        made.of_bit[bit] = swapped(multiply(one, by));
    }
    return made;
}

// Row `row` of those columns.
inline u32 row_of(const Columns& columns, u32 row) {
    u32 bits = 0;
    for (u32 bit = 0; bit < 32; ++bit) bits |= (columns.of_bit[bit].word[row / 32] >> row % 32 & 1) << bit;
    return bits;
}

// Eight tiles of 16 rows. Row g of tile i is bit 16g + 2i of the product and row g + 8 the bit above it: what a lane counts is then
// half a word of a block.
inline void fill_tiles(Block* tiles, u32 member, const Columns& low, const Columns* high) {
    for (u32 i = 0; i < 8; ++i)
        for (u32 group = 0; group < 8; ++group) {
            const u32 row = 16 * group + 2 * i;
            Block& one = tiles[i * LANES + 4 * group + member];
            one = {{row_of(low, row), row_of(low, row + 1), 0, 0}};
            if (high != nullptr) one.word[2] = row_of(*high, row), one.word[3] = row_of(*high, row + 1);
        }
}

inline void fill_tensor(Key& key) {
    constexpr u32 SET = LANES * TENSOR_CHUNKS;
    for (u32 member = 0; member < 4; ++member) {
        for (u32 chunk = 0; chunk < TENSOR_CHUNKS; ++chunk) {
            const Block by = power(key.h, LANES * (TENSOR_CHUNKS - 1 - chunk) + 3 - member);
            for (u32 half = 0; half < 2; ++half) {
                const Columns low = columns(2 * half, by), high = columns(2 * half + 1, by);
                fill_tiles(key.tiles + (chunk * 2 + half) * 8 * LANES, member, low, &high);
            }
        }
        fill_tiles(key.tiles + TENSOR_CHUNKS * 16 * LANES, member, columns(member, power(key.h, SET * TENSOR_SETS)), nullptr);
    }
    for (u32 l = 0; l < LANES; ++l) {
        const u32 set = l % 4, group = l / 4;
        if (set < TENSOR_SETS) key.tensor_powers[l] = power(key.h, SET * (TENSOR_SETS - 1 - set) + 4 * (7 - group));
    }
}

}  // namespace key_setup

inline void make_key(Key& key, const u8* bytes) {
    key = {};
    key_setup::fill_sbox(key);
    key_setup::expand(key, bytes);
    key.h = swapped(key_setup::encrypt(key, {}));
    key_setup::fill_multiples(key);
    key_setup::fill_tensor(key);
}
