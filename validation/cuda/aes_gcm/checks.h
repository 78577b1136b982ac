// Every kernel against the software AES-GCM, and both against the published vectors. `Machine` runs one kernel on one message.
#pragma once

#include "fragments.h"
#include "kernels.cuh"
#include "vectors.h"

#include <cstdio>
#include <functional>
#include <random>

namespace checks {

using reference::Bytes;

struct Message {
    Bytes key, iv, aad, text, sealed;
    reference::Sixteen tag;
};

struct Result {
    Bytes out;
    reference::Sixteen tag;
};

// A kernel without a cipher reads the ciphertext.
inline const Bytes& input(const Kernel& kernel, const Message& message) { return kernel.cipher ? message.text : message.sealed; }

using Machine = std::function<Result(const Kernel&, const Message&, u32 blocks, u32 threads)>;

inline void demand(bool right, const std::string& what) {
    if (!right) throw std::runtime_error("wrong: " + what);
}

inline void compare(const Kernel& kernel, const Message& message, const Result& result, const std::string& where) {
    if (kernel.cipher) demand(result.out == message.sealed, std::string(kernel.name) + ": ciphertext of " + where);
    if (kernel.hash) demand(result.tag == message.tag, std::string(kernel.name) + ": tag of " + where);
}

inline void finish(Message& message) {
    reference::Message software(message.key, message.iv, message.aad);
    message.sealed.resize(message.text.size());
    software.seal(message.text.data(), message.text.size(), message.sealed.data());
    message.tag = software.tag();
}

inline Message random_message(std::mt19937& random, size_t aad, size_t text) {
    const auto some = [&](size_t count) {
        Bytes made(count);
        for (uint8_t& byte : made) byte = static_cast<uint8_t>(random());
        return made;
    };
    Message message{some(32), some(12), some(aad), some(text), {}, {}};
    finish(message);
    return message;
}

inline void published(const Machine& machine, const std::string& file) {
    const std::vector<vectors::Case> cases = vectors::read(file);
    for (const vectors::Case& one : cases) {
        Message message{one.key, one.iv, one.aad, one.text, {}, {}};
        finish(message);
        demand(message.sealed == one.sealed && Bytes(message.tag.begin(), message.tag.end()) == one.tag, "software AES-GCM, " + one.name);
        for (const Kernel& kernel : KERNELS) compare(kernel, message, machine(kernel, message, 1, LANES), one.name);
    }
    std::printf("published vectors: %zu cases, software and %zu kernels\n", cases.size(), std::size(KERNELS));
}

// Lengths around every unit that the kernels work in, over several blocks of threads and warps.
inline void lengths(const Machine& machine) {
    std::mt19937 random(256);
    size_t count = 0;
    for (const Kernel& kernel : KERNELS) {
        const size_t group = kernel.chunks * LANES * 16;
        const size_t texts[] = {0, 1, 15, 16, 17, 511, 512, 513, group - 16, group, group + 16, 3 * group + 5, 7 * group};
        for (const size_t text : texts)
            for (const u32 warps : {1u, 2u, 3u}) {
                const Message message = random_message(random, random() % 40, text);
                const u32 blocks = 1 + count++ % 3;
                const std::string in = " B in " + std::to_string(blocks) + " blocks of " + std::to_string(warps) + " warps";
                compare(kernel, message, machine(kernel, message, blocks, warps * LANES), std::to_string(text) + in);
            }
    }
    std::printf("random messages: %zu, over 1 to 9 warps\n", count);
}

// Each thread's four sums, against the fragments of the PTX ISA.
inline void compare_sums(const std::vector<int>& sums, u32 rounds) {
    fragments::Operands operands;
    for (u32 l = 0; l < LANES; ++l)
        for (u32 i = 0; i < 6; ++i) (i < 4 ? operands.a[l][i] : operands.b[l][i - 4]) = rate_operand(l, i);
    const fragments::Counts counts = fragments::multiply(operands);
    for (size_t i = 0; i < sums.size(); ++i)
        demand(sums[i] == static_cast<int>(rounds * RATE_CHAINS) * counts[i / 4 % LANES][i % 4], "mma_b1: sum " + std::to_string(i));
}

// With as many threads as are measured.
inline void whole_blocks(const Machine& machine, u32 blocks) {
    std::mt19937 random(14);
    for (const Kernel& kernel : KERNELS) {
        const Message message = random_message(random, 20, blocks * kernel.threads * 48 + 7);
        compare(kernel, message, machine(kernel, message, blocks, kernel.threads), "full blocks of threads");
    }
    std::printf("full blocks of threads: %zu kernels\n", std::size(KERNELS));
}

}  // namespace checks
