// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAMS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAMS_H_

#include <functional>

#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/test_bed/listening.h"
#include "interpose/simulated_card/work/captures.h"
#include "interpose/simulated_card/work/graph.h"
#include "interpose/simulated_card/work/progress.h"
#include "interpose/simulated_card/work/stream.h"
#include "interpose/simulated_card/work/stream_table.h"

namespace memtrace::card {

// What a listener is told of a kernel. The name must live until graphs that captured it are gone.
struct LaunchedKernel {
  const char* name = nullptr;
  memtrace_card_launch shape = {};
};

// What a program does with the streams of StreamTable: it gives them work, which enters a graph
// where the stream is capturing, asks and waits for that, and destroys them. A handle that is not
// alive is answered with kInvalidHandle. Safe from any thread.
class Streams {
 public:
  // All must outlive this, and this must outlive every launch of a graph that was captured.
  // `listening` is told of kernels that enter a stream; null: nobody is.
  Streams(Progress& progress, StreamTable& table, Captures& captures,
          const Listening* listening = nullptr)
      : progress_(progress), table_(table), captures_(captures), listening_(listening) {}
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

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
  // A node of a graph does the same where the graph was launched.
  Result SubmitCallAt(const Work& launch, std::function<void()> call);

  Result Query(const void* handle, int device);
  Result Synchronize(const void* handle, int device);
  Result SynchronizeDevice(int device);
  // The host waits for one piece of work; for none, nothing happens.
  Result SynchronizeWork(const Work& work);

  // What is in it is still done, later. A capture that began in it ends.
  Result Destroy(const void* handle);

 private:
  // The stream that a question about its progress is of, joined; refused while it captures.
  Result FindToAsk(const void* handle, int device, Progress::Lock& lock, Stream** stream);
  Result Enter(Stream* stream, Work* named, Progress::Lock& lock);
  void Tell(const Stream& stream, const LaunchedKernel& kernel) const;

  Progress& progress_;
  StreamTable& table_;
  Captures& captures_;
  const Listening* const listening_;  // may be null
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAMS_H_
