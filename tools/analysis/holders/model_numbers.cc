// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/model_numbers.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {
namespace {

bool IsOfModel(const Identity& identity) {
  return identity.evidence == Evidence::kStated && identity.path != 0 &&
         (identity.role == trace::Role::kParameter || identity.role == trace::Role::kBuffer);
}

}  // namespace

ModelNumbers::ModelNumbers(const std::vector<CapturedBlock>& captured, const LiveSet& live) {
  std::vector<Stated> stated;
  for (const CapturedBlock& entry : captured) {
    if (entry.waiting) continue;
    const Block& block = live.block(entry.id);
    if (!block.labelled) continue;
    for (const Part& part :
         PartsOf(block, live.Labels(entry.id), live.position(), Evidence::kStated)) {
      if (IsOfModel(part.identity))
        stated.push_back(
            {part.identity.owner, part.identity.path, part.bytes, block.sequence, entry.id});
    }
  }
  std::sort(stated.begin(), stated.end(),
            [](const Stated& a, const Stated& b) { return a.Order() < b.Order(); });
  for (auto begin = stated.begin(); begin != stated.end();) {
    const auto end = std::find_if_not(begin, stated.end(),
                                      [&](const Stated& other) { return other.IsNamedAs(*begin); });
    Number({begin, end});
    begin = end;
  }
}

void ModelNumbers::Number(std::vector<Stated> same) {
  const auto is_one = [](const Stated& a, const Stated& b) { return a.block == b.block; };
  same.erase(std::unique(same.begin(), same.end(), is_one), same.end());
  if (same.size() > kMostModels) return;
  for (uint32_t number = 1; number < same.size(); ++number) {
    uint32_t& known = later_[same[number].block];
    known = std::max(known, number);
  }
}

}  // namespace memtrace::analysis
