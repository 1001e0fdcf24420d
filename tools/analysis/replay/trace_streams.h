// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TRACE_STREAMS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TRACE_STREAMS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "allocator/card/stream_events.h"

namespace memtrace::replay {

// Tells the allocator when streams were done with a block, as the trace states it: each block that
// waits has its own stream, which is at work until Finish(). All other streams are always done. A
// stream is reused once no event of it is left, so that the allocator knows only as many as wait at
// once.
class TraceStreams : public StreamEvents {
 public:
  // Returns a stream that no program has.
  StreamId Begin() {
    auto stream = StreamId{kOurs + made_};
    if (idle_.empty()) {
      ++made_;
    } else {
      stream = idle_.back();
      idle_.pop_back();
    }
    streams_[stream] = {};
    return stream;
  }
  // Marks the stream as done, as the trace states. REQUIRES: Begin() gave the stream, and it was
  // not finished since.
  void Finish(StreamId stream) {
    State& state = streams_[stream];
    state.is_working = state.is_held = false;
    GiveBackIfIdle(stream);
  }

  absl::StatusOr<EventId> Record(StreamId stream) override {
    const auto event = EventId{next_event_++};
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return event;
    ++found->second.events;
    events_[event] = stream;
    return event;
  }
  absl::StatusOr<bool> Done(EventId event) override {
    const auto found = events_.find(event);
    if (found == events_.end()) return true;
    if (streams_[found->second].is_working) return false;
    Forget(event);
    return true;
  }
  absl::Status Wait(EventId event) override {
    const auto found = events_.find(event);
    if (found == events_.end()) return absl::OkStatus();
    streams_[found->second].is_working = false;
    Forget(event);
    return absl::OkStatus();
  }
  void Forget(EventId event) override {
    const auto found = events_.find(event);
    if (found == events_.end()) return;
    const StreamId stream = found->second;
    events_.erase(found);
    --streams_[stream].events;
    GiveBackIfIdle(stream);
  }
  absl::Status WaitForAll() override {
    for (auto& [stream, state] : streams_) state.is_working = false;
    return absl::OkStatus();
  }
  bool IsCapturing(StreamId /*stream*/) override { return false; }

 private:
  static constexpr uint64_t kOurs = uint64_t{1} << 63;  // no handle is so large

  struct State {
    bool is_held = true;  // until Finish()
    bool is_working = true;
    uint64_t events = 0;  // that were recorded and are not forgotten yet
  };

  void GiveBackIfIdle(StreamId stream) {
    const auto found = streams_.find(stream);
    if (found->second.is_held || found->second.events > 0) return;
    streams_.erase(found);
    idle_.push_back(stream);
  }

  absl::flat_hash_map<StreamId, State> streams_;  // of ours
  absl::flat_hash_map<EventId, StreamId> events_;
  std::vector<StreamId> idle_;
  uint64_t made_ = 0;
  uint64_t next_event_ = 1;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TRACE_STREAMS_H_
