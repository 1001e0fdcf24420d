// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/usage_curve.h"

#include <algorithm>
#include <variant>

#include "tools/analysis/block_index.h"
#include "tools/analysis/block_walk.h"

namespace memtrace::analysis {
namespace {

class CurveMaker {
 public:
  CurveMaker(const BlockIndex& blocks, int32_t device, UsageCurve& curve)
      : blocks_(blocks), device_(device), curve_(curve) {}

  void Apply(const trace::Event& event) {
    walk_.Apply(event);
    if ((walk_.ordinal() - 1) % curve_.events_of_column == 0) BeginColumn();
    if (walk_.let_go() != nullptr) Count(*walk_.let_go(), false);
    const auto* alive = std::get_if<trace::Alive>(&event.payload);
    if (std::holds_alternative<trace::Allocate>(event.payload) ||
        (alive != nullptr && alive->waiting == 0))
      Count(*walk_.block(), true);
    NoteMapping(event);
    NoteMark(event);
  }

 private:
  void BeginColumn() {
    UsageColumn& column = curve_.columns.emplace_back();
    column.first_event = walk_.ordinal();
    column.least = column.most = live_;
    column.by_role = by_role_;
    column.reserved = reserved_;
  }

  void Count(const WalkedBlock& block, bool born) {
    if (block.allocation.device != device_) return;
    for (const Part& part : blocks_.Parts(block.number, block.allocation.requested)) {
      uint64_t& role = by_role_[static_cast<size_t>(part.identity.role)];
      const uint64_t bytes = born ? part.bytes : std::min(part.bytes, role);
      role = born ? role + bytes : role - bytes;
      live_ = born ? live_ + bytes : live_ - bytes;
    }
    UsageColumn& column = curve_.columns.back();
    column.least = std::min(column.least, live_);
    if (live_ <= column.most) return;
    column.most = live_;
    column.by_role = by_role_;
  }

  void NoteMapping(const trace::Event& event) {
    const auto* map = std::get_if<trace::Map>(&event.payload);
    const auto* unmap = std::get_if<trace::Unmap>(&event.payload);
    if (map != nullptr && map->device == device_) reserved_ += map->size;
    if (unmap != nullptr && unmap->device == device_) reserved_ -= std::min(reserved_, unmap->size);
    uint64_t& most = curve_.columns.back().reserved;
    most = std::max(most, reserved_);
  }

  void NoteMark(const trace::Event& event) {
    if (const auto* step = std::get_if<trace::Step>(&event.payload))
      curve_.steps.push_back({walk_.ordinal(), step->number});
    const auto* failed = std::get_if<trace::OutOfMemory>(&event.payload);
    if (failed != nullptr && failed->device == device_) curve_.failures.push_back(walk_.ordinal());
  }

  const BlockIndex& blocks_;
  int32_t device_;
  UsageCurve& curve_;
  BlockWalk walk_;
  std::array<uint64_t, kRoles> by_role_{};
  uint64_t live_ = 0;
  uint64_t reserved_ = 0;
};

}  // namespace

UsageCurve CurveOf(const EventSource& source, int32_t device, uint64_t events, size_t columns) {
  UsageCurve curve;
  curve.events = events;
  curve.events_of_column = std::max<uint64_t>(1, (events + columns - 1) / columns);
  BlockIndex blocks(source.best_evidence());
  source.ForEach([&blocks](const trace::Event& event) { blocks.Apply(event); });
  blocks.Finish();
  CurveMaker maker(blocks, device, curve);
  source.ForEach([&maker](const trace::Event& event) { maker.Apply(event); });
  return curve;
}

}  // namespace memtrace::analysis
