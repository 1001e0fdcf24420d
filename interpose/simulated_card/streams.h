// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_STREAMS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_STREAMS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "interpose/simulated_card/capture.h"
#include "interpose/simulated_card/result.h"

namespace memtrace::card {

// Position of a piece of work in its stream: the n-th submitted has number n.
using WorkNumber = std::uint64_t;

// Order within a stream is kept even though all work is complete at once today (events are
// "eager"), so that completing it only when the host waits needs no new state.
struct Stream {
  std::uint64_t id = 0;
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  WorkNumber submitted = 0;
  WorkNumber completed = 0;
  std::shared_ptr<Capture> capture;
};

// The last record of an event.
struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::uint64_t stream_id = 0;
  WorkNumber work = 0;
  std::int64_t nanoseconds = 0;
  std::weak_ptr<Capture> capture;  // recorded in a capture: marks a place in the graph, no time
};

// What cuStreamGetCaptureInfo tells of a stream that is capturing.
struct CaptureView {
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  Capture::Frontier frontier;
};

inline constexpr unsigned kNonBlockingStream = 1;   // CU_STREAM_NON_BLOCKING
inline constexpr unsigned kEventDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING
inline constexpr int kLowestPriority = 0;
inline constexpr int kHighestPriority = -5;

// Streams, events and captures of all cards. A handle is the address of its object; a handle that
// is not alive is answered with kInvalidHandle, never followed. Safe from any thread.
class Streams {
 public:
  explicit Streams(int devices);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  Stream* CreateStream(int device, unsigned flags, int priority);
  Result DestroyStream(const void* handle);
  // Copies what a handle stands for; 0, 1 and 2 are the device's default stream.
  Result Describe(const void* handle, int device, Stream* copy) const;

  // A kernel enters the stream, or the graph if the stream is capturing.
  Result Submit(const void* handle, int device);
  // Something that the host carries out (a copy, a fill, a host function) does the same; it is
  // carried out now, or, if it is captured, at each launch of the graph.
  Result Perform(const void* handle, int device, NodeType type, HostWork work);
  Result Query(const void* handle, int device);
  Result Synchronize(const void* handle, int device);
  Result SynchronizeDevice(int device);
  // external: for a captured wait, a node of the graph instead of a dependency.
  Result WaitEvent(const void* stream, int device, const void* event, bool external = false);

  Event* CreateEvent(unsigned flags);
  Result DestroyEvent(const void* handle);
  Result RecordEvent(const void* event, const void* stream, int device, bool external = false);
  Result QueryEvent(const void* event);
  Result SynchronizeEvent(const void* event);
  // At least 1 us for events recorded in that order: callers divide by it.
  Result ElapsedMilliseconds(const void* start, const void* end, float* milliseconds) const;

  // Into graph, after `first`, or into a new one if graph is null.
  Result BeginCapture(const void* handle, int device, CaptureMode mode, Graph* graph = nullptr,
                      Capture::Frontier first = {});
  // *graph is null unless the result is kSuccess.
  Result EndCapture(const void* handle, int device, Graph** graph);
  // A snapshot; *capture is untouched unless the status is kActive.
  Result CaptureState(const void* handle, int device, CaptureStatus* status,
                      CaptureView* capture) const;
  // What the stream's next captured node will depend on: `nodes` too, or instead.
  Result ChangeFrontier(const void* handle, int device, const Capture::Frontier& nodes,
                        bool replace);
  // Sets the calling thread's mode, returns the one before.
  static CaptureMode ExchangeCaptureMode(CaptureMode mode);
  // cudaMalloc and other calls that a capture forbids: kCaptureUnsupported, and the capture is
  // invalidated, if one that the calling thread must respect is going on.
  Result CheckUnsafeCall();

  Graphs& graphs() { return graphs_; }

 private:
  Stream* FindStream(const void* handle, int device) const;
  Event* FindEvent(const void* handle) const;
  Result RefuseWhileCapturing(Stream* stream);
  Result RefuseImplicitDependency(const Stream& stream);
  bool IsGoingOn(const Capture& capture) const;
  Result AddNode(Stream* stream, NodeType type, HostWork work);
  Result WaitInCapture(Stream* stream, const Event* event, const void* event_handle, bool external);
  bool IsJoined(const Capture& capture) const;
  void Finish(const std::shared_ptr<Capture>& capture);
  void Abandon(const std::shared_ptr<Capture>& capture);

  Graphs graphs_;
  mutable std::mutex mutex_;                              // guards all below and what it points to
  std::vector<std::unique_ptr<Stream>> default_streams_;  // one a device
  std::unordered_set<Stream*> streams_;
  std::unordered_set<Event*> events_;
  std::unordered_set<Capture*> going_on_;
  std::uint64_t next_stream_id_ = 1;
  std::uint64_t next_capture_id_ = 1;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_STREAMS_H_
