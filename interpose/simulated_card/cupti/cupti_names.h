// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_NAMES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_NAMES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace memtrace::card {

// A CUDA function with its number among CUPTI's callback ids.
struct NumberedCall {
  std::string_view function;  // "cudaMalloc", "cuMemAlloc_v2"
  std::uint32_t number;
  const char* name;  // CUPTI's spelling: "cudaMalloc_v3020", "cuMemAlloc_v2"
};

struct NamedResult {
  int result;
  const char* name;
};

// Generated from CUPTI's headers and sorted by function; the newest of several versions is last.
std::span<const NumberedCall> RuntimeCalls();
std::span<const NumberedCall> DriverCalls();
std::span<const NamedResult> Results();

// CUPTI's number of a call. For a library call that stands for kernels (cublasGemmEx), it is the
// launch that NVIDIA's libraries make through the runtime.
struct CallNumber {
  bool is_runtime = false;
  std::uint32_t number = 0;  // 0: CUPTI does not number it
};
CallNumber NumberOf(std::string_view function);

// Returns null for an unknown number.
const char* NameOf(bool is_runtime, std::uint32_t number);
// Returns null for an unknown result.
const char* NameOfResult(int result);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_NAMES_H_
