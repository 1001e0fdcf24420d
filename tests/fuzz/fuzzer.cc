// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer's entry point, compiled once for each target; MEMTRACE_FUZZ_TARGET names its function.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  memtrace::fuzz::MEMTRACE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
