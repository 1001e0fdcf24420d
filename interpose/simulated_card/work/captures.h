// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CAPTURES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CAPTURES_H_

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

// The captures that are going on. Rules: cuda.h, cuStreamBeginCapture and
// cuThreadExchangeStreamCaptureMode; the programming guide, "Creating a Graph Using Stream
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
  // All must outlive this.
  Captures(const Progress& progress, const StreamTable& streams, Graphs& graphs)
      : progress_(progress), streams_(streams), graphs_(graphs) {}
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // Into graph, after `first`, or into a new one if graph is null.
  Result Begin(const void* handle, int device, CaptureMode mode, Graph* graph = nullptr,
               Capture::Frontier first = {});
  // *graph is null unless the result is kSuccess.
  Result End(const void* handle, int device, Graph** graph);
  // *capture, if not null, is untouched unless the status is kActive.
  Result StateOf(const void* handle, int device, CaptureStatus* status,
                 CaptureView* capture = nullptr) const;
  // Sets what the stream's next captured node will depend on: `nodes` too, or instead.
  Result ChangeFrontier(const void* handle, int device, const Capture::Frontier& nodes,
                        bool replace);
  // An allocation or free node enters the graph of the stream, which must be capturing
  // (kIllegalState).
  Result AddMemory(const void* handle, int device, const GraphMemoryStep& step, HostWork work);
  // Sets the calling thread's mode, returns the one before.
  static CaptureMode ExchangeMode(CaptureMode mode);
  // For cudaMalloc and other calls that a capture forbids: kCaptureUnsupported, and the capture is
  // invalidated, if one that the calling thread must respect is going on.
  Result CheckUnsafeCall();

  // Adds a node to the graph of a stream that is capturing.
  Result AddNode(Stream* stream, NodeType type, HostWork work);
  // Lets the event mark the place in the graph that a stream, which is capturing, has reached.
  static void Mark(Stream* stream, Event* event);
  // The capture that is going on in which the event was last recorded; null if there is none.
  std::shared_ptr<Capture> Of(const Event& event) const;
  // The stream, or the event, or both are part of a capture, and the stream waits for the event.
  // With `external` the wait is that node of the graph instead of a dependency.
  Result Wait(Stream* stream, const Event& event, HostWork external);
  // To ask for the progress of an event of a capture that is going on ends the capture.
  Result RefuseQuestion(const Event& event) const;
  // The default stream waits for all blocking streams of its device; it cannot for a capturing one.
  Result RefuseImplicitDependency(const Stream& stream);
  // The stream is destroyed. A capture ends with its origin.
  void Leave(Stream* stream);

 private:
  using NodeMaker = std::function<Result(Graph*, const Capture::Frontier& after, GraphNode**)>;

  static Result Extend(Stream* stream, const NodeMaker& add);
  bool IsJoined(const Capture& capture) const;
  void Finish(const std::shared_ptr<Capture>& capture);
  void Abandon(const std::shared_ptr<Capture>& capture);

  const Progress& progress_;
  const StreamTable& streams_;
  Graphs& graphs_;
  std::unordered_set<Capture*> going_on_;  // this and below: by the mutex of progress_
  std::uint64_t next_id_ = 1;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CAPTURES_H_
