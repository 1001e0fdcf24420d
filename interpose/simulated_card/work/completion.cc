// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/completion.h"

#include <algorithm>
#include <utility>

#include "base/mutex.h"

namespace memtrace::card {

void Completion::AddWait(const Stream& stream, Work work) {
  milestones_[&stream].push_back({.number = stream.submitted, .awaited = std::move(work)});
}

void Completion::AddCall(const Stream& stream, std::function<void()> call) {
  milestones_[&stream].push_back({.number = stream.submitted, .call = std::move(call)});
}

std::size_t Completion::CountOutstanding(const Stream& stream) const {
  const auto found = milestones_.find(&stream);
  return found == milestones_.end() ? 0 : found->second.size();
}

// Not recursive, because a program may chain any number of waits before it waits itself.
Result Completion::Complete(const Work& work, std::unique_lock<Mutex>& lock) {
  std::vector<Work> goals = {work};
  while (!goals.empty()) {
    const Result result = Step(goals, lock);
    if (result != Result::kSuccess) return result;
  }
  return Result::kSuccess;
}

Result Completion::Step(std::vector<Work>& goals, std::unique_lock<Mutex>& lock) {
  const Work goal = goals.back();
  Stream& stream = *goal.stream;
  const auto found = milestones_.find(&stream);
  const bool is_clear = found == milestones_.end() || found->second.front().number > goal.number;
  if (is_clear || stream.completed >= goal.number) {
    stream.completed = std::max(stream.completed, goal.number);
    goals.pop_back();
    return Result::kSuccess;
  }
  Milestone& next = found->second.front();
  stream.completed = std::max(stream.completed, next.number - 1);
  if (next.call) return MakeCall(stream, next, lock);
  if (next.awaited.stream->completed < next.awaited.number) {
    goals.push_back(next.awaited);
  } else {
    Pass(stream);
  }
  return Result::kSuccess;
}

Result Completion::MakeCall(Stream& stream, Milestone& milestone, std::unique_lock<Mutex>& lock) {
  if (milestone.caller == std::this_thread::get_id()) return Result::kNotPermitted;
  if (milestone.caller != std::thread::id()) {
    call_made_.wait(lock);
    return Result::kSuccess;
  }
  milestone.caller = std::this_thread::get_id();
  // The milestone does not move: only its caller removes it, and a deque that grows at its end
  // moves no element.
  lock.unlock();
  milestone.call();
  lock.lock();
  Pass(stream);
  call_made_.notify_all();
  return Result::kSuccess;
}

// Marks the stream's next milestone as done.
void Completion::Pass(Stream& stream) {
  const auto found = milestones_.find(&stream);
  stream.completed = std::max(stream.completed, found->second.front().number);
  found->second.pop_front();
  if (found->second.empty()) milestones_.erase(found);
}

}  // namespace memtrace::card
