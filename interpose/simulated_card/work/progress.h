// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_PROGRESS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "base/mutex.h"
#include "interpose/simulated_card/spec/event_timing.h"
#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/completion.h"
#include "interpose/simulated_card/work/stream.h"

namespace memtrace::card {

// How the host and the card's time met. `early` is 0 exactly if the process would have been given
// the same answers on a lazy card, `not_ready` is 0 exactly if on an eager one.
struct WaitCounts {
  std::uint64_t waits = 0;      // of the host, for work that was not done
  std::uint64_t not_ready = 0;  // questions answered so
  std::uint64_t early = 0;      // eager: questions answered "ready" before the host had waited
  std::uint64_t patience = 0;   // lazy: questions asked so often that they counted as waiting
};

// How far the work of all streams has come, and what the host is told of it.
//
// Work is always completed as late as it can be: when the host waits. The timing only decides what
// the host is told before: "eager" says that all is done, "lazy" what is so.
//
// Time is virtual, so that two runs of a program measure the same: a piece of work takes 10 us, the
// host none, and a stream that waits for another goes on when that is done.
//
// Thread rule: the first group of functions is safe from any thread. The second is called with
// mutex() held, which also guards every Stream, Event and Capture, and the classes that keep them
// (StreamTable, Events, Captures). What takes the lock may release it while the host is called.
class Progress {
 public:
  using Lock = std::unique_lock<Mutex>;

  explicit Progress(const EventTiming& timing = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  EventTiming Timing() const;
  // From now on. Work that was told to be unfinished may be told to be done.
  void SetTiming(const EventTiming& timing);
  // True if work may be unfinished at all, as far as anyone is told.
  bool Defers() const { return defers_.load(std::memory_order_relaxed); }
  WaitCounts Waits() const;
  // Returns the present, in the order of submissions and waits.
  Tick Now() const { return tick_.load(std::memory_order_relaxed); }
  bool IsFinished(const Work& work) const;

  Mutex& mutex() const { return mutex_; }

  // Gives the stream's next work its number and time.
  void Place(Stream* stream);
  // The stream goes on when that work of another is done.
  void Await(Stream* stream, const Work& work, Lock& lock);
  // Makes the last work of the stream a call: made by the thread that waits for it, at once if
  // eager.
  void CallLast(const Stream& stream, std::function<void()> call, Lock& lock);
  // The host waits for that work; for none, nothing happens.
  Result WaitFor(const Work& work, Lock& lock);
  // Answers the host, which asks if that work is done: kSuccess or kNotReady. `questions` counts
  // the answers of the second kind.
  Result Answer(const Work& work, std::uint64_t* questions, Lock& lock);
  // Returns the virtual time at which the next work of the stream would begin.
  std::int64_t TimeOf(const Stream& stream) const;
  // The host goes on no earlier than that.
  void AdvanceHostTo(std::int64_t nanoseconds);

 private:
  mutable Mutex mutex_;  // guards all below
  EventTiming timing_;
  Completion completion_;
  WaitCounts waits_;
  std::int64_t host_nanoseconds_ = 0;  // virtual time at the end of the host's last wait
  std::atomic<Tick> tick_ = 0;         // set under the lock
  std::atomic<bool> defers_ = false;   // set under the lock
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_PROGRESS_H_
