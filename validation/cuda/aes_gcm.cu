// Measures AES-256-GCM and its parts on the SMs of a GPU, in bytes per clock and SM. README.md beside this file says how to build and run
// it, what the kernels are and what the rows mean.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <cuda_runtime.h>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "aes_gcm/checks.h"

void check(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + cudaGetErrorString(status));
}

namespace {

using checks::Bytes;

constexpr int LAUNCHES = 7;
constexpr size_t BYTES_PER_SM = size_t{1} << 18, LEAST_BYTES = size_t{1} << 14, MOST_BYTES = size_t{1} << 26;
constexpr const char* USAGE =
    "usage: aes_gcm check gcmEncryptExtIV256.rsp\n"
    "       aes_gcm measure --platform NAME [--kernel NAME] [--bytes N] [--sms all] > FILE\n"
    "platform: letters, digits, '.', '_', '-'; N: bytes for each SM, a multiple of 16384 up to 67108864\n"
    "--sms all: every number of SMs, not only powers of two and the largest";

template <class T> class Device {
  public:
    explicit Device(size_t count) : count(count) {
        void* got = nullptr;
        CHECK(cudaMalloc(&got, std::max(count, size_t{1}) * sizeof(T)));
        held.reset(static_cast<T*>(got));
    }
    Device(const T* from, size_t count) : Device(count) {
        if (count > 0) CHECK(cudaMemcpy(held.get(), from, count * sizeof(T), cudaMemcpyHostToDevice));
    }
    T* at() const { return held.get(); }
    std::vector<T> read() const {
        std::vector<T> back(count);
        if (count > 0) CHECK(cudaMemcpy(back.data(), held.get(), count * sizeof(T), cudaMemcpyDeviceToHost));
        return back;
    }

  private:
    struct Free {
        void operator()(T* gone) const { cudaFree(gone); }  // what goes wrong here did so before, in a call that was checked
    };
    size_t count;
    std::unique_ptr<T, Free> held;
};

class Event {
  public:
    Event() { CHECK(cudaEventCreate(&event)); }
    ~Event() { cudaEventDestroy(event); }
    Event(const Event&) = delete;
    void record() { CHECK(cudaEventRecord(event)); }
    double seconds_since(const Event& start) {
        float milliseconds = 0;
        CHECK(cudaEventSynchronize(event));
        CHECK(cudaEventElapsedTime(&milliseconds, start.event, event));
        return milliseconds * 1e-3;
    }

  private:
    cudaEvent_t event = nullptr;
};

struct Machine {
    cudaDeviceProp gpu = {};
    std::string driver = "unknown";
    size_t lone;  // more than half of an SM's shared memory: no SM takes two such blocks

    Machine() {
        int count = 0;
        const cudaError_t found = cudaGetDeviceCount(&count);
        if (found != cudaSuccess || count == 0)
            throw std::runtime_error(std::string("no GPU that CUDA can use: ") +
                                     (found != cudaSuccess ? cudaGetErrorString(found) : "none there"));
        CHECK(cudaGetDeviceProperties(&gpu, 0));
        std::ifstream words("/proc/driver/nvidia/version");
        for (std::string word; driver == "unknown" && words >> word;)
            if (word.find_first_not_of("0123456789.") == std::string::npos) driver = word;
        lone = gpu.sharedMemPerMultiprocessor / 2 + 1024;
        if (gpu.major < 8 || lone > gpu.sharedMemPerBlockOptin)
            throw std::runtime_error(std::string(gpu.name) + ": a GPU of compute capability 8.0 or 9.0 is needed");
    }
};

struct Upload {
    Key host;
    Device<Key> key;
    Device<u8> in, aad, out;
    size_t bytes, aad_bytes;
    Block iv = {};

    static Key made(const Bytes& bytes) {
        Key key;
        make_key(key, bytes.data());
        return key;
    }
    Upload(const checks::Message& message, const Bytes& text)
        : host(made(message.key)), key(&host, 1), in(text.data(), text.size()), aad(message.aad.data(), message.aad.size()),
          out(text.size()), bytes(text.size()), aad_bytes(message.aad.size()) {
        std::memcpy(iv.word, message.iv.data(), 12);
    }
};

struct Run {
    double seconds;
    std::vector<Span> spans;
    reference::Sixteen tag;
};

Run launch(const Machine& machine, const Kernel& kernel, const Upload& upload, size_t bytes, u32 blocks, u32 threads) {
    const u32 warps = blocks * threads / LANES;
    const Device<Block> hashes(warps), tag(1);
    const Device<Span> spans(blocks);
    Event start, stop;
    start.record();
    kernel.launch(kernel, blocks, threads, std::max(kernel.shared, machine.lone),
                  {upload.key.at(), upload.in.at(), upload.out.at(), bytes, upload.iv, hashes.at(), spans.at()});
    if (kernel.hash)
        launch_tag({upload.key.at(), upload.aad.at(), upload.aad_bytes, bytes, kernel.chunks, warps, upload.iv, hashes.at(), tag.at()});
    stop.record();
    Run run{stop.seconds_since(start), spans.read(), {}};
    if (kernel.hash) std::memcpy(run.tag.data(), tag.read()[0].word, run.tag.size());
    return run;
}

constexpr const char* RATE = "mma_b1";

Run launch_rate(const Machine& machine, u32 blocks, u32 rounds) {
    const Device<int> sums(size_t{blocks} * RATE_THREADS * 4);
    const Device<Span> spans(blocks);
    Event start, stop;
    start.record();
    ::launch_rate(blocks, RATE_THREADS, machine.lone, {rounds, sums.at(), spans.at()});
    stop.record();
    Run run{stop.seconds_since(start), spans.read(), {}};
    checks::compare_sums(sums.read(), rounds);
    return run;
}

void run_checks(const Machine& machine, const std::string& file) {
    const auto one = [&](const Kernel& kernel, const checks::Message& message, u32 blocks, u32 threads) {
        const Upload upload(message, checks::input(kernel, message));
        const Run run = launch(machine, kernel, upload, upload.bytes, blocks, threads);
        return checks::Result{upload.out.read(), run.tag};
    };
    checks::published(one, file);
    checks::lengths(one);
    checks::whole_blocks(one, 8);
    launch_rate(machine, 8, 3);
    std::puts("single-bit products: as the fragments have them");
    std::puts("all as the software AES-GCM has it");
}

struct Options {
    std::string platform, kernel;
    size_t bytes = BYTES_PER_SM;
    bool all = false;
};

std::vector<u32> counts(bool all, u32 most) {
    std::vector<u32> sms;
    for (u32 n = 1; n < most; n = all ? n + 1 : 2 * n) sms.push_back(n);
    sms.push_back(most);
    return sms;
}

// One message of the most SMs' length; fewer SMs work on what lies in front. `tags` are those of the parts.
struct Measured {
    checks::Message message;
    std::vector<reference::Sixteen> tags;
};

Measured prepare(const std::vector<u32>& sms, size_t bytes) {
    std::fprintf(stderr, "software AES-GCM of %zu bytes\n", sms.back() * bytes);
    std::mt19937 random(1);
    Measured made{checks::random_message(random, 20, 0), {}};
    made.message.text.resize(sms.back() * bytes);
    made.message.sealed.resize(made.message.text.size());
    for (uint8_t& byte : made.message.text) byte = static_cast<uint8_t>(random());
    reference::Message software(made.message.key, made.message.iv, made.message.aad);
    size_t done = 0;
    for (const u32 n : sms) {
        software.seal(made.message.text.data() + done, n * bytes - done, made.message.sealed.data() + done);
        done = n * bytes;
        made.tags.push_back(software.tag());
    }
    return made;
}

struct Figures {
    u64 cycles, hash_cycles;
    double seconds;
    bool operator<(const Figures& other) const { return cycles < other.cycles; }
};

Figures figures(const char* name, const Run& run) {
    std::set<u32> sms;
    Figures worst{0, 0, run.seconds};
    for (const Span& span : run.spans) {
        sms.insert(span.sm);
        worst.cycles = std::max(worst.cycles, span.cycles);
        worst.hash_cycles = std::max(worst.hash_cycles, span.hash_cycles);
    }
    if (sms.size() < run.spans.size())
        throw std::runtime_error(std::string(name) + ": " + std::to_string(run.spans.size()) + " blocks ran on " +
                                 std::to_string(sms.size()) + " SMs: is the GPU shared, or partitioned?");
    return worst;
}

struct Row {
    const char* kernel;
    u32 sms, threads;
    size_t bytes;  // on all SMs
};

// What all rows have in common.
struct Series {
    const Machine& machine;
    std::string platform, date;
    std::vector<u32> sms;
    size_t bytes_per_sm;
};

// Launches until there are enough, and prints the one whose cycles are the median.
template <class Launch> void print(const Series& series, const Row& row, const Launch& launch_once) {
    std::vector<Figures> all;
    for (int n = 0; n <= LAUNCHES; ++n) {
        const Figures one = figures(row.kernel, launch_once());
        if (n > 0) all.push_back(one);  // the first also loads the kernel and warms the L2 cache
    }
    std::sort(all.begin(), all.end());
    const Figures& middle = all[all.size() / 2];
    const double each = static_cast<double>(row.bytes) / row.sms;
    std::printf("%s,%s,%u,%u,%zu,%llu,%.6g,%llu,%.6g,%s,%s,%s\n", series.platform.c_str(), row.kernel, row.sms, row.threads, row.bytes,
                static_cast<unsigned long long>(middle.cycles), each / static_cast<double>(middle.cycles),
                static_cast<unsigned long long>(middle.hash_cycles), static_cast<double>(row.bytes) / middle.seconds * 1e-9,
                series.machine.gpu.name, series.machine.driver.c_str(), series.date.c_str());
    std::fflush(stdout);
}

void rows(const Series& series, const Kernel& kernel, const Measured& measured) {
    std::fprintf(stderr, "%s\n", kernel.name);
    const Upload upload(measured.message, checks::input(kernel, measured.message));
    for (size_t i = 0; i < series.sms.size(); ++i) {
        const u32 sms = series.sms[i];
        const size_t bytes = sms * series.bytes_per_sm;
        print(series, {kernel.name, sms, kernel.threads, bytes}, [&] {
            const Run run = launch(series.machine, kernel, upload, bytes, sms, kernel.threads);
            const bool right = !kernel.hash || run.tag == measured.tags[i];
            checks::demand(right, std::string(kernel.name) + ": tag on " + std::to_string(sms) + " SMs");
            return run;
        });
    }
    if (kernel.cipher) checks::demand(upload.out.read() == measured.message.sealed, std::string(kernel.name) + ": ciphertext");
}

void rate_rows(const Series& series) {
    std::fprintf(stderr, "%s\n", RATE);
    const u32 rounds = static_cast<u32>(series.bytes_per_sm / 256);
    for (const u32 sms : series.sms)
        print(series, {RATE, sms, RATE_THREADS, size_t{sms} * rounds * RATE_CHAINS * RATE_THREADS / LANES * RATE_BYTES},
              [&] { return launch_rate(series.machine, sms, rounds); });
}

void measure(const Machine& machine, const Options& options) {
    char date[32] = "";
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    const u32 most = static_cast<u32>(machine.gpu.multiProcessorCount);
    const Series series{machine, options.platform, date, counts(options.all, most), options.bytes};
    std::puts("platform,kernel,sms,threads,bytes,cycles,bytes_per_clock_per_sm,hash_cycles,gb_per_s,device,driver,date");
    if (options.kernel.empty() || options.kernel == RATE) rate_rows(series);
    if (options.kernel == RATE) return;
    const Measured measured = prepare(series.sms, options.bytes);
    for (const Kernel& kernel : KERNELS)
        if (options.kernel.empty() || options.kernel == kernel.name) rows(series, kernel, measured);
}

[[noreturn]] void misused(const std::string& what) { throw std::invalid_argument(what + "\n" + USAGE); }

Options read(int count, char** arguments) {
    Options options;
    for (int i = 2; i < count; i += 2) {
        const std::string name = arguments[i], value = i + 1 < count ? arguments[i + 1] : "";
        if (name == "--platform") {
            options.platform = value;
        } else if (name == "--kernel") {
            options.kernel = value;
            std::string known = std::string(" ") + RATE;
            bool found = value == RATE;
            for (const Kernel& kernel : KERNELS) known += std::string(" ") + kernel.name, found = found || value == kernel.name;
            if (!found) misused("--kernel: one of" + known);
        } else if (name == "--bytes") {
            const bool digits = !value.empty() && value.size() < 10 && value.find_first_not_of("0123456789") == std::string::npos;
            options.bytes = digits ? std::stoul(value) : 0;
            if (options.bytes < LEAST_BYTES || options.bytes > MOST_BYTES || options.bytes % LEAST_BYTES != 0)
                misused("--bytes: a multiple of 16384 up to 67108864");
        } else if (name == "--sms") {
            if (value != "all") misused("--sms: all");
            options.all = true;
        } else {
            misused("unknown option " + name);
        }
    }
    const char* const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (options.platform.empty() || options.platform.find_first_not_of(letters) != std::string::npos) misused("--platform NAME is needed");
    return options;
}

}  // namespace

int main(int count, char** arguments) {
    try {
        const std::string command = count > 1 ? arguments[1] : "";
        if (command == "check" && count == 3) run_checks(Machine(), arguments[2]);
        else if (command == "measure") {
            const Options options = read(count, arguments);
            measure(Machine(), options);
        } else misused("check with a file, or measure");
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw std::runtime_error("standard output cannot be written");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
