// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CAPTURE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CAPTURE_H_

#include <cstdint>
#include <map>
#include <span>
#include <thread>
#include <vector>

#include "interpose/simulated_card/work/graph.h"

namespace memtrace::card {

// The numbers are those of CUstreamCaptureMode.
enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

// The numbers are those of CUstreamCaptureStatus.
enum class CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };

struct Stream;
struct Event;

// A capture in progress, shared by the streams that joined it. Guarded by Progress::mutex().
//
// For each stream it keeps the frontier: the nodes that the stream's next node will depend on.
//
//   origin:  A ── record e ── B ────────── wait f ── C        C depends on B and D
//   other:          wait e ── D ── record f                   D depends on A
struct Capture {
  using Frontier = std::vector<GraphNode*>;

  std::uint64_t id = 0;  // never 0, never repeated in a process
  CaptureMode mode = CaptureMode::kGlobal;
  std::thread::id thread;
  Stream* origin = nullptr;
  Graph* graph = nullptr;  // the caller's if the capture ends with success
  bool owns_graph = true;  // false for a capture to a graph that the caller made
  bool invalidated = false;
  std::map<Stream*, Frontier> streams;  // those that joined
  // Events recorded in it, with the stream's frontier at that point.
  std::map<const Event*, Frontier> events;
};

// The answer of cuStreamGetCaptureInfo for a stream that is capturing.
struct CaptureView {
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  std::span<GraphNode* const> frontier;  // the capture's own; valid until the stream's next node
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CAPTURE_H_
