// The single-bit matrix product of one warp, from the words that its 32 lanes hold to the counts that they get: mma.m16n8k256 with
// .b1 operands and .and.popc, fragment by fragment as the PTX ISA tabulates them (section "Matrix fragments for mma.m16n8k256").
#pragma once

#include <array>
#include <cstdint>

namespace fragments {

struct Operands {
    uint32_t a[32][4], b[32][2];
};
using Counts = std::array<std::array<int, 4>, 32>;

inline bool bit(const uint32_t* words, unsigned i) { return words[i / 32] >> i % 32 & 1; }

inline Counts multiply(const Operands& in) {
    static thread_local bool a[16][256], b[8][256];
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned group = lane / 4, member = lane % 4;
        for (unsigned i = 0; i < 128; ++i) {
            const unsigned row = group + (i / 32 % 2 == 0 ? 0 : 8);
            a[row][member * 32 + i % 32 + (i < 64 ? 0 : 128)] = bit(in.a[lane], i);
        }
        for (unsigned i = 0; i < 64; ++i) b[group][member * 32 + i % 32 + (i < 32 ? 0 : 128)] = bit(in.b[lane], i);
    }
    Counts counts{};
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2;
            for (unsigned k = 0; k < 256; ++k) counts[lane][i] += a[row][k] && b[column][k];
        }
    return counts;
}

}  // namespace fragments
