// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/fragmentation_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/ledger_entries.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

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

std::string HolesText(uint64_t holes) {
  return CountedMessage(holes, "1 hole", "$0 holes", FormatCount(holes));
}

// Returns "below 1.0 MiB: 0.5 MiB in 2 holes · from 256.0 MiB: 730.0 MiB in 2 holes".
std::string SizesOf(const Fragmentation& fragmentation) {
  std::vector<std::string> texts;
  const auto& sizes = fragmentation.by_size;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].holes == 0) continue;
    const std::string bytes = FormatBytes(sizes[i].bytes);
    const std::string holes = HolesText(sizes[i].holes);
    if (i + 1 == sizes.size()) {
      texts.push_back(Message("from $0: $1 in $2", FormatBytes(sizes[i].from), bytes, holes));
    } else if (sizes[i].from == 0) {
      texts.push_back(Message("below $0: $1 in $2", FormatBytes(sizes[i + 1].from), bytes, holes));
    } else {
      texts.push_back(Message("$0 to $1: $2 in $3", FormatBytes(sizes[i].from),
                              FormatBytes(sizes[i + 1].from), bytes, holes));
    }
  }
  return absl::StrJoin(texts, " · ");
}

Facts FactsOf(const Explanation& explanation) {
  const Fragmentation& fragmentation = explanation.layout.fragmentation;
  Facts facts{{{Message("by size"), SizesOf(fragmentation)}}};
  if (explanation.failure.request)
    facts.rows.push_back({Message("requested"), FormatBytes(explanation.failure.request->bytes)});
  for (std::string text :
       {Message("$0 in the largest hole", FormatBytes(fragmentation.largest_hole)),
        Message("at most $0 from the driver after torch.cuda.empty_cache()",
                FormatBytes(AfterEmptyCache(explanation))),
        Message("$0 if all free granules (2 MiB) were mapped together",
                FormatBytes(AfterRemapping(explanation)))})
    facts.rows.push_back({Message("available"), std::move(text)});
  return facts;
}

std::string SummaryText(const Fragmentation& fragmentation) {
  const std::string segments = CountedMessage(fragmentation.segments, "1 segment", "$0 segments",
                                              FormatCount(fragmentation.segments));
  std::string text =
      Message("$0 in $1 of $2; $3 of it cannot be given back because of blocks in use",
              FormatBytes(fragmentation.holes), HolesText(fragmentation.hole_count), segments,
              FormatBytes(fragmentation.stranded()));
  if (fragmentation.private_pools == 0) return text;
  return text + "; " +
         Message(
             "$0 is in private pools (graphs, memory pools), which empty_cache() does not give "
             "back",
             FormatBytes(fragmentation.private_pools));
}

Table PinTable(const Fragmentation& fragmentation) {
  const TableUnit unit = UnitFor(fragmentation.pins.front().strands);
  Table table;
  table.title = Message("blocks that keep it from being given back");
  table.columns = {{"", 20},
                   {"", 27},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {Message("blocks"), 8, TableColumn::Kind::kFigure},
                   {Message("allocated"), 12}};
  uint64_t rest = 0;
  for (const analysis::Pin& pin : fragmentation.pins) {
    if (table.rows.size() == kPins) {
      rest += pin.strands;
      continue;
    }
    table.rows.push_back(
        {.cells = {RoleWords(pin.role), SiteWords(pin.site), FormatFigure(pin.strands, unit),
                   FormatCount(pin.blocks), FormatBytes(pin.allocated)},
         .depth = 1});
  }
  if (rest > 0) table.rest = FormatRest(fragmentation.pins.size() - kPins, rest);
  return table;
}

}  // namespace

Section FragmentationSection(const Explanation& explanation) {
  Section section{.id = "fragmentation", .title = Message("FREE IN SEGMENTS")};
  if (!IsWorthShowing(explanation)) return section;
  const Fragmentation& fragmentation = explanation.layout.fragmentation;
  section.subtitle = SummaryText(fragmentation);
  section.parts.emplace_back(FactsOf(explanation));
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
          {trace::entry::kPrivatePools, fragmentation.private_pools},
          {"after_empty_cache", AfterEmptyCache(explanation)},
          {"after_remapping", AfterRemapping(explanation)},
          {"by_size", sizes},
          {"pins", pins}};
}

}  // namespace memtrace::report
