// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_DRIVER_CALL_H_
#define MEMTRACE_INTERPOSE_PRELOAD_DRIVER_CALL_H_

#include <cerrno>
#include <cstdint>

#include "interpose/core/memtrace.h"
#include "interpose/preload/core_library.h"
#include "interpose/preload/driver_symbols.h"

// Of a function that exports under `name`: the driver's, or the error for "there is no driver".
// NOLINTBEGIN(bugprone-macro-parentheses): a function's name and a constant's
#define MEMTRACE_REAL_OR_RETURN(name)          \
  const auto real = Real(Symbol::name, &name); \
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED
// NOLINTEND(bugprone-macro-parentheses)

namespace memtrace::preload {

// On the stack of each of our functions. A call that the driver makes of itself, or that our own
// core makes while it is told something, is part of the outer one. The program finds errno as the
// driver left it.
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

// The card whose context is current.
int CurrentCard();

// Memory of the current card, or of the host while that card is current.
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

// What the driver answered to a request for memory.
void NoteAnswer(CUresult result, memtrace_outside memory);

// Gives memory back: the core hears of it before the driver does it, since another thread may be
// given the address at once. `free` calls the driver.
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
