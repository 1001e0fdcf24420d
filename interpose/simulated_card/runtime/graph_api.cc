// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Captures and graphs: the driver's, under the runtime's names.
#include "interpose/simulated_card/runtime/runtime_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

CUgraphEdgeData* ToDriver(cudaGraphEdgeData* edges) {
  return reinterpret_cast<CUgraphEdgeData*>(edges);
}

const CUgraphEdgeData* ToDriver(const cudaGraphEdgeData* edges) {
  return reinterpret_cast<const CUgraphEdgeData*>(edges);
}

}  // namespace
}  // namespace memtrace::card

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return InContext(
      [&] { return cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* edges, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  return InContext([&] {
    return cuStreamBeginCaptureToGraph(stream, graph, dependencies,
                                       reinterpret_cast<const CUgraphEdgeData*>(edges), count,
                                       static_cast<CUstreamCaptureMode>(mode));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return InContext([&] { return cuStreamEndCapture(stream, graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return InContext([&] {
    return cuStreamIsCapturing(stream, reinterpret_cast<CUstreamCaptureStatus*>(status));
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges,
                                     std::size_t* dependency_count) {
  return InContext([&] {
    cuuint64_t capture_id = 0;
    const CUresult result = cuStreamGetCaptureInfo(
        stream, reinterpret_cast<CUstreamCaptureStatus*>(status), &capture_id, graph, dependencies,
        reinterpret_cast<const CUgraphEdgeData**>(edges), dependency_count);
    if (id != nullptr && capture_id != 0) *id = capture_id;
    return result;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* edges, std::size_t count,
                                                unsigned int flags) {
  return InContext([&] {
    return cuStreamUpdateCaptureDependencies(
        stream, dependencies, reinterpret_cast<const CUgraphEdgeData*>(edges), count, flags);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return Remember(cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return InContext([&] { return cuGraphCreate(graph, flags); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return InContext([&] { return cuGraphDestroy(graph); });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return InContext([&] { return cuGraphClone(clone, original); });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return InContext([&] { return cuGraphDestroyNode(node); });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return InContext([&] {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS ignored = {};
    return cuGraphAddKernelNode(node, graph, dependencies, count, &ignored);
  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return InContext([&] { return cuGraphAddEmptyNode(node, graph, dependencies, count); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  return InContext([&] {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_HOST_NODE_PARAMS host = {.fn = parameters->fn, .userData = parameters->userData};
    return cuGraphAddHostNode(node, graph, dependencies, count, &host);
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  return InContext([&] {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMSET_NODE_PARAMS fill = {.dst = reinterpret_cast<CUdeviceptr>(parameters->dst),
                                          .pitch = parameters->pitch,
                                          .value = parameters->value,
                                          .elementSize = parameters->elementSize,
                                          .width = parameters->width,
                                          .height = parameters->height};
    return cuGraphAddMemsetNode(node, graph, dependencies, count, &fill, nullptr);
  });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  return InContext(
      [&] { return cuGraphAddChildGraphNode(node, graph, dependencies, count, child); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        cudaEvent_t event) {
  return InContext(
      [&] { return cuGraphAddEventRecordNode(node, graph, dependencies, count, event); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  return InContext(
      [&] { return cuGraphAddEventWaitNode(node, graph, dependencies, count, event); });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                     std::size_t count) {
  return InContext([&] { return cuGraphAddDependencies(graph, from, to, ToDriver(edges), count); });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                        std::size_t count) {
  return InContext(
      [&] { return cuGraphRemoveDependencies(graph, from, to, ToDriver(edges), count); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return InContext([&] { return cuGraphGetNodes(graph, nodes, count); });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return InContext([&] { return cuGraphGetRootNodes(graph, nodes, count); });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, std::size_t* count) {
  return InContext([&] { return cuGraphGetEdges(graph, from, to, ToDriver(edges), count); });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  // The numbers of both enums agree.
  return InContext(
      [&] { return cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(type)); });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges, std::size_t* count) {
  return InContext(
      [&] { return cuGraphNodeGetDependencies(node, dependencies, ToDriver(edges), count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* edges, std::size_t* count) {
  return InContext(
      [&] { return cuGraphNodeGetDependentNodes(node, dependents, ToDriver(edges), count); });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags) {
  return InContext([&] { return cuGraphDebugDotPrint(graph, path, flags); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return InContext([&] { return cuGraphInstantiate(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  return InContext([&] {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUDA_GRAPH_INSTANTIATE_PARAMS driver = {};
    driver.flags = parameters->flags;
    const CUresult result = cuGraphInstantiateWithParams(exec, graph, &driver);
    parameters->errNode_out = driver.hErrNode_out;
    parameters->result_out = static_cast<cudaGraphInstantiateResult>(driver.result_out);
    return result;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  return InContext([&] {
    CUgraphExecUpdateResultInfo driver = {};
    const CUresult result = cuGraphExecUpdate(exec, graph, &driver);
    if (info != nullptr) {
      *info = {.result = static_cast<cudaGraphExecUpdateResult>(driver.result),
               .errorNode = driver.errorNode,
               .errorFromNode = driver.errorFromNode};
    }
    return result;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return InContext([&] { return cuGraphUpload(exec, stream); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return InContext([&] { return cuGraphLaunch(exec, stream); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return InContext([&] { return cuGraphExecDestroy(exec); });
}
