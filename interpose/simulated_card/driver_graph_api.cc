// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Stream capture and graphs. A graph knows how many nodes it has and nothing else: replaying it
// does what launching its kernels did, nothing.
#include <algorithm>
#include <fstream>

#include "interpose/simulated_card/driver_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

Graph* FromHandle(CUgraph graph) { return reinterpret_cast<Graph*>(graph); }
GraphExec* FromHandle(CUgraphExec exec) { return reinterpret_cast<GraphExec*>(exec); }

}  // namespace
}  // namespace memtrace::card

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return WithContext([&](Machine& machine, int device) {
    return machine.streams.BeginCapture(stream, device, static_cast<CaptureMode>(mode));
  });
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return WithContext([&](Machine& machine, int device) {
    if (graph == nullptr) return Result::kInvalidValue;
    Graph* captured = nullptr;
    const Result result = machine.streams.EndCapture(stream, device, &captured);
    *graph = reinterpret_cast<CUgraph>(captured);
    return result;
  });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return cuStreamGetCaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                CUgraph* graph, const CUgraphNode** dependencies,
                                const CUgraphEdgeData** edges, std::size_t* dependency_count) {
  return WithContext([&](Machine& machine, int device) {
    if (status == nullptr) return Result::kInvalidValue;
    CaptureStatus state = CaptureStatus::kNone;
    Capture capture;
    const Result result = machine.streams.CaptureState(stream, device, &state, &capture);
    if (result != Result::kSuccess) return result;
    *status = static_cast<CUstreamCaptureStatus>(state);
    if (state != CaptureStatus::kActive) return Result::kSuccess;
    if (id != nullptr) *id = capture.id;
    if (graph != nullptr) *graph = reinterpret_cast<CUgraph>(capture.graph);
    if (dependencies != nullptr) *dependencies = nullptr;
    if (edges != nullptr) *edges = nullptr;
    if (dependency_count != nullptr) *dependency_count = 0;
    return Result::kSuccess;
  });
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode*, const CUgraphEdgeData*,
                                           std::size_t, unsigned int) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = cuStreamIsCapturing(stream, &status);
  if (result != CUDA_SUCCESS) return result;
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  const CaptureMode before = Streams::ExchangeCaptureMode(static_cast<CaptureMode>(*mode));
  *mode = static_cast<CUstreamCaptureMode>(before);
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  if (exec == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *exec = reinterpret_cast<CUgraphExec>(new GraphExec{FromHandle(graph)->nodes});
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return WithContext([&](Machine& machine, int device) {
    if (exec == nullptr) return Result::kInvalidValue;
    machine.kernels.CountCall("(graph replay)");
    return machine.streams.Submit(stream, device);
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  delete FromHandle(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  delete FromHandle(exec);
  return CUDA_SUCCESS;
}

// Node handles are their numbers from 1: they can be counted and compared, which is all torch does.
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  if (graph == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t all = FromHandle(graph)->nodes;
  if (nodes == nullptr) {
    *count = all;
    return CUDA_SUCCESS;
  }
  const std::size_t room = *count;
  *count = std::min<std::size_t>(room, all);
  for (std::size_t i = 0; i < room; ++i)
    // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
    nodes[i] = reinterpret_cast<CUgraphNode>(i < all ? i + 1 : 0);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode*, CUgraphEdgeData*,
                                    std::size_t* count) {
  if (node == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = 0;
  return CUDA_SUCCESS;
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int) {
  if (graph == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ofstream file(path);
  file << "digraph simulated_card {}\n";
  return file.good() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
