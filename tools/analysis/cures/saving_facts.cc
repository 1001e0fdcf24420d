// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/saving_facts.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {
namespace {

absl::flat_hash_set<trace::StackId> StacksOf(const GrowthCourse& growth) {
  absl::flat_hash_set<trace::StackId> stacks;
  for (const GrowingSite& site : growth.sites)
    stacks.insert(site.stacks.begin(), site.stacks.end());
  return stacks;
}

// Returns the hook that does all that the row says, in any program. Others do a part of it, or need
// a Trainer: fit says of each program what they changed.
std::string_view WholeHookOf(const remedies::Row& row) {
  using remedies::Id;
  const bool does_a_part = row.id == Id::kNoOldGradients || row.id == Id::kHalfMicroBatch ||
                           row.id == Id::kOnePool || row.id == Id::kLogitsInPieces;
  return does_a_part ? "" : row.hook;
}

}  // namespace

Saving SavingOf(remedies::Id id, uint64_t bytes, uint64_t bytes_later) {
  const remedies::Row& row = remedies::RowOf(id);
  return {.name = std::string(row.name),
          .bytes = bytes,
          .bytes_later = bytes_later,
          .how_known = "estimated",
          .effort = row.effort,
          .cost = std::string(row.cost),
          .change = std::string(row.change),
          .hook = WholeHookOf(row)};
}

uint64_t SavingFacts::TrainedBytes() const {
  const std::string key = trace::fact::kOptimizerTrainedBytes.Of(device);
  return AnnotatedNumber(annotations, key).value_or(0);
}

void SavingFacts::ForEachBlock(const std::function<void(BlockId, const Block&)>& visit) const {
  for (const CapturedBlock& entry : captured)
    if (!entry.waiting) visit(entry.id, live.block(entry.id));
}

void SavingFacts::ForEachPart(Evidence best,
                              const std::function<void(const Block&, const Part&)>& visit) const {
  ForEachBlock([&](BlockId id, const Block& block) {
    for (const Part& part : PartsOf(block, live.Labels(id), live.position(), best))
      visit(block, part);
  });
}

std::vector<const Block*> SavingFacts::BlocksWhere(const StackRule& is_such) const {
  absl::flat_hash_map<trace::StackId, bool> known;
  std::vector<const Block*> blocks;
  ForEachBlock([&](BlockId, const Block& block) {
    const auto [stack, is_new] = known.try_emplace(block.allocation.stack, false);
    if (is_new) stack->second = is_such(source.Stack(block.allocation.stack));
    if (stack->second) blocks.push_back(&block);
  });
  return blocks;
}

uint64_t SavingFacts::BytesWhere(const StackRule& is_such) const {
  uint64_t bytes = 0;
  for (const Block* block : BlocksWhere(is_such)) bytes += block->allocation.requested;
  return bytes;
}

bool SavingFacts::GrowsBy(const StackRule& is_such) const {
  if (growth.sites.empty()) return false;
  const std::vector<trace::StackId>& stacks = growth.sites.front().stacks;
  return std::any_of(stacks.begin(), stacks.end(),
                     [&](trace::StackId stack) { return is_such(source.Stack(stack)); });
}

bool SavingFacts::GrowsByParameters() const {
  const absl::flat_hash_set<trace::StackId> growing = StacksOf(growth);
  uint64_t all = 0;
  uint64_t parameters = 0;
  ForEachPart(Evidence::kStated, [&](const Block& block, const Part& part) {
    if (!growing.contains(block.allocation.stack)) return;
    all += part.bytes;
    if (part.identity.role == trace::Role::kParameter) parameters += part.bytes;
  });
  return parameters > all / 2;
}

bool SavingFacts::GrowsByCaptures() const {
  const absl::flat_hash_set<trace::StackId> growing = StacksOf(growth);
  absl::flat_hash_set<uint32_t> pools;
  ForEachBlock([&](BlockId, const Block& block) {
    const trace::Allocate& allocation = block.allocation;
    if (allocation.pool != 0 && growing.contains(allocation.stack)) pools.insert(allocation.pool);
  });
  return pools.size() > 1;
}

}  // namespace memtrace::analysis
