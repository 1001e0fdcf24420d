// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_MEMORY_STREAMS_H_
#define MEMTRACE_ALLOCATOR_CARD_MEMORY_STREAMS_H_

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/call_failures.h"
#include "allocator/card/capture_graphs.h"
#include "allocator/card/stream_events.h"
#include "base/units.h"

namespace memtrace {

// The streams of a card that exists only as bookkeeping: work is queued, and finishes when the test
// says so or when the host waits for it. Work queued on a captured stream also becomes a node of
// its graph. Thread rule: as StreamEvents.
class MemoryStreams : public StreamEvents, public CaptureGraphs {
 public:
  // The n-th piece of work ever queued on a stream.
  struct Work {
    StreamId stream{};
    uint64_t number = 0;
  };

  // `failures` may be null and must outlive this.
  explicit MemoryStreams(CallFailures* failures = nullptr) : failures_(failures) {}

  absl::StatusOr<EventId> Record(StreamId stream) override;
  absl::StatusOr<bool> Done(EventId event) override;
  // Finishes the work of the event's stream up to the event.
  absl::Status Wait(EventId event) override;
  void Forget(EventId event) override { events_.erase(event); }
  absl::Status WaitForAll() override;
  bool IsCapturing(StreamId stream) override { return streams_[stream].is_captured; }

  // Begins a capture on the stream. Until it ends, recording an event on the stream is an error,
  // because the event would become part of the graph, and so is waiting for all streams.
  void BeginCapture(StreamId stream);
  void EndCapture(StreamId stream) { streams_[stream].is_captured = false; }
  // Makes `stream` wait for the work queued on the captured `other`: `stream` is then also
  // captured, until EndCapture().
  void WaitInCapture(StreamId stream, StreamId other);

  // Does the same as cuStreamUpdateCaptureDependencies.
  void ReplaceEnds(StreamId stream, std::vector<GraphNode> ends);

  std::optional<Position> FindPosition(StreamId stream) override;
  absl::StatusOr<std::vector<GraphNode>> Predecessors(GraphNode node) override;

  Work Queue(StreamId stream);
  void Finish(StreamId stream) { streams_[stream].finished = streams_[stream].queued; }
  bool IsFinished(Work work) const;

  // Returns the number of recorded events that have been neither seen done nor waited for.
  size_t live_events() const { return events_.size(); }

 private:
  struct Progress {
    uint64_t queued = 0;
    uint64_t finished = 0;
    bool is_captured = false;
    Position position;  // while it is captured
  };

  absl::Status Next(DriverCall call);

  CallFailures* const failures_;
  absl::flat_hash_map<StreamId, Progress> streams_;
  absl::flat_hash_map<EventId, Work> events_;
  absl::flat_hash_map<GraphNode, std::vector<GraphNode>> before_;
  uint64_t next_event_ = 1;
  uint64_t next_capture_ = 1;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_MEMORY_STREAMS_H_
