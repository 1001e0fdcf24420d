// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Device variables, by their shadow in the host's memory.
#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/runtime/runtime_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Runs body(begin, bytes) for a variable on the current device.
template <typename Body>
cudaError_t WithVariable(const void* symbol, Body body) {
  return InContext([&] {
    CUdeviceptr begin = 0;
    std::size_t bytes = 0;
    const auto found = static_cast<CUresult>(memtrace_card_find_variable(symbol, &begin, &bytes));
    return found == CUDA_SUCCESS ? body(begin, bytes) : found;
  });
}

bool Fits(std::size_t offset, std::size_t count, std::size_t bytes) {
  return offset <= bytes && count <= bytes - offset;
}

}  // namespace
}  // namespace memtrace::card

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return WithVariable(symbol, [&](CUdeviceptr begin, std::size_t) {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
    *pointer = reinterpret_cast<void*>(begin);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* size, const void* symbol) {
  return WithVariable(symbol, [&](CUdeviceptr, std::size_t bytes) {
    if (size == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *size = bytes;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t count,
                                    std::size_t offset, cudaMemcpyKind, cudaStream_t stream) {
  return WithVariable(symbol, [&](CUdeviceptr begin, std::size_t bytes) {
    if (!Fits(offset, count, bytes)) return CUDA_ERROR_INVALID_VALUE;
    return cuMemcpyAsync(begin + offset, ToDevice(from), count, stream);
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t count,
                               std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, count, offset, kind, nullptr);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t count,
                                      std::size_t offset, cudaMemcpyKind, cudaStream_t stream) {
  return WithVariable(symbol, [&](CUdeviceptr begin, std::size_t bytes) {
    if (!Fits(offset, count, bytes)) return CUDA_ERROR_INVALID_VALUE;
    return cuMemcpyAsync(ToDevice(to), begin + offset, count, stream);
  });
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t count,
                                 std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbolAsync(to, symbol, count, offset, kind, nullptr);
}
