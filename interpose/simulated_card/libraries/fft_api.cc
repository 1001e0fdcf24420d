// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuFFT: plans by cufftXtMakePlanMany, which torch uses, and their execution, which computes
// nothing. Other ways to make a plan are not supported.
#include <cuda.h>

#pragma GCC visibility push(default)
#include <cufft.h>
#include <cufftXt.h>
#pragma GCC visibility pop

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "base/mutex.h"
#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/interface/library_memory.h"
#include "interpose/simulated_card/libraries/versions.h"

namespace memtrace::card {
namespace {

// Bytes that the first plan on a card allocates and never frees: measured (cuFFT 12.0,
// tests/gpu/recordings/h100-80gb/library_growth.json).
constexpr std::array<std::size_t, 1> kOwnMemory = {std::size_t{8} << 20};

struct Plan {
  cudaStream_t stream = nullptr;
  const void* work = nullptr;
  std::size_t work_bytes = 0;
};

// All plans of the process. Safe from any thread.
class Plans {
 public:
  cufftHandle Make() {
    const MutexLock lock(mutex_);
    plans_.emplace(next_, Plan{});
    return next_++;
  }
  // Returns CUFFT_INVALID_PLAN if there is no plan of that number.
  template <typename Change>
  cufftResult With(cufftHandle handle, Change change) {
    const MutexLock lock(mutex_);
    const auto found = plans_.find(handle);
    if (found == plans_.end()) return CUFFT_INVALID_PLAN;
    return change(found->second);
  }
  cufftResult End(cufftHandle handle) {
    const MutexLock lock(mutex_);
    return plans_.erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
  }

  // Takes the library's own memory on the current card, once. Returns false if there is no room for
  // it.
  bool AllocateLibraryMemory() {
    CUdevice card = 0;
    if (cuCtxGetDevice(&card) != CUDA_SUCCESS) return true;
    const MutexLock lock(mutex_);
    const auto [memory, is_new] = own_memory_.try_emplace(card);
    if (!is_new || memory->second.Take(kOwnMemory)) return true;
    own_memory_.erase(memory);
    return false;
  }

 private:
  Mutex mutex_;
  std::map<cufftHandle, Plan> plans_;
  std::map<CUdevice, LibraryMemory> own_memory_;
  cufftHandle next_ = 1;
};

Plans& AllPlans() {
  static Plans* plans = new Plans;
  return *plans;
}

bool IsComplex(cudaDataType type) {
  return type == CUDA_C_16F || type == CUDA_C_32F || type == CUDA_C_64F;
}

std::size_t ElementBytes(cudaDataType type) {
  const bool is_double = type == CUDA_C_64F || type == CUDA_R_64F;
  const bool is_half = type == CUDA_C_16F || type == CUDA_R_16F;
  const std::size_t real = is_double ? 8 : is_half ? 2 : 4;
  return IsComplex(type) ? 2 * real : real;
}

struct Transform {
  std::span<const long long> lengths;
  cudaDataType input = CUDA_C_32F;
  cudaDataType output = CUDA_C_32F;
  long long batch = 1;

  std::size_t Elements() const {
    std::size_t elements = static_cast<std::size_t>(batch);
    for (const long long length : lengths) elements *= static_cast<std::size_t>(length);
    return elements;
  }
};

// True if one pass of a kernel is enough: its factors are small, and it fits into a multiprocessor.
bool IsOnePass(long long length, bool is_complex) {
  constexpr long long kLongest = 16384;
  constexpr long long kLargestFactor = 127;
  constexpr long long kThirdPowerOfFive = 125;
  if (length > (is_complex ? kLongest : kLongest / 2)) return false;
  if (!is_complex && length % kThirdPowerOfFive == 0) return false;
  long long rest = length;
  for (long long factor = 2; factor <= kLargestFactor; ++factor) {
    while (rest % factor == 0) rest /= factor;
  }
  return rest == 1;
}

// Returns 0 if one pass is enough, else the bytes of the signal, as real numbers if it is real. For
// 41 transforms on an H200 (tests/gpu/recordings/h200/sizes_solvers.jsonl) 32 match within 0.1 %; a
// length with a large prime factor takes four times as much there, a long inverse of a real signal
// ten times.
std::size_t WorkBytes(const Transform& transform) {
  const bool is_complex = IsComplex(transform.input) && IsComplex(transform.output);
  const bool is_one_pass =
      std::all_of(transform.lengths.begin(), transform.lengths.end(),
                  [&](long long length) { return IsOnePass(length, is_complex); });
  if (is_one_pass) return 0;
  return transform.Elements() *
         std::min(ElementBytes(transform.input), ElementBytes(transform.output));
}

}  // namespace
}  // namespace memtrace::card

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

cufftResult cufftCreate(cufftHandle* plan) {
  if (plan == nullptr) return CUFFT_INVALID_VALUE;
  *plan = AllPlans().Make();
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) { return AllPlans().End(plan); }

cufftResult cufftSetAutoAllocation(cufftHandle plan, int) {
  return AllPlans().With(plan, [](Plan&) { return CUFFT_SUCCESS; });
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  return AllPlans().With(plan, [&](Plan& found) {
    found.stream = stream;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftSetWorkArea(cufftHandle plan, void* work) {
  return AllPlans().With(plan, [&](Plan& found) {
    found.work = work;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* lengths, long long*,
                                long long, long long, cudaDataType input, long long*, long long,
                                long long, cudaDataType output, long long batch,
                                std::size_t* work_bytes, cudaDataType) {
  if (lengths == nullptr || work_bytes == nullptr || rank < 1 || rank > 3 || batch < 1)
    return CUFFT_INVALID_VALUE;
  const std::span<const long long> all(lengths, static_cast<std::size_t>(rank));
  if (std::any_of(all.begin(), all.end(), [](long long length) { return length < 1; }))
    return CUFFT_INVALID_SIZE;
  if (!AllPlans().AllocateLibraryMemory()) return CUFFT_ALLOC_FAILED;
  return AllPlans().With(plan, [&](Plan& found) {
    found.work_bytes = WorkBytes({all, input, output, batch});
    *work_bytes = found.work_bytes;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int) {
  if (input == nullptr || output == nullptr) return CUFFT_INVALID_VALUE;
  return AllPlans().With(plan, [](const Plan& found) {
    memtrace_card_use_workspace("cuFFT", found.work, found.work_bytes);
    return memtrace_card_launch_call("cufftXtExec", found.stream) == 0 ? CUFFT_SUCCESS
                                                                       : CUFFT_EXEC_FAILED;
  });
}

cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = FftVersion();
  return CUFFT_SUCCESS;
}
