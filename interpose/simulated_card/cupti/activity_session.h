// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_SESSION_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_SESSION_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/cupti/activity_buffers.h"
#include "interpose/simulated_card/cupti/activity_clock.h"
#include "interpose/simulated_card/cupti/activity_records.h"
#include "interpose/simulated_card/cupti/enabled_ids.h"

namespace memtrace::card {

// Keeps what a client of the activity API enabled, and makes its records.
//
// Calls have the host's times. A kernel, copy or fill starts when it enters its stream. It lasts as
// long as it does for events (10 us of virtual time), but ends earlier when the next enters its
// stream, when the host or another stream waits, or when records are flushed: the card runs
// nothing, so it is never behind the host, and a client that drops work which ends after its own
// end (kineto does) drops nothing.
//
// Safe from any thread.
class ActivitySession {
 public:
  ActivitySession() = default;
  ActivitySession(const ActivitySession&) = delete;
  ActivitySession& operator=(const ActivitySession&) = delete;

  CUptiResult Enable(CUpti_ActivityKind kind, bool enabled);
  CUptiResult EnableCall(bool is_runtime, std::uint32_t number, bool enabled);
  void EnableEventTimestamps(bool enabled) { event_timestamps_ = enabled; }
  // Disables every kind.
  void DisableAll();
  bool IsOn() const { return is_on_; }

  void SetThreadIds(CUpti_ActivityThreadIdType type) { thread_ids_ = type; }
  CUpti_ActivityThreadIdType ThreadIds() const { return thread_ids_; }

  // Called with the card's calls and events (card_listener.h).
  void Enter();
  void Leave(const memtrace_card_call& call);
  void HandleEvent(const memtrace_card_event& event);

  // Ends all work that has not ended, and returns all buffers.
  void Flush();

  ActivityBuffers& buffers() { return buffers_; }
  ActivityClock& clock() { return clock_; }

 private:
  struct OpenWork {
    WorkRecord record;
    Moment start;
  };
  using StreamKey = std::pair<int, std::uint64_t>;  // device, stream

  static constexpr std::size_t kKinds = CUPTI_ACTIVITY_KIND_COUNT;

  bool IsKindEnabled(CUpti_ActivityKind kind) const {
    return kinds_[static_cast<std::size_t>(kind)];
  }
  void Change();
  template <typename Record>
  void Append(const Record& record) {
    buffers_.Append(&record, sizeof(record));
  }
  void Start(const memtrace_card_event& event);
  void Waited(const memtrace_card_event& event);
  // Ends the work for which wanted(key) is true.
  template <typename Wanted>
  void End(Wanted wanted);
  void AppendEnded(std::vector<OpenWork> ended);
  void AppendExternal(std::uint32_t correlation);

  ActivityBuffers buffers_;
  ActivityClock clock_;
  std::array<std::atomic<bool>, kKinds> kinds_ = {};
  EnabledIds runtime_calls_;
  EnabledIds driver_calls_;
  std::atomic<bool> is_on_ = false;
  std::atomic<bool> event_timestamps_ = false;
  std::atomic<CUpti_ActivityThreadIdType> thread_ids_ = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  Mutex mutex_;
  std::map<StreamKey, OpenWork> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_SESSION_H_
