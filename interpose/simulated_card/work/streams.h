// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAMS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAMS_H_

#include <functional>
#include <memory>

#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/test_bed/listening.h"
#include "interpose/simulated_card/work/captures.h"
#include "interpose/simulated_card/work/graph.h"
#include "interpose/simulated_card/work/launch_memory.h"
#include "interpose/simulated_card/work/progress.h"
#include "interpose/simulated_card/work/stream.h"
#include "interpose/simulated_card/work/stream_table.h"

namespace memtrace::card {

// A kernel's description for those who are told of it. The name must live until graphs that
// captured it are gone.
struct LaunchedKernel {
  const char* name = nullptr;
  memtrace_card_launch shape = {};
  std::shared_ptr<const GivenMemory> given = nullptr;  // null: LaunchMemory is not told
};

// A program's operations on the streams of StreamTable: it submits work, which enters a graph if
// the stream is capturing, asks and waits for it, and destroys streams. kInvalidHandle for a handle
// that is not alive. Safe from any thread.
class Streams {
 public:
  // All arguments must outlive this, and this must outlive every launch of a graph that was
  // captured. `listening` and `memory` are told of kernels that enter a stream; both may be null.
  Streams(Progress& progress, StreamTable& table, Captures& captures,
          const Listening* listening = nullptr, LaunchMemory* memory = nullptr)
      : progress_(progress),
        table_(table),
        captures_(captures),
        listening_(listening),
        memory_(memory) {}
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Submits a kernel to the stream, or to the graph if the stream is capturing. With `named`: a
  // piece of work whose memory is known, which *named then is (nothing in a capture).
  Result Submit(const void* handle, int device, Work* named = nullptr);
  // Does the same for a kernel with a name; if it is captured, it enters at each launch of the
  // graph.
  Result Launch(const void* handle, int device, const LaunchedKernel& kernel);
  // Does the same for work that the host carries out (a copy, a fill, a graph's): it is done now
  // or, if it is captured, at each launch of the graph. *done is then that work.
  Result Perform(const void* handle, int device, NodeType type, HostWork work,
                 Work* done = nullptr);
  // Submits a call, which the thread that waits for it makes when its turn comes; at once if eager;
  // if it is captured, at each launch of the graph.
  Result SubmitCall(const void* handle, int device, std::function<void()> call);
  // Does the same for a node of a graph, where the graph was launched.
  Result SubmitCallAt(const Work& launch, std::function<void()> call);

  Result Query(const void* handle, int device);
  Result Synchronize(const void* handle, int device);
  Result SynchronizeDevice(int device);
  // Makes the host wait for one piece of work; without work, nothing happens.
  Result SynchronizeWork(const Work& work);

  // Work in it is still done, later. A capture that began in it ends.
  Result Destroy(const void* handle);

 private:
  // Finds and joins the stream whose progress is asked for; refuses while it captures.
  Result FindForQuery(const void* handle, int device, Progress::Lock& lock, Stream** stream);
  Result Enter(Stream* stream, Work* named, Progress::Lock& lock);
  void Notify(const Stream& stream, const LaunchedKernel& kernel) const;
  void LookAtMemory(const LaunchedKernel& kernel, bool is_in_graph) const;

  Progress& progress_;
  StreamTable& table_;
  Captures& captures_;
  const Listening* const listening_;  // may be null
  LaunchMemory* const memory_;        // may be null
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAMS_H_
