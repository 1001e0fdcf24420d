// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PACKING_SEARCH_H_
#define MEMTRACE_TOOLS_ANALYSIS_PACKING_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/units.h"
#include "tools/analysis/packing/failed_parts.h"
#include "tools/analysis/packing/order.h"
#include "tools/analysis/packing/part.h"
#include "tools/analysis/packing/sections.h"

namespace memtrace::analysis {

// A depth-first search for a packing within a capacity, which finds one if one exists and there are
// enough steps (docs/design/packing.md). Items are placed from the lowest offset upwards, each
// right on top of what lies below it: every packing can be lowered into one that arises so.
class PackingSearch {
 public:
  enum class Outcome { kFound, kImpossible, kOutOfSteps };

  // `items` and `failed` outlive the search; `failed` may know parts from earlier searches of the
  // same items within the same capacity. REQUIRES: capacity + the size of any item < 2^64.
  PackingSearch(absl::Span<const SectionItem> items, Bytes capacity, PackingOrder order,
                uint64_t steps, FailedParts& failed);

  // REQUIRES: called at most once.
  Outcome Run();
  // The offsets by the index of an item; meaningful after kFound.
  const std::vector<Bytes>& offsets() const { return offsets_; }
  uint64_t steps_left() const { return steps_; }

 private:
  OpenPart Ranked(const OpenPart& part) const;
  Outcome Place(OpenPart part);
  Outcome PlaceNext(OpenPart part);
  Outcome PlaceParts(OpenPart part);
  bool Fits(const OpenPart& part, Bytes floor);
  Bytes LowestTop(const OpenPart& part, const OpenItem& item, Bytes floor) const;
  bool AddToSections(const OpenItem& item, Bytes low);
  void Spend(uint64_t steps) { steps_ -= steps < steps_ ? steps : steps_; }

  absl::Span<const SectionItem> items_;
  Bytes capacity_;
  PackingOrder order_;
  uint64_t steps_;
  FailedParts& failed_;
  std::vector<Bytes> offsets_;
  std::vector<Bytes> ends_;  // of each section, while Fits() fills them
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PACKING_SEARCH_H_
