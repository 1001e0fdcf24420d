// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/cuda/cuda_stream_events.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status_macros.h"

namespace memtrace {
namespace {

// An EventId is the event's handle, a StreamId the stream's.
EventId IdOf(CUevent event) { return EventId{reinterpret_cast<uintptr_t>(event)}; }
// NOLINTBEGIN(performance-no-int-to-ptr): what the driver gave as a pointer goes back as one.
CUevent HandleOf(EventId id) { return reinterpret_cast<CUevent>(static_cast<uintptr_t>(id)); }
CUstream HandleOf(StreamId id) { return reinterpret_cast<CUstream>(static_cast<uintptr_t>(id)); }
CUgraphNode HandleOf(GraphNode id) {
  return reinterpret_cast<CUgraphNode>(static_cast<uintptr_t>(id));
}
// NOLINTEND(performance-no-int-to-ptr)

std::vector<GraphNode> IdsOf(const CUgraphNode* nodes, size_t count) {
  std::vector<GraphNode> ids;
  ids.reserve(count);
  std::transform(nodes, nodes + count, std::back_inserter(ids),
                 [](CUgraphNode node) { return GraphNode{reinterpret_cast<uintptr_t>(node)}; });
  return ids;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaStreamEvents>> CudaStreamEvents::Open(DeviceIndex device) {
  MEMTRACE_ASSIGN_OR_RETURN(const Driver* const driver, Driver::Get());
  MEMTRACE_ASSIGN_OR_RETURN(auto context, PrimaryContext::Of(*driver, static_cast<int>(device)));
  return std::unique_ptr<CudaStreamEvents>(new CudaStreamEvents(std::move(context)));
}

absl::StatusOr<EventId> CudaStreamEvents::Record(StreamId stream) {
  const CallScope scope(context_);
  absl::StatusOr<EventId> event = TakeIdle();
  if (!event.ok()) return event;
  absl::Status status = scope.driver().ToStatus(
      "cuEventRecord", scope.driver().EventRecord(HandleOf(*event), HandleOf(stream)));
  if (status.ok()) return event;
  idle_.push_back(*event);
  return status;
}

absl::StatusOr<bool> CudaStreamEvents::Done(EventId event) {
  const CallScope scope(context_);
  const CUresult result = scope.driver().EventQuery(HandleOf(event));
  if (result == CUDA_ERROR_NOT_READY) return false;
  MEMTRACE_RETURN_IF_ERROR(scope.driver().ToStatus("cuEventQuery", result));
  idle_.push_back(event);
  return true;
}

absl::Status CudaStreamEvents::Wait(EventId event) {
  const CallScope scope(context_);
  absl::Status status = scope.driver().ToStatus("cuEventSynchronize",
                                                scope.driver().EventSynchronize(HandleOf(event)));
  if (status.ok()) idle_.push_back(event);
  return status;
}

absl::Status CudaStreamEvents::WaitForAll() {
  const CallScope scope(context_);
  return scope.driver().ToStatus("cuCtxSynchronize", scope.driver().CtxSynchronize());
}

bool CudaStreamEvents::IsCapturing(StreamId stream) {
  const CallScope scope(context_);
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = scope.driver().StreamIsCapturing(HandleOf(stream), &capturing);
  if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
    return false;
  return result != CUDA_SUCCESS || capturing != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::optional<CaptureGraphs::Position> CudaStreamEvents::FindPosition(StreamId stream) {
  const CallScope scope(context_);
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  const CUgraphNode* ends = nullptr;
  size_t count = 0;
  const CUresult result =
      scope.driver().StreamGetCaptureInfo(HandleOf(stream), &capturing, &id, /*graph_out=*/nullptr,
                                          &ends, /*edgeData_out=*/nullptr, &count);
  // One possible result is CUDA_ERROR_LOSSY_QUERY: edges with data (programmatic launches) order
  // less.
  if (result != CUDA_SUCCESS || capturing != CU_STREAM_CAPTURE_STATUS_ACTIVE) return std::nullopt;
  return Position{CaptureId{id}, IdsOf(ends, count)};
}

absl::StatusOr<std::vector<GraphNode>> CudaStreamEvents::Predecessors(GraphNode node) {
  const CallScope scope(context_);
  constexpr const char* kCall = "cuGraphNodeGetDependencies";
  size_t count = 0;
  absl::Status status = scope.driver().ToStatus(
      kCall, scope.driver().GraphNodeGetDependencies(HandleOf(node), nullptr, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  if (status.ok() && count > 0) {
    status = scope.driver().ToStatus(kCall, scope.driver().GraphNodeGetDependencies(
                                                HandleOf(node), nodes.data(), nullptr, &count));
  }
  if (!status.ok()) return status;
  return IdsOf(nodes.data(), count);
}

absl::StatusOr<EventId> CudaStreamEvents::TakeIdle() {
  if (idle_.empty()) {
    MEMTRACE_ASSIGN_OR_RETURN(auto event, UniqueEvent::Create(context_.driver()));
    events_.push_back(std::move(event));
    return IdOf(events_.back().get());
  }
  const EventId event = idle_.back();
  idle_.pop_back();
  return event;
}

}  // namespace memtrace
