// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/block_parts.h"

#include <algorithm>

#include "tools/analysis/replayed/role_inference.h"

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

const Part& LargestPart(const std::vector<Part>& parts) {
  return *std::max_element(parts.begin(), parts.end(),
                           [](const Part& a, const Part& b) { return a.bytes < b.bytes; });
}

Identity MainIdentity(BlockId id, const LiveSet& live, Evidence best) {
  const Block& block = live.block(id);
  const std::vector<Part> parts = PartsOf(block, live.Labels(id), live.position(), best);
  if (parts.empty()) return IdentityOf(block, {}, live.position(), best);
  return LargestPart(parts).identity;
}

SiteId SiteOf(const Block& block, const Identity& identity, SiteNames& sites) {
  return sites.Site(identity.role, identity.path, block.allocation.module, block.allocation.stack,
                    block.birth.phase);
}

}  // namespace memtrace::analysis
