// Runs the kernels of aes_gcm.cu on the host, thread by thread, and holds them against the software AES-GCM and published vectors.
// README.md beside this file says how.

#include "aes_gcm/checks.h"

namespace {

using checks::Bytes;

// Aligned as the GPU's memory is.
std::vector<Block> blocks_of(const Bytes& bytes) {
    std::vector<Block> held((bytes.size() + 15) / 16 + 1);
    if (!bytes.empty()) std::memcpy(held.data(), bytes.data(), bytes.size());
    return held;
}

checks::Result run(const Kernel& kernel, const checks::Message& message, u32 blocks, u32 threads) {
    static Key key;
    static Bytes key_of;
    if (key_of != message.key) make_key(key, message.key.data());
    key_of = message.key;
    Block iv = {};
    std::memcpy(iv.word, message.iv.data(), 12);
    const Bytes& text = checks::input(kernel, message);
    const u32 warps = blocks * threads / LANES;
    std::vector<Block> in = blocks_of(text), out(in.size()), hashes(warps);
    std::vector<Span> spans(blocks);
    const auto at = [](std::vector<Block>& held) { return reinterpret_cast<u8*>(held.data()); };
    kernel.launch(kernel, blocks, threads, kernel.shared, {&key, at(in), at(out), text.size(), iv, hashes.data(), spans.data()});
    checks::Result result{Bytes(at(out), at(out) + text.size()), {}};
    if (!kernel.hash) return result;
    Block tag = {};
    launch_tag({&key, message.aad.data(), message.aad.size(), text.size(), kernel.chunks, warps, iv, hashes.data(), &tag});
    std::memcpy(result.tag.data(), tag.word, sizeof tag.word);
    return result;
}

void rate() {
    std::vector<int> sums(2 * RATE_THREADS * 4);
    std::vector<Span> spans(2);
    launch_rate(2, RATE_THREADS, 0, {3, sums.data(), spans.data()});
    checks::compare_sums(sums, 3);
    std::puts("single-bit products: as the fragments have them");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("usage: aes_gcm_check gcmEncryptExtIV256.rsp\n", stderr);
        return 1;
    }
    try {
        checks::published(run, arguments[1]);
        const std::pair<host::Order, const char*> orders[] = {
            {host::Order::Rising, "rising"}, {host::Order::Falling, "falling"}, {host::Order::Random, "random"}};
        for (const auto& [order, name] : orders) {
            host_order = order;
            std::printf("threads in %s order\n", name);
            checks::lengths(run);
        }
        checks::whole_blocks(run, 2);
        rate();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    std::puts("all as the software AES-GCM has it");
    return 0;
}
