// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// A CUDA program without memtrace that calls cudaMalloc and cudaFree again and again. Prints
// nanoseconds per pair. Usage: driver_pairs PAIRS DEPTH: each pair is called from DEPTH further
// frames. bench/preload_pairs.py runs it.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

// NOLINTNEXTLINE(misc-no-recursion): frames are what it is about
__attribute__((noinline)) bool Pair(long depth) {
  if (depth > 0) {
    const bool done = Pair(depth - 1);
    asm volatile("" ::: "memory");  // no tail call
    return done;
  }
  void* address = nullptr;
  return cudaMalloc(&address, 1 << 20) == cudaSuccess && cudaFree(address) == cudaSuccess;
}

}  // namespace

int main(int argc, char** argv) {
  const long pairs = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1000;
  const long depth = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 0;
  if (!Pair(depth)) return 1;  // creates the context, and loads the core
  const auto began = std::chrono::steady_clock::now();
  for (long i = 0; i < pairs; ++i) {
    if (!Pair(depth)) return 1;
  }
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - began;
  std::printf("%.1f\n", elapsed.count() / static_cast<double>(pairs));
}
