// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CUDA_CUDA_STREAM_EVENTS_H_
#define MEMTRACE_ALLOCATOR_CUDA_CUDA_STREAM_EVENTS_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/capture_graphs.h"
#include "allocator/card/stream_events.h"
#include "allocator/cuda/driver.h"
#include "base/units.h"

namespace memtrace {

// Implements StreamEvents with CUDA events without timing. Events are reused, so their number is
// the most that were ever pending at once. Streams belong to the card's primary context. Thread
// rule: as Vmm.
class CudaStreamEvents : public StreamEvents, public CaptureGraphs {
 public:
  static absl::StatusOr<std::unique_ptr<CudaStreamEvents>> Open(DeviceIndex device);

  absl::StatusOr<EventId> Record(StreamId stream) override;
  absl::StatusOr<bool> Done(EventId event) override;
  absl::Status Wait(EventId event) override;
  // The event may be recorded again before the work it stood for is done.
  void Forget(EventId event) override { idle_.push_back(event); }
  absl::Status WaitForAll() override;
  bool IsCapturing(StreamId stream) override;

  std::optional<Position> FindPosition(StreamId stream) override;
  absl::StatusOr<std::vector<GraphNode>> Predecessors(GraphNode node) override;

 private:
  explicit CudaStreamEvents(PrimaryContext context) : context_(std::move(context)) {}

  absl::StatusOr<EventId> TakeIdle();

  const PrimaryContext context_;  // outlives the events
  std::vector<UniqueEvent> events_;
  std::vector<EventId> idle_;  // the unused ones among `events_`
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CUDA_CUDA_STREAM_EVENTS_H_
