// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_CAPTURE_GRAPHS_H_
#define MEMTRACE_ALLOCATOR_CARD_CAPTURE_GRAPHS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"

namespace memtrace {

enum class CaptureId : uint64_t {};  // no two captures of a process have the same
enum class GraphNode : uint64_t {};

// Answers "what comes before what?" in a graph while it is captured, when no event can be recorded.
// Used to reuse memory of a capture within it. Thread rule: as StreamEvents.
class CaptureGraphs {
 public:
  virtual ~CaptureGraphs() = default;

  // What is captured from a stream next comes after `ends`, and after all before them.
  struct Position {
    CaptureId capture{};
    std::vector<GraphNode> ends;
  };
  // Nothing if the stream is not captured, or the driver does not say.
  virtual std::optional<Position> FindPosition(StreamId stream) = 0;

  // The nodes right before `node`, of a capture that has not ended. kInternal with the driver's own
  // words.
  virtual absl::StatusOr<std::vector<GraphNode>> Before(GraphNode node) = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_CAPTURE_GRAPHS_H_
