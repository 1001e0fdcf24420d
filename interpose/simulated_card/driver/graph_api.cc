// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Graphs: what they consist of, and making and launching executable ones.
#include <algorithm>
#include <fstream>
#include <string>

#include "interpose/simulated_card/driver/driver_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

CUgraphNode ToHandle(GraphNode* node) { return reinterpret_cast<CUgraphNode>(node); }

template <typename Body>
CUresult WithGraphs(Body body, const char* call = __builtin_FUNCTION()) {
  return WithMachine([&](Machine& machine) { return body(machine.graphs); }, call);
}

// According to cuda.h (cuGraphGetNodes), without room only the count is written; unused places
// become null.
Result Give(const Graph::Nodes& all, CUgraphNode* room, std::size_t* count) {
  if (room != nullptr) {
    const std::size_t given = std::min(*count, all.size());
    std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(given), room, ToHandle);
    std::fill(room + given, room + *count, nullptr);
    *count = given;
  } else {
    *count = all.size();
  }
  return Result::kSuccess;
}

// Runs list(graphs, &nodes) and returns the nodes found.
template <typename List>
CUresult GiveNodes(CUgraphNode* room, std::size_t* count, List list,
                   const char* call = __builtin_FUNCTION()) {
  const auto give = [&](Graphs& graphs) {
    if (count == nullptr) return Result::kInvalidValue;
    Graph::Nodes nodes;
    const Result result = list(graphs, &nodes);
    return result == Result::kSuccess ? Give(nodes, room, count) : result;
  };
  return WithGraphs(give, call);
}

Result Launch(Machine& machine, int device, CUgraphExec exec, CUstream stream) {
  GraphLaunch all;
  CaptureStatus status = CaptureStatus::kNone;
  Result result = machine.graph_execs.LaunchOf(exec, &all);
  if (result == Result::kSuccess) result = machine.captures.StateOf(stream, device, &status);
  // In a capture the graph becomes a child node, which a graph with memory cannot be.
  if (status != CaptureStatus::kNone && !all.memory->empty()) result = Result::kNotSupported;
  if (result == Result::kSuccess)
    result = machine.graph_memory.Prepare(*all.memory, all.frees_first);
  if (result != Result::kSuccess) return result;
  machine.kernels.CountCall("(graph replay)");
  return machine.streams.Perform(stream, device, NodeType::kGraph,
                                 [work = all.work](const Work& at) { return DoWork(work, at); });
}

}  // namespace
}  // namespace memtrace::card

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  return WithGraphs([&](Graphs& graphs) {
    if (graph == nullptr || flags != 0) return Result::kInvalidValue;
    *graph = reinterpret_cast<CUgraph>(graphs.Create());
    return Result::kSuccess;
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return WithGraphs([&](Graphs& graphs) { return graphs.Destroy(graph); });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return WithGraphs([&](Graphs& graphs) {
    Graph* made = nullptr;
    const Result result = clone == nullptr ? Result::kInvalidValue : graphs.Clone(original, &made);
    if (result == Result::kSuccess) *clone = reinterpret_cast<CUgraph>(made);
    return result;
  });
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  return WithGraphs([&](Graphs& graphs) { return graphs.DestroyNode(node); });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return GiveNodes(nodes, count, [&](Graphs& graphs, Graph::Nodes* all) {
    return graphs.Visit(graph, [all](const Graph& found) {
      *all = found.AllNodes();
      return Result::kSuccess;
    });
  });
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return GiveNodes(nodes, count, [&](Graphs& graphs, Graph::Nodes* all) {
    return graphs.Visit(graph, [all](const Graph& found) {
      *all = found.AllNodes();
      std::erase_if(*all, [](const GraphNode* node) { return !node->dependencies.empty(); });
      return Result::kSuccess;
    });
  });
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* dependencies,
                                    CUgraphEdgeData* edges, std::size_t* count) {
  if (edges != nullptr && count != nullptr) std::fill(edges, edges + *count, CUgraphEdgeData{});
  return GiveNodes(dependencies, count, [&](Graphs& graphs, Graph::Nodes* all) {
    return graphs.VisitNode(node, [all](const GraphNode& found) {
      *all = found.dependencies;
      return Result::kSuccess;
    });
  });
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* dependents,
                                      CUgraphEdgeData* edges, std::size_t* count) {
  if (edges != nullptr && count != nullptr) std::fill(edges, edges + *count, CUgraphEdgeData{});
  return GiveNodes(dependents, count, [&](Graphs& graphs, Graph::Nodes* all) {
    return graphs.VisitNode(node, [all](const GraphNode& found) {
      *all = found.graph->DependentsOf(&found);
      return Result::kSuccess;
    });
  });
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                         std::size_t* count) {
  if ((from == nullptr) != (to == nullptr) || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (data != nullptr) std::fill(data, data + *count, CUgraphEdgeData{});
  return WithGraphs([&](Graphs& graphs) {
    Graph::Edges edges;
    const Result result = graphs.Visit(graph, [&edges](const Graph& found) {
      edges = found.AllEdges();
      return Result::kSuccess;
    });
    if (result != Result::kSuccess) return result;
    Graph::Nodes sources;
    Graph::Nodes targets;
    for (const auto& [source, target] : edges) {
      sources.push_back(source);
      targets.push_back(target);
    }
    std::size_t room = *count;
    Give(sources, from, &room);
    return Give(targets, to, count);
  });
}

CUresult cuGraphAddDependencies(CUgraph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData*, std::size_t count) {
  return WithGraphs([&](Graphs& graphs) {
    Result result = Result::kSuccess;
    for (std::size_t i = 0; i < count && result == Result::kSuccess; ++i)
      result = graphs.AddEdge(from[i], to[i]);
    return result;
  });
}

CUresult cuGraphRemoveDependencies(CUgraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, std::size_t count) {
  return WithGraphs([&](Graphs& graphs) {
    Result result = Result::kSuccess;
    for (std::size_t i = 0; i < count && result == Result::kSuccess; ++i)
      result = graphs.RemoveEdge(from[i], to[i]);
    return result;
  });
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return WithGraphs([&](Graphs& graphs) {
    if (type == nullptr) return Result::kInvalidValue;
    return graphs.VisitNode(node, [type](const GraphNode& found) {
      *type = static_cast<CUgraphNodeType>(found.type);
      return Result::kSuccess;
    });
  });
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int) {
  return WithGraphs([&](Graphs& graphs) {
    if (path == nullptr) return Result::kInvalidValue;
    std::string text;
    const Result result = graphs.Visit(graph, [&text](const Graph& found) {
      text = found.Dot();
      return Result::kSuccess;
    });
    if (result != Result::kSuccess) return result;
    std::ofstream file(path);
    file << text;
    return file.good() ? Result::kSuccess : Result::kOperatingSystem;
  });
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return WithMachine([&](Machine& machine) {
    GraphExec* made = nullptr;
    const bool frees_first = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    const Result result = exec == nullptr
                              ? Result::kInvalidValue
                              : machine.graph_execs.Instantiate(graph, &made, frees_first);
    if (result == Result::kSuccess) *exec = reinterpret_cast<CUgraphExec>(made);
    return result;
  });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = cuGraphInstantiate(exec, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                                                  : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  return result;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return WithMachine([&](Machine& machine) {
    const Result result = machine.graph_execs.Update(exec, graph);
    if (info != nullptr) {
      *info = {};
      info->result = result == Result::kSuccess ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                     : result == Result::kExecUpdateFailure
                         ? CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
                         : CU_GRAPH_EXEC_UPDATE_ERROR;
    }
    return result;
  });
}

// There is nothing to upload.
CUresult cuGraphUpload(CUgraphExec exec, CUstream) {
  return WithMachine([&](Machine& machine) {
    GraphLaunch ignored;
    return machine.graph_execs.LaunchOf(exec, &ignored);
  });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return WithContext(
      [&](Machine& machine, int device) { return Launch(machine, device, exec, stream); });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return WithMachine([&](Machine& machine) { return machine.graph_execs.Destroy(exec); });
}
