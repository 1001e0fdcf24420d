// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_PLAN_PLAN_H_
#define MEMTRACE_ALLOCATOR_PLAN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/units.h"

namespace memtrace {

// Where the large blocks of one stream go, in the order in which they are asked for: first a
// prologue, once, then a cycle, again and again (docs/plan.md).
struct PlanSection {
  struct Item {
    Bytes size = 0;    // rounded, as the block occupies it
    Bytes offset = 0;  // in the planned memory

    friend bool operator==(const Item&, const Item&) = default;
  };

  int32_t device = 0;
  uint32_t stream = 0;  // in the order in which streams first ask for a large block
  Bytes bytes = 0;      // planned memory: no item ends above
  size_t prologue = 0;  // items before the cycle
  std::vector<Item> items;

  size_t cycle() const { return items.size() - prologue; }
  friend bool operator==(const PlanSection&, const PlanSection&) = default;
};

// The places of a run's blocks, as `memtrace plan` computed them. It is a hint: places may even
// overlap; whoever follows it makes sure that what he takes is free. Immutable once it is shared.
class Plan {
 public:
  static constexpr int kVersion = 1;
  // More than any step asks for; bounds what a file can make us keep.
  static constexpr size_t kMostItems = size_t{1} << 24;
  static constexpr Bytes kMostBytes = Bytes{1} << 46;  // 64 TiB

  // kNotFound, kInvalidArgument (what is wrong, and in which line), kFailedPrecondition (a later
  // version).
  static absl::StatusOr<Plan> Parse(std::string_view text);
  static absl::StatusOr<Plan> Read(const std::string& path);

  // What is wrong with a section that Parse would refuse; OK if nothing is.
  static absl::Status Check(const PlanSection& section);

  // REQUIRES: Check says OK, and no section has the same card and stream.
  void Add(PlanSection section) { sections_.push_back(std::move(section)); }

  // The file's contents: Parse gives the same plan.
  std::string Text() const;

  // Null if nothing is planned. A plan of one card serves every card.
  const PlanSection* Find(DeviceIndex device, uint32_t stream) const;

  const std::vector<PlanSection>& sections() const { return sections_; }
  friend bool operator==(const Plan&, const Plan&) = default;

 private:
  bool IsOfOneCard() const;

  std::vector<PlanSection> sections_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_PLAN_PLAN_H_
