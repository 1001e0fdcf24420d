// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_WATCHED_CALLS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_WATCHED_CALLS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/test_bed/listening.h"
#include "interpose/simulated_card/test_bed/planned_failures.h"

namespace memtrace::card {

// The functions that a program calls, for tests and profilers: some are made to fail, all can be
// logged and listened to. Until Plan(), StartLog() or Listen() is called, a call costs one look at
// a flag.
//
// A function that the program calls is logged and reported; calls made within it (cudaMalloc calls
// cuMemAlloc) are not; failures can be planned for both. Safe from any thread.
class WatchedCalls {
 public:
  // Called with the bytes that other processes take.
  using TakeMemory = std::function<void(std::uint64_t)>;

  // `listening` must outlive this.
  WatchedCalls(TakeMemory take_memory, Listening& listening)
      : take_memory_(std::move(take_memory)), listening_(listening) {}
  WatchedCalls(const WatchedCalls&) = delete;
  WatchedCalls& operator=(const WatchedCalls&) = delete;

  bool AreWatched() const { return watched_.load(std::memory_order_relaxed); }

  // Replaces the plan; calls are counted from the start again.
  void Plan(std::vector<PlannedFailure> plan);

  // Null removes the listener.
  void Listen(const memtrace_card_listener* listener);

  // A scope around each call that is made while AreWatched().
  class Scope {
   public:
    // `function` must outlive this.
    Scope(WatchedCalls& calls, const char* function);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // Returns the error that the call must return instead of doing anything; 0: none.
    int failure() const { return failure_; }
    // Stores the call's result for the log, and returns it.
    int Returns(int result);

   private:
    WatchedCalls& calls_;
    const std::string_view function_;
    int failure_ = 0;
  };

  // Stores the size that this thread's current call handles.
  static void NoteBytes(std::uint64_t bytes);

  // Empties the log and starts it.
  void StartLog();
  void StopLog();
  static constexpr std::size_t kLongestLog = 1'000'000;
  // Visits entries such as "cuMemCreate(2097152) = 0" in the order in which the calls returned, at
  // most kLongestLog. `visit` is called without the lock.
  void VisitLog(const std::function<void(const std::string&)>& visit) const;

 private:
  struct Counted {
    PlannedFailure planned;
    std::uint64_t calls = 0;
  };

  // Returns 0, or the error that is planned for this call. is_own: the program itself makes it.
  int Enter(std::string_view function, bool is_own);
  void Log(std::string_view function, int result);

  const TakeMemory take_memory_;
  Listening& listening_;
  std::atomic<bool> watched_ = false;  // never reset, because scopes must come in pairs
  std::atomic<bool> logging_ = false;
  std::atomic<bool> planned_ = false;  // plan_ has an entry
  mutable Mutex mutex_;
  std::vector<Counted> plan_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> log_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_WATCHED_CALLS_H_
