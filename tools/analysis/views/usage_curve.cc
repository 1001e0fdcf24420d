// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/usage_curve.h"

#include <algorithm>
#include <bit>

#include "profiler/trace/events/visit.h"
#include "tools/analysis/replayed/block_walk.h"

namespace memtrace::analysis {
namespace {

class CurveMaker {
 public:
  CurveMaker(const BlockIndex& blocks, const CurvePlan& plan, UsageCurve& curve)
      : blocks_(blocks), device_(plan.device), curve_(curve) {
    for (const EventRange& range : plan.edges) {
      edges_.push_back(range.first);
      edges_.push_back(range.last + 1);
    }
    std::sort(edges_.begin(), edges_.end());
  }

  void Apply(const trace::Event& event) {
    walk_.Apply(event);
    if (IsFirstOfColumn()) BeginColumn();
    if (walk_.let_go() != nullptr) Count(*walk_.let_go(), false);
    trace::Visit([this](const auto& payload) { Apply(payload); }, event.payload);
    NoteLevel();
  }

 private:
  void Apply(const trace::Allocate& /*allocation*/) { Begin(*walk_.block()); }
  void Apply(const trace::Alive& alive) {
    if (alive.waiting == 0) Begin(*walk_.block());
  }
  void Apply(const trace::Map& map) {
    if (map.device != device_) return;
    reserved_ += map.size;
    uint64_t& most = curve_.columns.back().reserved;
    most = std::max(most, reserved_);
  }
  void Apply(const trace::Unmap& unmap) {
    if (unmap.device == device_) reserved_ -= std::min(reserved_, unmap.size);
  }
  void Apply(const trace::Step& step) { curve_.steps.push_back({walk_.ordinal(), step.number}); }
  void Apply(const trace::PhaseChange& change) {
    curve_.phases.push_back({walk_.ordinal(), change.phase});
  }
  void Apply(const trace::OutOfMemory& failed) {
    if (failed.device != device_) return;
    curve_.failures.push_back({.event = walk_.ordinal(),
                               .ns = walk_.now().time_ns,
                               .requested = failed.requested,
                               .allocated = failed.allocated,
                               .obtainable = failed.obtainable,
                               .stack = failed.stack});
  }
  // Ignores events that change nothing here.
  template <trace::OneOf<trace::FreeRequested, trace::FreeCompleted, trace::Reserve, trace::Relabel,
                         trace::TagChange, trace::Annotate, trace::CardSample, trace::Lost,
                         trace::OutsideAllocate, trace::OutsideFree, trace::Resume, trace::Activity,
                         trace::Moved>
                Ignored>
  void Apply(const Ignored&) {}

  bool IsFirstOfColumn() {
    const uint64_t at = walk_.ordinal();
    bool is_first = (at - 1) % curve_.events_of_column == 0;
    while (edge_ < edges_.size() && edges_[edge_] <= at) is_first |= edges_[edge_++] == at;
    return is_first;
  }

  void BeginColumn() {
    UsageColumn& column = curve_.columns.emplace_back();
    column.first_event = walk_.ordinal();
    column.reserved = reserved_;
  }

  void Begin(const WalkedBlock& block) {
    const uint64_t bytes = std::max<uint64_t>(block.allocation.requested, 1);
    if (block.allocation.device == device_)
      ++curve_.blocks_by_size[static_cast<size_t>(std::bit_width(bytes) - 1)];
    Count(block, true);
  }

  void Count(const WalkedBlock& block, bool born) {
    if (block.allocation.device != device_) return;
    for (const Part& part : blocks_.Parts(block.number, block.allocation.requested)) {
      uint64_t& role = by_role_[static_cast<size_t>(part.identity.role)];
      const uint64_t bytes = born ? part.bytes : std::min(part.bytes, role);
      role = born ? role + bytes : role - bytes;
      live_ = born ? live_ + bytes : live_ - bytes;
    }
  }

  // Notes the level after the event.
  void NoteLevel() {
    if ((walk_.ordinal() - 1) % curve_.events_of_level == 0)
      curve_.levels.push_back({live_, live_});
    UsageLevel& level = curve_.levels.back();
    level.least = std::min(level.least, live_);
    level.most = std::max(level.most, live_);
    UsageColumn& column = curve_.columns.back();
    const bool is_first = column.most_event == 0;
    if (is_first || live_ < column.least) column.least = live_;
    if (!is_first && live_ <= column.most) return;
    column.most = live_;
    column.most_event = walk_.ordinal();
    column.by_role = by_role_;
  }

  const BlockIndex& blocks_;
  int32_t device_;
  UsageCurve& curve_;
  BlockWalk walk_;
  std::vector<uint64_t> edges_;  // events at which a column begins
  size_t edge_ = 0;
  std::array<uint64_t, kRoles> by_role_{};
  uint64_t live_ = 0;
  uint64_t reserved_ = 0;
};

}  // namespace

UsageCurve CurveOf(const EventSource& source, const BlockIndex& blocks, const CurvePlan& plan) {
  UsageCurve curve;
  curve.events = plan.events;
  const auto width = [&plan](size_t parts) {
    return std::max<uint64_t>(1, (plan.events + parts - 1) / parts);
  };
  curve.events_of_column = width(plan.columns);
  curve.events_of_level = width(plan.levels);
  CurveMaker maker(blocks, plan, curve);
  source.ForEach([&maker](const trace::Event& event) { maker.Apply(event); });
  return curve;
}

}  // namespace memtrace::analysis
