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

// Has CUPTI record what the cards do, and tells it as it comes back.
//
// CUPTI's buffers belong to the process: one session at a time, and none while another tool
// records (docs/cupti.md). A session that has ended can begin again. Never destroyed: CUPTI's
// threads may be on their way into it.
//
// Thread rule: any function from any thread. `tell` is called by CUPTI's threads and by those that
// flush, one at a time.
class ActivitySession {
 public:
  // At most kMostTold at once; names are valid during the call.
  using Tell = std::function<void(std::span<const CardActivity>)>;
  static constexpr size_t kMostTold = 64;

  static ActivitySession& Make(const CuptiLibrary& library, Tell tell);

  // kUnavailable with CUPTI's reason: no driver, another tool, no permission. Nothing is enabled
  // then. What single kinds of records a CUPTI does not have is left out.
  absl::Status Begin();
  // Disables everything, then hands out what is there. Harmless without Begin.
  void End();
  // Hands out what is finished by now.
  void Flush();
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }

  // What the calling thread launches from now on belongs to `operation`; 0, or a session that is
  // off, ends it. Two calls of CUPTI, none if nothing changes.
  void SetOperation(uint64_t operation);

  // Records that CUPTI could not keep, so far.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  ActivitySession(const CuptiLibrary& library, Tell tell);

  static void GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records);
  static void TakeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                         size_t valid);
  absl::Status EnableAll();
  void DisableAll();
  void TellAll(uint8_t* buffer, size_t valid);
  void TellThese();

  static inline std::atomic<ActivitySession*> current = nullptr;

  const CuptiLibrary library_;
  const Tell tell_;
  Mutex
      mutex_;  // guards what follows; CUPTI is only asked for the time and the next record under it
  ClockAlignment clocks_;
  ActivityDecoder decoder_;
  std::vector<CardActivity> told_;  // kept for its room
  std::vector<uint8_t*> spare_buffers_;
  std::atomic<bool> is_on_ = false;
  std::atomic<uint64_t> dropped_ = 0;
};

}  // namespace memtrace::cupti

#endif  // MEMTRACE_PROFILER_CUPTI_ACTIVITY_SESSION_H_
