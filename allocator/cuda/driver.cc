// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/cuda/driver.h"

#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "allocator/card/driver_result.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

// At exit the driver may be gone before our destructors run, together with all it owned. Any other
// failure cannot be reported to anybody either.
void IgnoreInDestructor(CUresult) {}

absl::StatusCode CodeOf(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_NOT_SUPPORTED:  // for a part of a chunk
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_ALREADY_MAPPED:
    case CUDA_ERROR_NOT_MAPPED:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::StatusOr<const Driver*> Driver::Get() {
  static const absl::StatusOr<Driver> kDriver = Load();
  if (!kDriver.ok()) return kDriver.status();
  return &*kDriver;
}

absl::StatusOr<Driver> Driver::Load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("there is no CUDA driver on this machine: ", dlerror()));
  }
  Driver driver;
#define MEMTRACE_LOOK_UP(name, symbol)                                                         \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, #symbol));              \
  if (driver.name == nullptr) {                                                                \
    return absl::UnavailableError("the CUDA driver is too old: libcuda.so.1 has no " #symbol); \
  }
  MEMTRACE_DRIVER_FUNCTIONS(MEMTRACE_LOOK_UP)
#undef MEMTRACE_LOOK_UP
  MEMTRACE_RETURN_IF_ERROR(driver.ToStatus("cuInit", driver.Init(0)));
  return driver;
}

absl::Status Driver::ToStatus(const char* call, CUresult result) const {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* name = nullptr;
  const char* words = nullptr;
  GetErrorName(result, &name);
  GetErrorString(result, &words);
  const std::string message =
      absl::StrCat(words == nullptr ? "unknown error" : words, " (", call, ": ",
                   name == nullptr ? absl::StrCat(static_cast<int>(result)) : name, ")");
  return WithDriverResult(absl::Status(CodeOf(result), message), static_cast<int>(result));
}

absl::StatusOr<PrimaryContext> PrimaryContext::Of(const Driver& driver, int ordinal) {
  CUdevice device = 0;
  MEMTRACE_RETURN_IF_ERROR(driver.ToStatus("cuDeviceGet", driver.DeviceGet(&device, ordinal)));
  return PrimaryContext(driver, device);
}

bool PrimaryContext::is_active() const {
  unsigned flags = 0;
  int active = 0;
  return driver_->DevicePrimaryCtxGetState(device_, &flags, &active) == CUDA_SUCCESS && active != 0;
}

CUcontext PrimaryContext::context() const {
  if (CUcontext known = retained_->context.load(std::memory_order_acquire)) return known;
  const MutexLock lock(retained_->mutex);
  CUcontext context = retained_->context.load(std::memory_order_relaxed);
  if (context == nullptr && driver_->DevicePrimaryCtxRetain(&context, device_) == CUDA_SUCCESS) {
    retained_->context.store(context, std::memory_order_release);
  }
  return context;
}

PrimaryContext::~PrimaryContext() {
  if (retained_ == nullptr || retained_->context.load() == nullptr) return;
  IgnoreInDestructor(driver_->DevicePrimaryCtxRelease(device_));
}

CallScope::CallScope(const PrimaryContext& context) : driver_(context.driver()) {
  ++open;
  has_exchanged_ = driver_.ThreadExchangeStreamCaptureMode(&mode_) == CUDA_SUCCESS;
  // A thread of torch's autograd has no current context until its first CUDA call.
  const bool is_known = driver_.CtxGetCurrent(&previous_) == CUDA_SUCCESS;
  CUcontext needed = context.context();
  if (is_known && previous_ != needed)
    has_changed_context_ = driver_.CtxSetCurrent(needed) == CUDA_SUCCESS;
}

CallScope::~CallScope() {
  --open;
  if (has_changed_context_) IgnoreInDestructor(driver_.CtxSetCurrent(previous_));
  if (has_exchanged_) IgnoreInDestructor(driver_.ThreadExchangeStreamCaptureMode(&mode_));
}

absl::StatusOr<UniqueEvent> UniqueEvent::Create(const Driver& driver) {
  CUevent event = nullptr;
  MEMTRACE_RETURN_IF_ERROR(
      driver.ToStatus("cuEventCreate", driver.EventCreate(&event, CU_EVENT_DISABLE_TIMING)));
  return UniqueEvent(driver, event);
}

UniqueEvent::~UniqueEvent() {
  if (event_ != nullptr) IgnoreInDestructor(driver_->EventDestroy(event_));
}

}  // namespace memtrace
