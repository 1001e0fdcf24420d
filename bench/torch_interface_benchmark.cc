// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What does a pair of allocation and free cost torch's C++ code? Both allocators are called through
// CUDAAllocator's virtual functions, as tensors do: torch's native allocator and ours, in one
// process, one benchmark after the other, on the simulated card, where a warm allocator makes no
// driver calls. It is a library because torch lives in Python: bench/torch_interface.py loads it.
#include <benchmark/benchmark.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace memtrace {
namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;

CUDAAllocator* native = nullptr;  // torch's own, before ours replaced it

CUDAAllocator* Ours() { return c10::cuda::CUDACachingAllocator::allocator.load(); }

using Choice = CUDAAllocator* (*)();
CUDAAllocator* Native() { return native; }

// Allocates and frees the same block again and again, with one next to it in use.
void HotPair(benchmark::State& state, Choice choice) {
  CUDAAllocator& allocator = *choice();
  const auto bytes = static_cast<size_t>(state.range(0));
  void* beside = allocator.raw_alloc(bytes);
  for ([[maybe_unused]] auto _ : state) allocator.raw_delete(allocator.raw_alloc(bytes));
  allocator.raw_delete(beside);
}

// Does the same as a tensor's storage does it.
void HotDataPointer(benchmark::State& state, Choice choice) {
  CUDAAllocator& allocator = *choice();
  const auto bytes = static_cast<size_t>(state.range(0));
  const c10::DataPtr beside = allocator.allocate(bytes);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(allocator.allocate(bytes));
}

// Frees a random one of many live blocks and allocates one of another size; sizes are those of
// scenarios with mixed tensors, 512 B to 64 MiB.
class Exchange {
 public:
  Exchange(CUDAAllocator& allocator, size_t live, cudaStream_t stream)
      : allocator_(allocator), stream_(stream), most_((size_t{40} << 30) / live), blocks_(live) {
    for (void*& block : blocks_) block = allocator_.raw_alloc_with_stream(Size(), stream_);
    for (size_t i = 0; i < 20 * live; ++i) One();  // until the segment has its final size
  }
  ~Exchange() {
    for (void* block : blocks_) allocator_.raw_delete(block);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void One() {
    void*& block = blocks_[random_() % blocks_.size()];
    allocator_.raw_delete(block);
    block = allocator_.raw_alloc_with_stream(Size(), stream_);
  }

 private:
  size_t Size() {
    static constexpr std::array<size_t, 10> kSizes = {
        512, 2048, 8192, 65536, 1 << 18, 1 << 20, 3 << 20, 8 << 20, 24 << 20, 64 << 20};
    return std::min(kSizes[random_() % kSizes.size()], most_);
  }

  CUDAAllocator& allocator_;
  cudaStream_t stream_;
  const size_t most_;
  std::minstd_rand random_{1};
  std::vector<void*> blocks_;
};

void MixedPair(benchmark::State& state, Choice choice) {
  Exchange exchange(*choice(), static_cast<size_t>(state.range(0)), nullptr);
  for ([[maybe_unused]] auto _ : state) exchange.One();
}

// Each thread has a stream of its own on one card. Google Benchmark divides by the number of
// threads.
void Threads(benchmark::State& state, Choice choice) {
  CUDAAllocator& allocator = *choice();
  cudaStream_t stream = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, 0);
  const auto bytes = static_cast<size_t>(state.range(0));
  void* beside = allocator.raw_alloc_with_stream(bytes, stream);
  for ([[maybe_unused]] auto _ : state) {
    allocator.raw_delete(allocator.raw_alloc_with_stream(bytes, stream));
  }
  allocator.raw_delete(beside);
}

void ThreadsMixed(benchmark::State& state, Choice choice) {
  Exchange exchange(*choice(), 256, c10::cuda::getStreamFromPool(/*isHighPriority=*/false, 0));
  for ([[maybe_unused]] auto _ : state) exchange.One();
}

void Register(const std::string& name, Choice choice) {
  const auto add = [&](const char* what, void (*function)(benchmark::State&, Choice)) {
    return benchmark::RegisterBenchmark((std::string(what) + "/" + name).c_str(), function, choice);
  };
  add("HotPair", &HotPair)->Arg(512)->Arg(1 << 20)->Arg(64 << 20);
  add("HotDataPointer", &HotDataPointer)->Arg(512)->Arg(64 << 20);
  add("MixedPair", &MixedPair)->Arg(256)->Arg(5000);
  add("Threads", &Threads)->Arg(512)->Arg(64 << 20)->Threads(2)->Threads(8)->UseRealTime();
  add("ThreadsMixed", &ThreadsMixed)->Threads(2)->Threads(8)->UseRealTime();
}

}  // namespace
}  // namespace memtrace

extern "C" {

// Must be called before ours replaces it.
__attribute__((visibility("default"))) void memtrace_benchmark_note_native() {
  memtrace::native = c10::cuda::CUDACachingAllocator::allocator.load();
}

// REQUIRES: CUDA is initialised with our allocator in place.
__attribute__((visibility("default"))) void memtrace_benchmark_run(int argc, char** argv) {
  memtrace::native->init(c10::cuda::device_count());
  memtrace::Register("native", &memtrace::Native);
  memtrace::Register("ours", &memtrace::Ours);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
}
