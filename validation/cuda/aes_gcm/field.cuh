// GF(2^128) as GHASH has it. An element's words are big-endian: bit 31 of word 0 is the coefficient of x^0, bit 0 of word 3 that of x^127.
#pragma once

#include "portable.cuh"

constexpr u32 REDUCTION = 0xe1000000;  // x^128 = 1 + x + x^2 + x^7

// Between memory and field, either way.
BOTH Block swapped(const Block& a) {
    return {{byte_swap(a.word[0]), byte_swap(a.word[1]), byte_swap(a.word[2]), byte_swap(a.word[3])}};
}

BOTH Block times_x(const Block& a) {
    const u32 falls = 0 - (a.word[3] & 1);
    return {{a.word[0] >> 1 ^ (REDUCTION & falls), a.word[1] >> 1 | a.word[0] << 31, a.word[2] >> 1 | a.word[1] << 31,
             a.word[3] >> 1 | a.word[2] << 31}};
}

// One bit at a time: for tables, and for the few products behind the last block.
BOTH Block multiply(const Block& a, Block b) {
    Block sum = {};
    for (u32 i = 0; i < 128; ++i) {
        const u32 take = 0 - (a.word[i / 32] >> (31 - i % 32) & 1);
        for (u32 w = 0; w < 4; ++w) sum.word[w] ^= b.word[w] & take;
        b = times_x(b);
    }
    return sum;
}

BOTH Block power(Block base, u64 exponent) {
    Block result = {{0x80000000, 0, 0, 0}};
    for (; exponent > 0; exponent >>= 1, base = multiply(base, base))
        if (exponent & 1) result = multiply(result, base);
    return result;
}

DEVICE Block sum_of_warp(Block value) {
    for (u32 distance = LANES / 2; distance > 0; distance /= 2)
        for (u32 w = 0; w < 4; ++w) value.word[w] ^= shuffle(value.word[w], lane() ^ distance);
    return value;
}
