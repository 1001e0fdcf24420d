// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAM_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAM_H_

#include <cstdint>
#include <memory>

#include "interpose/simulated_card/work/capture.h"

namespace memtrace::card {

// Position of a piece of work in its stream: the n-th submitted has number n.
using WorkNumber = std::uint64_t;
// Position in the order of everything that was submitted or waited for in the process.
using Tick = std::uint64_t;

inline constexpr unsigned kNonBlockingStream = 1;  // CU_STREAM_NON_BLOCKING
inline constexpr int kLowestPriority = 0;
inline constexpr int kHighestPriority = -5;

// Guarded by Progress::mutex(); callers see copies.
struct Stream : std::enable_shared_from_this<Stream> {
  std::uint64_t id = 0;  // 0: a default stream
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  WorkNumber submitted = 0;
  WorkNumber completed = 0;
  Tick last_launch = 0;          // of the last work that names no memory: kernels, graphs
  WorkNumber last_launched = 0;  // its number
  Tick last_wait = 0;            // of the host's last wait for work of this stream
  std::uint64_t questions = 0;   // answered "not ready" since the last submission
  std::int64_t nanoseconds = 0;  // virtual time at the end of all submitted work
  std::shared_ptr<Capture> capture;
};
using StreamPointer = std::shared_ptr<Stream>;

// A piece of work. Keeps the remains of its stream alive.
struct Work {
  StreamPointer stream;  // null: none, or done already
  WorkNumber number = 0;
};

// The last work of a stream. An empty stream's last work is done.
inline Work LastOf(Stream* stream) { return {stream->shared_from_this(), stream->submitted}; }

inline bool IsDone(const Work& work) {
  return work.stream == nullptr || work.stream->completed >= work.number;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAM_H_
