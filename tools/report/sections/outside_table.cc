// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/outside_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

constexpr size_t kOutsideRows = 8;
constexpr size_t kGivenShown = 3;

bool IsGiven(trace::MoveKind kind) {
  return kind == trace::MoveKind::kGaveWay || kind == trace::MoveKind::kGaveToNeighbour;
}

TableRow RowOf(const analysis::OutsideHolding& holding, TableUnit unit) {
  return {.cells = {OutsideKindWords(holding.kind), SiteWords(holding.site),
                    FormatFigure(holding.bytes, unit), FormatCount(holding.blocks)}};
}

Paragraph NcclParagraph(const analysis::NcclBytes& nccl) {
  const std::string rule =
      nccl.least == nccl.most
          ? Message("NCCL: at most $0 were held, by a rule read from NCCL's source.",
                    FormatBytes(nccl.charged))
          : Message(
                "NCCL: at most $0 were held, by a rule read from NCCL's source; a real run may "
                "hold $1 to $2.",
                FormatBytes(nccl.charged), FormatBytes(nccl.least), FormatBytes(nccl.most));
  const std::string host = nccl.host == 0 ? ""
                                          : Message("It also pins up to $0 of the host's memory.",
                                                    FormatBytes(nccl.host));
  return {JoinedSentences(
      {rule, host,
       Message("How cards are linked is assumed; memtrace explain NCCL says how to state "
               "it.")})};
}

std::string GivenSentence(const analysis::MovedBytes& moved) {
  return moved.step == 0 ? Message("Returned $0 to $1 before the first step.",
                                   FormatBytes(moved.bytes), SiteWords(moved.to))
                         : Message("Returned $0 to $1 in step $2.", FormatBytes(moved.bytes),
                                   SiteWords(moved.to), moved.step);
}

// Says what the allocator has given to others, the most first, and how much it was in all.
void AddGiven(int32_t card, const std::vector<analysis::MovedBytes>& all, Section& section) {
  std::vector<analysis::MovedBytes> given;
  uint64_t sum = 0;
  for (const analysis::MovedBytes& moved : all) {
    if (!IsGiven(moved.kind) || moved.device != card) continue;
    given.push_back(moved);
    sum += moved.bytes;
  }
  if (given.empty()) return;
  std::stable_sort(given.begin(), given.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  const size_t shown = std::min(given.size(), kGivenShown);
  std::vector<std::string> sentences;
  sentences.reserve(shown + 1);
  for (size_t i = 0; i < shown; ++i) sentences.push_back(GivenSentence(given[i]));
  if (given.size() > shown) {
    sentences.push_back(Message("In all, the allocator returned $0 of its cached memory to others.",
                                FormatBytes(sum)));
  }
  section.parts.emplace_back(Paragraph{JoinedSentences(sentences)});
}

Table HoldingsTable(const std::vector<analysis::OutsideHolding>& holdings) {
  uint64_t largest = 0;
  for (const analysis::OutsideHolding& holding : holdings)
    largest = std::max(largest, holding.bytes);
  const TableUnit unit = UnitFor(largest);
  Table table;
  table.columns = {{"", 15},
                   {"", 46},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {Message("blocks"), 8, TableColumn::Kind::kFigure}};
  const size_t shown = std::min(holdings.size(), kOutsideRows);
  for (size_t i = 0; i < shown; ++i) table.rows.push_back(RowOf(holdings[i], unit));
  uint64_t rest = 0;
  for (size_t i = shown; i < holdings.size(); ++i) rest += holdings[i].bytes;
  if (holdings.size() > shown) table.rest = FormatRest(holdings.size() - shown, rest);
  return table;
}

}  // namespace

Section OutsideSection(int32_t card, const analysis::ExplainedHolders& holders,
                       const analysis::SimulationFacts& simulation) {
  const std::vector<analysis::OutsideHolding>& holdings = holders.outside;
  Section section{.id = "outside",
                  .title = Message("OUTSIDE THE ALLOCATOR"),
                  .subtitle = Message("requested directly from the driver")};
  if (!holdings.empty()) section.parts.emplace_back(HoldingsTable(holdings));
  AddGiven(card, holders.moved, section);
  if (holdings.empty()) return section;
  const auto nccl = simulation.nccl.find(card);
  if (nccl != simulation.nccl.end()) section.parts.emplace_back(NcclParagraph(nccl->second));
  return section;
}

}  // namespace memtrace::report
