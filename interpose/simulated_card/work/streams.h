// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAMS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAMS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "interpose/simulated_card/spec/event_timing.h"
#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/test_bed/listening.h"
#include "interpose/simulated_card/work/capture.h"
#include "interpose/simulated_card/work/completion.h"
#include "interpose/simulated_card/work/stream.h"

namespace memtrace::card {

// How the host and the card's time met. `early` is 0 exactly if the process would have been given
// the same answers on a lazy card, `not_ready` is 0 exactly if on an eager one.
struct WaitCounts {
  std::uint64_t waits = 0;      // of the host, for work that was not done
  std::uint64_t not_ready = 0;  // questions answered so
  std::uint64_t early = 0;      // eager: questions answered "ready" before the host had waited
  std::uint64_t patience = 0;   // lazy: questions asked so often that they counted as waiting
};

// What cuStreamGetCaptureInfo tells of a stream that is capturing.
struct CaptureView {
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  std::span<GraphNode* const> frontier;  // the capture's own: until the stream's next node
};

// What a listener is told of a kernel. The name must live until graphs that captured it are gone.
struct LaunchedKernel {
  const char* name = nullptr;
  memtrace_card_launch shape = {};
};

// Streams, events and captures of all cards. A handle is the address of its object; a handle that
// is not alive is answered with kInvalidHandle, never followed. Safe from any thread.
//
// Work is always completed as late as it can be: when the host waits. The timing only decides what
// the host is told before: "eager" says that all is done, "lazy" what is so.
//
// Time is virtual, so that two runs of a program measure the same: a piece of work takes 10 us, the
// host none, and a stream that waits for another goes on when that is done.
class Streams {
 public:
  // listening is told of kernels that enter a stream, and must outlive this; null: nobody is.
  explicit Streams(int devices, const EventTiming& timing = {},
                   const Listening* listening = nullptr);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  EventTiming Timing() const;
  // From now on. Work that was told to be unfinished may be told to be done.
  void SetTiming(const EventTiming& timing);
  // Whether work may be unfinished at all, as far as anyone is told.
  bool Defers() const { return defers_.load(std::memory_order_relaxed); }
  WaitCounts Waits() const;

  Stream* CreateStream(int device, unsigned flags, int priority);
  // What is in it is still done, later.
  Result DestroyStream(const void* handle);
  // Copies what a handle stands for; 0, 1 and 2 are the device's default stream.
  Result Describe(const void* handle, int device, Stream* copy) const;

  // A kernel enters the stream, or the graph if the stream is capturing. With `named`: a
  // piece of work whose memory is known, which *named then stands for (nothing in a capture).
  Result Submit(const void* handle, int device, Work* named = nullptr);
  // The same for a kernel that has a name; if it is captured, it enters at each launch of the
  // graph.
  Result Launch(const void* handle, int device, const LaunchedKernel& kernel);
  // Something that the host carries out (a copy, a fill, a graph's) does the same; it is carried
  // out now, or, if it is captured, at each launch of the graph. *done then stands for it.
  Result Perform(const void* handle, int device, NodeType type, HostWork work,
                 Work* done = nullptr);
  // The call is made when its turn comes, by the thread that waits for it; at once if eager; if it
  // is captured, at each launch of the graph.
  Result SubmitCall(const void* handle, int device, std::function<void()> call);
  // An allocation or free node enters the graph of the stream, which must be capturing
  // (kIllegalState).
  Result CaptureMemory(const void* handle, int device, const GraphMemoryStep& step, HostWork work);
  // All work that is now in the stream.
  Result LastWork(const void* handle, int device, Work* work) const;
  Result Query(const void* handle, int device);
  Result Synchronize(const void* handle, int device);
  Result SynchronizeDevice(int device);
  // The host waits for one piece of work; for none, nothing happens.
  Result SynchronizeWork(const Work& work);
  // external: for a captured wait, a node of the graph instead of a dependency.
  Result WaitEvent(const void* stream, int device, const void* event, bool external = false);

  bool IsFinished(const Work& work) const;
  // Now, in the order of submissions and waits.
  Tick Now() const { return tick_.load(std::memory_order_relaxed); }
  // A launch that is not finished and was made after `since`; none if the host has since then
  // waited for some stream of the device that is now idle.
  std::optional<Work> UnawaitedLaunch(int device, Tick since) const;

  Event* CreateEvent(unsigned flags);
  Result DestroyEvent(const void* handle);
  // kInvalidHandle unless the event was made for other processes.
  Result CheckInterprocess(const void* handle) const;
  // external: for a captured record, a node of the graph instead of a place in it.
  Result RecordEvent(const void* event, const void* stream, int device, bool external = false);
  // Nodes of a graph do the same where it was launched: in order, as if its stream were given them.
  Result RecordEventAt(const void* event, const Work& launch);
  Result WaitEventAt(const void* event, const Work& launch);
  Result SubmitCallAt(const Work& launch, std::function<void()> call);
  Result QueryEvent(const void* event);
  Result SynchronizeEvent(const void* event);
  // At least 1 us for events recorded in that order: callers divide by it.
  Result ElapsedMilliseconds(const void* start, const void* end, float* milliseconds) const;

  // What was created and not destroyed.
  std::size_t LiveStreams() const;
  std::size_t LiveEvents() const;

  // Into graph, after `first`, or into a new one if graph is null.
  Result BeginCapture(const void* handle, int device, CaptureMode mode, Graph* graph = nullptr,
                      Capture::Frontier first = {});
  // *graph is null unless the result is kSuccess.
  Result EndCapture(const void* handle, int device, Graph** graph);
  // *capture, if not null, is untouched unless the status is kActive.
  Result CaptureState(const void* handle, int device, CaptureStatus* status,
                      CaptureView* capture = nullptr) const;
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
  using Lock = std::unique_lock<Mutex>;

  Stream* FindStream(const void* handle, int device) const;
  Event* FindEvent(const void* handle) const;
  static Result RefuseWhileCapturing(const Stream* stream);
  // The stream that a question about its progress is of, joined; refused while it captures.
  Result FindToAsk(const void* handle, int device, Lock& lock, Stream** stream);
  Result RefuseCaptured(const Event& event) const;
  void Mark(Event* event, Stream* stream) const;
  void Place(Stream* stream);
  void Tell(const Stream& stream, const LaunchedKernel& kernel) const;
  void Await(Stream* stream, const Work& work, Lock& lock);
  void Join(Stream* stream, Lock& lock);
  Result Enter(Stream* stream, Work* named, Lock& lock);
  void CallLast(const Stream& stream, std::function<void()> call, Lock& lock);
  Result WaitFor(const Work& work, Lock& lock);
  Result Answer(const Work& work, std::uint64_t* questions, Lock& lock);
  void ForgetFinished();
  Result RefuseImplicitDependency(const Stream& stream);
  bool IsGoingOn(const Capture& capture) const;
  using NodeMaker = std::function<Result(Graph*, const Capture::Frontier& after, GraphNode**)>;
  Result Extend(Stream* stream, const NodeMaker& add);
  Result AddNode(Stream* stream, NodeType type, HostWork work);
  Result WaitInCapture(Stream* stream, const Event* event, bool external);
  bool IsJoined(const Capture& capture) const;
  void Finish(const std::shared_ptr<Capture>& capture);
  void Abandon(const std::shared_ptr<Capture>& capture);

  const Listening* const listening_;  // may be null
  Graphs graphs_;
  mutable Mutex mutex_;  // guards all below and what it points to
  EventTiming timing_;
  Completion completion_;
  WaitCounts waits_;
  std::vector<StreamPointer> default_streams_;  // one a device
  std::unordered_map<Stream*, StreamPointer> streams_;
  std::vector<Stream*> blocking_;         // of those, the ones that wait for default streams
  std::vector<StreamPointer> destroyed_;  // and not finished
  std::unordered_set<Event*> events_;
  std::unordered_set<Capture*> going_on_;
  std::uint64_t next_stream_id_ = 1;
  std::uint64_t next_capture_id_ = 1;
  std::int64_t host_nanoseconds_ = 0;  // virtual time at the end of the host's last wait
  std::atomic<Tick> tick_ = 0;
  std::atomic<bool> defers_ = false;  // set under the lock
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAMS_H_
