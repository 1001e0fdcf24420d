// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/card/memory_streams.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace memtrace {

absl::StatusOr<EventId> MemoryStreams::Record(StreamId stream) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kRecord));
  if (IsCapturing(stream)) return absl::InvalidArgumentError("Record: the stream is captured");
  const EventId event{next_event_++};
  events_[event] = {stream, streams_[stream].queued};
  return event;
}

absl::StatusOr<bool> MemoryStreams::Done(EventId event) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kDone));
  const auto found = events_.find(event);
  if (found == events_.end()) return absl::InvalidArgumentError("Done: no such event");
  const bool done = IsFinished(found->second);
  if (done) events_.erase(found);
  return done;
}

absl::Status MemoryStreams::Wait(EventId event) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kWait));
  const auto found = events_.find(event);
  if (found == events_.end()) return absl::InvalidArgumentError("Wait: no such event");
  const Work work = found->second;
  events_.erase(found);
  uint64_t& finished = streams_[work.stream].finished;
  finished = std::max(finished, work.number);
  return absl::OkStatus();
}

absl::Status MemoryStreams::WaitForAll() {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kWait));
  for (const auto& [stream, progress] : streams_) {
    if (progress.is_captured) return absl::InvalidArgumentError("WaitForAll: a stream is captured");
  }
  for (auto& [stream, progress] : streams_) progress.finished = progress.queued;
  return absl::OkStatus();
}

void MemoryStreams::BeginCapture(StreamId stream) {
  Progress& progress = streams_[stream];
  progress.is_captured = true;
  progress.position = {CaptureId{next_capture_++}, {}};
}

void MemoryStreams::WaitInCapture(StreamId stream, StreamId other) {
  const Position position = streams_[other].position;
  Progress& progress = streams_[stream];
  if (!progress.is_captured) progress.position = {position.capture, {}};
  progress.is_captured = true;
  auto& ends = progress.position.ends;
  ends.insert(ends.end(), position.ends.begin(), position.ends.end());
}

void MemoryStreams::ReplaceEnds(StreamId stream, std::vector<GraphNode> ends) {
  streams_[stream].position.ends = std::move(ends);
}

std::optional<CaptureGraphs::Position> MemoryStreams::FindPosition(StreamId stream) {
  const Progress& progress = streams_[stream];
  if (!progress.is_captured) return std::nullopt;
  return progress.position;
}

absl::StatusOr<std::vector<GraphNode>> MemoryStreams::Predecessors(GraphNode node) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kDone));
  return before_[node];
}

MemoryStreams::Work MemoryStreams::Queue(StreamId stream) {
  Progress& progress = streams_[stream];
  if (progress.is_captured) {
    const GraphNode node{before_.size() + 1};
    before_[node] = std::exchange(progress.position.ends, {node});
  }
  return {stream, ++progress.queued};
}

bool MemoryStreams::IsFinished(Work work) const {
  const auto found = streams_.find(work.stream);
  return work.number == 0 || (found != streams_.end() && found->second.finished >= work.number);
}

absl::Status MemoryStreams::Next(DriverCall call) {
  return failures_ == nullptr ? absl::OkStatus() : failures_->Next(call);
}

}  // namespace memtrace
