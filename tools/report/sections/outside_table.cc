// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/outside_table.h"

#include <algorithm>
#include <utility>

#include "messages/message.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;

constexpr size_t kRows = 8;

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

}  // namespace

Section OutsideSection(const Explanation& explanation,
                       const analysis::SimulationFacts& simulation) {
  const std::vector<analysis::OutsideHolding>& holdings = explanation.holders.outside;
  Section section{.id = "outside",
                  .title = Message("OUTSIDE THE ALLOCATOR"),
                  .subtitle = Message("requested directly from the driver")};
  if (holdings.empty()) return section;
  uint64_t largest = 0;
  for (const analysis::OutsideHolding& holding : holdings)
    largest = std::max(largest, holding.bytes);
  const TableUnit unit = UnitFor(largest);
  Table table;
  table.columns = {{"", 15},
                   {"", 46},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {Message("blocks"), 8, TableColumn::Kind::kFigure}};
  const size_t shown = std::min(holdings.size(), kRows);
  for (size_t i = 0; i < shown; ++i) table.rows.push_back(RowOf(holdings[i], unit));
  uint64_t rest = 0;
  for (size_t i = shown; i < holdings.size(); ++i) rest += holdings[i].bytes;
  if (holdings.size() > shown) table.rest = FormatRest(holdings.size() - shown, rest);
  section.parts.emplace_back(std::move(table));
  const auto nccl = simulation.nccl.find(explanation.card_of_verdict().index);
  if (nccl != simulation.nccl.end()) section.parts.emplace_back(NcclParagraph(nccl->second));
  return section;
}

}  // namespace memtrace::report
