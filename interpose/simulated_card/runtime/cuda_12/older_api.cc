// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// What CUDA 12 means by names that mean something else in CUDA 13, and what CUDA 13 has no more.
// Most lack the data of edges or name a device where CUDA 13 names a location.
#include "interpose/simulated_card/runtime/runtime_api.h"

#undef cudaGraphAddDependencies
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaGraphRemoveDependencies
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaStreamUpdateCaptureDependencies

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

CUmemLocation LocationOf(int device) {
  CUmemLocation location = {};
  location.type =
      device == cudaCpuDeviceId ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

}  // namespace
}  // namespace memtrace::card

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** dependencies,
                                        std::size_t* dependency_count) {
  return InContext([&] {
    cuuint64_t capture_id = 0;
    const CUresult result =
        cuStreamGetCaptureInfo(stream, reinterpret_cast<CUstreamCaptureStatus*>(status),
                               &capture_id, graph, dependencies, nullptr, dependency_count);
    if (id != nullptr && capture_id != 0) *id = capture_id;
    return result;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                std::size_t count, unsigned int flags) {
  return InContext([&] {
    return cuStreamUpdateCaptureDependencies(stream, dependencies, nullptr, count, flags);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  return InContext([&] { return cuGraphAddDependencies(graph, from, to, nullptr, count); });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, std::size_t count) {
  return InContext([&] { return cuGraphRemoveDependencies(graph, from, to, nullptr, count); });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              std::size_t* count) {
  return InContext([&] { return cuGraphGetEdges(graph, from, to, nullptr, count); });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         std::size_t* count) {
  return InContext([&] { return cuGraphNodeGetDependencies(node, dependencies, nullptr, count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           std::size_t* count) {
  return InContext([&] { return cuGraphNodeGetDependentNodes(node, dependents, nullptr, count); });
}

cudaError_t cudaMemPrefetchAsync(const void* begin, std::size_t bytes, int device,
                                 cudaStream_t stream) {
  return InContext(
      [&] { return cuMemPrefetchAsync(ToDevice(begin), bytes, LocationOf(device), 0, stream); });
}

cudaError_t cudaMemAdvise(const void* begin, std::size_t bytes, cudaMemoryAdvise advice,
                          int device) {
  return InContext([&] {
    return cuMemAdvise(ToDevice(begin), bytes, static_cast<CUmem_advise>(advice),
                       LocationOf(device));
  });
}

cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return InContext([&] { return cuEventElapsedTime(milliseconds, start, end); });
}

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
