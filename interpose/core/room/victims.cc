// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/victims.h"

#include <algorithm>

namespace memtrace {
namespace {

using recorder::PlacedBlock;
using trace::Role;

// Activations move in classes of about this size, so that the oldest go first although what moves
// is ordered by address within a class.
constexpr Bytes kClass = 256_MiB;

std::vector<PlacedBlock> OfRole(std::span<const PlacedBlock> blocks, Role role) {
  std::vector<PlacedBlock> wanted;
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(wanted),
               [role](const PlacedBlock& one) { return LikelyRole(one.block) == role; });
  return wanted;
}

void AddClass(std::span<const PlacedBlock> blocks, Role role, VictimClasses& classes) {
  if (blocks.empty()) return;
  std::vector<DeviceAddress>& added = classes.blocks.emplace_back();
  for (const PlacedBlock& one : blocks) added.push_back(one.address);
  classes.roles.push_back(role);
}

void AddActivations(std::span<const PlacedBlock> blocks, VictimClasses& classes) {
  std::vector<PlacedBlock> wanted = OfRole(blocks, Role::kActivation);
  std::sort(wanted.begin(), wanted.end(), [](const PlacedBlock& a, const PlacedBlock& b) {
    return a.block.birth < b.block.birth;
  });
  size_t first = 0;
  Bytes sum = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    sum += wanted[i].block.allocated;
    if (sum < kClass && i + 1 < wanted.size()) continue;
    AddClass(std::span(wanted).subspan(first, i + 1 - first), Role::kActivation, classes);
    first = i + 1;
    sum = 0;
  }
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
                            const IdleModels& idle) {
  VictimClasses classes;
  for (const std::vector<DeviceAddress>& model : idle) {
    if (model.empty()) continue;
    classes.blocks.push_back(model);
    classes.roles.push_back(Role::kParameter);
  }
  const bool is_in_optimizer = now == trace::Phase::kOptimizer;
  if (is_in_optimizer) AddActivations(blocks, classes);
  AddClass(OfRole(blocks, Role::kOptimizerState), Role::kOptimizerState, classes);
  if (is_in_optimizer) AddClass(OfRole(blocks, Role::kGradient), Role::kGradient, classes);
  if (!is_in_optimizer) AddActivations(blocks, classes);
  return classes;
}

}  // namespace memtrace
