// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Stream capture; the rules are in Captures.
#include "interpose/simulated_card/driver/driver_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

Capture::Frontier ToFrontier(const CUgraphNode* nodes, std::size_t count) {
  const auto* begin = reinterpret_cast<GraphNode* const*>(nodes);
  return nodes == nullptr ? Capture::Frontier{} : Capture::Frontier(begin, begin + count);
}

}  // namespace
}  // namespace memtrace::card

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return WithContext([&](Machine& machine, int device) {
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return Result::kInvalidValue;
    return machine.captures.Begin(stream, device, static_cast<CaptureMode>(mode));
  });
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                     const CUgraphNode* dependencies, const CUgraphEdgeData*,
                                     std::size_t count, CUstreamCaptureMode mode) {
  return WithContext([&](Machine& machine, int device) {
    const auto exists = [](const Graph&) { return Result::kSuccess; };
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED ||
        machine.graphs.Visit(graph, exists) != Result::kSuccess) {
      return Result::kInvalidValue;
    }
    return machine.captures.Begin(stream, device, static_cast<CaptureMode>(mode),
                                  reinterpret_cast<Graph*>(graph), ToFrontier(dependencies, count));
  });
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return WithContext([&](Machine& machine, int device) {
    if (graph == nullptr) return Result::kInvalidValue;
    Graph* captured = nullptr;
    const Result result = machine.captures.End(stream, device, &captured);
    *graph = reinterpret_cast<CUgraph>(captured);
    return result;
  });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return cuStreamGetCaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

// According to cuda.h, the list of dependencies is valid until the next call that operates on the
// stream, or the capture's end. It is the capture's own, so calls about other streams do not change
// it.
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                CUgraph* graph, const CUgraphNode** dependencies,
                                const CUgraphEdgeData** edges, std::size_t* dependency_count) {
  return WithContext([&](Machine& machine, int device) {
    if (status == nullptr) return Result::kInvalidValue;
    CaptureStatus state = CaptureStatus::kNone;
    CaptureView capture;
    const Result result = machine.captures.StateOf(stream, device, &state, &capture);
    if (result != Result::kSuccess) return result;
    *status = static_cast<CUstreamCaptureStatus>(state);
    if (state != CaptureStatus::kActive) return Result::kSuccess;
    if (id != nullptr) *id = capture.id;
    if (graph != nullptr) *graph = reinterpret_cast<CUgraph>(capture.graph);
    if (dependencies != nullptr)
      *dependencies = reinterpret_cast<const CUgraphNode*>(capture.frontier.data());
    if (edges != nullptr) *edges = nullptr;
    if (dependency_count != nullptr) *dependency_count = capture.frontier.size();
    return Result::kSuccess;
  });
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies,
                                           const CUgraphEdgeData*, std::size_t count,
                                           unsigned int flags) {
  return WithContext([&](Machine& machine, int device) {
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return Result::kInvalidValue;
    return machine.captures.ChangeFrontier(stream, device, ToFrontier(dependencies, count),
                                           flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  const CaptureMode before = Captures::ExchangeMode(static_cast<CaptureMode>(*mode));
  *mode = static_cast<CUstreamCaptureMode>(before);
  return CUDA_SUCCESS;
}
