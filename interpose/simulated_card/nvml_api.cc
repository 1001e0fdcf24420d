// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// NVML, as far as libc10_cuda asks it: the fabric of a card before a chunk of an expandable segment
// is mapped (torch 2.15 calls nvmlInit_v2 unseen, so without an NVML it crashes), and who uses the
// card when memory runs out. No wheel carries nvml.h: the declarations are those of NVIDIA's NVML
// API reference.
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "interpose/simulated_card/card_control.h"
#include "interpose/simulated_card/library_calls.h"

namespace memtrace::card {
namespace {

// nvmlReturn_t
constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;

// nvmlProcessInfo_v1_t: what the name without a version means in the library.
struct ProcessInfo {
  unsigned int pid;
  unsigned long long bytes;
};

// A device's handle is its index, counted from 1; never null.
void* HandleOf(int device) { return reinterpret_cast<void*>(static_cast<intptr_t>(device) + 1); }

int DeviceOf(void* handle) { return static_cast<int>(reinterpret_cast<intptr_t>(handle)) - 1; }

}  // namespace
}  // namespace memtrace::card

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

#pragma GCC visibility push(default)
// NOLINTBEGIN(readability-identifier-naming): NVML's names.
extern "C" {

int nvmlInit_v2() { return memtrace_card_count() > 0 ? kSuccess : kDriverNotLoaded; }

// "00000000:01:00.0"; the card's bus is its index, counted from 1 (device_attributes.cc).
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** handle) {
  unsigned int domain = 0;
  unsigned int bus = 0;
  if (id == nullptr || handle == nullptr) return kInvalidArgument;
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): both fields have a fixed width
  if (std::sscanf(id, "%8x:%2x:", &domain, &bus) != 2) return kInvalidArgument;
  const int device = static_cast<int>(bus) - 1;
  if (device < 0 || device >= memtrace_card_count()) return kNotFound;
  *handle = HandleOf(device);
  return kSuccess;
}

// The caller's struct says "not supported" until this writes another state: no card has a fabric.
int nvmlDeviceGetGpuFabricInfoV(void* /*handle*/, void* info) {
  return info == nullptr ? kInvalidArgument : kSuccess;
}

// This process is the only one that a card knows by its number; `other` has none.
int nvmlDeviceGetComputeRunningProcesses(void* handle, unsigned int* count, ProcessInfo* infos) {
  struct memtrace_card_ledger ledger = {};
  ledger.size = sizeof(ledger);
  if (count == nullptr) return kInvalidArgument;
  if (memtrace_card_ledger(DeviceOf(handle), &ledger) != MEMTRACE_CARD_OK) return kInvalidArgument;
  const unsigned int room = *count;
  *count = ledger.context_active != 0 ? 1 : 0;
  if (*count > room) return kInsufficientSize;
  if (*count == 0) return kSuccess;
  if (infos == nullptr) return kInvalidArgument;
  *infos = {.pid = static_cast<unsigned int>(getpid()),
            .bytes = ledger.context + ledger.runtime_allocated + ledger.vmm_allocated};
  return kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
#pragma GCC visibility pop
