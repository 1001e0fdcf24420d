// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TRACE_STREAMS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TRACE_STREAMS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "allocator/stream_events.h"

namespace memtrace::replay {

// When streams were done with a block, as a trace says it: for each block that waited there is a
// stream of its own, which is at work until Finish(). All other streams are always done.
class TraceStreams : public StreamEvents {
 public:
  // A stream that no program has.
  StreamId Begin() {
    const auto stream = StreamId{kOurs + next_stream_++};
    working_.insert(stream);
    return stream;
  }
  void Finish(StreamId stream) { working_.erase(stream); }

  absl::StatusOr<EventId> Record(StreamId stream) override {
    const auto event = EventId{next_event_++};
    if (working_.contains(stream)) events_[event] = stream;
    return event;
  }
  absl::StatusOr<bool> Done(EventId event) override {
    const auto found = events_.find(event);
    if (found == events_.end()) return true;
    if (working_.contains(found->second)) return false;
    events_.erase(found);
    return true;
  }
  absl::Status Wait(EventId event) override {
    const auto found = events_.find(event);
    if (found == events_.end()) return absl::OkStatus();
    working_.erase(found->second);
    events_.erase(found);
    return absl::OkStatus();
  }
  void Forget(EventId event) override { events_.erase(event); }
  absl::Status WaitForAll() override {
    working_.clear();
    return absl::OkStatus();
  }
  bool IsCapturing(StreamId /*stream*/) override { return false; }

 private:
  static constexpr uint64_t kOurs = uint64_t{1} << 63;  // no handle is so large

  absl::flat_hash_set<StreamId> working_;
  absl::flat_hash_map<EventId, StreamId> events_;
  uint64_t next_stream_ = 0;
  uint64_t next_event_ = 1;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TRACE_STREAMS_H_
