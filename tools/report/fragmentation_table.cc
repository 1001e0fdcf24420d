// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fragmentation_table.h"

#include <algorithm>

#include "nlohmann/json.hpp"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::Fragmentation;
using nlohmann::ordered_json;

constexpr size_t kPins = 5;

uint64_t Entry(const Explanation& explanation, std::string_view name) {
  return explanation.cards[explanation.card].ledger.positive(name);
}

// What the driver could hand out in one piece once it has back what it can get. An upper bound: of
// what torch maps in larger pages than a granule it gets less.
uint64_t AfterEmptyCache(const Explanation& explanation) {
  return Entry(explanation, "free") + explanation.fragmentation.releasable;
}
// ... and if every free granule could be mapped elsewhere.
uint64_t AfterRemapping(const Explanation& explanation) {
  const Fragmentation& fragmentation = explanation.fragmentation;
  return Entry(explanation, "free") + fragmentation.holes - fragmentation.below_granule;
}

bool IsWorthShowing(const Explanation& explanation) {
  const Fragmentation& fragmentation = explanation.fragmentation;
  if (fragmentation.holes == 0) return false;
  if (explanation.request || explanation.asked) return true;
  return fragmentation.holes >= explanation.held.bytes / 20;
}

std::string SizeLine(const Fragmentation& fragmentation) {
  std::string text = "  by size    ";
  bool first = true;
  for (size_t i = 0; i < fragmentation.by_size.size(); ++i) {
    const analysis::HolesOfSize& size = fragmentation.by_size[i];
    if (size.holes == 0) continue;
    const bool last = i + 1 == fragmentation.by_size.size();
    const std::string range = last ? "from " + FormatBytes(size.from)
                                   : "below " + FormatBytes(fragmentation.by_size[i + 1].from);
    text += (first ? "" : " · ") + range + ": " + FormatBytes(size.bytes) + " in " +
            FormatCount(size.holes);
    first = false;
  }
  return Wrapped(text, 13);
}

std::string CouldBeHad(const Explanation& explanation) {
  const std::string asked =
      explanation.request ? "asked " + FormatBytes(explanation.request->bytes) + "; " : "";
  return Wrapped("  could be had  " + asked + "largest hole " +
                     FormatBytes(explanation.fragmentation.largest_hole) + ", with empty_cache() " +
                     FormatBytes(AfterEmptyCache(explanation)) +
                     ", if free granules were remapped " + FormatBytes(AfterRemapping(explanation)),
                 16);
}

std::string PinLines(const Fragmentation& fragmentation) {
  if (fragmentation.pins.empty()) return "";
  const TableUnit unit = UnitFor(fragmentation.pins.front().strands);
  std::string lines = "  " + LeftAligned("kept from being given back by", 45) +
                      RightAligned(unit.name, 9) + RightAligned("blocks", 8) + "  of\n";
  const size_t shown = std::min(fragmentation.pins.size(), kPins);
  uint64_t rest = 0;
  for (size_t i = 0; i < fragmentation.pins.size(); ++i) {
    const analysis::Pin& pin = fragmentation.pins[i];
    if (i >= shown) {
      rest += pin.strands;
      continue;
    }
    lines +=
        "    " + LeftAligned(RoleName(pin.role), 16) + LeftAligned(Printable(pin.site), 27) +
        RightAligned(FormatHundredths(Hundredths(static_cast<int64_t>(pin.strands), unit)), 9) +
        RightAligned(FormatCount(pin.blocks), 8) + "  " + FormatBytes(pin.allocated) + "\n";
  }
  if (rest > 0)
    lines += "    … " + FormatCount(fragmentation.pins.size() - shown) + " more, " +
             FormatBytes(rest) + "\n";
  return lines;
}

}  // namespace

std::string FragmentationTable(const Explanation& explanation) {
  if (!IsWorthShowing(explanation)) return "";
  const Fragmentation& fragmentation = explanation.fragmentation;
  return "\n" +
         Wrapped("FREE IN SEGMENTS  " + FormatBytes(fragmentation.holes) + " in " +
                     FormatCounted(fragmentation.hole_count, "hole") + " of " +
                     FormatCounted(fragmentation.segments, "segment") + "; " +
                     FormatBytes(fragmentation.holes - fragmentation.releasable) +
                     " of it lies beside blocks",
                 2) +
         SizeLine(fragmentation) + CouldBeHad(explanation) + PinLines(fragmentation);
}

ordered_json FragmentationJson(const Explanation& explanation) {
  const Fragmentation& fragmentation = explanation.fragmentation;
  ordered_json sizes = ordered_json::array();
  for (const analysis::HolesOfSize& size : fragmentation.by_size)
    sizes.push_back({{"from", size.from}, {"holes", size.holes}, {"bytes", size.bytes}});
  ordered_json pins = ordered_json::array();
  for (const analysis::Pin& pin : fragmentation.pins) {
    pins.push_back({{"role", std::string(RoleName(pin.role))},
                    {"site", pin.site},
                    {"strands", pin.strands},
                    {"allocated", pin.allocated},
                    {"blocks", pin.blocks}});
  }
  return {{"holes", fragmentation.holes},
          {"largest_hole", fragmentation.largest_hole},
          {"below_granule", fragmentation.below_granule},
          {"count", fragmentation.hole_count},
          {"segments", fragmentation.segments},
          {"releasable", fragmentation.releasable},
          {"after_empty_cache", AfterEmptyCache(explanation)},
          {"after_remapping", AfterRemapping(explanation)},
          {"by_size", sizes},
          {"pins", pins}};
}

}  // namespace memtrace::report
