// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/block_parts.h"

#include <algorithm>

#include "tools/analysis/role_inference.h"

namespace memtrace::analysis {

Identity IdentityOf(const Block& block, const Label& label, const Position& end, Evidence best) {
  Identity identity;
  const bool is_stated = label.role != trace::Role::kUnknown;
  identity.role = is_stated ? label.role : InferRole(block, end);
  if (identity.role != trace::Role::kUnknown)
    identity.evidence = std::min(is_stated ? Evidence::kStated : Evidence::kPhase, best);
  identity.owner = label.owner != 0 ? label.owner : block.allocation.owner;
  identity.path = label.path;
  return identity;
}

std::vector<Part> PartsOf(const Block& block, const std::vector<LabelledRange>& labels,
                          const Position& end, Evidence best) {
  const uint64_t begin = block.allocation.address;
  std::vector<Part> parts;
  uint64_t at = begin;
  const auto add = [&](uint64_t until, const Label& label) {
    if (until > at) parts.push_back({at - begin, until - at, IdentityOf(block, label, end, best)});
    at = until;
  };
  for (const LabelledRange& range : labels) {
    add(range.begin, {});
    add(range.end, range.label);
  }
  add(begin + block.allocation.requested, {});
  return parts;
}

}  // namespace memtrace::analysis
