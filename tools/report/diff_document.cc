// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/diff_document.h"

#include <algorithm>
#include <string>
#include <utility>

#include "messages/message.h"
#include "tools/report/sections/diff_rows.h"
#include "tools/report/sections/ledger_table.h"
#include "tools/report/tree_report.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using Kind = TableColumn::Kind;

std::string WithSign(int64_t hundredths) {
  return (hundredths > 0 ? "+" : "") + FormatHundredths(hundredths);
}

std::string SideText(const DiffSide& side) {
  return Message("$0, card $1 at $2, $3: $4 in use, peak $5", Printable(side.run.file),
                 side.card().index, side.moment(), DescribePosition(side.card().when.at),
                 FormatBytes(side.explanation.holders.held.bytes),
                 FormatBytes(side.card().peak.bytes));
}

Section ChangeSection(const DiffSide& before, const DiffSide& after) {
  const auto total = static_cast<int64_t>(after.explanation.holders.held.bytes -
                                          before.explanation.holders.held.bytes);
  return {.id = "changed",
          .title = Message("WHAT CHANGED"),
          .subtitle = Message("requested bytes in use: $0",
                              (total < 0 ? "" : "+") + FormatSignedBytes(total)),
          .parts = {
              Facts{{{Message("before"), SideText(before)}, {Message("after"), SideText(after)}}}}};
}

TableRow RowOf(const ChangedRow& row, TableUnit unit) {
  std::string name;
  for (const std::string& value : row.values) name += (name.empty() ? "" : " · ") + value;
  const auto blocks = static_cast<int64_t>(row.blocks_after - row.blocks_before);
  return {.cells = {Printable(name), WithSign(Hundredths(row.change(), unit)),
                    FormatFigure(row.before, unit), FormatFigure(row.after, unit),
                    (blocks > 0 ? "+" : "") + std::to_string(blocks)}};
}

Table TableOf(const std::vector<ChangedRow>& rows, size_t shown) {
  const TableUnit unit = UnitFor(rows.front().size());
  Table table;
  table.columns = {{"", Columns() - 40},
                   {std::string(unit.name), 10, Kind::kFigure},
                   {Message("before"), 9, Kind::kFigure},
                   {Message("after"), 9, Kind::kFigure},
                   {Message("blocks"), 9, Kind::kFigure}};
  int64_t rest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i < shown) {
      table.rows.push_back(RowOf(rows[i], unit));
    } else {
      rest += rows[i].change();
    }
  }
  if (rows.size() > shown) {
    const uint64_t more = rows.size() - shown;
    table.rest = CountedMessage(more, "1 smaller change: $0 $1", "$2 smaller changes: $0 $1",
                                WithSign(Hundredths(rest, unit)), unit.name, FormatCount(more));
  }
  return table;
}

Section RowsSection(const DiffSide& before, const DiffSide& after, const DiffStyle& style) {
  const std::vector<ChangedRow> rows =
      ChangedRows(before.explanation.holders.attributed, after.explanation.holders.attributed,
                  style.levels, LevelWords);
  if (rows.empty()) return {.id = "rows", .parts = {Paragraph{Message("Nothing changed.")}}};
  const size_t shown = style.rows == 0 ? rows.size() : std::min(rows.size(), style.rows);
  return {.id = "rows", .title = LevelsTitle(style.levels), .parts = {TableOf(rows, shown)}};
}

std::string SignedChange(int64_t bytes) {
  return (bytes > 0 ? "+" : "") + FormatSignedBytes(bytes);
}

// Returns the changes of the ledger's entries, without those that are the same.
Section CardSection(const DiffSide& before, const DiffSide& after) {
  Table table;
  table.columns = {{"", 28},
                   {Message("change"), 14, Kind::kFigure},
                   {Message("before"), 14, Kind::kFigure},
                   {Message("after"), 14, Kind::kFigure}};
  for (const analysis::LedgerEntry& entry : after.card().ledger.entries) {
    const int64_t was = before.card().ledger.bytes(entry.part);
    if (was == entry.bytes) continue;
    table.rows.push_back(
        {.cells = {EntryLabel(after.card().ledger, entry), SignedChange(entry.bytes - was),
                   FormatSignedBytes(was), FormatSignedBytes(entry.bytes)}});
  }
  Section section{.id = "card", .title = Message("THE CARD")};
  if (!table.rows.empty()) section.parts.emplace_back(std::move(table));
  return section;
}

}  // namespace

std::string DiffSide::moment() const { return MomentName(explanation.asked, explanation.failure); }

Document DiffDocument(const DiffSide& before, const DiffSide& after, const DiffStyle& style) {
  return {ChangeSection(before, after), RowsSection(before, after, style),
          CardSection(before, after)};
}

}  // namespace memtrace::report
