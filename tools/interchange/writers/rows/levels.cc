// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/rows/levels.h"

#include <algorithm>

#include "profiler/trace/events/visit.h"

namespace memtrace::interchange {

void Levels::Apply(const trace::Event& event) {
  changed_.clear();
  walk_.Apply(event);
  if (walk_.let_go() != nullptr) Count(*walk_.let_go(), false);
  trace::Visit([this](const auto& payload) { Apply(payload); }, event.payload);
}

void Levels::Count(const WalkedBlock& block, bool born) {
  const trace::Allocate& allocation = block.allocation;
  Change(allocation.device, LevelKind::kLive, 0, allocation.requested, born);
  for (const Part& part : run_.survey.blocks().Parts(block.number, allocation.requested)) {
    const auto role = static_cast<uint32_t>(part.identity.role);
    Change(allocation.device, LevelKind::kRole, role, part.bytes, born);
    Change(allocation.device, LevelKind::kOwner, part.identity.owner, part.bytes, born);
  }
}

void Levels::Change(int32_t device, LevelKind kind, uint32_t key, uint64_t bytes, bool more) {
  const auto [entry, is_new] = places_.try_emplace({device, kind, key}, levels_.size());
  if (is_new) levels_.push_back({device, kind, key, 0});
  Level& level = levels_[entry->second];
  level.bytes = more ? level.bytes + bytes : level.bytes - std::min(bytes, level.bytes);
  if (std::find(changed_.begin(), changed_.end(), entry->second) == changed_.end())
    changed_.push_back(entry->second);
}

uint64_t Levels::Bytes(int32_t device, LevelKind kind) const {
  const auto found = places_.find({device, kind, 0});
  return found == places_.end() ? 0 : levels_[found->second].bytes;
}

std::string Levels::NameOf(const Level& level) const {
  switch (level.kind) {
    case LevelKind::kReserved:
      return "reserved";
    case LevelKind::kLive:
      return "live";
    case LevelKind::kRole:
      return std::string(trace::RoleName(static_cast<trace::Role>(level.key)));
    case LevelKind::kOwner:
      return level.key == 0 ? "(no owner)" : std::string(run_.events.String(level.key));
  }
  return "";
}

}  // namespace memtrace::interchange
