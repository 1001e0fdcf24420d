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
// Does it up to the first that fails.
Result Do(const GraphWork& work, const Work& launch);

// What a launch of an executable graph does: the work of its nodes, each after those that it
// depends on. What of it is memory is known before.
struct GraphLaunch {
  GraphWork work;
  std::shared_ptr<const std::vector<GraphMemoryStep>> memory;
  bool frees_first = false;  // what an earlier launch left allocated
};

struct GraphExec {
  std::vector<NodeType> types;  // in the graph's own order, for an update to compare
  GraphLaunch launch;
  std::shared_ptr<const void> existence;  // for Graph::executable
};

// All executable graphs of the process. Each is independent of the graph that it was made of, which
// may change or end. A handle is the address of its object; one that is not alive is answered with
// kInvalidValue, never followed. Safe from any thread; never holds its lock while it asks Graphs.
class GraphExecs {
 public:
  // `graphs` must outlive this.
  explicit GraphExecs(Graphs& graphs) : graphs_(graphs) {}
  GraphExecs(const GraphExecs&) = delete;
  GraphExecs& operator=(const GraphExecs&) = delete;

  // kInvalidValue for a graph with a cycle. frees_first: GraphLaunch has it.
  Result Instantiate(const void* graph, GraphExec** exec, bool frees_first = false);
  // Takes over the work of a graph with the same nodes; kExecUpdateFailure for another, and for one
  // with memory, whose addresses are its own.
  Result Update(const void* exec, const void* graph);
  Result Destroy(const void* exec);
  // Shared, so that it can run without the lock and outlive an update.
  Result LaunchOf(const void* exec, GraphLaunch* launch) const;

 private:
  Graphs& graphs_;
  mutable Mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<GraphExec>> execs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_GRAPH_EXECS_H_
