// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/outside_table.h"

#include <algorithm>

#include "tools/report/printable.h"
#include "tools/report/quantity.h"

namespace memtrace::report {
namespace {

constexpr size_t kRows = 8;

std::string Line(const analysis::OutsideHolding& holding, TableUnit unit) {
  return "  " + LeftAligned(OutsideKindName(holding.kind), 15) +
         LeftAligned(Printable(holding.site), 46) +
         RightAligned(FormatHundredths(Hundredths(static_cast<int64_t>(holding.bytes), unit)), 9) +
         RightAligned(FormatCount(holding.blocks), 8) + "\n";
}

}  // namespace

std::string OutsideTable(const analysis::Explanation& explanation) {
  const std::vector<analysis::OutsideHolding>& holdings = explanation.outside;
  if (holdings.empty()) return "";
  uint64_t largest = 0;
  for (const analysis::OutsideHolding& holding : holdings)
    largest = std::max(largest, holding.bytes);
  const TableUnit unit = UnitFor(largest);
  std::string table = "\n" +
                      LeftAligned("OUTSIDE THE ALLOCATOR  taken from the driver itself", 63) +
                      RightAligned(unit.name, 9) + RightAligned("blocks", 8) + "\n";
  const size_t shown = std::min(holdings.size(), kRows);
  for (size_t i = 0; i < shown; ++i) table += Line(holdings[i], unit);
  if (holdings.size() == shown) return table;
  uint64_t rest = 0;
  for (size_t i = shown; i < holdings.size(); ++i) rest += holdings[i].bytes;
  return table + "  … " + FormatCount(holdings.size() - shown) + " more, " + FormatBytes(rest) +
         "\n";
}

}  // namespace memtrace::report
