// AES-256-GCM as SP 800-38D and FIPS 197 define it, without tables: what the kernels are held against. It shares no code with them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace reference {

using Bytes = std::vector<uint8_t>;
using Sixteen = std::array<uint8_t, 16>;

// Eight elements of GF(2^8) in one word.
constexpr uint64_t EACH = 0x0101010101010101;

inline uint64_t doubled(uint64_t a) {
    const uint64_t high = a >> 7 & EACH;
    return (a & ~(EACH << 7)) << 1 ^ high * 0x1b;
}

inline uint64_t product(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    for (int i = 0; i < 8; ++i, a = doubled(a)) sum ^= a & (b >> i & EACH) * 0xff;
    return sum;
}

inline uint64_t square(uint64_t a) { return product(a, a); }

inline uint64_t rotated(uint64_t a, int by) { return (a << by & EACH * (0xff << by & 0xff)) | (a >> (8 - by) & EACH * (0xff >> (8 - by))); }

// The inverse is the 254th power; then the affine map.
inline uint64_t substitute(uint64_t a) {
    const uint64_t a2 = square(a), a3 = product(a2, a), a12 = square(square(a3)), a15 = product(a12, a3);
    const uint64_t a240 = square(square(square(square(a15))));
    const uint64_t inverse = product(product(a240, a12), a2);
    return inverse ^ rotated(inverse, 1) ^ rotated(inverse, 2) ^ rotated(inverse, 3) ^ rotated(inverse, 4) ^ EACH * 0x63;
}

inline void substitute(uint8_t* bytes, size_t count) {
    for (size_t i = 0; i < count; i += 8) {
        uint64_t eight = 0;
        std::memcpy(&eight, bytes + i, count - i < 8 ? count - i : 8);
        eight = substitute(eight);
        std::memcpy(bytes + i, &eight, count - i < 8 ? count - i : 8);
    }
}

using Schedule = std::array<uint8_t, 240>;

inline Schedule expand(const Bytes& key) {
    Schedule schedule{};
    std::memcpy(schedule.data(), key.data(), 32);
    uint8_t constant = 1;
    for (size_t i = 32; i < schedule.size(); i += 4) {
        uint8_t word[4];
        std::memcpy(word, &schedule[i - 4], 4);
        if (i % 32 == 0) {
            const uint8_t first = word[0];
            word[0] = word[1], word[1] = word[2], word[2] = word[3], word[3] = first;
        }
        if (i % 16 == 0) substitute(word, 4);
        if (i % 32 == 0) {
            word[0] ^= constant;
            constant = static_cast<uint8_t>(constant << 1);
        }
        for (size_t k = 0; k < 4; ++k) schedule[i + k] = schedule[i - 32 + k] ^ word[k];
    }
    return schedule;
}

inline Sixteen encrypt(const Schedule& schedule, Sixteen state) {
    for (size_t i = 0; i < 16; ++i) state[i] ^= schedule[i];
    for (size_t round = 1; round <= 14; ++round) {
        substitute(state.data(), 16);
        Sixteen shifted;
        for (size_t i = 0; i < 16; ++i) shifted[i] = state[(i + 4 * (i % 4)) % 16];
        if (round < 14) {
            Sixteen twice = shifted;
            uint64_t half[2];
            std::memcpy(half, twice.data(), 16);
            half[0] = doubled(half[0]), half[1] = doubled(half[1]);
            std::memcpy(twice.data(), half, 16);
            for (size_t i = 0; i < 16; ++i) {
                const size_t column = i / 4 * 4, next = column + (i + 1) % 4;
                state[i] = twice[i] ^ twice[next] ^ shifted[next] ^ shifted[column + (i + 2) % 4] ^ shifted[column + (i + 3) % 4];
            }
        } else {
            state = shifted;
        }
        for (size_t i = 0; i < 16; ++i) state[i] ^= schedule[16 * round + i];
    }
    return state;
}

// Bit 0 of GHASH's elements is the highest of the first byte.
struct Element {
    uint64_t first = 0, second = 0;
};

inline Element element(const uint8_t* bytes) {
    Element e;
    for (int i = 0; i < 8; ++i) e.first = e.first << 8 | bytes[i], e.second = e.second << 8 | bytes[8 + i];
    return e;
}

inline Element product(Element x, Element y) {
    Element sum;
    for (int i = 0; i < 128; ++i) {
        const uint64_t take = 0 - ((i < 64 ? x.first >> (63 - i) : x.second >> (127 - i)) & 1);
        sum.first ^= y.first & take;
        sum.second ^= y.second & take;
        const uint64_t falls = 0 - (y.second & 1);
        y.second = y.second >> 1 | y.first << 63;
        y.first = y.first >> 1 ^ (falls & 0xe1ull << 56);
    }
    return sum;
}

// A message that grows by whole blocks and can be closed at any time; the last piece may be of any length.
class Message {
  public:
    Message(const Bytes& key, const Bytes& iv, const Bytes& aad) : schedule(expand(key)), aad_bytes(aad.size()) {
        h = element(encrypt(schedule, {}).data());
        std::memcpy(counter.data(), iv.data(), 12);
        counter[15] = 1;
        mask = encrypt(schedule, counter);
        absorb(aad.data(), aad.size());
    }

    void seal(const uint8_t* text, size_t count, uint8_t* sealed) {
        for (size_t at = 0; at < count; at += 16) {
            for (int i = 15; i >= 12 && ++counter[static_cast<size_t>(i)] == 0;) --i;
            const Sixteen key = encrypt(schedule, counter);
            for (size_t i = at; i < count && i < at + 16; ++i) sealed[i] = text[i] ^ key[i - at];
        }
        take(sealed, count);
    }

    // Ciphertext that is there already.
    void take(const uint8_t* sealed, size_t count) {
        absorb(sealed, count);
        text_bytes += count;
    }

    Sixteen tag() const {
        Element closed = hash;
        closed.first ^= uint64_t{aad_bytes} * 8;
        closed.second ^= uint64_t{text_bytes} * 8;
        closed = product(closed, h);
        Sixteen bytes;
        for (size_t i = 0; i < 16; ++i) {
            const uint64_t half = i < 8 ? closed.first : closed.second;
            bytes[i] = static_cast<uint8_t>(half >> (56 - 8 * (i % 8))) ^ mask[i];
        }
        return bytes;
    }

  private:
    void absorb(const uint8_t* bytes, size_t count) {
        for (size_t at = 0; at < count; at += 16) {
            Sixteen padded{};
            std::memcpy(padded.data(), bytes + at, count - at < 16 ? count - at : 16);
            const Element next = element(padded.data());
            hash = product({hash.first ^ next.first, hash.second ^ next.second}, h);
        }
    }

    Schedule schedule;
    size_t aad_bytes, text_bytes = 0;
    Element h, hash;
    Sixteen counter{}, mask{};
};

}  // namespace reference
