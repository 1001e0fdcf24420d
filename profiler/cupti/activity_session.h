// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_CUPTI_ACTIVITY_SESSION_H_
#define MEMTRACE_PROFILER_CUPTI_ACTIVITY_SESSION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "profiler/cupti/activity_decoder.h"
#include "profiler/cupti/clock_alignment.h"
#include "profiler/cupti/cupti_library.h"

namespace memtrace::cupti {

// Makes CUPTI record what the cards do, and passes the activities on as they come back.
//
// CUPTI's buffers belong to the process: only one session is possible at a time, and none while
// another tool records (docs/design/cupti.md). A session that has ended can begin again. It is
// never destroyed, because CUPTI's threads may still be about to enter it.
//
// Thread rule: any function from any thread. `tell` is called by CUPTI's threads and by those that
// flush, one at a time.
class ActivitySession {
 public:
  // Receives at most kMostTold activities; their names are valid during the call.
  using Tell = std::function<void(std::span<const CardActivity>)>;
  static constexpr size_t kMostTold = 64;

  static ActivitySession& Make(const CuptiLibrary& library, Tell tell);

  // kUnavailable with CUPTI's reason (no driver, another tool, no permission), with nothing
  // enabled. Optional kinds of records that this CUPTI lacks are left out.
  absl::Status Begin();
  // Disables everything, then passes on the remaining records. Does nothing without Begin.
  void End();
  // Passes on all finished records.
  void Flush();
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }

  // Ties the calling thread's launches to `operation` from now on; 0, or a session that is off,
  // ends this. Costs two calls of CUPTI, none if nothing changes.
  void SetOperation(uint64_t operation);

  // Returns the number of records that CUPTI could not keep so far.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  ActivitySession(const CuptiLibrary& library, Tell tell);

  static void GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records);
  static void TakeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                         size_t valid);
  absl::Status EnableAll();
  void DisableAll();
  void DeliverBuffer(uint8_t* buffer, size_t valid);
  void DeliverBatch();

  static inline std::atomic<ActivitySession*> current = nullptr;

  const CuptiLibrary library_;
  const Tell tell_;
  Mutex
      mutex_;  // guards what follows; CUPTI is only asked for the time and the next record under it
  ClockAlignment clocks_;
  ActivityDecoder decoder_;
  std::vector<CardActivity> told_;  // kept for its capacity
  std::vector<uint8_t*> spare_buffers_;
  std::atomic<bool> is_on_ = false;
  std::atomic<uint64_t> dropped_ = 0;
};

}  // namespace memtrace::cupti

#endif  // MEMTRACE_PROFILER_CUPTI_ACTIVITY_SESSION_H_
