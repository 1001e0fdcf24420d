// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/scratch.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

struct ScratchGroup {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  const Block* first_born = nullptr;
  const Block* last_dead = nullptr;
};

uint64_t Rise(const Block& first_born, const Block& last_dead) {
  return Less(last_dead.level_after, first_born.level_before);
}

}  // namespace

std::vector<Scratch> FindScratch(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                                 SiteNames& sites) {
  absl::flat_hash_map<SiteId, ScratchGroup> groups;
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    const bool gone = block.freed || block.waiting;
    if (entry.waiting || !gone || block.birth.phase_run != block.death.phase_run) continue;
    const trace::Allocate& allocation = block.allocation;
    ScratchGroup& group = groups[sites.Site(trace::Role::kTemporary, 0, allocation.module,
                                            allocation.stack, block.birth.phase)];
    group.bytes += allocation.requested;
    ++group.blocks;
    if (group.first_born == nullptr || block.sequence < group.first_born->sequence)
      group.first_born = &block;
    if (group.last_dead == nullptr || block.died_ns >= group.last_dead->died_ns)
      group.last_dead = &block;
  }
  std::vector<Scratch> scratch;
  scratch.reserve(groups.size());
  for (const auto& [site, group] : groups) {
    scratch.push_back({.site = sites.Name(site),
                       .bytes = group.bytes,
                       .blocks = group.blocks,
                       .lifetime_ns = group.last_dead->died_ns - group.first_born->born_ns,
                       .stays = Rise(*group.first_born, *group.last_dead)});
  }
  std::sort(scratch.begin(), scratch.end(), [](const Scratch& a, const Scratch& b) {
    return std::tie(b.bytes, a.site) < std::tie(a.bytes, b.site);
  });
  return scratch;
}

}  // namespace memtrace::analysis
