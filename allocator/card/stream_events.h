// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_STREAM_EVENTS_H_
#define MEMTRACE_ALLOCATOR_CARD_STREAM_EVENTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/units.h"

namespace memtrace {

enum class EventId : uint64_t {};

// Tells whether all work queued on a stream up to some moment is done. Used to reuse memory that a
// second stream has touched (record_stream) and to take chunks back from a stream.
//
// Errors: kInternal with the driver's own words. Thread rule: as Vmm.
class StreamEvents {
 public:
  virtual ~StreamEvents() = default;

  // Marks the current end of `stream`'s queue. The event stays valid until Done() returns true,
  // Wait() succeeds, or Forget() is called.
  virtual absl::StatusOr<EventId> Record(StreamId stream) = 0;
  virtual absl::StatusOr<bool> Done(EventId event) = 0;
  virtual absl::Status Wait(EventId event) = 0;
  virtual void Forget(EventId event) = 0;

  // Waits for all work queued on any stream of the card.
  virtual absl::Status WaitForAll() = 0;

  // True if a graph is being captured from `stream`, or if the driver does not answer: no event may
  // be recorded on it then. False if it is not a stream (any more).
  virtual bool IsCapturing(StreamId stream) = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_STREAM_EVENTS_H_
