// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/progress.h"

#include <algorithm>
#include <utility>

#include "interpose/simulated_card/interface/card_listener.h"

namespace memtrace::card {
namespace {

// A host that asks this often, and does nothing on the card in between, counts as waiting.
constexpr std::uint64_t kPatience = 1000;
// The most outstanding waits of one stream for others.
constexpr std::size_t kMostMilestones = 1 << 16;

// The "not ready" answers that this thread got since it last submitted work.
thread_local std::uint64_t thread_questions = 0;

}  // namespace

Progress::Progress(const EventTiming& timing)
    : timing_(timing), defers_(timing.mode != EventMode::kEager) {}

EventTiming Progress::Timing() const {
  const MutexLock lock(mutex_);
  return timing_;
}

void Progress::SetTiming(const EventTiming& timing) {
  const MutexLock lock(mutex_);
  timing_ = timing;
  defers_ = timing.mode != EventMode::kEager;
}

WaitCounts Progress::Waits() const {
  const MutexLock lock(mutex_);
  return waits_;
}

bool Progress::IsFinished(const Work& work) const {
  if (!Defers()) return true;
  const MutexLock lock(mutex_);
  return IsDone(work);
}

void Progress::Place(Stream* stream) {
  ++stream->submitted;
  tick_.fetch_add(1, std::memory_order_relaxed);
  stream->questions = 0;
  stream->nanoseconds = TimeOf(*stream) + kMemtraceCardWorkNanoseconds;
  thread_questions = 0;
}

void Progress::Await(Stream* stream, const Work& work, Lock& lock) {
  if (work.stream.get() == stream || IsDone(work)) return;
  ++stream->submitted;
  completion_.AddWait(*stream, work);
  if (completion_.CountOutstanding(*stream) < kMostMilestones) return;
  // Because a card's queue is also finite, the host waits for room.
  ++waits_.early;
  WaitFor(LastOf(stream), lock);
}

void Progress::CallLast(const Stream& stream, std::function<void()> call, Lock& lock) {
  if (Defers()) return completion_.AddCall(stream, std::move(call));
  lock.unlock();
  call();
}

Result Progress::WaitFor(const Work& work, Lock& lock) {
  if (work.stream == nullptr) return Result::kSuccess;
  if (!IsDone(work)) ++waits_.waits;
  const Result result = completion_.Complete(work, lock);
  if (result != Result::kSuccess) return result;
  work.stream->last_wait = tick_.fetch_add(1, std::memory_order_relaxed) + 1;
  return result;
}

Result Progress::Answer(const Work& work, std::uint64_t* questions, Lock& lock) {
  if (IsDone(work)) {
    thread_questions = 0;
    return Result::kSuccess;
  }
  if (timing_.mode == EventMode::kEager) {
    ++waits_.early;
    return Result::kSuccess;
  }
  const bool has_asked_enough = timing_.mode == EventMode::kDelayed
                                    ? *questions >= timing_.questions
                                    : ++thread_questions > kPatience;
  if (!has_asked_enough) {
    ++*questions;
    ++waits_.not_ready;
    return Result::kNotReady;
  }
  if (timing_.mode == EventMode::kLazy) ++waits_.patience;
  thread_questions = 0;
  return WaitFor(work, lock);
}

std::int64_t Progress::TimeOf(const Stream& stream) const {
  return std::max(stream.nanoseconds, host_nanoseconds_);
}

void Progress::AdvanceHostTo(std::int64_t nanoseconds) {
  host_nanoseconds_ = std::max(host_nanoseconds_, nanoseconds);
}

}  // namespace memtrace::card
