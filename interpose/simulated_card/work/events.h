// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_EVENTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_EVENTS_H_

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/captures.h"
#include "interpose/simulated_card/work/event.h"
#include "interpose/simulated_card/work/progress.h"
#include "interpose/simulated_card/work/stream.h"
#include "interpose/simulated_card/work/stream_table.h"

namespace memtrace::card {

// The events of all cards: recording them, waiting for them, and the time between them. A handle is
// the address of its event; kInvalidHandle for an event or a stream that is not alive, and such a
// handle is never dereferenced.
//
// Safe from any thread; Progress::mutex() guards the events.
class Events {
 public:
  // All arguments must outlive this, and this must outlive every launch of a graph that was
  // captured.
  Events(Progress& progress, StreamTable& streams, Captures& captures)
      : progress_(progress), streams_(streams), captures_(captures) {}
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  Event* Create(unsigned flags);
  Result Destroy(const void* handle);
  // kInvalidHandle unless the event was made for sharing between processes.
  Result CheckInterprocess(const void* handle) const;
  // Returns how many were created and not destroyed.
  std::size_t Live() const;

  // external: for a captured record, a node of the graph instead of a place in it.
  Result Record(const void* event, const void* stream, int device, bool external = false);
  // Makes the stream wait. external: for a captured wait, a node of the graph instead of a
  // dependency.
  Result Wait(const void* stream, int device, const void* event, bool external = false);
  // Do the same for nodes of a graph where it was launched: in order, as if they were submitted to
  // its stream.
  Result RecordAt(const void* event, const Work& launch);
  Result WaitAt(const void* event, const Work& launch);
  Result Query(const void* event);
  // Makes the host wait.
  Result Synchronize(const void* event);
  // Gives at least 1 us for events recorded in that order, because callers divide by it.
  Result ElapsedMilliseconds(const void* start, const void* end, float* milliseconds) const;

 private:
  Event* Find(const void* handle) const;
  void Mark(Event* event, Stream* stream) const;

  Progress& progress_;
  StreamTable& streams_;
  Captures& captures_;
  std::unordered_map<const void*, std::unique_ptr<Event>> events_;  // guarded by progress_'s mutex
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_EVENTS_H_
