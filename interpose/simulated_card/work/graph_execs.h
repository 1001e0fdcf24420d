// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_EXECS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_EXECS_H_

#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/graph.h"
#include "interpose/simulated_card/work/graph_block.h"
#include "interpose/simulated_card/work/graphs.h"

namespace memtrace::card {

// The work of several nodes, in an order that respects their dependencies.
using GraphWork = std::shared_ptr<const std::vector<HostWork>>;
// Does the work in order, until one fails.
Result DoWork(const GraphWork& work, const Work& launch);

// The work of a launch of an executable graph: that of its nodes, each after those that it depends
// on. Its memory steps are known in advance.
struct GraphLaunch {
  GraphWork work;
  std::shared_ptr<const std::vector<GraphMemoryStep>> memory;
  bool frees_first = false;  // frees memory left by an earlier launch
};

struct GraphExec {
  std::vector<NodeType> types;  // in the graph's own order, to compare in an update
  GraphLaunch launch;
  std::shared_ptr<const void> existence;  // for Graph::executable
};

// All executable graphs of the process. Each is independent of its source graph, which may change
// or end. A handle is the address of its object; kInvalidValue for one that is not alive, which is
// never dereferenced. Safe from any thread; never holds its lock while it calls Graphs.
class GraphExecs {
 public:
  // `graphs` must outlive this.
  explicit GraphExecs(Graphs& graphs) : graphs_(graphs) {}
  GraphExecs(const GraphExecs&) = delete;
  GraphExecs& operator=(const GraphExecs&) = delete;

  // kInvalidValue for a graph with a cycle. frees_first: see GraphLaunch.
  Result Instantiate(const void* graph, GraphExec** exec, bool frees_first = false);
  // Takes over the work of a graph with the same nodes; kExecUpdateFailure for another graph, and
  // for one with memory, because its addresses are its own.
  Result Update(const void* exec, const void* graph);
  Result Destroy(const void* exec);
  // Gives shared work, so that it can run without the lock and outlive an update.
  Result LaunchOf(const void* exec, GraphLaunch* launch) const;

 private:
  Graphs& graphs_;
  mutable Mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<GraphExec>> execs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_EXECS_H_
