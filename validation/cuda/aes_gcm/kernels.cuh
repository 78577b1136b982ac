// The kernels by name, and how each is launched: on the GPU as it is there, on the host as host_block.h does it.
#pragma once

#include "seal.cuh"

struct Kernel {
    const char* name;
    bool cipher, hash;
    u32 chunks, threads;  // of a group; most of a block
    size_t shared;
    void (*launch)(const Kernel&, u32 blocks, u32 threads, size_t shared, const Job&);
};

#ifdef __CUDACC__
void check(cudaError_t status, const char* call, const char* file, int line);
#define CHECK(call) check((call), #call, __FILE__, __LINE__)
#else
inline host::Order host_order = host::Order::Rising;
#endif

template <class Cipher, class Hash, u32 THREADS>
void launch_seal([[maybe_unused]] const Kernel& kernel, u32 blocks, u32 threads, size_t shared, const Job& job) {
#ifdef __CUDACC__
    const auto function = seal<Cipher, Hash, THREADS>;
    CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    function<<<blocks, threads, shared>>>(job);
    CHECK(cudaGetLastError());
#else
    host::launch(blocks, threads, shared, host_order, [&] { seal<Cipher, Hash, THREADS>(job); });
#endif
}

inline void launch_tag(const Closing& job) {
#ifdef __CUDACC__
    make_tag<<<1, CLOSING_THREADS, CLOSING_SHARED>>>(job);
    CHECK(cudaGetLastError());
#else
    host::launch(1, CLOSING_THREADS, CLOSING_SHARED, host_order, [&] { make_tag(job); });
#endif
}

inline void launch_rate(u32 blocks, u32 threads, [[maybe_unused]] size_t shared, const RateJob& job) {
#ifdef __CUDACC__
    CHECK(cudaFuncSetAttribute(tensor_rate, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    tensor_rate<<<blocks, threads, shared>>>(job);
    CHECK(cudaGetLastError());
#else
    host::launch(blocks, threads, 0, host_order, [&] { tensor_rate(job); });
#endif
}

template <class Cipher, class Hash, u32 THREADS> constexpr Kernel kernel(const char* name) {
    return {name, Cipher::WORKS, Hash::WORKS, CHUNKS_OF<Cipher, Hash>, THREADS, Cipher::SHARED + Hash::SHARED,
            launch_seal<Cipher, Hash, THREADS>};
}

// One block of threads on each SM: as many threads as the registers allow.
inline const Kernel KERNELS[] = {
    kernel<CipherTables, NoHash, 1024>("ctr_tables"),
    kernel<CipherBitsliced, NoHash, 256>("ctr_bitsliced"),
    kernel<NoCipher, HashTables, 1024>("ghash_tables"),
    kernel<NoCipher, HashTensor, 512>("ghash_tensor"),
    kernel<CipherTables, HashTables, 1024>("gcm_tables_tables"),
    kernel<CipherTables, HashTensor, 512>("gcm_tables_tensor"),
    kernel<CipherBitsliced, HashTables, 256>("gcm_bitsliced_tables"),
    kernel<CipherBitsliced, HashTensor, 256>("gcm_bitsliced_tensor"),
};
