// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/fragmentation_table.h"

#include <algorithm>

#include "nlohmann/json.hpp"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::Fragmentation;
using nlohmann::ordered_json;

constexpr size_t kPins = 5;

uint64_t FreeOf(const Explanation& explanation) {
  return explanation.card_of_verdict().ledger.positive(analysis::LedgerPart::kFree);
}

// Returns the bytes that the driver could give in one piece after torch.cuda.empty_cache(). This is
// an upper bound: it gets less back of what torch maps in pages larger than a granule.
uint64_t AfterEmptyCache(const Explanation& explanation) {
  return FreeOf(explanation) + explanation.layout.fragmentation.releasable;
}
// Returns the same if every free granule could also be mapped elsewhere.
uint64_t AfterRemapping(const Explanation& explanation) {
  const Fragmentation& fragmentation = explanation.layout.fragmentation;
  return FreeOf(explanation) + fragmentation.holes - fragmentation.private_pools -
         fragmentation.below_granule;
}

bool IsWorthShowing(const Explanation& explanation) {
  const Fragmentation& fragmentation = explanation.layout.fragmentation;
  if (fragmentation.holes == 0) return false;
  if (explanation.failure.request || explanation.asked) return true;
  return fragmentation.holes >= explanation.holders.held.bytes / 20;
}

std::string SizesOf(const Fragmentation& fragmentation) {
  std::string text;
  for (size_t i = 0; i < fragmentation.by_size.size(); ++i) {
    const analysis::HolesOfSize& size = fragmentation.by_size[i];
    if (size.holes == 0) continue;
    const bool last = i + 1 == fragmentation.by_size.size();
    const std::string range = last ? "from " + FormatBytes(size.from)
                                   : "below " + FormatBytes(fragmentation.by_size[i + 1].from);
    text += (text.empty() ? "" : " · ") + range + ": " + FormatBytes(size.bytes) + " in " +
            FormatCount(size.holes);
  }
  return text;
}

std::string ObtainableText(const Explanation& explanation) {
  const std::string asked = explanation.failure.request
                                ? "asked " + FormatBytes(explanation.failure.request->bytes) + "; "
                                : "";
  return asked + "largest hole " + FormatBytes(explanation.layout.fragmentation.largest_hole) +
         ", with empty_cache() " + FormatBytes(AfterEmptyCache(explanation)) +
         ", if free granules were remapped " + FormatBytes(AfterRemapping(explanation));
}

std::string PoolText(const Fragmentation& fragmentation) {
  if (fragmentation.private_pools == 0) return "";
  return ", " + FormatBytes(fragmentation.private_pools) +
         " in private pools (graphs, memory pools), which empty_cache() does not give back";
}

Table PinTable(const Fragmentation& fragmentation) {
  const TableUnit unit = UnitFor(fragmentation.pins.front().strands);
  Table table;
  table.title = "kept from being given back by";
  table.columns = {{"", 18},
                   {"", 27},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {"blocks", 8, TableColumn::Kind::kFigure},
                   {"of", 12}};
  uint64_t rest = 0;
  for (const analysis::Pin& pin : fragmentation.pins) {
    if (table.rows.size() == kPins) {
      rest += pin.strands;
      continue;
    }
    table.rows.push_back({.cells = {std::string(RoleName(pin.role)), Printable(pin.site),
                                    FormatFigure(pin.strands, unit), FormatCount(pin.blocks),
                                    FormatBytes(pin.allocated)},
                          .depth = 1});
  }
  if (rest > 0) table.rest = FormatRest(fragmentation.pins.size() - kPins, rest);
  return table;
}

}  // namespace

Section FragmentationSection(const Explanation& explanation) {
  Section section{.id = "fragmentation", .title = "FREE IN SEGMENTS"};
  if (!IsWorthShowing(explanation)) return section;
  const Fragmentation& fragmentation = explanation.layout.fragmentation;
  section.subtitle =
      FormatBytes(fragmentation.holes) + " in " + FormatCounted(fragmentation.hole_count, "hole") +
      " of " + FormatCounted(fragmentation.segments, "segment") + "; " +
      FormatBytes(fragmentation.stranded()) + " of it lies beside blocks" + PoolText(fragmentation);
  section.parts.emplace_back(
      Facts{{{"by size", SizesOf(fragmentation)}, {"could be had", ObtainableText(explanation)}}});
  if (!fragmentation.pins.empty()) section.parts.emplace_back(PinTable(fragmentation));
  return section;
}

ordered_json FragmentationJson(const Explanation& explanation) {
  const Fragmentation& fragmentation = explanation.layout.fragmentation;
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
          {"private_pools", fragmentation.private_pools},
          {"after_empty_cache", AfterEmptyCache(explanation)},
          {"after_remapping", AfterRemapping(explanation)},
          {"by_size", sizes},
          {"pins", pins}};
}

}  // namespace memtrace::report
