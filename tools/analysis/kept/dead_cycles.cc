// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/dead_cycles.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/frames.h"
#include "tools/analysis/source/less.h"
#include "tools/analysis/source/storage_places.h"

namespace memtrace::analysis {
namespace {

constexpr size_t kServedBefore = 3;

// Returns the dead blocks in the order in which they were made.
std::vector<const Block*> DeadBlocks(const FailedRequest& failed,
                                     const std::vector<CapturedBlock>& captured,
                                     const LiveSet& live) {
  absl::flat_hash_set<uint64_t> addresses;
  for (const auto& [card, address] :
       ParseStoragePlaces(AnnotatedText(failed.annotations, fact::kCyclesDead))) {
    if (card == failed.event.device) addresses.insert(address);
  }
  std::vector<const Block*> dead;
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    if (!entry.waiting && addresses.contains(block.allocation.address)) dead.push_back(&block);
  }
  std::sort(dead.begin(), dead.end(),
            [](const Block* a, const Block* b) { return a->sequence < b->sequence; });
  return dead;
}

std::string LineOfMost(const std::vector<const Block*>& dead, const EventSource& source) {
  std::map<trace::StackId, uint64_t> by_stack;
  for (const Block* block : dead) by_stack[block->allocation.stack] += block->allocation.requested;
  std::map<std::string, uint64_t> by_line;
  for (const auto& [stack, bytes] : by_stack) by_line[UserLine(source.Stack(stack))] += bytes;
  return std::max_element(by_line.begin(), by_line.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// True if the request was served often enough, once beside `alive_now` bytes or more that are not
// dead now; see DeadCycles.
bool IsAllThatGrows(const FailedRequest& failed, const std::vector<const Block*>& dead,
                    uint64_t alive_now) {
  size_t served = 0;
  uint64_t most_alive = 0;
  uint64_t dead_then = 0;
  for (const Block* block : dead) {
    const trace::Allocate& allocation = block->allocation;
    if (allocation.stack == failed.event.stack && allocation.requested == failed.event.requested) {
      ++served;
      most_alive = std::max(most_alive, Less(block->level_before, dead_then));
    }
    dead_then += allocation.requested;
  }
  return served >= kServedBefore && alive_now <= most_alive;
}

}  // namespace

std::optional<DeadCycles> FindDeadCycles(const FailedRequest& failed,
                                         const std::vector<CapturedBlock>& captured,
                                         const LiveSet& live, const EventSource& source) {
  const std::vector<const Block*> dead = DeadBlocks(failed, captured, live);
  if (dead.empty()) return std::nullopt;
  DeadCycles cycles;
  cycles.blocks = dead.size();
  for (const Block* block : dead) cycles.bytes += block->allocation.requested;
  uint64_t held = 0;
  for (const CapturedBlock& entry : captured)
    if (!entry.waiting) held += live.block(entry.id).allocation.requested;
  cycles.made_at = LineOfMost(dead, source);
  cycles.is_all_that_grows = IsAllThatGrows(failed, dead, held - cycles.bytes);
  return cycles;
}

}  // namespace memtrace::analysis
