// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Memory of graphs; the rules are in GraphMemory.
#include "interpose/simulated_card/driver/graph_memory.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {

HostWork WorkOf(Machine& machine, const GraphMemoryStep& step) {
  return [&memory = machine.graph_memory, step](const Work&) {
    return step.frees ? memory.Free(step.block) : memory.Allocate(step.block);
  };
}

Result AllocateInCapture(Machine& machine, int device, CUstream stream, std::uint64_t bytes,
                         Address* begin) {
  GraphMemoryStep step;
  const Result reserved = machine.graph_memory.Reserve(device, bytes, &step.block);
  if (reserved != Result::kSuccess) return reserved;
  const Result added = machine.captures.AddMemory(stream, device, step, WorkOf(machine, step));
  if (added == Result::kSuccess) *begin = step.block->begin;
  return added;
}

Result FreeInCapture(Machine& machine, int device, CUstream stream, Address begin) {
  const GraphMemoryStep step{machine.graph_memory.Find(begin), true};
  if (step.block == nullptr) return Result::kInvalidValue;
  return machine.captures.AddMemory(stream, device, step, WorkOf(machine, step));
}

namespace {

CUresult Add(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
             const GraphMemoryStep& step) {
  if (step.block == nullptr || node == nullptr || (dependencies == nullptr && count > 0))
    return CUDA_ERROR_INVALID_VALUE;
  Machine& machine = *Machine::OfProcess();
  const std::span<GraphNode* const> needs(reinterpret_cast<GraphNode* const*>(dependencies), count);
  GraphNode* added = nullptr;
  const Result result = machine.graphs.AddMemory(graph, needs, step, WorkOf(machine, step), &added);
  if (result == Result::kSuccess) *node = reinterpret_cast<CUgraphNode>(added);
  return static_cast<CUresult>(result);
}

Result BlockOf(Machine& machine, CUgraphNode node, NodeType type, GraphBlockPointer* block) {
  return machine.graphs.VisitNode(
      node, [type, block](const GraphNode& found) { return found.MemoryOf(type, block); });
}

bool IsOfGraphs(const CUmemPoolProps& properties) {
  return properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
         properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE &&
         properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace
}  // namespace memtrace::card

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return WithMachine([&](Machine& machine) {
    if (parameters == nullptr) return Result::kInvalidValue;
    if (!IsOfGraphs(parameters->poolProps)) return Result::kNotSupported;
    GraphMemoryStep step;
    const Result reserved = machine.graph_memory.Reserve(parameters->poolProps.location.id,
                                                         parameters->bytesize, &step.block);
    if (reserved != Result::kSuccess) return reserved;
    parameters->dptr = step.block->begin.value();
    return static_cast<Result>(Add(node, graph, dependencies, count, step));
  });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                               std::size_t count, CUdeviceptr pointer) {
  return WithMachine([&](Machine& machine) {
    const GraphMemoryStep step{machine.graph_memory.Find(Address{pointer}), true};
    return static_cast<Result>(Add(node, graph, dependencies, count, step));
  });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return WithMachine([&](Machine& machine) {
    if (parameters == nullptr) return Result::kInvalidValue;
    GraphBlockPointer block;
    const Result found = BlockOf(machine, node, NodeType::kMemAlloc, &block);
    if (found != Result::kSuccess) return found;
    *parameters = {};
    parameters->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters->poolProps.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = block->device};
    parameters->bytesize = block->bytes;
    parameters->dptr = block->begin.value();
    return Result::kSuccess;
  });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* pointer) {
  return WithMachine([&](Machine& machine) {
    if (pointer == nullptr) return Result::kInvalidValue;
    GraphBlockPointer block;
    const Result found = BlockOf(machine, node, NodeType::kMemFree, &block);
    if (found == Result::kSuccess) *pointer = block->begin.value();
    return found;
  });
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return WithDevice(device, [&](Machine& machine) {
    machine.graph_memory.Trim(device);
    return Result::kSuccess;
  });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return WithDevice(device, [&](Machine& machine) {
    if (value == nullptr) return Result::kInvalidValue;
    const PoolFigures figures = machine.graph_memory.Figures(device);
    auto* const answer = static_cast<cuuint64_t*>(value);
    switch (attribute) {
      case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        *answer = figures.used;
        return Result::kSuccess;
      case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        *answer = figures.used_high;
        return Result::kSuccess;
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        *answer = figures.reserved;
        return Result::kSuccess;
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        *answer = figures.reserved_high;
        return Result::kSuccess;
      default:
        return Result::kInvalidValue;
    }
  });
}

// According to cuda.h, the high marks can be set to zero, which sets them to the current values.
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return WithDevice(device, [&](Machine& machine) {
    const bool reserved = attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    const bool used = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    if ((!reserved && !used) || value == nullptr || *static_cast<const cuuint64_t*>(value) != 0)
      return Result::kInvalidValue;
    machine.graph_memory.ResetHighMarks(device, reserved, used);
    return Result::kSuccess;
  });
}
