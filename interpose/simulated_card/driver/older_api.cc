// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// What programs that were built for CUDA 12 and earlier mean by a name whose parameters have
// changed since. cuda.h of CUDA 13 declares these no more; its macros give the plain names to the
// newest forms, which do the work: edges have no data, and a device is a location.
#include "interpose/simulated_card/driver/driver_api.h"

namespace memtrace::card {
namespace {

CUmemLocation LocationOf(CUdevice device) {
  CUmemLocation location = {};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

CUresult AdviseOn(CUdeviceptr begin, std::size_t bytes, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise(begin, bytes, advice, LocationOf(device));
}

CUresult PrefetchTo(CUdeviceptr begin, std::size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync(begin, bytes, LocationOf(device), 0, stream);
}

CUresult UpdateCapture(CUstream stream, CUgraphNode* dependencies, std::size_t count,
                       unsigned int flags) {
  return cuStreamUpdateCaptureDependencies(stream, dependencies, nullptr, count, flags);
}

CUresult CaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                     const CUgraphNode** dependencies, std::size_t* count) {
  return cuStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, count);
}

CUresult AddEdges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                  std::size_t count) {
  return cuGraphAddDependencies(graph, from, to, nullptr, count);
}

CUresult RemoveEdges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                     std::size_t count) {
  return cuGraphRemoveDependencies(graph, from, to, nullptr, count);
}

CUresult Edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return cuGraphGetEdges(graph, from, to, nullptr, count);
}

CUresult DependenciesOf(CUgraphNode node, CUgraphNode* dependencies, std::size_t* count) {
  return cuGraphNodeGetDependencies(node, dependencies, nullptr, count);
}

CUresult DependentsOf(CUgraphNode node, CUgraphNode* dependents, std::size_t* count) {
  return cuGraphNodeGetDependentNodes(node, dependents, nullptr, count);
}

CUresult Elapsed(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime(milliseconds, start, end);
}

CUresult UuidOf(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid(uuid, device); }

}  // namespace
}  // namespace memtrace::card

#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuStreamUpdateCaptureDependencies
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuEventElapsedTime
#undef cuDeviceGetUuid

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

#pragma GCC visibility push(default)
extern "C" {

CUresult cuMemAdvise(CUdeviceptr begin, std::size_t bytes, CUmem_advise advice, CUdevice device) {
  return AdviseOn(begin, bytes, advice, device);
}

CUresult cuMemPrefetchAsync(CUdeviceptr begin, std::size_t bytes, CUdevice device,
                            CUstream stream) {
  return PrefetchTo(begin, bytes, device, stream);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   std::size_t* count) {
  return CaptureInfo(stream, status, id, graph, dependencies, count);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies,
                                           std::size_t count, unsigned int flags) {
  return UpdateCapture(stream, dependencies, count, flags);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                std::size_t count) {
  return AddEdges(graph, from, to, count);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   std::size_t count) {
  return RemoveEdges(graph, from, to, count);
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return Edges(graph, from, to, count);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* dependencies,
                                    std::size_t* count) {
  return DependenciesOf(node, dependencies, count);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* dependents,
                                      std::size_t* count) {
  return DependentsOf(node, dependents, count);
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return Elapsed(milliseconds, start, end);
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return UuidOf(uuid, device); }

}  // extern "C"
#pragma GCC visibility pop
