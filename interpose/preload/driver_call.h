// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_DRIVER_CALL_H_
#define MEMTRACE_INTERPOSE_PRELOAD_DRIVER_CALL_H_

#include <cerrno>
#include <cstdint>

#include "interpose/core/memtrace.h"
#include "interpose/preload/core_library.h"
#include "interpose/preload/driver_symbols.h"

// Defines `real` as the driver's function `name`, or returns the error for a missing driver.
// NOLINTBEGIN(bugprone-macro-parentheses): a function's name and a constant's
#define MEMTRACE_REAL_OR_RETURN(name)          \
  const auto real = Real(Symbol::name, &name); \
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED
// NOLINTEND(bugprone-macro-parentheses)

namespace memtrace::preload {

// On the stack of each of our functions. Calls that the driver makes itself, or that our core makes
// while it is told something, count as part of the outer call. The program gets errno as the driver
// left it.
class DriverCall {
 public:
  DriverCall() : is_outermost_(!is_inside && !IsOff()) {
    if (is_outermost_) is_inside = true;
  }
  ~DriverCall() {
    if (is_outermost_) is_inside = false;
  }
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;

  bool is_told() const { return is_outermost_; }

 private:
  static bool IsOff();
  static constinit thread_local bool is_inside __attribute__((tls_model("initial-exec")));

  const bool is_outermost_;
};

class KeptErrno {
 public:
  KeptErrno() : before_(errno) {}
  ~KeptErrno() { errno = before_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  const int before_;
};

// Returns the card whose context is current.
int CurrentCard();

// Describes memory of the current card, or of the host while that card is current.
inline memtrace_outside Outside(memtrace_outside_kind kind, uint64_t address, size_t bytes,
                                CUstream stream, const void* caller) {
  return {.size = 0,
          .kind = kind,
          .device = CurrentCard(),
          .address = address,
          .bytes = bytes,
          .stream = reinterpret_cast<uint64_t>(stream),
          .caller = caller};
}

// Passes on the driver's answer to a request for memory.
void ReportAllocationResult(CUresult result, memtrace_outside memory);

// Gives memory back. The core is told before the driver frees it, because another thread may get
// the address at once. `free` calls the driver.
template <typename Free>
CUresult GiveBack(const DriverCall& call, uint64_t address, Free free) {
  const Core* core = call.is_told() ? CoreIfStarted() : nullptr;
  if (core == nullptr) return free();
  memtrace_outside was{};
  was.size = sizeof(was);
  const bool is_known = core->outside_freed(address, &was) != 0;
  const CUresult result = free();
  if (is_known && result != CUDA_SUCCESS && result != CUDA_ERROR_DEINITIALIZED)
    core->outside_allocated(&was);
  return result;
}

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_DRIVER_CALL_H_
