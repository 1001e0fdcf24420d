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

// How the host and the card's time met. `early` is 0 if and only if the process would have been
// given the same answers on a lazy card, `not_ready` is 0 if and only if on an eager one.
struct WaitCounts {
  std::uint64_t waits = 0;      // by the host, for work that was not done
  std::uint64_t not_ready = 0;  // questions answered "not ready"
  std::uint64_t early = 0;      // eager: questions answered "ready" before the host had waited
  std::uint64_t patience = 0;   // lazy: questions asked so often that they counted as waiting
};

// The progress of all streams' work, and what the host is told of it.
//
// Work is always completed as late as possible: when the host waits. The timing only decides what
// the host is told before that: "eager" reports all work as done, "lazy" only the work that is.
//
// Time is virtual, so that two runs of a program measure the same: a piece of work takes 10 us, the
// host none, and a stream that waits for another goes on when that is done.
//
// Thread rule: the first group of functions is safe from any thread. The second is called with
// mutex() held, which also guards every Stream, Event and Capture, and the classes that keep them
// (StreamTable, Events, Captures). A function that takes the lock may release it while the host is
// called.
class Progress {
 public:
  using Lock = std::unique_lock<Mutex>;

  explicit Progress(const EventTiming& timing = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  EventTiming Timing() const;
  // Takes effect at once: work that was reported as unfinished may now be reported as done.
  void SetTiming(const EventTiming& timing);
  // True if work may be reported as unfinished at all.
  bool Defers() const { return defers_.load(std::memory_order_relaxed); }
  WaitCounts Waits() const;
  // Returns the present, in the order of submissions and waits.
  Tick Now() const { return tick_.load(std::memory_order_relaxed); }
  bool IsFinished(const Work& work) const;

  Mutex& mutex() const { return mutex_; }

  // Gives the stream's next work its number and time.
  void Place(Stream* stream);
  // Makes the stream wait for that work of another stream.
  void Await(Stream* stream, const Work& work, Lock& lock);
  // Makes the last work of the stream a call, made by the thread that waits for it; at once if
  // eager.
  void CallLast(const Stream& stream, std::function<void()> call, Lock& lock);
  // Makes the host wait for that work; without work, nothing happens.
  Result WaitFor(const Work& work, Lock& lock);
  // Answers the host, which asks if that work is done: kSuccess or kNotReady. `questions` counts
  // the kNotReady answers.
  Result Answer(const Work& work, std::uint64_t* questions, Lock& lock);
  // Returns the virtual time at which the next work of the stream would begin.
  std::int64_t TimeOf(const Stream& stream) const;
  // Advances the host's time to at least that.
  void AdvanceHostTo(std::int64_t nanoseconds);

 private:
  mutable Mutex mutex_;  // guards the members below
  EventTiming timing_;
  Completion completion_;
  WaitCounts waits_;
  std::int64_t host_nanoseconds_ = 0;  // virtual time at the end of the host's last wait
  std::atomic<Tick> tick_ = 0;         // set under the lock
  std::atomic<bool> defers_ = false;   // set under the lock
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_PROGRESS_H_
