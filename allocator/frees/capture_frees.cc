// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/frees/capture_frees.h"

#include <algorithm>
#include <optional>

#include "allocator/segment/expandable_segment.h"
#include "base/status_macros.h"

namespace memtrace {

void CaptureFrees::Add(Block* block) {
  if (!enabled() || excluded_.erase(block) > 0) return;
  const std::optional<CaptureGraphs::Position> own =
      graphs_->FindPosition(block->segment->key().stream);
  if (!own.has_value()) return;
  Entry entry{block, own->capture, own->ends};
  for (const StreamId stream : block->recorded_streams) {
    if (!AddLastUses(stream, entry)) return;
  }
  entries_.push_back(std::move(entry));
}

bool CaptureFrees::AddLastUses(StreamId stream, Entry& entry) {
  const std::optional<CaptureGraphs::Position> position = graphs_->FindPosition(stream);
  if (!position.has_value() || position->capture != entry.capture) return false;
  entry.last_uses.insert(entry.last_uses.end(), position->ends.begin(), position->ends.end());
  return true;
}

std::vector<Block*> CaptureFrees::TakeOrdered(StreamId stream) {
  std::vector<Block*> ordered;
  const auto is_of_stream = [&](const Entry& entry) {
    return entry.block->segment->key().stream == stream;
  };
  if (std::none_of(entries_.begin(), entries_.end(), is_of_stream)) return ordered;
  const std::optional<CaptureGraphs::Position> now = graphs_->FindPosition(stream);
  if (!now.has_value()) return ordered;
  Past& past = pasts_[{now->capture, stream}];
  if (!Advance(past, now->ends).ok()) return ordered;
  std::erase_if(entries_, [&](const Entry& entry) {
    const bool is_ordered = is_of_stream(entry) && entry.capture == now->capture &&
                            std::all_of(entry.last_uses.begin(), entry.last_uses.end(),
                                        [&](GraphNode node) { return past.nodes.contains(node); });
    if (is_ordered) ordered.push_back(entry.block);
    return is_ordered;
  });
  return ordered;
}

// Looks at each node once: if the new ends come after the old ones, so does everything before the
// old ones. If they do not (cuStreamUpdateCaptureDependencies), all nodes are found anew.
absl::Status CaptureFrees::Advance(Past& past, const std::vector<GraphNode>& ends) {
  absl::flat_hash_set<GraphNode> met;
  absl::Status status = Extend(past, ends, met);
  const bool has_moved_on = std::all_of(past.ends.begin(), past.ends.end(),
                                        [&](GraphNode node) { return met.contains(node); });
  if (status.ok() && !has_moved_on) {
    past.nodes.clear();
    status = Extend(past, ends, met);
  }
  past.ends = ends;
  if (!status.ok()) past = {};
  return status;
}

absl::Status CaptureFrees::Extend(Past& past, const std::vector<GraphNode>& ends,
                                  absl::flat_hash_set<GraphNode>& met) {
  std::vector<GraphNode> open = ends;
  while (!open.empty()) {
    const GraphNode node = open.back();
    open.pop_back();
    met.insert(node);
    if (!past.nodes.insert(node).second) continue;
    MEMTRACE_ASSIGN_OR_RETURN(const std::vector<GraphNode> before, graphs_->Predecessors(node));
    open.insert(open.end(), before.begin(), before.end());
  }
  return absl::OkStatus();
}

void CaptureFrees::Clear() {
  entries_.clear();
  excluded_.clear();
  pasts_.clear();
}

}  // namespace memtrace
