// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CAPTURES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CAPTURES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_set>

#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/capture.h"
#include "interpose/simulated_card/work/event.h"
#include "interpose/simulated_card/work/graphs.h"
#include "interpose/simulated_card/work/progress.h"
#include "interpose/simulated_card/work/stream.h"
#include "interpose/simulated_card/work/stream_table.h"

namespace memtrace::card {

// The captures in progress. The rules are those of cuda.h, cuStreamBeginCapture and
// cuThreadExchangeStreamCaptureMode; and of the programming guide, "Creating a Graph Using Stream
// Capture".
//
// A stream belongs to at most one capture, and Capture::streams has exactly the streams alive whose
// Stream::capture it is. Handles are those of StreamTable: kInvalidHandle for one that is not
// alive.
//
// Thread rule: the first group of functions is safe from any thread; the second is called with
// Progress::mutex() held, which guards the captures.
class Captures {
 public:
  // All arguments must outlive this.
  Captures(const Progress& progress, const StreamTable& streams, Graphs& graphs)
      : progress_(progress), streams_(streams), graphs_(graphs) {}
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // Captures into graph, after `first`, or into a new graph if graph is null.
  Result Begin(const void* handle, int device, CaptureMode mode, Graph* graph = nullptr,
               Capture::Frontier first = {});
  // *graph is null unless the result is kSuccess.
  Result End(const void* handle, int device, Graph** graph);
  // True if a stream may be capturing. One load.
  bool AreAny() const { return are_any_.load(std::memory_order_relaxed); }
  // *capture, if not null, is written only if the status is kActive.
  Result StateOf(const void* handle, int device, CaptureStatus* status,
                 CaptureView* capture = nullptr) const;
  // Adds `nodes` to the dependencies of the stream's next captured node, or replaces them.
  Result ChangeFrontier(const void* handle, int device, const Capture::Frontier& nodes,
                        bool replace);
  // Adds an allocation or free node to the graph of the stream, which must be capturing
  // (kIllegalState).
  Result AddMemory(const void* handle, int device, const GraphMemoryStep& step, HostWork work);
  // Sets the calling thread's mode and returns the previous one.
  static CaptureMode ExchangeMode(CaptureMode mode);
  // For cudaMalloc and other calls that a capture forbids: returns kCaptureUnsupported and
  // invalidates the capture if there is one that the calling thread must respect.
  Result CheckUnsafeCall();

  // Adds a node to the graph of a stream that is capturing.
  Result AddNode(Stream* stream, NodeType type, HostWork work);
  // Makes the event mark the current point of a capturing stream in the graph.
  static void Mark(Stream* stream, Event* event);
  // Returns the current capture in which the event was last recorded; null if there is none.
  std::shared_ptr<Capture> CaptureOf(const Event& event) const;
  // Makes the stream wait for the event if either is part of a capture. With `external` the wait is
  // that node of the graph instead of a dependency.
  Result Wait(Stream* stream, const Event& event, HostWork external);
  // Refuses to tell the progress of an event in a current capture, and invalidates the capture.
  Result RefuseQueryInCapture(const Event& event) const;
  // The default stream waits for all blocking streams of its device, but it cannot wait for a
  // capturing one.
  Result RefuseImplicitDependency(const Stream& stream);
  // Takes a stream that is destroyed out of its capture. A capture ends with its origin.
  void Leave(Stream* stream);

 private:
  using NodeMaker = std::function<Result(Graph*, const Capture::Frontier& after, GraphNode**)>;

  // kInvalidHandle if the stream is not alive, kIllegalState if it is not capturing.
  Result FindCapturing(const void* handle, int device, Stream** stream) const;
  static Result Extend(Stream* stream, const NodeMaker& add);
  bool IsJoined(const Capture& capture) const;
  void Finish(const std::shared_ptr<Capture>& capture);
  void Abandon(const std::shared_ptr<Capture>& capture);

  const Progress& progress_;
  const StreamTable& streams_;
  Graphs& graphs_;
  // Guarded by progress_'s mutex. The compiler cannot check it, because callers name the same mutex
  // by a reference of their own.
  std::unordered_set<Capture*> current_;
  std::atomic<bool> are_any_ = false;  // current_ has one; set with it
  std::uint64_t next_id_ = 1;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CAPTURES_H_
