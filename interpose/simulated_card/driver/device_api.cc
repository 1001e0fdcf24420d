// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuInit, devices and what their current context tells of them.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/environment.h"
#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/driver/other_driver.h"
#include "interpose/simulated_card/driver/telling.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// The newest CUDA whose functions symbols/ lists: a driver serves the runtimes of its major version
// up to its own.
constexpr int kDriverVersion = 13020;

std::atomic<bool> initialized = false;
std::atomic<bool> forked_after_initialization = false;

// For test suites that fork a child for each test: the child goes on with a copy of the cards.
bool ChildCopiesCards() { return env::Is(env::kCardFork, "copy"); }

// A context does not survive fork; on a real driver every call of such a child fails with 3.
void ForgetInChild() {
  if (initialized && ChildCopiesCards() && Machine::OfProcess()->file.MakePrivate()) return;
  if (initialized.exchange(false)) forked_after_initialization = true;
}

// By CUlimit: the defaults of the programming guide for stack, printf and malloc; others are 0.
std::array<std::atomic<std::size_t>, CU_LIMIT_MAX> limits = {1024, 1u << 20, 8u << 20};

// True if the process also has another driver: two kinds of card must not mix. Reported once, at
// the first cuInit.
bool HasMixedDrivers() {
  static const std::string kOther = OtherDriverInProcess();
  static const bool kSaid =
      !kOther.empty() &&
      std::fprintf(stderr,
                   "memtrace: another CUDA driver (%s) is loaded in this process beside the "
                   "simulated card, which refuses to work with it; load the card first, as "
                   "memtrace run --card does, or run without one\n",
                   kOther.c_str()) > 0;
  return kSaid;
}

}  // namespace

bool DriverIsInitialized() { return initialized; }

}  // namespace memtrace::card

CUresult cuInit(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (forked_after_initialization) return CUDA_ERROR_NOT_INITIALIZED;
  if (Machine::OfProcess() == nullptr || HasMixedDrivers()) return CUDA_ERROR_NO_DEVICE;
  static int registered = pthread_atfork(nullptr, nullptr, ForgetInChild);
  initialized = registered == 0;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  return WithMachine([&](Machine& machine) {
    if (count == nullptr) return Result::kInvalidValue;
    *count = machine.DeviceCount();
    return Result::kSuccess;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return WithDevice(ordinal, [&](Machine&) {
    if (device == nullptr) return Result::kInvalidValue;
    *device = ordinal;
    return Result::kSuccess;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return WithDevice(device, [&](Machine& machine) {
    if (name == nullptr || length <= 0) return Result::kInvalidValue;
    const std::string text = NameOf(machine.CardAt(device).Spec());
    const std::size_t copied = std::min(text.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(name, text.data(), copied);
    name[copied] = '\0';
    return Result::kSuccess;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return WithDevice(device, [&](Machine& machine) {
    if (uuid == nullptr) return Result::kInvalidValue;
    const auto bytes = UuidOf(machine.CardAt(device).sharing().LedgerIndex());
    std::memcpy(uuid->bytes, bytes.data(), bytes.size());
    return Result::kSuccess;
  });
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return WithDevice(device, [&](Machine& machine) {
    if (bytes == nullptr) return Result::kInvalidValue;
    *bytes = machine.CardAt(device).CurrentLedger().total;
    return Result::kSuccess;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return WithDevice(device, [&](Machine& machine) {
    if (value == nullptr) return Result::kInvalidValue;
    *value = DeviceAttribute(machine.CardAt(device), attribute);
    const bool is_of_host =
        attribute == CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    if (is_of_host && machine.physical.host_located().limit == 0) *value = 0;
    return Result::kSuccess;
  });
}

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  return WithDevice(device, [&](Machine& machine) {
    if (!machine.HasDevice(peer)) return Result::kInvalidDevice;
    if (can_access == nullptr) return Result::kInvalidValue;
    *can_access = 0;
    return Result::kSuccess;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute, CUdevice device,
                                 CUdevice peer) {
  return WithDevice(device, [&](Machine& machine) {
    if (!machine.HasDevice(peer) || device == peer) return Result::kInvalidDevice;
    if (value == nullptr) return Result::kInvalidValue;
    *value = 0;
    return Result::kSuccess;
  });
}

// Cards cannot access each other's memory; copies between them work, as if through the host.
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int) {
  return WithContext([](Machine&, int) { return Result::kPeerAccessUnsupported; });
}

CUresult cuCtxDisablePeerAccess(CUcontext) {
  return WithContext([](Machine&, int) { return Result::kPeerAccessNotEnabled; });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return WithContext([&](Machine&, int current) {
    if (device == nullptr) return Result::kInvalidValue;
    *device = current;
    return Result::kSuccess;
  });
}

CUresult cuCtxSynchronize() {
  return WithContext([](Machine& machine, int device) {
    const Result result = machine.streams.SynchronizeDevice(device);
    if (result != Result::kSuccess) return result;
    machine.pools.TrimToThresholds();
    TellWait(machine, MEMTRACE_CARD_DEVICE_WAITED, device, {});
    return result;
  });
}

// Limits are stored and have no effect: how they change the context's size is not known.
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return WithContext([&](Machine&, int) {
    if (limit >= CU_LIMIT_MAX) return Result::kInvalidValue;
    limits[limit] = value;
    return Result::kSuccess;
  });
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return WithContext([&](Machine&, int) {
    if (value == nullptr || limit >= CU_LIMIT_MAX) return Result::kInvalidValue;
    *value = limits[limit];
    return Result::kSuccess;
  });
}

CUresult cuCtxResetPersistingL2Cache() {
  return WithContext([](Machine&, int) { return Result::kSuccess; });
}

CUresult cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
  return WithContext([&](Machine&, int) {
    if (lowest != nullptr) *lowest = kLowestPriority;
    if (highest != nullptr) *highest = kHighestPriority;
    return Result::kSuccess;
  });
}
