// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PACKING_ORDER_H_
#define MEMTRACE_TOOLS_ANALYSIS_PACKING_ORDER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tools/analysis/packing/sections.h"

namespace memtrace::analysis {

// The order of items that could lie at the same offset. Area is lifetime times size; load is the
// most bytes alive in a section of the item. No order is best for all inputs.
enum class PackingOrder : uint8_t {
  kLifetimeAreaLoad,
  kLoadAreaLifetime,
  kLoadLifetimeArea,
};

inline constexpr std::array kPackingOrders = {PackingOrder::kLoadLifetimeArea,
                                              PackingOrder::kLoadAreaLifetime,
                                              PackingOrder::kLifetimeAreaLoad};

// Returns the place of each item in the order, starting with 0.
std::vector<uint32_t> Ranks(absl::Span<const SectionItem> items, PackingOrder order);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PACKING_ORDER_H_
