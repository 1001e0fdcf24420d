// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/origins.h"

namespace memtrace::analysis {

OriginId Origins::Of(const WalkedBlock& block, const Identity& identity) {
  const Origin origin{.identity = identity,
                      .module = block.allocation.module,
                      .stack = block.allocation.stack,
                      .phase = block.birth.at.phase,
                      .stream = block.allocation.stream,
                      .pool = block.allocation.pool};
  const auto [entry, is_new] = known_.try_emplace(origin, static_cast<OriginId>(origins_.size()));
  if (is_new) {
    origins_.push_back(origin);
    line_of_.push_back(lines_.Site(trace::Role::kUnknown, 0, 0, origin.stack, origin.phase));
  }
  return entry->second;
}

std::string Origins::Owner(OriginId id) const {
  const trace::StringId owner = origins_[id].identity.owner;
  return owner == 0 ? "(none)" : std::string(source_.String(owner));
}

std::string Origins::Module(OriginId id) const {
  const Origin& origin = origins_[id];
  const bool of_parameter = origin.identity.path != 0;
  const trace::StringId path = of_parameter ? origin.identity.path : origin.module;
  return path == 0 ? "(no module)" : CollapsedPath(source_.String(path), of_parameter);
}

std::string Origins::Line(OriginId id) const { return lines_.Name(line_of_[id]); }

}  // namespace memtrace::analysis
