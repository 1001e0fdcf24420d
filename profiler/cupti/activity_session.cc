// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/activity_session.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/mutex.h"

namespace memtrace::cupti {
namespace {

// The size in NVIDIA's samples; a buffer comes back when it is full.
constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kAlignment = 8;      // ACTIVITY_RECORD_ALIGNMENT
constexpr size_t kSpareBuffers = 16;  // kept for the next request

constexpr auto kOperation = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;  // kineto uses the others

// Without the needed kinds there is nothing to record; an old or small CUPTI may lack the others.
constexpr CUpti_ActivityKind kNeeded[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                          CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
constexpr CUpti_ActivityKind kWelcome[] = {CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMORY2,
                                           CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

// The calls that launch work: only their records carry an operation.
constexpr CUpti_CallbackId kRuntimeLaunches[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020};
constexpr CUpti_CallbackId kDriverLaunches[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                                CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                                CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch};

// Returns CLOCK_MONOTONIC.
uint64_t MonotonicNs() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

}  // namespace

ActivitySession& ActivitySession::Make(const CuptiLibrary& library, Tell tell) {
  // Also keeps ended sessions: an object that is never destroyed must not look like a leak.
  static Mutex mutex;
  static auto* const kAll = new std::vector<ActivitySession*>();
  const MutexLock lock(mutex);
  return *kAll->emplace_back(new ActivitySession(library, std::move(tell)));
}

ActivitySession::ActivitySession(const CuptiLibrary& library, Tell tell)
    : library_(library),
      tell_(std::move(tell)),
      clocks_(MonotonicNs,
              [timestamp = library.timestamp] {
                uint64_t now = 0;
                timestamp(&now);
                return now;
              }),
      decoder_(clocks_) {}

absl::Status ActivitySession::Begin() {
  ActivitySession* nobody = nullptr;
  if (!current.compare_exchange_strong(nobody, this)) {
    return absl::UnavailableError("this process already has a CUPTI session");
  }
  {
    const MutexLock lock(mutex_);
    clocks_.Align();
  }
  absl::Status begun = EnableAll();
  if (begun.ok()) {
    is_on_ = true;
  } else {
    DisableAll();
    current = nullptr;
  }
  return begun;
}

absl::Status ActivitySession::EnableAll() {
  absl::Status ready = library_.Check(library_.register_callbacks(&GiveBuffer, &TakeBuffer),
                                      "giving CUPTI its buffers");
  for (const CUpti_ActivityKind kind : kNeeded) {
    if (ready.ok()) {
      ready = library_.Check(library_.enable(kind),
                             "enabling records of kind " + std::to_string(static_cast<int>(kind)));
    }
  }
  if (!ready.ok()) return ready;
  for (const CUpti_ActivityKind kind : kWelcome) library_.enable(kind);
  for (const CUpti_CallbackId call : kRuntimeLaunches) library_.enable_runtime_call(call, 1);
  for (const CUpti_CallbackId call : kDriverLaunches) library_.enable_driver_call(call, 1);
  return absl::OkStatus();
}

void ActivitySession::DisableAll() {
  for (const CUpti_CallbackId call : kRuntimeLaunches) library_.enable_runtime_call(call, 0);
  for (const CUpti_CallbackId call : kDriverLaunches) library_.enable_driver_call(call, 0);
  for (const CUpti_ActivityKind kind : kWelcome) library_.disable(kind);
  for (const CUpti_ActivityKind kind : kNeeded) library_.disable(kind);
}

void ActivitySession::End() {
  if (!is_on_.exchange(false)) return;
  DisableAll();
  library_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  current = nullptr;
}

void ActivitySession::Flush() {
  if (is_on()) library_.flush_all(0);
}

void ActivitySession::SetOperation(uint64_t operation) {
  static thread_local uint64_t said = 0;
  if (!is_on()) operation = 0;  // an earlier operation must still be popped
  if (said == operation) return;
  if (said != 0) library_.pop_external(kOperation, nullptr);
  if (operation != 0) library_.push_external(kOperation, operation);
  said = operation;
}

// A null buffer makes CUPTI drop the record and count it.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as CUPTI has them.
void ActivitySession::GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = nullptr;
  *size = 0;
  *most_records = 0;  // as many as fit
  ActivitySession* session = current;
  if (session == nullptr) return;
  const MutexLock lock(session->mutex_);
  auto& spare = session->spare_buffers_;
  if (spare.empty()) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  } else {
    *buffer = spare.back();
    spare.pop_back();
  }
  if (*buffer != nullptr) *size = kBufferBytes;
}

void ActivitySession::TakeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer,
                                 size_t /*size*/, size_t valid) {
  ActivitySession* session = current;
  if (session == nullptr) return std::free(buffer);
  session->DeliverBuffer(buffer, valid);
  size_t dropped = 0;
  if (session->library_.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) {
    session->dropped_.fetch_add(dropped, std::memory_order_relaxed);
  }
}

void ActivitySession::DeliverBatch() {
  if (!told_.empty()) tell_(told_);
  told_.clear();
}

void ActivitySession::DeliverBuffer(uint8_t* buffer, size_t valid) {
  const MutexLock lock(mutex_);
  clocks_.Align();
  CUpti_Activity* record = nullptr;
  while (library_.next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (const auto activity = decoder_.Decode(*record)) told_.push_back(*activity);
    if (told_.size() == kMostTold) DeliverBatch();
  }
  DeliverBatch();
  if (spare_buffers_.size() < kSpareBuffers) {
    spare_buffers_.push_back(buffer);
  } else {
    std::free(buffer);
  }
}

}  // namespace memtrace::cupti
