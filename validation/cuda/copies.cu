// Measures how fast a GPU copies, in the tables that `sealsim validate --measured` reads. README.md beside this file says how to
// build and run it and what each table is.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <cuda_runtime.h>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr size_t MIB = size_t{1} << 20, GIB = size_t{1} << 30;
constexpr size_t SMALLEST = 4, LARGEST = 1024 * GIB, MOST_STREAMS = 16;
constexpr size_t FLUSH = 256 * MIB;  // what bandwidthTest writes between pageable copies
constexpr int COPIES = 100;          // what bandwidthTest makes of each size
constexpr int CALLS = 1000, CALLS_BEFORE = 10, LAUNCHES = 5;
constexpr unsigned THREADS = 256, MOST_BLOCKS = 512;  // about four for each SM
constexpr const char* USAGE =
    "usage: copies bandwidth|api|both|sm|calls|about --platform NAME --mode off|cc [--streams N] [--steps N] [--max BYTES] > FILE\n"
    "NAME: letters, digits, '.', '_', '-'; N: 1 to 16; streams for bandwidth only, steps (sizes for each power of two) for bandwidth, api and both;\n"
    "BYTES: 4 to 1099511627776";

bool release_failed = false;

void check(cudaError_t status, const char* call, int line) {
    if (status == cudaSuccess) return;
    throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(line) + ": " + call + ": " + cudaGetErrorString(status));
}
#define CHECK(call) check((call), #call, __LINE__)

// Destructors must not throw, so what fails there is told here and by the exit status.
template <auto FREE> struct Release {
    template <class T> void operator()(T* held) const {
        const cudaError_t status = FREE(held);
        if (status == cudaSuccess) return;
        std::fprintf(stderr, "%s:%d: release: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));
        release_failed = true;
    }
};
cudaError_t free_host(void* at) { return cudaFreeHost(at); }
cudaError_t free_device(void* at) { return cudaFree(at); }
using Pinned = std::unique_ptr<char, Release<free_host>>;
using Device = std::unique_ptr<char, Release<free_device>>;
using Stream = std::unique_ptr<CUstream_st, Release<cudaStreamDestroy>>;
using Event = std::unique_ptr<CUevent_st, Release<cudaEventDestroy>>;

// All memory is written once, so that no measured copy is the first to touch a page.
Pinned pinned(size_t bytes) {
    void* at = nullptr;
    CHECK(cudaHostAlloc(&at, bytes, cudaHostAllocMapped));
    Pinned memory(static_cast<char*>(at));
    std::memset(at, 1, bytes);
    return memory;
}

Device device(size_t bytes) {
    void* at = nullptr;
    CHECK(cudaMalloc(&at, bytes));
    Device memory(static_cast<char*>(at));
    CHECK(cudaMemset(at, 2, bytes));
    return memory;
}

Stream stream() {
    cudaStream_t made = nullptr;
    CHECK(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    return Stream(made);
}

Event event() {
    cudaEvent_t made = nullptr;
    CHECK(cudaEventCreate(&made));
    return Event(made);
}

struct Options {
    std::string command, platform, mode;
    size_t streams = 1, steps = 1, max = 0;  // max 0: the command's default
    size_t up_to(size_t otherwise) const { return max == 0 ? otherwise : max; }
};

struct Copy { void* to; const void* from; cudaMemcpyKind kind; };

constexpr bool WAYS[] = {true, false};
const char* name(bool up) { return up ? "h2d" : "d2h"; }
Copy copy(bool up, void* gpu, void* host) {
    return up ? Copy{gpu, host, cudaMemcpyHostToDevice} : Copy{host, gpu, cudaMemcpyDeviceToHost};
}

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Records `stop`, waits for it, and gives the seconds from `start`, which is recorded.
double between(const Event& start, const Event& stop, cudaStream_t stream) {
    float milliseconds = 0;
    CHECK(cudaEventRecord(stop.get(), stream));
    CHECK(cudaEventSynchronize(stop.get()));
    CHECK(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()));
    return milliseconds * 1e-3;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

// Sizes up to `most`: powers of two, and between two of them as many as `--steps` says, a multiple of 4 B each.
std::vector<size_t> sizes(const Options& options, size_t most) {
    std::vector<size_t> all;
    for (size_t power = SMALLEST; power <= most; power *= 2)
        for (size_t step = 0; step < options.steps; ++step) {
            const size_t bytes = (power + power * step / options.steps) / 4 * 4;
            if (bytes <= most && (all.empty() || bytes > all.back())) all.push_back(bytes);
        }
    return all;
}

// One row for each size; `figure` measures it.
void curve(const Options& options, const char* memory, const char* way, size_t most, const std::function<double(size_t)>& figure) {
    std::fprintf(stderr, "%s %s\n", memory, way);
    for (const size_t bytes : sizes(options, most)) {
        const double measured = figure(bytes);
        std::printf("%s,%s,%s,%s,%zu,%.6g\n", options.platform.c_str(), options.mode.c_str(), memory, way, bytes, measured);
        std::fflush(stdout);
    }
}

double rate(size_t bytes, double seconds) { return static_cast<double>(bytes) / seconds * 1e-9; }

// Copies back to back on all streams, one of `each` on each, from an event before the first to an event after the last of all.
double back_to_back(const std::vector<Stream>& streams, const std::vector<Copy>& each, size_t bytes) {
    const auto issue = [&](int count) {
        for (int i = 0; i < count; ++i)
            for (size_t s = 0; s < streams.size(); ++s)
                CHECK(cudaMemcpyAsync(each[s].to, each[s].from, bytes, each[s].kind, streams[s].get()));
    };
    const Event start = event(), stop = event(), joined = event();
    issue(1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(start.get(), streams[0].get()));
    for (size_t s = 1; s < streams.size(); ++s) CHECK(cudaStreamWaitEvent(streams[s].get(), start.get(), 0));
    issue(COPIES);
    for (size_t s = 1; s < streams.size(); ++s) {
        CHECK(cudaEventRecord(joined.get(), streams[s].get()));
        CHECK(cudaStreamWaitEvent(streams[0].get(), joined.get(), 0));
    }
    return rate(COPIES * streams.size() * bytes, between(start, stop, streams[0].get()));
}

double flushed(char* flush, const Copy& one, size_t bytes) {
    const auto issue = [&] { CHECK(cudaMemcpy(one.to, one.from, bytes, one.kind)); };
    issue();
    double seconds = 0;
    for (int i = 0; i < COPIES; ++i) {
        std::memset(flush, i, FLUSH);
        asm volatile("" : : "r"(flush) : "memory");  // nothing reads it: a compiler could leave the writing out
        seconds += seconds_of(issue);
    }
    return rate(COPIES * bytes, seconds);
}

void bandwidth(const Options& options) {
    const size_t most = options.up_to(GIB), count = options.streams;
    std::vector<Stream> streams(count);
    std::vector<Device> gpu(count);
    std::vector<Pinned> host(count);
    for (size_t s = 0; s < count; ++s) streams[s] = stream(), gpu[s] = device(most), host[s] = pinned(most);
    std::puts("platform,mode,host_memory,direction,bytes,gb_per_s");
    for (const bool up : WAYS) {
        std::vector<Copy> each;
        for (size_t s = 0; s < count; ++s) each.push_back(copy(up, gpu[s].get(), host[s].get()));
        curve(options, "pinned", name(up), most, [&](size_t bytes) { return back_to_back(streams, each, bytes); });
    }
    if (count > 1) return;
    std::vector<char> ordinary(most, 1), flush(FLUSH, 1);
    for (const bool up : WAYS) {
        const Copy one = copy(up, gpu[0].get(), ordinary.data());
        curve(options, "pageable", name(up), most, [&](size_t bytes) { return flushed(flush.data(), one, bytes); });
    }
    const Device other = device(most);
    const std::vector<Copy> within = {{other.get(), gpu[0].get(), cudaMemcpyDeviceToDevice}};
    curve(options, "device", "d2d", most, [&](size_t bytes) { return 2 * back_to_back(streams, within, bytes); });
}

// Pinned copies to the GPU, from it, and both at once on two streams: what two copy engines take from each other. `gb_per_s` counts both ways.
void both(const Options& options) {
    const size_t most = options.up_to(64 * MIB);
    const Device gpu[] = {device(most), device(most)};
    const Pinned host[] = {pinned(most), pinned(most)};
    const Copy up = copy(true, gpu[0].get(), host[0].get()), down = copy(false, gpu[1].get(), host[1].get());
    // No host_memory column: `validate` does not read this table.
    std::puts("platform,mode,ways,bytes,gb_per_s");
    for (const size_t bytes : sizes(options, most))
        for (const auto& [ways, each] : std::map<std::string, std::vector<Copy>>{{"h2d", {up}}, {"d2h", {down}}, {"both", {up, down}}}) {
            std::vector<Stream> used;
            for (size_t s = 0; s < each.size(); ++s) used.push_back(stream());
            std::printf("%s,%s,%s,%zu,%.6g\n", options.platform.c_str(), options.mode.c_str(), ways.c_str(), bytes, back_to_back(used, each, bytes));
            std::fflush(stdout);
        }
}

double call_us(const Copy& one, size_t bytes) {
    std::vector<double> times;
    for (int i = 0; i < CALLS_BEFORE + CALLS; ++i) {
        const double time = seconds_of([&] { CHECK(cudaMemcpy(one.to, one.from, bytes, one.kind)); });
        if (i >= CALLS_BEFORE) times.push_back(time * 1e6);
        CHECK(cudaDeviceSynchronize());  // small pageable copies return before they arrive: the next call must not wait for that
    }
    return median(std::move(times));
}

void api(const Options& options) {
    const size_t most = options.up_to(16 * MIB);
    const Device gpu = device(most);
    const Pinned locked = pinned(most);
    std::vector<char> ordinary(most, 1);
    std::puts("platform,mode,host_memory,direction,bytes,api_us");
    for (char* const host : {locked.get(), ordinary.data()})
        for (const bool up : WAYS)
            curve(options, host == locked.get() ? "pinned" : "pageable", name(up), most,
                  [&](size_t bytes) { return call_us(copy(up, gpu.get(), host), bytes); });
}

// Whatever is not `expected` is told, so that nothing read can be left out.
__global__ void read_all(const uint4* from, size_t count, unsigned expected, unsigned* wrong) {
    unsigned difference = 0;
#pragma unroll 4
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
        const uint4 word = from[i];
        difference |= (word.x ^ expected) | (word.y ^ expected) | (word.z ^ expected) | (word.w ^ expected);
    }
    if (difference != 0) atomicOr(wrong, difference);
}

__global__ void write_all(uint4* to, size_t count, unsigned value) {
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x)
        to[i] = make_uint4(value, value, value, value);
}

double launch(bool reads, unsigned blocks, int fill, char* host, size_t bytes, unsigned* wrong) {
    const unsigned old = static_cast<unsigned>(fill) * 0x01010101u, value = ~old;
    auto* const words = reinterpret_cast<uint4*>(host);  // pinned memory has one address for both sides
    std::memset(host, fill, bytes);  // from the CPU each time, which fetches back pages that have migrated
    CHECK(cudaMemset(wrong, 0, sizeof *wrong));
    const Event start = event(), stop = event();
    CHECK(cudaEventRecord(start.get()));
    if (reads) read_all<<<blocks, THREADS>>>(words, bytes / sizeof *words, old, wrong);
    else write_all<<<blocks, THREADS>>>(words, bytes / sizeof *words, value);
    CHECK(cudaGetLastError());
    const double seconds = between(start, stop, nullptr);
    unsigned difference = 0;
    CHECK(cudaMemcpy(&difference, wrong, sizeof difference, cudaMemcpyDeviceToHost));
    for (size_t i = 0; !reads && i < bytes / sizeof *words; ++i)
        difference |= (words[i].x ^ value) | (words[i].y ^ value) | (words[i].z ^ value) | (words[i].w ^ value);
    if (difference != 0) throw std::runtime_error(reads ? "the SMs read other bytes" : "the SMs wrote other bytes");
    return rate(bytes, seconds);
}

void sm(const Options& options) {
    const size_t bytes = std::max(options.up_to(256 * MIB) / sizeof(uint4), size_t{1}) * sizeof(uint4);
    const Pinned host = pinned(bytes);
    const Device wrong = device(sizeof(unsigned));
    // No host_memory column: with it, this would pass for a table of copies.
    std::puts("platform,mode,access,blocks,threads,bytes,gb_per_s");
    for (const bool reads : {true, false})
        for (unsigned blocks = 1; blocks <= MOST_BLOCKS; blocks *= 2) {
            std::vector<double> rates;
            for (int i = 0; i <= LAUNCHES; ++i) {
                const double measured = launch(reads, blocks, 1 + i, host.get(), bytes, reinterpret_cast<unsigned*>(wrong.get()));
                if (i > 0) rates.push_back(measured);  // the first launch also loads the kernel
            }
            std::printf("%s,%s,%s,%u,%u,%zu,%.6g\n", options.platform.c_str(), options.mode.c_str(), reads ? "read" : "write", blocks,
                        THREADS, bytes, median(std::move(rates)));
            std::fflush(stdout);
        }
}

__global__ void nothing() {}

using Graph = std::unique_ptr<CUgraphExec_st, Release<cudaGraphExecDestroy>>;

// One graph of `count` operations, each behind the last.
Graph graph_of(int count, cudaStream_t on, const std::function<void()>& operation) {
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t made = nullptr;
    CHECK(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < count; ++i) operation();
    CHECK(cudaStreamEndCapture(on, &captured));
    CHECK(cudaGraphInstantiate(&made, captured, 0));
    CHECK(cudaGraphDestroy(captured));
    return Graph(made);
}

// Median of the time of `call` alone; the GPU is idle before each, and `before` is not in it.
double alone_us(const std::function<void()>& before, const std::function<void()>& call) {
    std::vector<double> times;
    for (int i = 0; i < CALLS_BEFORE + CALLS; ++i) {
        CHECK(cudaDeviceSynchronize());
        before();
        const double time = seconds_of(call);
        if (i >= CALLS_BEFORE) times.push_back(time * 1e6);
    }
    CHECK(cudaDeviceSynchronize());
    return median(std::move(times));
}

// Mean of `count` of them back to back, and of the time until the GPU has done them.
std::pair<double, double> together_us(int count, const std::function<void()>& call) {
    double issued = 0;
    call();
    CHECK(cudaDeviceSynchronize());
    const double done = seconds_of([&] {
        issued = seconds_of([&] { for (int i = 0; i < count; ++i) call(); });
        CHECK(cudaDeviceSynchronize());
    });
    return {issued * 1e6 / count, done * 1e6 / count};
}

void calls(const Options& options) {
    constexpr size_t SMALL = 4096;
    constexpr int BATCH = 500;  // launches that the queue to the GPU holds without a wait
    const Stream on = stream();
    const Device gpu = device(MIB);
    const Event mark = event();
    const auto row = [&](const std::string& call, double us) {
        std::printf("%s,%s,%s,%.6g\n", options.platform.c_str(), options.mode.c_str(), call.c_str(), us);
        std::fflush(stdout);
    };
    const auto none = [] {};
    const auto launch_one = [&] { nothing<<<1, 32, 0, on.get()>>>(); };
    std::puts("platform,mode,call,api_us");
    row("launch", alone_us(none, launch_one));
    const auto [issued, done] = together_us(BATCH, launch_one);
    row("launch-of-500", issued), row("kernel-of-500", done);
    row("synchronize-after-kernel", alone_us(launch_one, [&] { CHECK(cudaStreamSynchronize(on.get())); }));
    row("synchronize-idle", alone_us(none, [&] { CHECK(cudaStreamSynchronize(on.get())); }));
    row("event-record", alone_us(none, [&] { CHECK(cudaEventRecord(mark.get(), on.get())); }));
    row("stream-wait", alone_us(none, [&] { CHECK(cudaStreamWaitEvent(on.get(), mark.get(), 0)); }));
    row("event-create", alone_us(none, [&] { cudaEvent_t made = nullptr; CHECK(cudaEventCreate(&made)); CHECK(cudaEventDestroy(made)); }));
    row("memset", alone_us(none, [&] { CHECK(cudaMemsetAsync(gpu.get(), 0, SMALL, on.get())); }));
    const Pinned locked = pinned(SMALL);
    const auto up = [&] { CHECK(cudaMemcpyAsync(gpu.get(), locked.get(), SMALL, cudaMemcpyHostToDevice, on.get())); };
    const auto down = [&] { CHECK(cudaMemcpyAsync(locked.get(), gpu.get(), SMALL, cudaMemcpyDeviceToHost, on.get())); };
    row("copy-async-h2d", alone_us(none, up)), row("copy-async-d2h", alone_us(none, down));
    const Stream other = stream();
    row("stream-wait-until-done", alone_us(none, [&] {  // a kernel on one stream, awaited by another that copies back
            launch_one();
            CHECK(cudaEventRecord(mark.get(), on.get()));
            CHECK(cudaStreamWaitEvent(other.get(), mark.get(), 0));
            CHECK(cudaMemcpyAsync(locked.get(), gpu.get(), SMALL, cudaMemcpyDeviceToHost, other.get()));
            CHECK(cudaStreamSynchronize(other.get()));
        }));
    void* got = nullptr;
    row("malloc", alone_us([&] { CHECK(cudaFree(got)); got = nullptr; }, [&] { CHECK(cudaMalloc(&got, MIB)); }));
    CHECK(cudaFree(got));
    got = nullptr;
    row("free", alone_us([&] { CHECK(cudaMalloc(&got, MIB)); }, [&] { CHECK(cudaFree(got)); }));
    const auto graph_rows = [&](const std::string& name, int count, const std::function<void()>& operation) {
        const Graph graph = graph_of(count, on.get(), operation);
        const auto launch_graph = [&] { CHECK(cudaGraphLaunch(graph.get(), on.get())); };
        row(name, alone_us(none, launch_graph));
        row(name + "-until-done", alone_us(none, [&] { launch_graph(), CHECK(cudaStreamSynchronize(on.get())); }));
    };
    for (const int kernels : {1, 10, 100, 1000}) graph_rows("graph-" + std::to_string(kernels), kernels, launch_one);
    for (const int copies : {1, 10, 100}) graph_rows("graph-of-h2d-" + std::to_string(copies), copies, up);
    for (const int copies : {1, 10, 100}) graph_rows("graph-of-d2h-" + std::to_string(copies), copies, down);
}

std::string first_line(const std::string& file) {
    std::ifstream lines(file);
    std::string line;
    return std::getline(lines, line) ? line : "unknown";
}

// The link slows down while nothing moves, so it is looked at behind a copy.
void about(const Options& options) {
    cudaDeviceProp gpu{};
    int driver = 0, runtime = 0;
    char bus[32] = "", date[32] = "";
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    for (char& letter : bus) letter = static_cast<char>(letter >= 'A' ? letter | 32 : letter);  // as sysfs has it
    const Device to = device(FLUSH);
    const Pinned from = pinned(FLUSH);
    for (int i = 0; i < 20; ++i) CHECK(cudaMemcpy(to.get(), from.get(), FLUSH, cudaMemcpyHostToDevice));
    const std::string place = std::string("/sys/bus/pci/devices/") + bus + "/";
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    std::printf("date: %s\nplatform: %s\nmode: %s (as given)\n", date, options.platform.c_str(), options.mode.c_str());
    std::printf("gpu: %s, %d SMs, %zu B, at %s\n", gpu.name, gpu.multiProcessorCount, gpu.totalGlobalMem, bus);
    for (const char* fact : {"current_link_speed", "current_link_width", "max_link_speed", "max_link_width", "numa_node"})
        std::printf("%s: %s\n", fact, first_line(place + fact).c_str());
    std::printf("driver: %s\ncuda: driver %d, runtime %d\n", first_line("/proc/driver/nvidia/version").c_str(), driver, runtime);
    std::printf("bandwidth: %d copies; api: median of %d calls; sm: median of %d launches\n", COPIES, CALLS, LAUNCHES);
}

[[noreturn]] void misused(const std::string& what) { throw std::invalid_argument(what + "\n" + USAGE); }

size_t number(const std::string& name, const std::string& text, size_t least, size_t most) {
    const bool digits = text.size() < 15 && text.find_first_not_of("0123456789") == std::string::npos;
    const size_t value = digits && !text.empty() ? std::stoull(text) : 0;
    if (value < least || value > most) misused(name + ": a number from " + std::to_string(least) + " to " + std::to_string(most));
    return value;
}

Options read(int count, char** arguments) {
    Options options;
    if (count < 2) misused("no command");
    options.command = arguments[1];
    for (int i = 2; i < count; i += 2) {
        const std::string name = arguments[i], value = i + 1 < count ? arguments[i + 1] : "";
        if (name == "--platform") options.platform = value;
        else if (name == "--mode") options.mode = value;
        else if (name == "--streams") options.streams = number(name, value, 1, MOST_STREAMS);
        else if (name == "--steps") options.steps = number(name, value, 1, MOST_STREAMS);
        else if (name == "--max") options.max = number(name, value, SMALLEST, LARGEST);
        else misused("unknown option " + name);
    }
    const char* const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (options.platform.empty() || options.platform.find_first_not_of(letters) != std::string::npos) misused("--platform NAME is needed");
    if (options.mode != "off" && options.mode != "cc") misused("--mode off or --mode cc is needed");
    if (options.streams > 1 && options.command != "bandwidth") misused("--streams is for bandwidth only");
    if (options.steps > 1 && options.command != "bandwidth" && options.command != "api" && options.command != "both")
        misused("--steps is for bandwidth, api and both");
    return options;
}

const std::map<std::string, void (*)(const Options&)> COMMANDS = {{"bandwidth", bandwidth}, {"api", api}, {"both", both}, {"sm", sm}, {"calls", calls}, {"about", about}};

}  // namespace

int main(int count, char** arguments) {
    try {
        const Options options = read(count, arguments);
        const auto known = COMMANDS.find(options.command);
        if (known == COMMANDS.end()) misused("unknown command " + options.command);
        known->second(options);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw std::runtime_error("standard output cannot be written");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return release_failed ? 1 : 0;
}
