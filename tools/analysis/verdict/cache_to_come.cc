// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/cache_to_come.h"

#include <set>

#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/source/annotation.h"

namespace memtrace::analysis {

std::optional<CacheToCome> FindCacheToCome(const FailedRequest& failed,
                                           const std::vector<CapturedBlock>& captured,
                                           const LiveSet& live, const EventSource& source) {
  CacheToCome cache;
  cache.layers = AnnotatedNumber(failed.annotations, fact::kGenerateLayers).value_or(0);
  if (failed.at.phase != trace::Phase::kGenerate || cache.layers == 0) return std::nullopt;
  std::set<trace::StringId> modules;
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    if (entry.waiting || block.birth.phase_run != failed.at.phase_run) continue;
    const Identity identity = MainIdentity(entry.id, live, source.best_evidence());
    if (identity.role != trace::Role::kKvCache) continue;
    cache.made += block.allocation.requested;
    modules.insert(block.allocation.module);
  }
  cache.layers_made = modules.size();
  if (cache.layers_made == 0 || cache.layers_made >= cache.layers) return std::nullopt;
  cache.to_come = cache.made / cache.layers_made * (cache.layers - cache.layers_made);
  return cache;
}

}  // namespace memtrace::analysis
