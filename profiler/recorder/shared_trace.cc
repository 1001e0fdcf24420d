// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/shared_trace.h"

namespace memtrace::recorder {

trace::StringId SharedTrace::Intern(std::string_view text) {
  trace::StringId id = 0;
  Guarded([&] {
    const SpinMutexLock lock(mutex);
    id = writer->definitions().String(text);
  });
  return id;
}

uint64_t SharedTrace::lost_events() const {
  uint64_t lost = 0;
  Guarded([&] {
    const SpinMutexLock lock(mutex);
    lost = writer->loss().lost_events();
  });
  return lost + lost_for_memory_.load(std::memory_order_relaxed);
}

absl::Status SharedTrace::status() const {
  absl::Status status;
  Guarded([&] {
    const SpinMutexLock lock(mutex);
    status = writer->loss().status();
  });
  return status;
}

std::string SharedTrace::path() const {
  std::string path;
  Guarded([&] {
    const SpinMutexLock lock(mutex);
    path = writer->path();
  });
  return path;
}

absl::Status SharedTrace::TakeFailure() {
  if (!has_failed_.load(std::memory_order_relaxed)) return absl::OkStatus();
  return has_failed_.exchange(false) ? status() : absl::OkStatus();
}

void SharedTrace::AbandonInForkedChild() {
  if (!is_abandoned_.exchange(true)) writer->AbandonInForkedChild();
}

}  // namespace memtrace::recorder
