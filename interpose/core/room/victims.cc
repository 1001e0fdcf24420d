// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/victims.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace memtrace {
namespace {

using recorder::PlacedBlock;
using trace::Role;

// Activations move in classes of about this size, so that the oldest go first although what moves
// is ordered by address within a class.
constexpr Bytes kClass = 256_MiB;

// Steps after its last use from which a block counts as unused: neither this step nor the one
// before used it.
constexpr uint64_t kStepsUnused = 2;

// Both are of the last use that is known: the allocation, if there is no later one.
uint64_t SequenceOfUse(const PlacedBlock& one) {
  return std::max(one.block.birth, one.use.sequence);
}
uint64_t StepOfUse(const PlacedBlock& one) {
  return std::max<uint64_t>(one.block.step, one.use.step);
}

bool IsUnused(const PlacedBlock& one, uint64_t step) {
  return !one.use.is_captured && StepOfUse(one) + kStepsUnused <= step;
}

std::vector<PlacedBlock> OfRole(std::span<const PlacedBlock> blocks, Role role) {
  std::vector<PlacedBlock> wanted;
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(wanted),
               [role](const PlacedBlock& one) { return LikelyRole(one.block) == role; });
  return wanted;
}

void AddClass(std::span<const PlacedBlock> blocks, const VictimKind& kind, VictimClasses& classes) {
  if (blocks.empty()) return;
  std::vector<DeviceAddress>& added = classes.blocks.emplace_back();
  for (const PlacedBlock& one : blocks) added.push_back(one.address);
  classes.kinds.push_back(kind);
}

void AddRole(std::span<const PlacedBlock> blocks, Role role, VictimClasses& classes) {
  AddClass(OfRole(blocks, role), {.role = role}, classes);
}

void AddActivations(std::span<const PlacedBlock> blocks, VictimClasses& classes) {
  std::vector<PlacedBlock> wanted = OfRole(blocks, Role::kActivation);
  std::sort(wanted.begin(), wanted.end(), [](const PlacedBlock& a, const PlacedBlock& b) {
    return SequenceOfUse(a) < SequenceOfUse(b);
  });
  size_t first = 0;
  Bytes sum = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    sum += wanted[i].block.allocated;
    if (sum < kClass && i + 1 < wanted.size()) continue;
    AddClass(std::span(wanted).subspan(first, i + 1 - first), {.role = Role::kActivation}, classes);
    first = i + 1;
    sum = 0;
  }
}

bool IsOfNoModel(Role role) {
  return role == Role::kUnknown || role == Role::kKvCache || role == Role::kCheckpoint;
}

// True if blocks with this role may move because no operation uses them: libraries use workspaces
// and memory for communication without one.
bool MayMoveUnused(Role role) { return role != Role::kWorkspace && role != Role::kComm; }

VictimKind UnusedKind(const PlacedBlock& one) {
  const Role role = LikelyRole(one.block);
  const bool is_known_by_owner = IsOfNoModel(role) && one.block.owner != 0;
  return {.role = is_known_by_owner ? Role::kUnknown : role,
          .owner = is_known_by_owner ? one.block.owner : 0,
          .is_unused = true};
}

// Adds a class for each step and kind, because blocks that are last used in one step, such as those
// of one model, lie in the same chunks.
void AddUnused(std::span<const PlacedBlock> blocks, uint64_t step, VictimClasses& classes) {
  std::map<std::tuple<uint64_t, VictimKind>, std::vector<PlacedBlock>> found;
  for (const PlacedBlock& one : blocks) {
    if (IsUnused(one, step) && MayMoveUnused(LikelyRole(one.block)))
      found[{StepOfUse(one), UnusedKind(one)}].push_back(one);
  }
  for (const auto& [key, unused] : found) AddClass(unused, std::get<VictimKind>(key), classes);
}

// The blocks of a movable owner that belong to no model.
struct OwnedMemory {
  std::vector<PlacedBlock> blocks;
  uint64_t latest = 0;  // sequence number of the last use of a block
  bool has_busy_model = false;
};

// Returns the owners with such memory, the coldest first.
std::vector<OwnedMemory> OwnersWithoutModel(std::span<const PlacedBlock> blocks,
                                            const IdleModels& idle,
                                            std::span<const DeviceAddress> movable) {
  std::set<DeviceAddress> of_idle;
  for (const std::vector<DeviceAddress>& model : idle) of_idle.insert(model.begin(), model.end());
  std::map<trace::StringId, OwnedMemory> owners;
  for (const PlacedBlock& one : blocks) {
    if (!std::binary_search(movable.begin(), movable.end(), one.address)) continue;
    if (of_idle.contains(one.address)) continue;
    OwnedMemory& owner = owners[one.block.owner];
    const Role role = LikelyRole(one.block);
    owner.has_busy_model |= role == Role::kParameter;
    if (!IsOfNoModel(role)) continue;
    owner.blocks.push_back(one);
    owner.latest = std::max(owner.latest, SequenceOfUse(one));
  }
  std::vector<OwnedMemory> found;
  for (auto& [name, owner] : owners)
    if (!owner.blocks.empty()) found.push_back(std::move(owner));
  std::sort(found.begin(), found.end(),
            [](const OwnedMemory& a, const OwnedMemory& b) { return a.latest < b.latest; });
  return found;
}

void AddByRole(std::span<const PlacedBlock> blocks, trace::Phase now, VictimClasses& classes) {
  const bool is_in_optimizer = now == trace::Phase::kOptimizer;
  if (is_in_optimizer) AddActivations(blocks, classes);
  AddRole(blocks, Role::kOptimizerState, classes);
  if (is_in_optimizer) AddRole(blocks, Role::kGradient, classes);
  if (!is_in_optimizer) AddActivations(blocks, classes);
}

}  // namespace

std::vector<DeviceAddress> BlocksThatContain(std::span<const PlacedBlock> blocks,
                                             std::vector<DeviceAddress> addresses) {
  std::sort(addresses.begin(), addresses.end());
  std::vector<DeviceAddress> found;
  for (const PlacedBlock& one : blocks) {
    const auto inside = std::lower_bound(addresses.begin(), addresses.end(), one.address);
    if (inside != addresses.end() && *inside < one.address + one.block.allocated)
      found.push_back(one.address);
  }
  std::sort(found.begin(), found.end());
  return found;
}

VictimClasses ChooseVictims(std::span<const PlacedBlock> blocks, trace::Phase now,
                            const IdleModels& idle, std::span<const DeviceAddress> movable,
                            std::optional<uint64_t> step) {
  VictimClasses classes;
  if (step) AddUnused(blocks, *step, classes);
  for (const std::vector<DeviceAddress>& model : idle) {
    if (model.empty()) continue;
    classes.blocks.push_back(model);
    classes.kinds.push_back({.role = Role::kParameter});
  }
  const bool infers = now == trace::Phase::kGenerate || now == trace::Phase::kEvaluate;
  const std::vector<OwnedMemory> owners = OwnersWithoutModel(blocks, idle, movable);
  const auto is_idle = [&](const OwnedMemory& owner) {
    if (!step) return !infers && !owner.has_busy_model;
    return std::all_of(owner.blocks.begin(), owner.blocks.end(),
                       [&](const PlacedBlock& one) { return IsUnused(one, *step); });
  };
  const auto add_owners = [&](bool are_idle) {
    for (const OwnedMemory& owner : owners)
      if (is_idle(owner) == are_idle)
        AddClass(owner.blocks, {.owner = owner.blocks.front().block.owner}, classes);
  };
  add_owners(/*are_idle=*/true);
  AddByRole(blocks, now, classes);
  add_owners(/*are_idle=*/false);
  return classes;
}

}  // namespace memtrace
