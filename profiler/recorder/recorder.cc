// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/recorder.h"

#include <utility>

namespace memtrace::recorder {

Recorder::Recorder(std::unique_ptr<trace::TraceWriter> writer, FrameSymbolizer& symbolizer)
    : log_(std::move(writer)),
      scopes_(log_, contexts_),
      stacks_(log_.trace(), symbolizer),
      blocks_(log_, contexts_),
      uses_(log_),
      program_(log_, contexts_, scopes_) {}

void Recorder::Close() {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.Summarise(/*is_last=*/true);
    log_.writer().Close();
  });
}

}  // namespace memtrace::recorder
