// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_CAPTURE_GRAPHS_H_
#define MEMTRACE_ALLOCATOR_CARD_CAPTURE_GRAPHS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"

namespace memtrace {

enum class CaptureId : uint64_t {};  // unique in the process
enum class GraphNode : uint64_t {};

// Tells the order of the nodes in a graph while it is being captured, when no event can be
// recorded. Used to reuse memory of a capture within it. Thread rule: as StreamEvents.
class CaptureGraphs {
 public:
  virtual ~CaptureGraphs() = default;

  // The current end of a stream: the next captured node comes after `ends` and all their
  // predecessors.
  struct Position {
    CaptureId capture{};
    std::vector<GraphNode> ends;
  };
  // Returns nothing if the stream is not being captured, or if the driver does not answer.
  virtual std::optional<Position> FindPosition(StreamId stream) = 0;

  // Returns the direct predecessors of `node`, whose capture has not ended. kInternal with the
  // driver's own words.
  virtual absl::StatusOr<std::vector<GraphNode>> Predecessors(GraphNode node) = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_CAPTURE_GRAPHS_H_
