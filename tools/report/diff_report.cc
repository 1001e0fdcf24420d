// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/diff_report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "nlohmann/json.hpp"
#include "tools/report/json_text.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"
#include "tools/report/verdict_text.h"

namespace memtrace::report {
namespace {

using analysis::AttributedBytes;
using nlohmann::ordered_json;

struct Row {
  std::vector<std::string> values;  // of the levels
  uint64_t before = 0;
  uint64_t after = 0;
  uint64_t blocks_before = 0;
  uint64_t blocks_after = 0;

  int64_t change() const { return static_cast<int64_t>(after - before); }
  uint64_t size() const { return after > before ? after - before : before - after; }
};

void Add(const DiffSide& side, const DiffStyle& style, uint64_t Row::*bytes, uint64_t Row::*blocks,
         std::map<std::vector<std::string>, Row>& rows) {
  for (const AttributedBytes& part : side.explanation.attributed) {
    std::vector<std::string> values;
    values.reserve(style.levels.size());
    for (const TreeLevel level : style.levels) values.push_back(LevelValue(part, level));
    Row& row = rows[values];
    row.values = std::move(values);
    row.*bytes += part.bytes;
    row.*blocks += part.blocks;
  }
}

// Those that changed, in bytes or blocks.
std::vector<Row> RowsOf(const DiffSide& before, const DiffSide& after, const DiffStyle& style) {
  std::map<std::vector<std::string>, Row> by_values;
  Add(before, style, &Row::before, &Row::blocks_before, by_values);
  Add(after, style, &Row::after, &Row::blocks_after, by_values);
  std::vector<Row> rows;
  for (const auto& [values, row] : by_values) {
    if (row.before != row.after || row.blocks_before != row.blocks_after) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.size() > b.size(); });
  return rows;
}

const analysis::CardExplanation& CardOf(const DiffSide& side) {
  return side.explanation.cards[side.explanation.card];
}

std::string WithSign(int64_t hundredths) {
  return (hundredths > 0 ? "+" : "") + FormatHundredths(hundredths);
}

std::string SideLine(std::string_view name, const DiffSide& side) {
  return Wrapped("  " + LeftAligned(name, 8) + Printable(side.run.file) + ", card " +
                     std::to_string(CardOf(side).index) + " at " + MomentName(side.explanation) +
                     ", " + DescribePosition(CardOf(side).when.at) + ": " +
                     FormatBytes(side.explanation.held.bytes) + " held, peak " +
                     FormatBytes(CardOf(side).peak.bytes),
                 10);
}

std::string RowLine(const Row& row, TableUnit unit) {
  std::string name;
  for (const std::string& value : row.values) name += (name.empty() ? "" : " · ") + value;
  const auto figure = [unit](uint64_t bytes) { return RightAligned(FormatFigure(bytes, unit), 9); };
  const auto blocks = static_cast<int64_t>(row.blocks_after - row.blocks_before);
  return "  " + LeftAligned(Printable(name), Columns() - 40) +
         RightAligned(WithSign(Hundredths(row.change(), unit)), 10) + figure(row.before) +
         figure(row.after) + RightAligned((blocks > 0 ? "+" : "") + std::to_string(blocks), 9) +
         "\n";
}

std::string Title(const DiffStyle& style) {
  std::string title = "by";
  for (const TreeLevel level : style.levels) title += " " + std::string(LevelName(level));
  return title;
}

// What a ledger's entries became; those that are the same are left out.
std::string LedgerLines(const DiffSide& before, const DiffSide& after) {
  std::string lines;
  const analysis::Ledger& old = CardOf(before).ledger;
  const analysis::Ledger& now = CardOf(after).ledger;
  for (const analysis::LedgerEntry& entry : now.entries) {
    const int64_t was = old.bytes(entry.name);
    if (was == entry.bytes) continue;
    lines += "  " + LeftAligned(entry.name, 20) + RightAligned(FormatSignedBytes(was), 14) +
             "  ->" + RightAligned(FormatSignedBytes(entry.bytes), 14) + "\n";
  }
  return lines.empty() ? "" : "\nTHE CARD\n" + lines;
}

ordered_json SideJson(const DiffSide& side) {
  return {{"file", side.run.file},
          {"card", CardOf(side).index},
          {"moment", MomentName(side.explanation)},
          {"event", CardOf(side).when.ordinal},
          {"bytes", side.explanation.held.bytes},
          {"peak", CardOf(side).peak.bytes},
          {"cause", std::string(trace::FailureCauseName(side.explanation.verdict.cause))}};
}

}  // namespace

std::string TextDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style) {
  const std::vector<Row> rows = RowsOf(before, after, style);
  const auto total =
      static_cast<int64_t>(after.explanation.held.bytes - before.explanation.held.bytes);
  std::string text = "WHAT CHANGED  " + std::string(total < 0 ? "" : "+") +
                     FormatSignedBytes(total) + " requested bytes in use\n" +
                     SideLine("before", before) + SideLine("after", after);
  if (rows.empty()) return text + "\nnothing changed\n";
  const TableUnit unit = UnitFor(rows.front().size());
  text += "\n" + LeftAligned(Title(style), Columns() - 38) + RightAligned(unit.name, 10) +
          RightAligned("before", 9) + RightAligned("after", 9) + RightAligned("blocks", 9) + "\n";
  const size_t shown = style.rows == 0 ? rows.size() : std::min(rows.size(), style.rows);
  int64_t rest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i < shown) {
      text += RowLine(rows[i], unit);
    } else {
      rest += rows[i].change();
    }
  }
  if (rows.size() > shown) {
    text += "  … " + FormatCount(rows.size() - shown) + " smaller changes, together " +
            WithSign(Hundredths(rest, unit)) + " " + std::string(unit.name) + "\n";
  }
  return text + LedgerLines(before, after);
}

std::string JsonDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style) {
  ordered_json levels = ordered_json::array();
  for (const TreeLevel level : style.levels) levels.push_back(std::string(LevelName(level)));
  ordered_json rows = ordered_json::array();
  for (const Row& row : RowsOf(before, after, style)) {
    ordered_json json;
    for (size_t i = 0; i < row.values.size(); ++i)
      json[std::string(LevelName(style.levels[i]))] = row.values[i];
    json["change"] = row.change();
    json["before"] = row.before;
    json["after"] = row.after;
    json["blocks_before"] = row.blocks_before;
    json["blocks_after"] = row.blocks_after;
    rows.push_back(std::move(json));
  }
  return JsonText({{"schema", "memtrace.diff/1"},
                   {"before", SideJson(before)},
                   {"after", SideJson(after)},
                   {"levels", levels},
                   {"rows", rows}});
}

}  // namespace memtrace::report
