// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorder's part that CUPTI tells.
#include "profiler/recorder/recorder.h"

namespace memtrace::recorder {

void Recorder::TieActivities() {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    if (operations_ == nullptr) operations_ = std::make_unique<OperationBlocks>();
  });
}

// One time for all: it is that of their coming, and they say their own.
void Recorder::NoteActivities(std::span<const ToldActivity> told) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    const uint64_t now = clock_.Now();
    for (const ToldActivity& one : told) {
      trace::Activity activity = one.activity;
      activity.start_ns = clock_.Of(activity.start_ns);
      activity.name = trace_.writer->String(one.name);
      if (operations_ != nullptr) activity.block = operations_->Of(one.operation);
      if (now >= look_at_ns_) LookAround(now);
      Note(trace_.writer->Write(++sequence_, now, activity));
    }
  });
}

}  // namespace memtrace::recorder
