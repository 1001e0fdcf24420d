// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CUDA_DRIVER_H_
#define MEMTRACE_ALLOCATOR_CUDA_DRIVER_H_

#include <cuda.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"

namespace memtrace {

// The driver functions used, by their exported names (cuda.h hides versions behind macros).
#define MEMTRACE_DRIVER_FUNCTIONS(X)                              \
  X(GetErrorName, cuGetErrorName)                                 \
  X(GetErrorString, cuGetErrorString)                             \
  X(Init, cuInit)                                                 \
  X(DeviceGet, cuDeviceGet)                                       \
  X(DeviceGetAttribute, cuDeviceGetAttribute)                     \
  X(DeviceGetUuid, cuDeviceGetUuid_v2)                            \
  X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)             \
  X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)        \
  X(DevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState)         \
  X(CtxGetCurrent, cuCtxGetCurrent)                               \
  X(CtxSetCurrent, cuCtxSetCurrent)                               \
  X(CtxSynchronize, cuCtxSynchronize)                             \
  X(MemGetInfo, cuMemGetInfo_v2)                                  \
  X(MemGetAllocationGranularity, cuMemGetAllocationGranularity)   \
  X(MemAddressReserve, cuMemAddressReserve)                       \
  X(MemAddressFree, cuMemAddressFree)                             \
  X(MemCreate, cuMemCreate)                                       \
  X(MemRelease, cuMemRelease)                                     \
  X(MemMap, cuMemMap)                                             \
  X(MemUnmap, cuMemUnmap)                                         \
  X(MemSetAccess, cuMemSetAccess)                                 \
  X(MemRetainAllocationHandle, cuMemRetainAllocationHandle)       \
  X(MemExportToShareableHandle, cuMemExportToShareableHandle)     \
  X(MemImportFromShareableHandle, cuMemImportFromShareableHandle) \
  X(EventCreate, cuEventCreate)                                   \
  X(EventDestroy, cuEventDestroy_v2)                              \
  X(EventRecord, cuEventRecord)                                   \
  X(EventQuery, cuEventQuery)                                     \
  X(EventSynchronize, cuEventSynchronize)                         \
  X(StreamIsCapturing, cuStreamIsCapturing)                       \
  X(StreamGetCaptureInfo, cuStreamGetCaptureInfo_v3)              \
  X(GraphNodeGetDependencies, cuGraphNodeGetDependencies_v2)      \
  X(StreamCreate, cuStreamCreate)                                 \
  X(StreamDestroy, cuStreamDestroy_v2)                            \
  X(StreamSynchronize, cuStreamSynchronize)                       \
  X(MemHostAlloc, cuMemHostAlloc)                                 \
  X(MemFreeHost, cuMemFreeHost)                                   \
  X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)                        \
  X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)                        \
  X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2)                        \
  X(MemsetD8Async, cuMemsetD8Async)                               \
  X(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode)

// libcuda.so.1, loaded when it is first needed. Nothing links it, so that everything else runs on
// machines without it. Thread rule: any thread.
class Driver {
 public:
  // Returns the process's driver, initialised. kUnavailable, with the reason, if there is none.
  static absl::StatusOr<const Driver*> Get();

  // Returns OK, or the driver's own words: "out of memory (cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY)",
  // with its number (driver_result.h). kResourceExhausted if the card is full, kInvalidArgument for
  // a broken rule, otherwise kInternal.
  absl::Status ToStatus(const char* call, CUresult result) const;

// NOLINTNEXTLINE(bugprone-macro-parentheses): `name` is declared, not used
#define MEMTRACE_DECLARE(name, symbol) decltype(&::symbol) name = nullptr;
  MEMTRACE_DRIVER_FUNCTIONS(MEMTRACE_DECLARE)
#undef MEMTRACE_DECLARE

 private:
  static absl::StatusOr<Driver> Load();
};

// A card's primary context, which the CUDA runtime and torch also use. It is created, or retained
// if it already exists, at its first use and kept alive from then on. It is not created earlier
// because a process that sees eight cards mostly uses one, and a context takes some 500 MiB of its
// card. Move-only. Thread rule: any thread.
class PrimaryContext {
 public:
  static absl::StatusOr<PrimaryContext> Of(const Driver& driver, int ordinal);
  PrimaryContext(PrimaryContext&& other) noexcept = default;
  PrimaryContext& operator=(PrimaryContext&&) = delete;
  ~PrimaryContext();

  const Driver& driver() const { return *driver_; }
  CUdevice device() const { return device_; }
  // True if the context has been created, by anyone in this process.
  bool is_active() const;
  // Returns null if it cannot be created; calls then fail with CUDA_ERROR_INVALID_CONTEXT.
  CUcontext context() const;

 private:
  struct Retained {
    Mutex mutex;  // while it is created
    std::atomic<CUcontext> context = nullptr;
  };

  PrimaryContext(const Driver& driver, CUdevice device)
      : driver_(&driver), device_(device), retained_(std::make_unique<Retained>()) {}

  const Driver* driver_;
  CUdevice device_;
  std::unique_ptr<Retained> retained_;
};

// While it lives, this thread's calls go to `context` and are allowed even while a graph is being
// captured: in the default capture mode the driver refuses most calls used here and invalidates the
// capture. Restores both at the end.
class CallScope {
 public:
  explicit CallScope(const PrimaryContext& context ABSL_ATTRIBUTE_LIFETIME_BOUND);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // True while one lives on this thread: what runs then was called by the driver.
  static bool IsOpen() { return open > 0; }

  const Driver& driver() const { return driver_; }

 private:
  const Driver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  CUcontext previous_ = nullptr;
  bool has_exchanged_ = false;
  bool has_changed_context_ = false;
  static inline thread_local int open = 0;
};

// A CUDA event without timing. Move-only.
class UniqueEvent {
 public:
  static absl::StatusOr<UniqueEvent> Create(const Driver& driver);
  UniqueEvent(UniqueEvent&& other) noexcept
      : driver_(other.driver_), event_(std::exchange(other.event_, nullptr)) {}
  UniqueEvent& operator=(UniqueEvent&&) = delete;
  ~UniqueEvent();

  CUevent get() const { return event_; }

 private:
  UniqueEvent(const Driver& driver, CUevent event) : driver_(&driver), event_(event) {}

  const Driver* driver_;
  CUevent event_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CUDA_DRIVER_H_
