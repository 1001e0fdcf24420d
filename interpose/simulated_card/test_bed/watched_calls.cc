// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/test_bed/watched_calls.h"

#include <utility>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

thread_local int depth = 0;  // the number of watched calls that this thread is in
thread_local std::uint64_t noted_bytes = 0;

// Removes the suffix that a macro of cuda.h adds, as in cuMemAlloc_v2.
std::string_view WithoutVersion(std::string_view function) {
  for (const std::string_view version : {"_v2", "_v3", "_v4"}) {
    if (function.ends_with(version)) return function.substr(0, function.size() - version.size());
  }
  return function;
}

}  // namespace

void WatchedCalls::Plan(std::vector<PlannedFailure> plan) {
  const MutexLock lock(mutex_);
  plan_.clear();
  for (PlannedFailure& planned : plan) plan_.push_back({.planned = std::move(planned)});
  planned_ = !plan_.empty();
  if (planned_) watched_ = true;
}

int WatchedCalls::Enter(std::string_view function, bool is_own) {
  if (!planned_) return 0;
  std::uint64_t taken = 0;
  int error = 0;
  {
    const MutexLock lock(mutex_);
    for (auto& [planned, calls] : plan_) {
      if (!planned.Names(function) || (planned.is_list() && !is_own)) continue;
      const std::uint64_t nth = ++calls;
      if (nth != planned.nth && !(planned.for_ever && nth > planned.nth)) continue;
      taken += planned.other_bytes;
      if (error == 0) error = planned.error;
    }
  }
  if (taken > 0) take_memory_(taken);
  return error;
}

WatchedCalls::Scope::Scope(WatchedCalls& calls, const char* function)
    : calls_(calls), function_(WithoutVersion(function)) {
  if (depth++ == 0) {
    noted_bytes = 0;
    calls_.listening_.Enter(function);
  }
  failure_ = calls_.Enter(function_, depth == 1);
}

WatchedCalls::Scope::~Scope() { --depth; }

int WatchedCalls::Scope::Returns(int result) {
  if (depth == 1) {
    calls_.Log(function_, result);
    calls_.listening_.Leave(result);
  }
  return result;
}

void WatchedCalls::NoteBytes(std::uint64_t bytes) {
  if (depth > 0) noted_bytes = bytes;
}

void WatchedCalls::Log(std::string_view function, int result) {
  if (!logging_) return;
  std::string entry(function);
  if (noted_bytes > 0) entry += "(" + std::to_string(noted_bytes) + ")";
  entry += " = " + std::to_string(result);
  const MutexLock lock(mutex_);
  if (log_.size() < kLongestLog) log_.push_back(std::move(entry));
}

void WatchedCalls::StartLog() {
  const MutexLock lock(mutex_);
  log_.clear();
  logging_ = true;
  watched_ = true;
}

void WatchedCalls::Listen(const memtrace_card_listener* listener) {
  listening_.Set(listener);
  if (listener != nullptr) watched_ = true;
}

void WatchedCalls::StopLog() { logging_ = false; }

void WatchedCalls::VisitLog(const std::function<void(const std::string&)>& visit) const {
  std::vector<std::string> copy;
  {
    const MutexLock lock(mutex_);
    copy = log_;
  }
  for (const std::string& entry : copy) visit(entry);
}

}  // namespace memtrace::card
