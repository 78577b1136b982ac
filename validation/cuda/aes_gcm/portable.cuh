// What the kernels ask of the machine below them: who a thread is, barriers, shuffles, the single-bit matrix product, the clock.
// Compiled by nvcc these are the GPU's; compiled by a C++ compiler they are those of host_block.h, so that the same kernels run there.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define BOTH __host__ __device__ inline
#define DEVICE __device__ __forceinline__
#define KERNEL(threads) __global__ void __launch_bounds__(threads, 1)
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#else
#define BOTH inline
#define DEVICE inline
#define KERNEL(threads) void
#define UNROLL
#define ROLLED
#include "host_block.h"
#endif

using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;

constexpr u32 LANES = 32;

// 16 bytes as they lie in memory: byte 4w + k is bits 8k to 8k + 7 of word w.
struct alignas(16) Block {
    u32 word[4];
};

BOTH Block operator^(const Block& a, const Block& b) {
    return {{a.word[0] ^ b.word[0], a.word[1] ^ b.word[1], a.word[2] ^ b.word[2], a.word[3] ^ b.word[3]}};
}

#ifdef __CUDACC__

DEVICE u32 thread() { return threadIdx.x; }
DEVICE u32 threads() { return blockDim.x; }
DEVICE u32 block() { return blockIdx.x; }
DEVICE u32 blocks() { return gridDim.x; }
DEVICE void block_barrier() { __syncthreads(); }
DEVICE void warp_barrier() { __syncwarp(); }
DEVICE u32 shuffle(u32 value, u32 from) { return __shfl_sync(0xffffffffu, value, static_cast<int>(from)); }
DEVICE u64 clock_now() { return static_cast<u64>(clock64()); }

DEVICE u8* shared_memory() {
    extern __shared__ __align__(16) unsigned char memory[];
    return memory;
}

DEVICE u32 sm_id() {
    u32 id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

// Adds to the 16 x 8 counts `sum`, four a lane, the bits that rows of `a` and columns of (b0, b1) have in common.
DEVICE void count_common(int (&sum)[4], const Block& a, u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b0), "r"(b1));
}

#else

DEVICE u32 thread() { return host::thread(); }
DEVICE u32 threads() { return host::threads(); }
DEVICE u32 block() { return host::block(); }
DEVICE u32 blocks() { return host::blocks(); }
DEVICE void block_barrier() { host::block_barrier(); }
DEVICE void warp_barrier() { host::warp_barrier(); }
DEVICE u32 shuffle(u32 value, u32 from) { return host::shuffle(value, from); }
DEVICE u64 clock_now() { return 0; }
DEVICE u8* shared_memory() { return host::shared_memory(); }
DEVICE u32 sm_id() { return host::block(); }
DEVICE void count_common(int (&sum)[4], const Block& a, u32 b0, u32 b1) { host::count_common(sum, a.word, b0, b1); }

#endif

// What lies `at` bytes into shared memory. Asked for anew at each access, because the compiler then knows which memory it is.
template <class T> DEVICE T& shared_at(u32 at) { return *reinterpret_cast<T*>(shared_memory() + at); }

// For look-ups: the address of what lies `at` bytes into shared memory as the loads take it, so that nothing is left to add to it.
DEVICE u32 shared_address(u32 at) {
#ifdef __CUDACC__
    return static_cast<u32>(__cvta_generic_to_shared(shared_memory())) + at;
#else
    return at;
#endif
}

DEVICE u32 look_up_word(u32 address) {
#ifdef __CUDACC__
    u32 word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");  // behind the barrier that the tables wait for
    return word;
#else
    return shared_at<u32>(address);
#endif
}

DEVICE Block look_up_block(u32 address) {
#ifdef __CUDACC__
    Block found;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(found.word[0]), "=r"(found.word[1]), "=r"(found.word[2]), "=r"(found.word[3]) : "r"(address) : "memory");
    return found;
#else
    return shared_at<Block>(address);
#endif
}

DEVICE u32 lane() { return thread() % LANES; }

BOTH u32 byte_swap(u32 word) {
#ifdef __CUDA_ARCH__
    return __byte_perm(word, 0, 0x0123);
#else
    return word >> 24 | (word >> 8 & 0xff00) | (word & 0xff00) << 8 | word << 24;
#endif
}

// Byte `row` of a word, 0 the lowest: on the GPU one instruction instead of a shift and a mask.
DEVICE u32 byte_of(u32 word, u32 row) {
#ifdef __CUDA_ARCH__
    return __byte_perm(word, 0, 0x4440 + row);
#else
    return word >> 8 * row & 0xff;
#endif
}

DEVICE u32 rotate(u32 word, u32 by) { return word << by | word >> (32 - by); }

// The 16-bit halves `half` of two words, the first one below.
DEVICE u32 halves(u32 below, u32 above, u32 half) {
#ifdef __CUDA_ARCH__
    return __byte_perm(below, above, half ? 0x7632 : 0x5410);
#else
    return (below >> 16 * half & 0xffff) | (above >> 16 * half) << 16;
#endif
}
