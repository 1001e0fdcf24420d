// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CAPTURE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CAPTURE_H_

#include <atomic>
#include <cstdint>
#include <thread>

namespace memtrace::card {

// By the numbers of CUstreamCaptureMode.
enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

// By the numbers of CUstreamCaptureStatus.
enum class CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };

// What a capture records: that something was launched, not what. Replaying it does nothing, as the
// launches themselves do nothing.
struct Graph {
  std::atomic<std::uint64_t> nodes = 0;
};

struct GraphExec {
  std::uint64_t nodes = 0;
};

struct Stream;

// A capture in progress, shared by the streams that joined it. Guarded by the lock of Streams.
struct Capture {
  std::uint64_t id = 0;  // never 0, never repeated in a process
  CaptureMode mode = CaptureMode::kGlobal;
  std::thread::id thread;
  const Stream* origin = nullptr;
  Graph* graph = nullptr;  // the caller's once the capture ends well
  bool invalidated = false;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CAPTURE_H_
