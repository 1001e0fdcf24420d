// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_COMPLETION_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_COMPLETION_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/stream.h"

namespace memtrace::card {

// Completes work in the order that streams and events prescribe. Only two kinds of work have an
// effect when they are completed, the milestones: waiting for another stream, and calling the host.
//
//   stream A   1  2  3  call  5          Complete(B, 3) does A up to 4, which makes the call, then
//   stream B   1  wait(A, 4)  3          B up to 3; A's 5 stays undone.
//
// Thread rule: all functions are called with Progress::mutex() held.
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // Makes the last submitted work of stream a wait for `work` of another stream.
  void AddWait(const Stream& stream, Work work);
  // Makes the last submitted work of stream a call of the host.
  void AddCall(const Stream& stream, std::function<void()> call);

  // Returns the number of outstanding waits and calls of a stream.
  std::size_t CountOutstanding(const Stream& stream) const;

  // Does all work up to that one and everything it waits for. Calls are made in order, by this
  // thread and without the lock; a call that another thread is making is waited for. kNotPermitted
  // if the calling thread is in a call that it would have to wait for, as on a card.
  Result Complete(const Work& work, std::unique_lock<Mutex>& lock);

 private:
  struct Milestone {
    WorkNumber number = 0;
    Work awaited = {};                // or
    std::function<void()> call = {};  // this
    std::thread::id caller = {};      // the thread that is making the call
  };
  using Milestones = std::deque<Milestone>;

  Result Step(std::vector<Work>& goals, std::unique_lock<Mutex>& lock);
  Result MakeCall(Stream& stream, Milestone& milestone, std::unique_lock<Mutex>& lock);
  void Pass(Stream& stream);

  std::unordered_map<const Stream*, Milestones> milestones_;  // of streams that have any
  std::condition_variable_any call_made_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_COMPLETION_H_
