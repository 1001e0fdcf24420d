// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/movable_owners.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {
namespace {

using trace::Role;

struct Roles {
  uint64_t bytes = 0;
  bool has_parameters = false;
  bool is_trained = false;
  bool is_in_use = false;

  void Add(Role role, uint64_t more) {
    bytes += more;
    switch (role) {
      case Role::kParameter:
        has_parameters = true;
        return;
      case Role::kGradient:
      case Role::kOptimizerState:
        is_trained = true;
        return;
      case Role::kActivation:
      case Role::kKvCache:
      case Role::kWorkspace:
        is_in_use = true;
        return;
      default:
        return;
    }
  }
};

}  // namespace

std::vector<MovableOwner> FindMovableOwners(const std::vector<CapturedBlock>& captured,
                                            const LiveSet& live, const EventSource& source) {
  std::map<trace::StringId, Roles> owners;
  for (const CapturedBlock& entry : captured) {
    if (entry.waiting) continue;
    const Block& block = live.block(entry.id);
    for (const Part& part :
         PartsOf(block, live.Labels(entry.id), live.position(), source.best_evidence()))
      owners[part.identity.owner].Add(part.identity.role, part.bytes);
  }
  const auto models = std::count_if(owners.begin(), owners.end(),
                                    [](const auto& owner) { return owner.second.has_parameters; });
  std::vector<MovableOwner> movable;
  for (const auto& [owner, roles] : owners) {
    if (owner != 0 && models > 1 && roles.has_parameters && !roles.is_trained)
      movable.push_back({std::string(source.String(owner)), roles.bytes, roles.is_in_use});
  }
  std::sort(movable.begin(), movable.end(), [](const MovableOwner& a, const MovableOwner& b) {
    return std::tie(b.bytes, a.name) < std::tie(a.bytes, b.name);
  });
  return movable;
}

}  // namespace memtrace::analysis
