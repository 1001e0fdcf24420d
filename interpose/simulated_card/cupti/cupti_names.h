// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_NAMES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_NAMES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace memtrace::card {

// A function of CUDA's by its number among CUPTI's callback ids.
struct NumberedCall {
  std::string_view function;  // "cudaMalloc", "cuMemAlloc_v2"
  std::uint32_t number;
  const char* name;  // as CUPTI writes it: "cudaMalloc_v3020", "cuMemAlloc_v2"
};

struct NamedResult {
  int result;
  const char* name;
};

// Generated from CUPTI's headers: sorted by function; of several versions of one the newest is
// last.
std::span<const NumberedCall> RuntimeCalls();
std::span<const NumberedCall> DriverCalls();
std::span<const NamedResult> Results();

// What CUPTI calls a call: of a library that stands for kernels (cublasGemmEx), the launch that
// NVIDIA's libraries make through the runtime.
struct CallNumber {
  bool is_runtime = false;
  std::uint32_t number = 0;  // 0: CUPTI does not number it
};
CallNumber NumberOf(std::string_view function);

// Null for a number that there is not.
const char* NameOf(bool is_runtime, std::uint32_t number);
// Null for no result.
const char* NameOfResult(int result);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_NAMES_H_
