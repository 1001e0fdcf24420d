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

// The places of the large blocks of one stream, in the order of their requests: first a prologue,
// once, then a cycle, again and again (docs/design/plan.md).
struct PlanSection {
  struct Item {
    Bytes size = 0;    // rounded: the size of the block
    Bytes offset = 0;  // in the planned memory

    friend bool operator==(const Item&, const Item&) = default;
  };

  int32_t device = 0;
  uint32_t stream = 0;  // counted in the order of their first large requests
  Bytes bytes = 0;      // size of the planned memory: no item ends above
  size_t prologue = 0;  // number of items before the cycle
  std::vector<Item> items;

  size_t cycle() const { return items.size() - prologue; }
  friend bool operator==(const PlanSection&, const PlanSection&) = default;
};

// The places of a run's blocks, as computed by `memtrace plan`. It is only a hint: places may even
// overlap, so a reader must check that a place is free. Immutable once it is shared.
class Plan {
 public:
  static constexpr int kVersion = 1;
  // More items than any step needs; limits the memory that a file can make the process use.
  static constexpr size_t kMostItems = size_t{1} << 24;
  static constexpr Bytes kMostBytes = Bytes{1} << 46;  // 64 TiB

  // Parses a plan. kNotFound, kInvalidArgument (what is wrong, and in which line),
  // kFailedPrecondition (a later version).
  static absl::StatusOr<Plan> Parse(std::string_view text);
  static absl::StatusOr<Plan> Read(const std::string& path);

  // Returns why Parse would refuse a section; OK if it would not.
  static absl::Status Check(const PlanSection& section);

  // REQUIRES: Check says OK, and no section has the same card and stream.
  void Add(PlanSection section) { sections_.push_back(std::move(section)); }

  // Returns the file's contents. Parse of them gives the same plan.
  std::string Text() const;

  // Returns null if nothing is planned for the stream. A plan of one card serves every card.
  const PlanSection* Find(DeviceIndex device, uint32_t stream) const;

  const std::vector<PlanSection>& sections() const { return sections_; }
  friend bool operator==(const Plan&, const Plan&) = default;

 private:
  bool HasOneCard() const;

  std::vector<PlanSection> sections_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_PLAN_PLAN_H_
