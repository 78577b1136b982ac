// Blocks of threads on the host: every thread is a coroutine with a stack of its own, which runs until it waits. Barriers and exchanges
// within a warp hold until all have come; the order in which threads run is chosen by the caller, because a kernel that lacks a barrier
// gives right results in some orders. Shared memory is exactly as large as asked for and starts as noise.
#pragma once

#include "fragments.h"

#include <algorithm>
#include <csetjmp>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <ucontext.h>
#include <vector>

namespace host {

constexpr unsigned WARP = 32;
constexpr size_t STACK = size_t{1} << 18;

enum class Order { Rising, Falling, Random };

struct Barrier {
    unsigned arrived = 0, phase = 0;
};

// What the lanes of a warp lay out for each other; `what` tells an exchange of one kind from another.
struct Warp {
    Barrier barrier;
    int what = 0;
    uint32_t value[WARP] = {};
    fragments::Operands operands = {};
    fragments::Counts counts = {};
};

struct Coroutine {
    ucontext_t first = {};
    std::jmp_buf on = {};
    std::unique_ptr<char[]> stack;
    bool begun = false, over = false;
};

struct Running {
    unsigned block = 0, blocks = 0, thread = 0, threads = 0;
    bool moved = false;
    const char* wrong = nullptr;
    std::jmp_buf scheduler = {};
    std::vector<Coroutine> coroutines;
    std::vector<Warp> warps;
    Barrier barrier;
    std::vector<uint8_t> shared;
    const std::function<void()>* body = nullptr;
};

inline Running running;

inline unsigned thread() { return running.thread; }
inline unsigned threads() { return running.threads; }
inline unsigned block() { return running.block; }
inline unsigned blocks() { return running.blocks; }
inline uint8_t* shared_memory() { return running.shared.data(); }

// Jumps, because swapcontext asks the kernel about signals each time.
inline void pause() {
    if (_setjmp(running.coroutines[running.thread].on) == 0) _longjmp(running.scheduler, 1);
}

inline void resume(Coroutine& one) {
    if (_setjmp(running.scheduler) != 0) return;
    if (one.begun) _longjmp(one.on, 1);
    one.begun = true;
    setcontext(&one.first);
}

// `last` is done by whoever comes last, before anybody goes on.
template <class Last> void wait(Barrier& barrier, unsigned count, Last last) {
    const unsigned phase = barrier.phase;
    if (++barrier.arrived == count) {
        last();
        barrier.arrived = 0;
        ++barrier.phase;
        running.moved = true;
    } else {
        while (barrier.phase == phase) pause();
    }
}

inline void block_barrier() {
    wait(running.barrier, running.threads, [] {});
}

inline Warp& meet(int what) {
    Warp& warp = running.warps[running.thread / WARP];
    if (warp.barrier.arrived > 0 && warp.what != what) running.wrong = "the lanes of a warp do different exchanges";
    warp.what = what;
    return warp;
}

inline void warp_barrier() {
    wait(meet(5).barrier, WARP, [] {});
}

inline uint32_t shuffle(uint32_t value, unsigned from) {
    Warp& warp = meet(1);
    warp.value[running.thread % WARP] = value;
    wait(warp.barrier, WARP, [] {});
    const uint32_t got = warp.value[from % WARP];
    meet(2);
    wait(warp.barrier, WARP, [] {});
    return got;
}

inline void count_common(int (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    Warp& warp = meet(3);
    const unsigned lane = running.thread % WARP;
    for (unsigned i = 0; i < 4; ++i) warp.operands.a[lane][i] = a[i];
    warp.operands.b[lane][0] = b0;
    warp.operands.b[lane][1] = b1;
    wait(warp.barrier, WARP, [&] { warp.counts = fragments::multiply(warp.operands); });
    for (unsigned i = 0; i < 4; ++i) sum[i] += warp.counts[lane][i];
    meet(4);
    wait(warp.barrier, WARP, [] {});
}

inline void enter() {
    (*running.body)();
    running.coroutines[running.thread].over = true;
    running.moved = true;
    _longjmp(running.scheduler, 1);
}

inline void run_block(Order order, std::mt19937& random) {
    running.barrier = {};
    running.warps.assign((running.threads + WARP - 1) / WARP, {});
    for (uint8_t& byte : running.shared) byte = static_cast<uint8_t>(random());
    for (unsigned i = 0; i < running.threads; ++i) {
        Coroutine& one = running.coroutines[i];
        getcontext(&one.first);
        one.first.uc_stack.ss_sp = one.stack.get();
        one.first.uc_stack.ss_size = STACK;
        one.begun = one.over = false;
        makecontext(&one.first, enter, 0);
    }
    std::vector<unsigned> turns(running.threads);
    std::iota(turns.begin(), turns.end(), 0);
    if (order == Order::Falling) std::reverse(turns.begin(), turns.end());
    do {
        running.moved = false;
        if (order == Order::Random) std::shuffle(turns.begin(), turns.end(), random);
        for (const unsigned turn : turns) {
            running.thread = turn;
            if (!running.coroutines[turn].over) resume(running.coroutines[turn]);
            if (running.wrong != nullptr) throw std::logic_error(running.wrong);
        }
    } while (running.moved);
    for (unsigned i = 0; i < running.threads; ++i)
        if (!running.coroutines[i].over) throw std::logic_error("threads wait at a barrier that others never reach");
}

// `threads`: a multiple of 32.
inline void launch(unsigned blocks, unsigned threads, size_t shared, Order order, const std::function<void()>& body) {
    std::mt19937 random(blocks * 1024 + threads);
    running.blocks = blocks;
    running.threads = threads;
    running.body = &body;
    running.wrong = nullptr;
    running.shared = std::vector<uint8_t>(shared);
    while (running.coroutines.size() < threads) {
        running.coroutines.emplace_back();
        running.coroutines.back().stack.reset(new char[STACK]);
    }
    for (running.block = 0; running.block < blocks; ++running.block) run_block(order, random);
}

}  // namespace host
