// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ABI_BORDER_H_
#define MEMTRACE_INTERPOSE_CORE_ABI_BORDER_H_

#include <cxxabi.h>

#include <exception>
#include <string_view>

#include "absl/status/status.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/process.h"

// Helpers of every function of the C ABI: they contain exceptions, keep the sentence of a failure,
// and look up cards and addresses.
namespace memtrace {

// Stores the sentence for memtrace_last_error() and the driver's error number, and returns
// `status`.
int Fail(int status, std::string_view sentence, int driver_result = 0);
const char* LastError();
int LastDriverResult();

int NoSuchCard(int device);
int Missing(const char* what);
int TranslateFailure(const absl::Status& status);
inline int Translate(const absl::Status& status) {
  return status.ok() ? MEMTRACE_OK : TranslateFailure(status);
}

inline DeviceAddress Address(const void* address) {
  return DeviceAddress{reinterpret_cast<uint64_t>(address)};
}
inline void* Pointer(DeviceAddress address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the card's addresses are pointers to programs
  return reinterpret_cast<void*>(address.value());
}

// Lets no exception out. The only exceptions are the unwinding of a thread that Python or
// pthread_cancel ends: it must go on, so it is rethrown.
template <typename Result, typename Action>
Result Contain(Result on_failure, Action action) {
  try {
    return action();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    Fail(MEMTRACE_INTERNAL, error.what());
  } catch (...) {
    Fail(MEMTRACE_INTERNAL, "an unknown error");
  }
  return on_failure;
}

template <typename Action>
void Contain(Action action) {
  Contain(0, [&] {
    action();
    return 0;
  });
}

// Calls `action` with the card's allocator, or fails if there is none.
template <typename Action>
int WithCard(int device, Action action) {
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&]() -> int {
    CachingAllocator* allocator = Process::Get().cards().allocator_in_use(device);
    return allocator != nullptr ? action(*allocator) : NoSuchCard(device);
  });
}

template <typename Action>
int WithOwner(const void* address, Action action) {
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&]() -> int {
    if (Process::Get().cards().is_forked()) return Fail(MEMTRACE_INTERNAL, Process::kForked);
    CachingAllocator* allocator = Process::Get().cards().owner_of(Address(address));
    return allocator != nullptr ? action(*allocator)
                                : Fail(MEMTRACE_INVALID_ARGUMENT,
                                       "the address is not in a segment of memtrace's allocator");
  });
}

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ABI_BORDER_H_
