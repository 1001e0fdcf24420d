// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_PLAN_PLAN_CURSOR_H_
#define MEMTRACE_ALLOCATOR_PLAN_PLAN_CURSOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "allocator/plan/plan.h"
#include "base/units.h"

namespace memtrace {

// The position of a program in its plan, found from the sizes of its requests alone. An extra
// request affects only itself; after missing requests, or a phase of another kind, the cursor looks
// for the last `kGram` sizes, ahead of its old position.
//
//   plan      a b c d | e f g h e f g h ...        requests   e f X g h   e g h e f
//                                                  items      0 1 - 2 3   0 - - - 1    (of the
//                                                  cycle)
//
// Allocates no heap memory after it is made. Thread rule: none, guarded by the owner's lock.
class PlanCursor {
 public:
  static constexpr size_t kGram = 4;

  // `section` must outlive the cursor.
  explicit PlanCursor(const PlanSection& section ABSL_ATTRIBUTE_LIFETIME_BOUND);

  // Returns the same as Next if the due item has this size; none if another one has to be searched.
  std::optional<Bytes> NextIfDue(Bytes size) const {
    const bool is_due =
        !is_lost_ && at_ < section_.items.size() && section_.items[at_].size == size;
    return is_due ? std::optional(section_.items[at_].offset) : std::nullopt;
  }

  // Advances by one request and returns its offset; none if it is not planned.
  std::optional<Bytes> Next(Bytes size);

  const PlanSection& section() const { return section_; }

 private:
  struct Gram {
    uint64_t hash = 0;
    size_t last = 0;  // item

    friend auto operator<=>(const Gram&, const Gram&) = default;
  };

  Bytes SizeAt(size_t step) const { return section_.items[ItemAt(step)].size; }
  size_t ItemAt(size_t step) const;
  void Remember(Bytes size);
  std::optional<size_t> FindAhead() const;
  std::optional<size_t> FirstFrom(size_t item, uint64_t hash) const;
  Bytes AdvancePast(size_t item);

  const PlanSection& section_;
  std::vector<Gram> grams_;            // sorted
  std::array<Bytes, kGram> recent_{};  // sizes of the last requests, the latest one last
  size_t at_ = 0;                      // the item that is due; the number of items at the end
  bool is_lost_ = false;               // the last request was not planned
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_PLAN_PLAN_CURSOR_H_
