// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Adding nodes to a graph by hand. Kernel nodes compute nothing when they are launched, as kernels
// do.
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/work/code/kernel_arguments.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

CUresult Add(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
             NodeType type, HostWork work, const char* call = __builtin_FUNCTION()) {
  const auto add = [&](Machine& machine) {
    if (node == nullptr || (dependencies == nullptr && count > 0)) return Result::kInvalidValue;
    GraphNode* added = nullptr;
    const std::span<GraphNode* const> needs(reinterpret_cast<GraphNode* const*>(dependencies),
                                            count);
    const Result result = machine.graphs.Add(graph, type, needs, std::move(work), &added);
    if (result == Result::kSuccess) *node = reinterpret_cast<CUgraphNode>(added);
    return result;
  };
  return WithMachine(add, call);
}

Result FillRows(const CUDA_MEMSET_NODE_PARAMS& fill) {
  std::array<std::byte, sizeof(fill.value)> value;
  std::memcpy(value.data(), &fill.value, sizeof(fill.value));
  const auto pattern = std::span(value).first(fill.elementSize);
  Result result = Result::kSuccess;
  for (std::size_t row = 0; row < fill.height && result == Result::kSuccess; ++row) {
    result = Machine::OfProcess()->copies.Fill(Address{fill.dst} + row * fill.pitch,
                                               fill.width * fill.elementSize, pattern);
  }
  return result;
}

// Returns what a kernel node is given; nothing if its kernel is not one of a loaded module.
std::shared_ptr<const GivenMemory> GivenTo(const CUDA_KERNEL_NODE_PARAMS& kernel,
                                           const char** name) {
  const Machine& machine = *Machine::OfProcess();
  const Function* function = machine.modules.FindFunction(kernel.func);
  if (function == nullptr) return nullptr;
  *name = function->name.c_str();
  std::vector<Address> pointers =
      PointersAmong(function->parameters, kernel.kernelParams, kernel.extra);
  return std::make_shared<const GivenMemory>(
      GivenMemory{.pointers = std::move(pointers), .operands = {}});
}

bool IsElementSize(unsigned size) { return size == 1 || size == 2 || size == 4; }

}  // namespace
}  // namespace memtrace::card

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!DriverIsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  const char* name = nullptr;
  const std::shared_ptr<const GivenMemory> given = GivenTo(*parameters, &name);
  HostWork look;
  if (given != nullptr) {
    look = [given, name](const Work&) {
      Machine::OfProcess()->launch_memory.Launched(name, *given, /*is_in_graph=*/true);
      return Result::kSuccess;
    };
  }
  return Add(node, graph, dependencies, count, NodeType::kKernel, std::move(look));
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             std::size_t count) {
  return Add(node, graph, dependencies, count, NodeType::kEmpty, nullptr);
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* parameters) {
  if (parameters == nullptr || parameters->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Add(
      node, graph, dependencies, count, NodeType::kHost, [host = *parameters](const Work& at) {
        return Machine::OfProcess()->streams.SubmitCallAt(at, [host] { host.fn(host.userData); });
      });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* parameters,
                              CUcontext) {
  if (parameters == nullptr || !IsElementSize(parameters->elementSize))
    return CUDA_ERROR_INVALID_VALUE;
  return Add(node, graph, dependencies, count, NodeType::kMemset,
             [fill = *parameters](const Work&) { return FillRows(fill); });
}

// The child is copied, as cuda.h says: later changes to it do not matter.
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  std::size_t count, CUgraph child) {
  if (!DriverIsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  GraphExecs& execs = Machine::OfProcess()->graph_execs;
  GraphExec* exec = nullptr;
  GraphLaunch all;
  if (execs.Instantiate(child, &exec) != Result::kSuccess) return CUDA_ERROR_INVALID_VALUE;
  execs.LaunchOf(exec, &all);
  execs.Destroy(exec);
  if (!all.memory->empty()) return CUDA_ERROR_NOT_SUPPORTED;
  return Add(node, graph, dependencies, count, NodeType::kGraph,
             [work = all.work](const Work& launch) { return DoWork(work, launch); });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                   const CUgraphNode* dependencies, std::size_t count,
                                   CUevent event) {
  return Add(node, graph, dependencies, count, NodeType::kEventRecord,
             [event](const Work& at) { return Machine::OfProcess()->events.RecordAt(event, at); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 std::size_t count, CUevent event) {
  return Add(node, graph, dependencies, count, NodeType::kWaitEvent,
             [event](const Work& at) { return Machine::OfProcess()->events.WaitAt(event, at); });
}
