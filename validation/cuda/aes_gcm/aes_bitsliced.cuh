// AES-256 in counter mode, bitsliced: a lane has 32 blocks, and its word 32w + k holds bit k of word w of each. Nothing is looked up but
// round keys. Bit j of these words belongs to the block 32j + lane, so that what a warp reads and writes at a time is one chunk.
#pragma once

#include "key.h"

namespace bitsliced {

// Product in GF(2^4) with x^4 = x + 1: `out` may be no operand.
DEVICE void multiply4(u32 (&out)[4], const u32 (&a)[4], const u32 (&b)[4]) {
    const u32 c4 = (a[1] & b[3]) ^ (a[2] & b[2]) ^ (a[3] & b[1]);
    const u32 c5 = (a[2] & b[3]) ^ (a[3] & b[2]);
    const u32 c6 = a[3] & b[3];
    out[0] = (a[0] & b[0]) ^ c4;
    out[1] = (a[0] & b[1]) ^ (a[1] & b[0]) ^ c4 ^ c5;
    out[2] = (a[0] & b[2]) ^ (a[1] & b[1]) ^ (a[2] & b[0]) ^ c5 ^ c6;
    out[3] = (a[0] & b[3]) ^ (a[1] & b[2]) ^ (a[2] & b[1]) ^ (a[3] & b[0]) ^ c6;
}

// The 14th power in the same field, as the algebraic normal form of its table.
DEVICE void invert4(u32 (&out)[4], const u32 (&a)[4]) {
    const u32 a01 = a[0] & a[1], a02 = a[0] & a[2], a03 = a[0] & a[3], a12 = a[1] & a[2], a13 = a[1] & a[3], a23 = a[2] & a[3];
    const u32 a123 = a12 & a[3];
    out[0] = a[0] ^ a[1] ^ a[2] ^ a[3] ^ a02 ^ a12 ^ (a01 & a[2]) ^ a123;
    out[1] = a01 ^ a02 ^ a12 ^ a[3] ^ a13 ^ (a01 & a[3]);
    out[2] = a01 ^ a[2] ^ a02 ^ a[3] ^ a03 ^ (a02 & a[3]);
    out[3] = a[1] ^ a[2] ^ a[3] ^ a03 ^ a13 ^ a23 ^ a123;
}

// GF(2^8) as pairs hY + l over that field, with x at 0x5c, Y at 0xa2 and Y^2 = Y + x^3: the inverse is (h/d) Y + (h + l)/d with
// d = x^3 h^2 + (h + l) l. The linear maps before and after share what sums they can; the one behind includes the affine map.
DEVICE void substitute(u32* x) {
    const u32 i8 = x[4] ^ x[6], i9 = x[5] ^ x[7], i10 = x[7] ^ i8, i11 = x[2] ^ x[3], i12 = x[1] ^ i10, i13 = i9 ^ i11;
    const u32 i14 = x[3] ^ x[4], i15 = x[5] ^ i8, i16 = x[2] ^ i12, i17 = i9 ^ i14, i18 = i11 ^ i15, i19 = x[0] ^ i9;
    const u32 i20 = i8 ^ i13, i21 = x[0] ^ i10, i22 = i11 ^ i12;
    const u32 low[4] = {i19, x[2], i20, i14}, high[4] = {i15, i12, i13, i9}, sum[4] = {i21, i16, i8, i17};
    u32 d[4], inverse[4], h[4], l[4];
    multiply4(d, sum, low);
    d[0] ^= i13, d[1] ^= i22, d[2] ^= i12, d[3] ^= i18;
    invert4(inverse, d);
    multiply4(h, high, inverse);
    multiply4(l, sum, inverse);
    const u32 o8 = l[3] ^ h[1], o9 = l[0] ^ o8, o10 = l[1] ^ l[2], o11 = h[0] ^ o9, o12 = h[2] ^ h[3], o13 = l[0] ^ l[2];
    const u32 o14 = h[2] ^ o9, o15 = o8 ^ o12, o16 = h[2] ^ o13, o17 = o10 ^ o15, o18 = l[1] ^ o11, o19 = h[1] ^ o13;
    x[0] = ~o16, x[1] = ~(o10 ^ o11), x[2] = o14, x[3] = o19, x[4] = o18, x[5] = ~o17, x[6] = ~(h[0] ^ o12), x[7] = o10;
}

// Column `c` of MixColumns behind ShiftRows.
DEVICE void mix(u32* out, const u32* in, u32 c) {
    UNROLL
    for (u32 r = 0; r < 4; ++r) {
        const u32* const a[4] = {in + 8 * ((4 * c + 5 * r) % 16), in + 8 * (4 * ((c + r + 1) % 4) + (r + 1) % 4),
                                 in + 8 * (4 * ((c + r + 2) % 4) + (r + 2) % 4), in + 8 * (4 * ((c + r + 3) % 4) + (r + 3) % 4)};
        const u32 top = a[0][7] ^ a[1][7];
        UNROLL
        for (u32 b = 0; b < 8; ++b) {
            const u32 below = b == 0 ? 0 : a[0][b - 1] ^ a[1][b - 1];
            out[8 * (4 * c + r) + b] = below ^ (b == 0 || b == 1 || b == 3 || b == 4 ? top : 0) ^ a[1][b] ^ a[2][b] ^ a[3][b];
        }
    }
}

// Bit j of word k becomes bit k of word j.
DEVICE void transpose(u32* words) {
    UNROLL
    for (u32 half = 16; half > 0; half /= 2) {
        const u32 low = half == 16 ? 0x0000ffff : half == 8 ? 0x00ff00ff : half == 4 ? 0x0f0f0f0f : half == 2 ? 0x33333333 : 0x55555555;
        UNROLL
        for (u32 k = 0; k < 32; ++k) {
            if (k & half) continue;
            const u32 swap = (words[k] >> half ^ words[k + half]) & low;
            words[k] ^= swap << half;
            words[k + half] ^= swap;
        }
    }
}

}  // namespace bitsliced

struct CipherBitsliced {
    static constexpr bool WORKS = true;
    static constexpr u32 CHUNKS = 32;
    static constexpr size_t SHARED = sizeof(u32) * 128 * (ROUNDS + 1);

    Block counter;

    // Bit i of round key r, in all bits of word 128r + i: the first in shared memory.
    DEVICE void prepare(const Key& key, const Block& iv) {
        for (u32 i = thread(); i < 128 * (ROUNDS + 1); i += threads())
            shared_at<u32>(4 * i) = 0 - (key.round[i / 128].word[i % 128 / 32] >> i % 32 & 1);
        counter = iv;
    }
    DEVICE u32 mask(u32 round, u32 bit) const { return shared_at<u32>(4 * (128 * round + bit)); }

    // 32 counters, `start` and every 32nd behind it: the low five bits are all the same, above them a number 0 to 31 is added.
    DEVICE void slice_counters(u32* words, u32 start) const {
        constexpr u32 STEP[5] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000};
        u32 carry = 0;
        UNROLL
        for (u32 i = 0; i < 32; ++i) {
            const u32 bit = 0 - (start >> i & 1), step = i >= 5 && i < 10 ? STEP[i - 5] : 0;
            words[24 - i / 8 * 8 + i % 8] = bit ^ step ^ carry;  // the counter is big-endian
            carry = (bit & step) | (carry & (bit | step));
        }
    }

    DEVICE void stream(i64 first, Block (&out)[32]) const {
        u32 s[128], t[128];
        UNROLL
        for (u32 i = 0; i < 96; ++i) s[i] = 0 - (counter.word[i / 32] >> i % 32 & 1);
        slice_counters(s + 96, static_cast<u32>(first) + lane() + 2);
        UNROLL
        for (u32 i = 0; i < 128; ++i) s[i] ^= mask(0, i);
        ROLLED
        for (u32 r = 1; r < ROUNDS; ++r) {
            UNROLL
            for (u32 p = 0; p < 16; ++p) bitsliced::substitute(s + 8 * p);
            UNROLL
            for (u32 c = 0; c < 4; ++c) bitsliced::mix(t, s, c);
            UNROLL
            for (u32 i = 0; i < 128; ++i) s[i] = t[i] ^ mask(r, i);
        }
        UNROLL
        for (u32 p = 0; p < 16; ++p) bitsliced::substitute(s + 8 * p);
        UNROLL
        for (u32 i = 0; i < 128; ++i) t[i] = s[8 * (i / 8 * 5 % 16) + i % 8] ^ mask(ROUNDS, i);
        UNROLL
        for (u32 w = 0; w < 4; ++w) bitsliced::transpose(t + 32 * w);
        UNROLL
        for (u32 j = 0; j < 32; ++j)
            UNROLL
            for (u32 w = 0; w < 4; ++w) out[j].word[w] = t[32 * w + j];
    }
};
