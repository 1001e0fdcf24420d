// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/block_index.h"

#include <utility>

namespace memtrace::analysis {
namespace {

// Joins neighbours with the same identity; a block of 0 bytes has a part of as many.
std::vector<Part> JoinedPartsOf(const Block& block, const std::vector<trace::LabelledRange>& labels,
                                const Position& end, Evidence best) {
  std::vector<Part> joined;
  for (const Part& part : PartsOf(block, labels, end, best)) {
    if (!joined.empty() && joined.back().identity == part.identity) {
      joined.back().bytes += part.bytes;
    } else {
      joined.push_back(part);
    }
  }
  if (joined.empty()) joined.push_back({0, 0, IdentityOf(block, {}, end, best)});
  return joined;
}

}  // namespace

void BlockIndex::Apply(const trace::Event& event) { live_.Apply(event, this); }

void BlockIndex::Began(BlockId id) {
  devices_.insert(live_.block(id).allocation.device);
  if (number_of_.size() <= id) number_of_.resize(id + 1);
  number_of_[id] = identities_.size();
  identities_.push_back(0);
}

void BlockIndex::End(BlockId id, bool freed) {
  Block block = live_.block(id);
  block.freed = freed;
  std::vector<Part> parts = JoinedPartsOf(block, live_.Labels(id), live_.position(), best_);
  uint32_t& identity = identities_[number_of_[id]];
  if (parts.size() == 1) {
    identity = Intern(parts.front().identity);
    return;
  }
  identity = kMixed | static_cast<uint32_t>(mixed_.size());
  const Identity main = LargestPart(parts).identity;
  mixed_.push_back({main, std::move(parts)});
}

uint32_t BlockIndex::Intern(const Identity& identity) {
  const auto [entry, is_new] =
      by_identity_.try_emplace(identity, static_cast<uint32_t>(table_.size()));
  if (is_new) table_.push_back(identity);
  return entry->second;
}

void BlockIndex::Finish() {
  for (const int32_t device : devices_) {
    for (const CapturedBlock& block : live_.Capture(device)) End(block.id, false);
  }
  live_ = LiveSet();
}

std::vector<Part> BlockIndex::Parts(uint64_t number, uint64_t requested) const {
  const uint32_t identity = identities_[number];
  if ((identity & kMixed) != 0) return mixed_[identity & ~kMixed].parts;
  return {{0, requested, table_[identity]}};
}

const Identity& BlockIndex::Main(uint64_t number) const {
  const uint32_t identity = identities_[number];
  return (identity & kMixed) != 0 ? mixed_[identity & ~kMixed].main : table_[identity];
}

}  // namespace memtrace::analysis
